"""The page of hardware data that a code object's target is read with."""

from __future__ import annotations

from functools import lru_cache

from wavefit.chips import ChipNotFound, Target, target
from wavefit.kernels.amd.isa import stand_in


@lru_cache(maxsize=256)
def limits_of(name: str) -> tuple[Target | None, str, tuple[str, ...]]:
    """The Target to read a descriptor with (None where nothing is known), its name, and what to say of it."""
    try:
        return target(name), name, ()
    except ChipNotFound:
        other = stand_in(name)
    if other is None:
        return None, name, (f"no data on {name}: the register fields of its descriptor are not decoded",)
    return target(other), other, (f"compiled for {name}: the limits of {other} are assumed",)
