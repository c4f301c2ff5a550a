"""What the feed room asks and answers: a loop of matrix instructions, its timing, the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wavefit.chips.model import Fact

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Loop:
    """The loop that every wave of one SIMD runs: `length` instructions an iteration in `chains` chains.

    All times are cycles. `interval` is how long one instruction holds the unit, `latency` the time from
    one to the next of its chain. At the end of an iteration the unit is lost for `cost`, whoever waits,
    and the wave's own next instruction comes no sooner than `wait` after its last.
    """

    chains: int
    length: int
    interval: float
    latency: float
    cost: float = 0.0
    wait: float = 0.0

    @property
    def needed(self) -> int:
        """Independent instructions that must be in flight to keep the unit busy: latency / interval."""
        return max(1, -int(-self.latency // self.interval))


@dataclass(frozen=True, slots=True)
class Timing:
    """One instruction on one chip: what the loops of `feed` are made of. Times in cycles.

    `held` is how long the instruction does work in the unit; `interval`, the closest spacing of two,
    may be a little more; `latency` lies between two of one chain. `flops` is of one instruction of one wave;
    `units` are the chip's SIMDs, None for a bare `target`; `clock_mhz` is the clock while it multiplies.
    Each turn of a loop has `cost` cycles of its own and may stand still for `wait`; `arbitration`
    (`oldest`, `rotating`) says which wave goes next. `facts` hold the sources, `assumptions` the soft ones.
    """

    chip: str | None
    target: str
    instruction: str
    held: float
    interval: float
    latency: float
    flops: int
    units: int | None
    clock_mhz: float | None
    cost: float
    wait: float
    repeats: tuple[tuple[int, int], ...]
    """(chains at most, iterations the compiler puts in one loop), ascending; empty: one."""
    arbitration: str
    operands: int
    """Registers a lane for A and B."""
    accumulator: int
    """Registers a lane for one chain."""
    facts: Mapping[str, Fact]
    assumptions: tuple[str, ...]

    def loop(self, chains: int) -> Loop:
        """The loop of `chains` chains as the chip's compiler leaves it."""
        times = next((times for most, times in self.repeats if chains <= most), 1)
        return Loop(chains, chains * times, self.interval, self.latency, self.cost, self.wait)

    @property
    def peak(self) -> float | None:
        """FLOP/s of the chip with the unit always busy, at `clock_mhz`; None for a bare target."""
        if self.units is None or self.clock_mhz is None:
            return None
        return self.flops / self.held * self.units * self.clock_mhz * 1e6


@dataclass(frozen=True, slots=True)
class Way:
    """One way to have enough in flight: more chains, or more waves.

    `registers` is what a wave then needs (chains) or may have at most (waves), `waves` how many waves a
    SIMD then holds at most; `utilisation` is est., 0 to 1. `by` is `chains` or `waves`, `possible` whether
    slots and registers allow it, `words` the same in one line.
    """

    by: str
    chains: int
    waves: int
    registers: int
    extra_registers: int
    """A lane and wave: what more chains add; negative: what must be saved for more waves."""
    possible: bool
    utilisation: float
    words: str

    def to_dict(self) -> Json:
        """The way as a JSON object."""
        return {
            "by": self.by,
            "ilp": self.chains,
            "waves": self.waves,
            "registers": self.registers,
            "extra_registers": self.extra_registers,
            "possible": self.possible,
            "utilisation": self.utilisation,
            "words": self.words,
        }


@dataclass(frozen=True)
class Feed:
    """Whether the matrix unit is kept busy by `waves` waves a SIMD of `ilp` chains each.

    `utilisation` (0 to 1) and `flops` (FLOP/s of the chip, None for a bare target) are est., from the
    simulated loop; `bound` is the closed form min(1, in_flight x interval / latency). `of_peak` is
    against the chip's peak for the type, at its peak clock, whatever instruction reaches that.

    `timing` says what is known of the instruction and by whom. A wave spends `registers` a lane.
    `needed_in_flight` independent instructions a SIMD fill the unit; `ways` lead there, the cheapest that is
    possible first; `assumptions` are what the answer rests on.
    """

    timing: Timing
    ilp: int
    waves: int
    registers: int
    needed_in_flight: int
    in_flight: int
    utilisation: float
    bound: float
    flops: float | None
    of_peak: float | None
    alone: float
    """Share of the time in which fewer waves than at the start are left: starved ones, at the end."""
    ways: tuple[Way, ...]
    assumptions: tuple[str, ...]

    @property
    def missing(self) -> int:
        """Independent instructions more that would keep the unit busy."""
        return max(0, self.needed_in_flight - self.in_flight)

    @property
    def words(self) -> str:
        """The verdict in one line."""
        fed = "fed" if not self.missing else f"{self.missing} short"
        return (
            f"needs {self.needed_in_flight} in flight (latency {self.timing.latency:g} / interval "
            f"{self.timing.interval:g} cycles), has {self.waves} x {self.ilp} = {self.in_flight}: {fed}; "
            f"est. {self.utilisation:.0%} of the unit"
        )

    def to_dict(self) -> Json:
        """The result as a JSON object, schema `wavefit.feed/1`."""
        return {
            "schema": "wavefit.feed/1",
            "chip": self.timing.chip,
            "target": self.timing.target,
            "instruction": self.timing.instruction,
            "ilp": self.ilp,
            "waves": self.waves,
            "registers": self.registers,
            "interval": self.timing.interval,
            "latency": self.timing.latency,
            "clock_mhz": self.timing.clock_mhz,
            "needed_in_flight": self.needed_in_flight,
            "in_flight": self.in_flight,
            "missing": self.missing,
            "utilisation": self.utilisation,
            "bound": self.bound,
            "flops": self.flops,
            "of_peak": self.of_peak,
            "alone": self.alone,
            "ways": [way.to_dict() for way in self.ways],
            "assumptions": list(self.assumptions),
        }
