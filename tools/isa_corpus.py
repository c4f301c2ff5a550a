"""Decodes every kernel of files and folders, and counts what no rule understands.

    python tools/isa_corpus.py PATH... [--most INSTRUCTIONS]

Prints instructions, how many of each class, every mnemonic that is not understood, and the rate. Exit 1
where anything but undecodable words (`.long`) is not understood.
"""

from __future__ import annotations

import sys
import time
from collections import Counter

from wavefit.isa.decode import decoded
from wavefit.isa.loops import Code


def main(arguments: list[str]) -> int:
    most = 1 << 60
    if "--most" in arguments:
        at = arguments.index("--most")
        most = int(arguments[at + 1])
        del arguments[at : at + 2]
    kinds: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    mnemonics: set[str] = set()
    kernels = errors = 0
    begun = time.perf_counter()
    for path in arguments:
        for item in decoded(path):
            if not isinstance(item, Code):
                errors += 1
                print(item, file=sys.stderr)
                continue
            kernels += 1
            targets[item.target] += len(item.instructions)
            for op in item.instructions:
                kinds[op.kind] += 1
                mnemonics.add(op.name)
                if op.kind == "unknown":
                    lost[op.name] += 1
            if kinds.total() >= most:
                break
    took = time.perf_counter() - begun
    total = kinds.total()
    print(f"{total} instructions of {kernels} kernels, {len(mnemonics)} mnemonics, {errors} errors")
    print(f"{took:.0f} s, {total / max(took, 1e-9):,.0f} instructions a second")
    print("by target:", dict(targets.most_common()))
    print("by class:", dict(kinds.most_common()))
    print("not understood:", dict(lost.most_common()) or "nothing")
    return 1 if set(lost) - {".long"} else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
