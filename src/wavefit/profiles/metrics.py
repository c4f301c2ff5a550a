"""Occupancy and utilisation out of counters: ratios of one pass, each with its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from wavefit.profiles.meaning import applies, counters
from wavefit.profiles.model import Counters

WAVES, BUSY_UNIT, BUSY_ENGINE, ACTIVE = (
    "SQ_WAVE_CYCLES", "SQ_BUSY_CU_CYCLES", "SQ_BUSY_CYCLES", "GRBM_GUI_ACTIVE",
)  # fmt: skip
SPI_BUSY = ("SPI_CSN_BUSY", "SPI_CS0_BUSY", "SPI_CS1_BUSY", "SPI_CS2_BUSY", "SPI_CS3_BUSY")
MATRIX, VALU = ("MfmaUtil",), ("VALUBusy", "ValuPipeIssueUtil")
TENSOR = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"
PIPES = tuple(
    f"sm__pipe_{pipe}_cycles_active.avg.pct_of_peak_sustained_elapsed" for pipe in ("alu", "fma", "fp64")
)
FREQUENCY = "smsp__cycles_elapsed.avg.per_second"
WARPS = "sm__warps_active.avg.per_cycle_active"


@dataclass(frozen=True, slots=True)
class Machine:
    """What the ratios are divided by: a target's counters on a device. None where it is not known."""

    target: str
    tool: str = ""
    units: int | None = None
    dies: int | None = None
    engines: int | None = None
    simds: int | None = None


class Reading(NamedTuple):
    """One way to tell occupancy: waves a unit, averaged over `busy` or over `all` units, and how.

    `rank` orders the ways, the most robust first: those over busy units leave out launch and drain.
    """

    rank: int
    method: str
    over: str
    waves: float


def occupancies(one: Counters, machine: Machine) -> Iterator[Reading]:
    """Every Reading that the counters of one pass give."""
    if WARPS in one:
        yield Reading(0, WARPS, "busy", one[WARPS])
    clocks = page(machine.target, machine.tool).clocks
    if clocks and one.get(WAVES):
        cycles = one[WAVES] * clocks  # for each clock, the waves resident on the whole device
        if one.get(BUSY_UNIT):
            yield Reading(0, f"{WAVES} / {BUSY_UNIT}", "busy", cycles / one[BUSY_UNIT])
        if machine.units and machine.engines:
            per_unit = machine.engines / machine.units
            if one.get(BUSY_ENGINE):
                yield Reading(1, f"{WAVES} / {BUSY_ENGINE}", "busy", cycles / one[BUSY_ENGINE] * per_unit)
            pipes = [one[name] for name in SPI_BUSY if one.get(name)]
            if len(pipes) == 1:  # several pipes overlap by an unknown amount
                yield Reading(3, f"{WAVES} / SPI busy cycles", "busy", cycles / pipes[0] * per_unit)
        active = active_cycles(one, machine)
        if active and machine.units:
            yield Reading(6, f"{WAVES} / {ACTIVE}", "all", cycles / active / machine.units)
    yield from _reported(one, machine)


def _reported(one: Counters, machine: Machine) -> Iterator[Reading]:
    for entry in page(machine.target, machine.tool).metrics:
        value = one.get(entry["name"])
        if not value:
            continue
        if entry["unit"] == "percent":
            yield Reading(5, entry["name"], entry["over"], value / 100 * entry["slots"])
        elif entry["unit"] == "waves per unit":
            yield Reading(4, entry["name"], entry["over"], value)
        elif machine.simds:
            yield Reading(2, entry["name"], entry["over"], value * machine.simds)


@dataclass(frozen=True, slots=True)
class Page:
    """What the page of counters says for one target and tool.

    `clocks` is what one count of SQ_WAVE_CYCLES stands for, None where that is not known; `valu` that
    SQ_ACTIVE_INST_VALU gives a share of time; `unusable` are metrics that say nothing known, and why.
    """

    clocks: float | None
    valu: bool
    metrics: tuple[Mapping[str, Any], ...]
    unusable: Mapping[str, str]


@lru_cache(maxsize=64)
def page(target: str, tool: str) -> Page:
    """The Page of a target and a tool."""
    found = counters()
    clocks = (float(entry["clocks"]) for entry in found["wave_cycles"] if applies(entry, target))
    absent = [name for entry in found["absent"] if applies(entry, target) for name in entry["names"]]
    absent += [entry["name"] for entry in found["occupancy"] if not applies(entry, target)]
    unusable = dict.fromkeys(absent, f"not defined for {target}")
    for entry in found["wrong"]:
        if applies(entry, target) and entry["tool"] == tool:
            unusable[entry["name"]] = entry["why"]
    metrics = tuple(entry for entry in found["occupancy"] if entry["name"] not in unusable)
    return Page(next(clocks, None), applies(found["valu_busy"], target), metrics, unusable)


def active_cycles(one: Counters, machine: Machine) -> float | None:
    """Clocks from the launch to the end: the raw counter is a sum over dies."""
    return one[ACTIVE] / machine.dies if one.get(ACTIVE) and machine.dies else None


def matrix_busy(one: Counters, machine: Machine) -> float | None:
    """Percent of the time that the matrix units work."""
    for name in (*MATRIX, TENSOR):
        if name in one:
            return one[name]
    busy, active = one.get("SQ_VALU_MFMA_BUSY_CYCLES"), active_cycles(one, machine)
    if busy is None or not active or not machine.units or not machine.simds:
        return None
    return 100 * busy / (active * machine.units * machine.simds)


def valu_busy(one: Counters, machine: Machine) -> float | None:
    """Percent of the time that the vector units issue."""
    for name in VALU:
        if name in one:
            return one[name]
    pipes = [one[name] for name in PIPES if name in one]
    if pipes:
        return max(pipes)
    issued, active = one.get("SQ_ACTIVE_INST_VALU"), active_cycles(one, machine)
    if issued is None or not active or not machine.units or not page(machine.target, machine.tool).valu:
        return None
    return 100 * issued / active / machine.units


class Limiter(NamedTuple):
    """A counter of cycles in which a resource kept workgroups from going out: their share, if it is known."""

    resource: str
    counter: str
    cycles: float
    percent: float | None


@lru_cache(maxsize=1)
def limiter_names() -> frozenset[str]:
    """The SPI counters that name a resource."""
    return frozenset(entry["name"] for entry in counters()["limiter"])


def limiters(one: Counters, machine: Machine) -> Iterator[Limiter]:
    """The SPI counters of one pass."""
    active = active_cycles(one, machine)
    for entry in counters()["limiter"]:
        cycles = one.get(entry["name"])
        if cycles is None:
            continue
        share = None
        if entry["percent"] and active and machine.units:
            share = entry["percent"] * cycles / (active * machine.units)
        yield Limiter(entry["resource"], entry["name"], cycles, share)


def clock(one: Counters, seconds: float | None, machine: Machine) -> float | None:
    """MHz over the dispatch, from clocks and time of the same pass."""
    if FREQUENCY in one:
        return one[FREQUENCY] / 1e6
    active = active_cycles(one, machine)
    return active / seconds / 1e6 if active and seconds else None
