"""Which target NVIDIA code is for, and how the file says so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from wavefit.chips import ChipNotFound, target

LANES = 32
"""Of a wave, on every target."""
OLD_ABI = 7
"""Up to this ABI version the low byte of e_flags holds the target, from the next one on the second byte."""
OLD_EXACT, EXACT = 0x800, 0x8
"""Bits of e_flags for `sm_90a` and the like; CUDA 13 says it in `.nv.compat` instead."""
RESERVE, RESERVE_IN_FILE = 1024, 90
"""Bytes of `.nv.shared.KERNEL` that linking (CUDA 11.8 to 13.4) adds for the driver, from sm_90 on."""
_NAME = re.compile(r"sm_(\d{1,4})([af]?)")


@dataclass(frozen=True, slots=True)
class Arch:
    """`sm_NUMBER`, and whether code is for it alone (`a`) or for its family (`f`)."""

    number: int
    suffix: str = ""

    @property
    def name(self) -> str:
        """The target as chips know it."""
        return f"sm_{self.number}"

    @property
    def features(self) -> tuple[str, ...]:
        return (f"{self.name}{self.suffix}",) if self.suffix else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the target."""
        return _no_data(self.name)

    @property
    def reserve(self) -> int:
        """Bytes in a linked kernel's shared section that the kernel did not ask for."""
        return RESERVE if self.number >= RESERVE_IN_FILE else 0


def from_flags(flags: int, abi: int, exact: bool) -> Arch:
    """The target in e_flags; `exact` is what `.nv.compat` says of it."""
    if abi <= OLD_ABI:
        return Arch(flags & 0xFF, "a" * (exact or bool(flags & OLD_EXACT)))
    return Arch(flags >> 8 & 0xFF, "a" * (exact or bool(flags & EXACT)))


def from_text(name: str) -> Arch | None:
    """The target of a name such as `sm_90a`, None for anything else."""
    match = _NAME.fullmatch(name)
    return Arch(int(match[1]), match[2]) if match else None


@lru_cache(maxsize=256)
def _no_data(name: str) -> tuple[str, ...]:
    try:
        target(name)
    except ChipNotFound:
        return (f"no data on {name}: no Fit is possible",)
    return ()
