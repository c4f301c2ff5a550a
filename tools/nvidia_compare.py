"""Holds wavefit's reading of any NVIDIA files against `cuobjdump -res-usage`. Exit 1 where they differ.

    python tools/nvidia_compare.py CUOBJDUMP FILE...       # cubins, fat binaries, libraries, executables

cuobjdump lists functions that kernels call as well, in code that is not linked: kernels are compared.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter

from wavefit.kernels import BadFile, kernels
from wavefit.kernels.nvidia.arch import from_text

LINE = re.compile(
    r"arch = (?P<arch>sm_\w+)"
    r"|Function (?P<name>.+):\n\s+REG:(?P<regs>\d+) STACK:(?P<stack>\w+) SHARED:(?P<shared>\d+)"
)
Spend = tuple[str, str, int, str, int]
"""Target, name, registers, stack, shared memory without the driver's."""


def main() -> None:
    cuobjdump, *files = sys.argv[1:]
    different = 0
    for file in files:
        theirs, ours, errors = said(cuobjdump, file), Counter[Spend](), 0
        for kernel in kernels(file):
            if isinstance(kernel, BadFile):
                errors += 1
                print(f"  {kernel}")
            elif kernel.vgprs is not None and not any("not linked" in note for note in kernel.notes):
                stack = "UNKNOWN" if kernel.dynamic_stack else str(kernel.scratch)
                target = kernel.target if theirs and all(spend[0] for spend in theirs) else ""
                ours[target, kernel.name, kernel.vgprs, stack, kernel.lds or 0] += 1
        missing = list((ours - theirs).elements())
        different += len(missing) + errors
        print(
            f"{file}: {ours.total()} kernels, {len(missing)} differ, {errors} errors; "
            f"cuobjdump {theirs.total()}"
        )
        for spend in missing[:3]:
            print(f"  {spend}")
    sys.exit(1 if different else 0)


def said(cuobjdump: str, file: str) -> Counter[Spend]:
    """What cuobjdump says; the text of a bare cubin names no target, so its header is asked."""
    text = run(cuobjdump, "-res-usage", file)
    found, target, arch = Counter[Spend](), "", None
    if "arch = " not in text and (bare := re.search(r"\bsm=(\w+)", run(cuobjdump, "-elf", file))):
        arch = from_text(f"sm_{bare[1]}")
    for line in LINE.finditer(text):
        if line["arch"]:
            arch = from_text(line["arch"])
            target = arch.name if arch else ""
        else:
            shared = int(line["shared"])
            held = max(0, shared - arch.reserve) if arch else shared
            found[target, line["name"], int(line["regs"]), line["stack"], held] += 1
    return found


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
