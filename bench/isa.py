"""What decoding costs: reading the text of instructions against disassembling them, as ratios within one run.

python bench/isa.py FILE...       # code objects
"""

from __future__ import annotations

import sys
import time

from wavefit.isa.child import run
from wavefit.isa.decode import decoded
from wavefit.isa.form import form
from wavefit.isa.loops import Code


def main(paths: list[str]) -> None:
    """Times of a child that does nothing, of everything, of reading texts anew, and of loops and chains."""
    begun = time.perf_counter()
    run([sys.executable, "-c", ""])
    child = time.perf_counter() - begun
    begun = time.perf_counter()
    found = [item for path in paths for item in decoded(path) if isinstance(item, Code)]
    whole = time.perf_counter() - begun
    ops = [(op.text, code.target) for code in found for op in code.instructions]
    form.cache_clear()
    begun = time.perf_counter()
    for text, target in ops:
        form(text, target)
    texts = time.perf_counter() - begun
    begun = time.perf_counter()
    chains = sum(len(loop.chains) for code in found for loop in code.loops)
    loops = time.perf_counter() - begun
    print(f"{len(ops)} instructions of {len(found)} kernels, {chains} chains")
    print(f"whole 1.00 ({whole:.2f} s), one empty child {child / whole:.2f}")
    print(f"texts {texts / whole:.2f}, loops and chains {loops / whole:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
