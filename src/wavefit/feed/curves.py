"""Curves as plain data: throughput against occupancy, one line an ILP; bandwidth against bytes in flight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wavefit.chips import Chip, Target
from wavefit.feed.matrix import most_waves, refusal, spends
from wavefit.feed.memory import MemoryFeed, feed_memory
from wavefit.feed.model import Json
from wavefit.feed.simulate import INSTRUCTIONS, simulate
from wavefit.feed.timing import timing
from wavefit.occupancy.question import as_chip
from wavefit.occupancy.result import BadQuestion
from wavefit.shown import Listed, Shown

Of = str | Chip | Target
SHAPES = ((4, 1), (4, 4), (8, 1), (16, 1), (16, 2), (16, 4))
"""Bytes a lane and loads in flight of the default memory curves."""


@dataclass(frozen=True, slots=True)
class Point:
    """One wave count of a curve. `utilisation` and `flops` are est., None where `why` says it cannot run."""

    waves: int
    occupancy: float
    utilisation: float | None
    flops: float | None
    why: str | None = None

    def to_dict(self) -> Json:
        """The point as a JSON object."""
        return {
            "waves": self.waves,
            "occupancy": self.occupancy,
            "utilisation": self.utilisation,
            "flops": self.flops,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class Curve(Shown):
    """Utilisation and FLOP/s of one ILP at every wave count a SIMD has slots for."""

    chip: str | None
    instruction: str
    ilp: int
    points: tuple[Point, ...]

    def to_dict(self) -> Json:
        """The curve as a JSON object."""
        return {
            "chip": self.chip,
            "instruction": self.instruction,
            "ilp": self.ilp,
            "points": [point.to_dict() for point in self.points],
        }


@dataclass(frozen=True, slots=True)
class MemoryCurve(Shown):
    """Bandwidth of one load shape at every wave count that its registers admit."""

    vector_bytes: int
    outstanding: int
    points: tuple[MemoryFeed, ...]

    def to_dict(self) -> Json:
        """The curve as a JSON object."""
        return {
            "vector_bytes": self.vector_bytes,
            "outstanding": self.outstanding,
            "points": [
                {
                    "waves": each.waves,
                    "bytes_in_flight": each.bytes_in_flight,
                    "bytes_per_second": each.bytes_per_second,
                    "bound": each.bound,
                }
                for each in self.points
            ],
        }


def feed_curves(
    of: Of,
    instruction: str,
    *,
    ilps: Iterable[int] = (1, 2, 4, 8),
    waves: Sequence[int] | None = None,
    instructions: int = INSTRUCTIONS,
    interval: float | None = None,
    latency: float | None = None,
    clock_mhz: float | None = None,
) -> Listed[Curve]:
    """The full sweep, ILP x waves: one Curve an ILP, with a reason at each point that cannot be resident.

    `waves` a SIMD default to every slot. Raises as `feed`, but for what does not fit.
    """
    chip = as_chip(of)
    known = timing(chip, instruction, interval=interval, latency=latency, clock_mhz=clock_mhz)
    slots = chip.target.unit().wave_slots or 1
    counts = range(1, slots + 1) if waves is None else waves

    def at(chains: int, count: int, most: int | None) -> Point:
        why = refusal(chip, known, chains, count, spends(known, chains), most)
        if why:
            return Point(count, count / slots, None, None, why)
        busy = simulate(known.loop(chains), count, instructions, known.arbitration).busy(known.held)
        return Point(count, count / slots, busy, None if known.peak is None else busy * known.peak)

    def curve(chains: int) -> Curve:
        most = most_waves(chip, known, spends(known, chains))
        points = tuple(at(chains, count, most) for count in counts)
        return Curve(chip.name, known.instruction, chains, points)

    return Listed(curve(chains) for chains in ilps)


def memory_curves(
    of: Of,
    *,
    shapes: Iterable[tuple[int, int]] = SHAPES,
    level: str = "memory",
    latency_ns: float | None = None,
    bandwidth: float | None = None,
) -> Listed[MemoryCurve]:
    """Bandwidth against bytes in flight for (bytes a lane, loads) shapes, over every wave count that fits.

    Raises NotKnown and BadQuestion as `feed_memory`, but for waves that do not fit.
    """
    chip = as_chip(of)
    slots = chip.target.unit().wave_slots or 1
    found = []
    for vector_bytes, outstanding in shapes:
        points: list[MemoryFeed] = []
        for waves in range(1, slots + 1):
            try:
                points.append(
                    feed_memory(
                        chip, waves=waves, vector_bytes=vector_bytes, outstanding=outstanding,
                        level=level, latency_ns=latency_ns, bandwidth=bandwidth,
                    )
                )  # fmt: skip
            except BadQuestion:
                if not points:
                    raise
                break
        found.append(MemoryCurve(vector_bytes, outstanding, tuple(points)))
    return Listed(found)
