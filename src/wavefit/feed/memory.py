"""Bytes in flight = latency x bandwidth: what a chip's waves ask for, and what the memory then gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log2, sqrt

from wavefit.chips import Chip, Fact, Target
from wavefit.feed.facts import fact, number, soft, title
from wavefit.feed.model import Json
from wavefit.matrix.errors import NotKnown, Refused
from wavefit.occupancy.fit import fit
from wavefit.occupancy.question import as_chip
from wavefit.occupancy.result import BadQuestion, Fit

Of = str | Chip | Target
_First = Callable[..., float | None]

LEVELS = {
    "memory": ("latency.memory", ("memory.read_bandwidth_measured", "memory.bandwidth")),
    "l2": ("latency.l2", ("cache.l2_bandwidth_measured",)),
    "lds": ("latency.lds", ("lds.bandwidth_measured",)),
}
"""Where the plain latency and bandwidth of each level stand, where `feed` has no better ones."""

_WIDTHS = (1, 2, 4, 8, 16)


@dataclass(frozen=True, slots=True)
class Level:
    """One level of memory (`name`) as a wave sees it. Times in ns, `bandwidth` in bytes/s of the whole chip.

    A batch of loads takes `latency_ns`, `line_ns` more for each further line of it, and `spread_ns` more
    for each doubling of the loads that are waited for (the slowest counts); then `queue_ns` x r / (1 - r)
    in the queue of a memory that is busy for a share r. At most `lane_bytes` a lane are in flight. A line has
    `line_bytes`. `facts` hold the sources by path, `assumptions` what is not known.
    """

    name: str
    latency_ns: float
    bandwidth: float
    queue_ns: float = 0.0
    line_ns: float = 0.0
    line_bytes: int = 128
    spread_ns: float = 0.0
    lane_bytes: float | None = None
    facts: tuple[tuple[str, Fact], ...] = ()
    assumptions: tuple[str, ...] = ()

    def batch_ns(self, lanes: int, vector_bytes: int, loads: float) -> float:
        """How long a wave waits for a batch of loads, of an otherwise idle memory."""
        lines = max(1.0, lanes * vector_bytes * loads / self.line_bytes)
        return self.latency_ns + self.line_ns * (lines - 1) + self.spread_ns * log2(max(1.0, loads))

    def rate(self, in_flight: float, batch_ns: float) -> float:
        """Bytes/s when `in_flight` bytes wait `batch_ns` and their turn: Little's law with the queue."""
        most, per_ns = self.bandwidth, self.bandwidth / 1e9
        if not self.queue_ns:
            return min(most, in_flight / batch_ns * 1e9)
        # r x (batch + queue r / (1 - r)) = in_flight / bandwidth, a quadratic in the busy share r.
        turns = in_flight / per_ns
        linear = batch_ns + turns
        return most * 2 * turns / (linear + sqrt(linear**2 + 4 * (self.queue_ns - batch_ns) * turns))


@dataclass(frozen=True)
class MemoryFeed:
    """What memory gives to `waves` waves a SIMD, each lane with `outstanding` loads of `vector_bytes`.

    Bytes and bytes/s are of the whole chip (of the `cus` in use). `bytes_per_second` is est.; `bound` is
    the closed form min(in flight / latency, bandwidth); `needed_bytes` = latency x bandwidth.
    `bytes_per_wave` and `bytes_per_cu` make up `bytes_in_flight`; `level` holds the latency and bandwidth
    with their sources, `assumptions` what the answer rests on.
    """

    chip: str
    level: Level
    waves: int
    vector_bytes: int
    outstanding: int
    cus: int
    bytes_per_wave: float
    bytes_per_cu: float
    bytes_in_flight: float
    needed_bytes: float
    latency_ns: float
    """What a wave waits for its loads in all."""
    bytes_per_second: float
    bound: float
    assumptions: tuple[str, ...]

    @property
    def share(self) -> float:
        """Of the level's bandwidth, 0 to 1."""
        return self.bytes_per_second / self.level.bandwidth

    @property
    def words(self) -> str:
        """The verdict in one line."""
        return (
            f"needs {self.needed_bytes / 1e3:,.0f} KB in flight ({self.level.latency_ns:g} ns x "
            f"{self.level.bandwidth / 1e12:.2f} TB/s), has {self.bytes_in_flight / 1e3:,.0f} KB: "
            f"est. {self.bytes_per_second / 1e9:,.0f} GB/s, {self.share:.0%}"
        )

    def to_dict(self) -> Json:
        """The result as a JSON object, schema `wavefit.feed-memory/1`."""
        return {
            "schema": "wavefit.feed-memory/1",
            "chip": self.chip,
            "level": self.level.name,
            "waves": self.waves,
            "vector_bytes": self.vector_bytes,
            "outstanding": self.outstanding,
            "cus": self.cus,
            "bytes_per_wave": self.bytes_per_wave,
            "bytes_per_cu": self.bytes_per_cu,
            "bytes_in_flight": self.bytes_in_flight,
            "needed_bytes": self.needed_bytes,
            "latency_ns": self.latency_ns,
            "bytes_per_second": self.bytes_per_second,
            "bound": self.bound,
            "share": self.share,
            "assumptions": list(self.assumptions),
        }


def feed_memory(
    of: Of,
    *,
    waves: int,
    vector_bytes: int,
    outstanding: int,
    level: str = "memory",
    cus: int | None = None,
    latency_ns: float | None = None,
    bandwidth: float | None = None,
    lane_bytes: float | None = None,
) -> MemoryFeed:
    """What bandwidth `waves` waves a SIMD reach that each keep `outstanding` loads of `vector_bytes` a lane.

    `level` is memory, l2 or lds; `cus` are those in use (default: all); `latency_ns`, `bandwidth` (bytes/s)
    and `lane_bytes` (in flight a lane at most, as a plain loop is compiled) replace what the chip's pages
    say. Raises ChipNotFound, BadQuestion with the reason where waves or loads do not fit slots or registers,
    NotKnown where a latency or bandwidth is not public and not given.
    """
    chip = as_chip(of)
    counts = {"waves": waves, "vector_bytes": vector_bytes, "outstanding": outstanding, "cus": cus}
    for name, count in counts.items():
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
            raise BadQuestion(f"{name} must be a whole number of at least 1, not {count!r}")
    if vector_bytes not in _WIDTHS:
        raise BadQuestion(f"vector_bytes must be one of {', '.join(map(str, _WIDTHS))}, not {vector_bytes}")
    used = _cus(chip, cus)
    _fits(chip, waves, vector_bytes, outstanding)
    at = memory_level(chip, level, latency_ns=latency_ns, bandwidth=bandwidth)
    if lane_bytes is not None:
        at = replace(at, lane_bytes=lane_bytes)
    lanes, loads = chip.target.default_wave, float(outstanding)
    if at.lane_bytes is not None:
        loads = min(loads, max(1.0, at.lane_bytes / vector_bytes))
    per_wave = lanes * vector_bytes * loads
    per_cu = per_wave * waves * (chip.target.units.get("cu") or chip.target.unit()).simds
    in_flight = per_cu * used
    batch = at.batch_ns(lanes, vector_bytes, loads)
    rate = at.rate(in_flight, batch)
    capped = (
        (f"{loads:g} of {outstanding} loads count: {at.lane_bytes:g} bytes a lane",)
        if loads < outstanding
        else ()
    )
    return MemoryFeed(
        chip=title(chip),
        level=at,
        waves=waves,
        vector_bytes=vector_bytes,
        outstanding=outstanding,
        cus=used,
        bytes_per_wave=per_wave,
        bytes_per_cu=per_cu,
        bytes_in_flight=in_flight,
        needed_bytes=at.latency_ns * at.bandwidth / 1e9,
        latency_ns=in_flight / rate * 1e9,
        bytes_per_second=rate,
        bound=min(in_flight / at.latency_ns * 1e9, at.bandwidth),
        assumptions=(*at.assumptions, *soft(dict(at.facts)), *capped),
    )


def memory_level(
    chip: Chip, name: str, *, latency_ns: float | None = None, bandwidth: float | None = None
) -> Level:
    """One level of a chip's memory, from its Facts or as given. Raises BadQuestion, NotKnown, Refused."""
    if name not in LEVELS:
        raise BadQuestion(f"unknown level {name!r}; there are {', '.join(LEVELS)}")
    for what, given in (("latency_ns", latency_ns), ("bandwidth", bandwidth)):
        if given is not None and not given > 0:
            raise Refused(f"{what} must be positive, not {given:g}")
    latency_path, bandwidth_paths = LEVELS[name]
    own = f"feed.{name}."
    facts: dict[str, Fact] = {}

    def first(*paths: str) -> float | None:
        found = fact(chip, *paths)
        if found is None or not isinstance(found[1].value, int | float):
            return None
        facts[found[0]] = found[1]
        return float(found[1].value)

    waits = (
        latency_ns
        or first(f"{own}latency_ns", f"{latency_path}_ns")
        or _from_cycles(chip, latency_path, first)
    )
    gives = bandwidth or first(f"{own}bandwidth", *bandwidth_paths)
    for what, found in (("latency_ns", waits), ("bandwidth", gives)):
        if found is None:
            raise NotKnown(
                f"{title(chip)}: the {what.partition('_')[0]} of its {name} is not public; give {what}="
            )
    assert waits is not None
    assert gives is not None
    queue = first(f"{own}queue_ns")
    plain = Level(name=name, latency_ns=waits, bandwidth=gives)
    if queue is None:
        words = "no queueing is known of it: an upper bound near the bandwidth"
        return replace(plain, facts=tuple(facts.items()), assumptions=(words,))
    return replace(
        plain,
        queue_ns=queue,
        line_ns=first(f"{own}line_ns") or 0.0,
        line_bytes=int(first(f"{own}line_bytes") or plain.line_bytes),
        spread_ns=first(f"{own}spread_ns") or 0.0,
        lane_bytes=first(f"{own}lane_bytes"),
        facts=tuple(facts.items()),
    )


def _from_cycles(chip: Chip, path: str, first: _First) -> float | None:
    """A latency that is known in cycles, at the chip's peak clock."""
    clock = number(chip, "clock.peak_mhz")
    cycles = first(f"{path}_cycles") if clock else None
    return cycles / clock * 1e3 if cycles and clock else None


def _cus(chip: Chip, cus: int | None) -> int:
    has = chip.value("compute.cus")
    if not isinstance(has, int):
        if cus is None:
            raise NotKnown(f"{title(chip)}: the number of its CUs is not known; name a product or give cus=")
        return cus
    if cus is not None and cus > has:
        raise BadQuestion(f"{title(chip)} has {has} CUs, not {cus}")
    return cus or has


def _fits(chip: Chip, waves: int, vector_bytes: int, outstanding: int) -> None:
    """Raises BadQuestion where so many waves with so many loads in registers cannot be resident."""
    slots = chip.target.unit().wave_slots
    if slots and waves > slots:
        raise BadQuestion(f"{title(chip)}: {waves} waves a SIMD, and it has {slots} wave slots")
    if chip.target.unknown:
        return
    registers = -(-vector_bytes // 4) * outstanding
    found = fit(chip, vgprs=registers, threads=chip.target.default_wave * chip.target.unit().simds)
    assert isinstance(found, Fit)
    if waves > found.waves_per_simd:
        raise BadQuestion(
            f"{title(chip)}: {outstanding} loads of {vector_bytes} bytes take {registers} registers a lane, "
            + (found.why or f"which fit {found.waves_per_simd} waves a SIMD, not {waves}")
        )
