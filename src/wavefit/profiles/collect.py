"""From millions of Measurements to one Group a kernel and launch: running sums, no dispatch is kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from wavefit.profiles.meaning import Evidence
from wavefit.profiles.metrics import (
    Machine,
    active_cycles,
    clock,
    limiter_names,
    limiters,
    matrix_busy,
    occupancies,
    page,
    valu_busy,
)  # fmt: skip
from wavefit.profiles.model import LDS_DISPATCH, Counters, Device, Measurement, Reported
from wavefit.profiles.names import bare
from wavefit.profiles.repeats import NEW, SAME, Repeats

THEORY = "sm__maximum_warps_avg_per_active_cycle"
"""Nsight Compute's own ceiling, in warps an SM."""
BLOCK_LIMITS = {
    "launch__occupancy_limit_blocks": "workgroups",
    "launch__occupancy_limit_registers": "vgpr",
    "launch__occupancy_limit_shared_mem": "lds",
    "launch__occupancy_limit_warps": "slots",
    "launch__occupancy_limit_barriers": "workgroups",
}

MOST_KEPT = 1 << 18
MOST_UNITED = 256
"""Groups of one kernel and launch that are compared with each other."""

Way = tuple[int, str, str]
"""Rank, method and basis of a Reading."""


@dataclass(slots=True)
class Stat:
    """A running mean with its extremes."""

    count: int = 0
    total: float = 0.0
    low: float = float("inf")
    high: float = float("-inf")

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        if value < self.low:
            self.low = value
        if value > self.high:
            self.high = value

    def absorb(self, other: Stat) -> None:
        self.count, self.total = self.count + other.count, self.total + other.total
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)

    @property
    def mean(self) -> float | None:
        return self.total / self.count if self.count else None


@dataclass(slots=True)
class Limited:
    """What one SPI counter said: cycles, and percent of the time in the passes that tell."""

    cycles: Stat = field(default_factory=Stat)
    percent: Stat = field(default_factory=Stat)


@dataclass(slots=True)
class Group:
    """All dispatches of one kernel, launched alike and costing the same on the same kind of device."""

    reported: Reported
    machine: Machine
    source: str
    tools: set[str] = field(default_factory=set)
    files: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: Stat = field(default_factory=Stat)
    readings: dict[Way, Stat] = field(default_factory=lambda: defaultdict(Stat))
    stats: dict[str, Stat] = field(default_factory=lambda: defaultdict(Stat))
    """`matrix` and `valu` (percent), `clock` (MHz), `cycles` (launch to end), `theory` and `waves`."""
    limits: dict[tuple[str, str], Limited] = field(default_factory=lambda: defaultdict(Limited))
    """By resource and SPI counter."""
    blocks: dict[str, Stat] = field(default_factory=lambda: defaultdict(Stat))
    """Resource to the blocks that Nsight Compute says it allows."""
    unusable: dict[str, str] = field(default_factory=dict)
    """Metrics that are there but say nothing, and why."""
    repeated: int = 0
    """Dispatches that a file shows once more, word for word: left out."""
    rare: frozenset[str] = field(default_factory=lambda: frozenset((*BLOCK_LIMITS, *limiter_names())))
    """Counters that most passes do not have."""

    @property
    def dispatches(self) -> int:
        """As many as the file (or pass) with the most shows: each repeats them."""
        return max(self.files.values(), default=0)

    def add(self, measurement: Measurement, how: str) -> None:
        """A dispatch, and whether its file showed it before (a word of `repeats`)."""
        if how == SAME:
            self.repeated += 1
            return
        self.files[measurement.file, measurement.part] += measurement.calls if how == NEW else 0
        seconds = measurement.seconds
        if seconds is not None:
            self.seconds.add(seconds / measurement.calls)
        alone = len(measurement.passes) == 1
        for one in measurement.passes:
            self._count(one, seconds if alone else None)

    def _count(self, one: Counters, seconds: float | None) -> None:
        machine = self.machine
        for rank, method, over, waves in occupancies(one, machine):
            self.readings[rank, method, over].add(waves)
        for name, value in (
            ("matrix", matrix_busy(one, machine)),
            ("valu", valu_busy(one, machine)),
            ("clock", clock(one, seconds, machine)),
            ("cycles", active_cycles(one, machine)),
            ("theory", one.get(THEORY)),
            ("waves", one.get("SQ_WAVES")),
        ):
            if value is not None:
                self.stats[name].add(value)
        unusable = page(machine.target, machine.tool).unusable
        if not one.keys().isdisjoint(unusable):
            self.unusable |= {name: unusable[name] for name in unusable if name in one}
        if self.rare.isdisjoint(one):
            return
        for limiter in limiters(one, machine):
            found = self.limits[limiter.resource, limiter.counter]
            found.cycles.add(limiter.cycles)
            if limiter.percent is not None:
                found.percent.add(limiter.percent)
        for name, resource in BLOCK_LIMITS.items():
            if name in one:
                self.blocks[resource].add(one[name])

    def absorb(self, other: Group) -> None:
        """The same dispatches as another output shows them: its counts, and what only it knows."""
        mine, theirs = self.reported, other.reported
        if mine.lds_means != LDS_DISPATCH and theirs.lds is not None and theirs.lds_means == LDS_DISPATCH:
            mine = replace(mine, lds=theirs.lds, lds_means=theirs.lds_means, lds_static=theirs.lds_static)
        self.reported = replace(
            mine,
            device=_fuller(mine.device, theirs.device),
            symbol=mine.symbol or theirs.symbol,
            agprs=theirs.agprs if mine.agprs is None else mine.agprs,
            wave=mine.wave or theirs.wave,
        )
        self.tools |= other.tools
        self.files.update(other.files)
        self.seconds.absorb(other.seconds)
        self.unusable |= other.unusable
        self.repeated += other.repeated
        for way, found in other.readings.items():
            self.readings[way].absorb(found)
        for mine_by, theirs_by in ((self.stats, other.stats), (self.blocks, other.blocks)):
            for name, stat in theirs_by.items():
                mine_by[name].absorb(stat)
        for which, limited in other.limits.items():
            self.limits[which].cycles.absorb(limited.cycles)
            self.limits[which].percent.absorb(limited.percent)


class Collector:
    """Sorts Measurements into Groups. `machine_of` says what is known of where a Reported ran."""

    def __init__(self, machine_of: Callable[[Reported], Machine]) -> None:
        self._machine_of = machine_of
        self._groups: dict[tuple[object, ...], Group] = {}
        self._by_identity: dict[int, tuple[Reported, Group]] = {}
        self._repeats = Repeats()
        self.evidence: dict[str, Evidence] = defaultdict(Evidence)

    def add(self, measurement: Measurement) -> None:
        known = self._by_identity.get(id(measurement.reported))
        group = known[1] if known else self._group(measurement)
        group.add(measurement, self._repeats.of(measurement, id(group)))

    def _group(self, measurement: Measurement) -> Group:
        reported = measurement.reported
        key = (
            bare(reported.kernel), _place(reported), reported.threads, reported.workgroups,
            reported.vgprs, reported.agprs, reported.sgprs, reported.scratch,
            reported.lds, reported.lds_means,
        )  # fmt: skip
        group = self._groups.get(key)
        if group is None:
            source = f"{measurement.file}:{measurement.row}"
            group = self._groups[key] = Group(reported, self._machine_of(reported), source)
            self.evidence[group.machine.target].add(reported)
        group.tools.add(reported.tool)
        if len(self._by_identity) >= MOST_KEPT:
            self._by_identity.clear()
        self._by_identity[id(reported)] = (reported, group)  # keeps it alive, so its identity is its own
        return group

    def groups(self) -> list[Group]:
        """The Groups, those of one launch that different outputs show made one."""
        buckets: dict[tuple[object, ...], list[Group]] = defaultdict(list)
        for group in self._groups.values():
            r = group.reported
            buckets[bare(r.kernel), _place(r), r.threads, r.workgroups].append(group)
        whole = [group for bucket in buckets.values() for group in _united(bucket)]
        launched = {bare(group.reported.kernel) for group in whole if group.reported.threads}
        return [g for g in whole if g.reported.threads or bare(g.reported.kernel) not in launched]


def _place(reported: Reported) -> object:
    """Where a kernel ran, as far as it matters: GPUs alike are one place."""
    device = reported.device
    return device and (device.target, device.units, device.dies)


def _united(groups: Iterable[Group]) -> list[Group]:
    """Groups of one kernel and launch; one that knows less joins the only one it does not contradict."""
    kept: list[Group] = []
    groups = list(groups)
    if len(groups) > MOST_UNITED:
        return groups
    for group in sorted(groups, key=lambda g: -_knows(g.reported)):
        fits = [other for other in kept if _agree(other.reported, group.reported)]
        if len(fits) == 1:
            fits[0].absorb(group)
        else:
            kept.append(group)
    return kept


def _fuller(mine: Device | None, theirs: Device | None) -> Device | None:
    return theirs if mine is None or (theirs is not None and mine.name is None) else mine


def _knows(reported: Reported) -> int:
    known = reported.vgprs, reported.agprs, reported.sgprs
    return 2 * sum(value is not None for value in known) + (reported.lds_means == LDS_DISPATCH)


def _agree(more: Reported, less: Reported) -> bool:
    pairs = (
        (more.vgprs, less.vgprs),
        (more.agprs, less.agprs),
        (more.sgprs, less.sgprs),
        (more.scratch, less.scratch),
    )
    if any(mine is not None and theirs is not None and mine != theirs for mine, theirs in pairs):
        return False
    return more.lds_means != less.lds_means or more.lds == less.lds
