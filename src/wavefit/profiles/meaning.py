"""Meaning, not columns: what a Reported says the hardware was charged, for the target it ran on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from wavefit.chips import Target
from wavefit.profiles.model import LDS_DISPATCH, LDS_STATIC, LDS_STEP, Reported
from wavefit.toml import load

DESCRIPTOR_GRANULE = 4
"""In which the tools with the fault count; the target's own granule is twice that."""


@lru_cache(maxsize=1)
def counters() -> Mapping[str, Any]:
    """The page data/counters.toml."""
    with (Path(__file__).parent / "data" / "counters.toml").open("rb") as file:
        return load(file)


def applies(entry: Mapping[str, Any], target: str) -> bool:
    """True if an entry of the page is for this target."""
    return any(fnmatchcase(target, pattern) for pattern in entry["targets"])


@dataclass(slots=True)
class Evidence:
    """What a trace proves about the profiler's halved register counts, from every kernel in it.

    A count of accumulators shows a tool that decodes the target. Without any, a count that is no multiple
    of the granule shows one that does not: the hardware cannot allocate that.
    """

    decoded: bool = False
    halved: bool = False

    def add(self, reported: Reported) -> None:
        if reported.agprs:
            self.decoded = True
        elif reported.agprs == 0 and reported.vgprs and reported.vgprs % (2 * DESCRIPTOR_GRANULE):
            self.halved = True


@dataclass(frozen=True, slots=True)
class Charged:
    """What a kernel was charged: registers as the vector file sees them, LDS as far as the tool tells.

    `lds` is the least that the tool's rounding leaves open, where that matters. `corrected` says why the
    registers are not the sum of the columns, `assumptions` what was not known. `at_least` is true where the
    output shows not all registers that can be there.
    """

    total_vgprs: int | None
    sgprs: int | None
    lds: int | None
    corrected: str | None = None
    assumptions: tuple[str, ...] = ()
    at_least: bool = False


def charged(reported: Reported, target: Target, evidence: Evidence) -> Charged:
    """The resources of one kind of dispatch, in the currency that a Fit takes."""
    total, corrected, said = _vgprs(reported, target, evidence)
    lds = reported.lds
    if lds and reported.lds_means != LDS_DISPATCH:
        least, granule = max(lds - LDS_STEP + 1, 1), target.lds.granule
        if -(-least // granule) != -(-lds // granule):
            said += (f"LDS: {least} to {lds} bytes, since the tool rounds; counted as {least}",)
            lds = least
    if reported.lds_means == LDS_STATIC and lds is not None:
        said += (f"LDS: {LDS_STATIC}; counted as if there were none",)
    hidden = reported.agprs is None and target.vgpr.accumulator == "unified" and not corrected
    return Charged(total, reported.sgprs, lds, corrected, said, total is None or hidden)


def _vgprs(
    reported: Reported, target: Target, evidence: Evidence
) -> tuple[int | None, str | None, tuple[str, ...]]:
    vgprs, agprs = reported.vgprs, reported.agprs or 0
    if vgprs is None:
        return None, None, ()
    if target.vgpr.accumulator == "separate":
        return max(vgprs, agprs), None, ()  # the tool copies one count into both columns
    if target.vgpr.accumulator == "none":
        return vgprs, None, ()
    said: tuple[str, ...] = ()
    if reported.agprs is None:
        said = ("agprs: this release does not report them; counted as 0",)
    if not applies(counters()["halved_vgprs"], target.name) or agprs or evidence.decoded:
        return vgprs + agprs, None, said
    why = f"VGPR_Count {vgprs} is half: {2 * vgprs} are allocated ({counters()['halved_vgprs']['issue']})"
    if not evidence.halved:
        said += ("vgprs: doubled for the profiler's fault, which nothing in this trace proves or disproves",)
    return 2 * vgprs, why, said
