"""The trap: more waves mean fewer registers, a smaller tile, less reuse, and a matrix unit that starves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

from wavefit.chips import Chip, Target
from wavefit.feed.facts import title
from wavefit.feed.matrix import most_registers
from wavefit.feed.model import Json, Loop, Timing
from wavefit.feed.roofline import balance, intensity
from wavefit.feed.simulate import simulate
from wavefit.feed.timing import timing
from wavefit.matrix.errors import NotKnown
from wavefit.matrix.model import Instruction
from wavefit.matrix.table import instruction as named_instruction
from wavefit.occupancy.question import as_chip
from wavefit.occupancy.result import BadQuestion

Of = str | Chip | Target
OTHER = 32
"""Registers a lane for addresses and counters, assumed where none are given."""


@dataclass(frozen=True, slots=True)
class TrapPoint:
    """The largest tile at one wave count. Tiles are (m, n) elements; `flops` (FLOP/s, chip) is est.

    `limits` holds what the matrix unit and each level of memory would allow; `by` names the least.
    """

    waves: int
    registers: int
    chains: int
    accumulators: int
    wave_tile: tuple[int, int]
    cu_tile: tuple[int, int]
    intensity: float
    wave_intensity: float
    utilisation: float
    limits: tuple[tuple[str, float], ...]

    @property
    def by(self) -> str:
        """What limits: `matrix` or a level of memory."""
        return min(self.limits, key=lambda limit: limit[1])[0]

    @property
    def flops(self) -> float:
        """FLOP/s of the chip, est."""
        return min(limit for _, limit in self.limits)

    def to_dict(self) -> Json:
        """The point as a JSON object."""
        return {
            "waves": self.waves,
            "registers": self.registers,
            "ilp": self.chains,
            "accumulators": self.accumulators,
            "wave_tile": list(self.wave_tile),
            "cu_tile": list(self.cu_tile),
            "intensity": self.intensity,
            "wave_intensity": self.wave_intensity,
            "utilisation": self.utilisation,
            "flops": self.flops,
            "by": self.by,
        }


@dataclass(frozen=True, slots=True)
class Trap:
    """The curve from many waves with small tiles to few with large ones, and where it peaks."""

    chip: str
    instruction: str
    points: tuple[TrapPoint, ...]
    best: TrapPoint
    assumptions: tuple[str, ...]

    def to_dict(self) -> Json:
        """The curve as a JSON object, schema `wavefit.trap/1`."""
        return {
            "schema": "wavefit.trap/1",
            "chip": self.chip,
            "instruction": self.instruction,
            "points": [point.to_dict() for point in self.points],
            "best": self.best.waves,
            "assumptions": list(self.assumptions),
        }


def trap(of: Of, instruction: str, *, other: int = OTHER, exposed: float = 0.0, reuse: float = 1.0) -> Trap:
    """For every wave count a SIMD can hold, the largest accumulator tile and the est. throughput of it.

    `other` registers a lane are kept for addresses; `exposed` cycles a wave stands still in each step of
    its tile (LDS reads, barriers), which other waves can fill; `reuse` is how often a byte from memory
    serves, by way of the caches, different CUs. Raises NotKnown without a peak, BadQuestion where
    nothing fits. The waves of a tile meet at barriers, so they take turns here, whatever the arbitration.
    """
    chip = as_chip(of)
    known, shape = timing(chip, instruction), named_instruction(chip, instruction)
    if known.peak is None:
        raise NotKnown(f"{title(chip)}: a throughput needs CUs and a clock; name a product")
    points = tuple(_points(chip, known, shape, other, exposed, reuse))
    if not points:
        raise BadQuestion(
            f"{title(chip)}: no wave has room for one {known.instruction} beside {other} registers"
        )
    best = max(points, key=lambda point: (point.flops, -point.waves))
    levels = [name for name, _ in best.limits if name != "matrix"]
    said = (
        f"other registers: {other} a lane; exposed: {exposed:g} cycles a step",
        f"every byte of a tile comes once from {' and '.join(levels) or 'no level of known bandwidth'}, "
        f"and serves {reuse:g} CU{'s' * (reuse != 1)}",
    )
    return Trap(title(chip), known.instruction, points, best, (*known.assumptions, *said))


def _points(
    chip: Chip, known: Timing, shape: Instruction, other: int, exposed: float, reuse: float
) -> Iterator[TrapPoint]:
    unit = chip.target.units.get("cu") or chip.target.unit()
    bandwidths = _bandwidths(chip, shape.a.type.group)
    for waves in range(1, chip.target.unit().wave_slots + 1):
        registers = most_registers(chip, known, waves)
        tile = _tile(shape, registers - other)
        if tile is None:
            return
        rows, columns = tile
        chains = rows * columns
        wave_tile = (rows * shape.m, columns * shape.n)
        down, across = _square(waves * unit.simds)
        cu_tile = (down * wave_tile[0], across * wave_tile[1])
        loop = Loop(chains, chains, known.interval, known.latency, known.cost, known.interval + exposed)
        busy = simulate(loop, waves, 64 * chains, "rotating").busy(known.held)
        by_cu, by_wave = (intensity(*at, shape.a.type.name, shape.b.type.name) for at in (cu_tile, wave_tile))
        reach = {"memory": by_cu * reuse, "l2": by_cu, "lds": by_wave}
        limits = {"matrix": busy * (known.peak or 0), **{at: reach[at] * bandwidths[at] for at in bandwidths}}
        yield TrapPoint(
            waves, registers, chains, chains * shape.c.registers, wave_tile, cu_tile,
            by_cu, by_wave, busy, tuple(limits.items()),
        )  # fmt: skip


def _tile(shape: Instruction, room: int) -> tuple[int, int] | None:
    """Instructions down and across that give a wave the most reuse in `room` registers a lane."""
    best, found = 0.0, None
    for rows in range(1, max(1, room // max(1, shape.a.registers)) + 1):
        left = room - rows * shape.a.registers
        columns = left // (shape.b.registers + rows * shape.c.registers)
        if columns < 1:
            break
        m, n = rows * shape.m, columns * shape.n
        if m * n / (m + n) > best:
            best, found = m * n / (m + n), (rows, columns)
    return found


def _square(count: int) -> tuple[int, int]:
    """The most nearly square arrangement of so many waves."""
    down = next(each for each in range(int(sqrt(count)), 0, -1) if count % each == 0)
    return down, count // down


def _bandwidths(chip: Chip, kind: str) -> dict[str, float]:
    """Bytes/s of every level whose bandwidth is known."""
    found = {}
    for level in ("memory", "l2", "lds"):
        try:
            found[level] = balance(chip, kind, level).bandwidth
        except NotKnown:
            continue
    return found
