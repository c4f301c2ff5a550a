"""Is a decoded loop fed: est. cycles of one iteration, the pipe that binds, how busy the matrix unit is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from wavefit.chips import Chip, Fact, Target, products
from wavefit.feed.facts import fact, soft, title
from wavefit.feed.loop_play import PIPES, Step, play
from wavefit.feed.model import Json
from wavefit.feed.timing import timing
from wavefit.isa import Loop, Op
from wavefit.isa.waits import allowed, counters_of, queues
from wavefit.matrix.errors import MatrixError, NotKnown
from wavefit.matrix.model import Instruction
from wavefit.matrix.packed import packed_fp32
from wavefit.matrix.table import instruction as named_instruction
from wavefit.matrix.table import simds
from wavefit.occupancy.question import as_chip
from wavefit.occupancy.result import BadQuestion

Of = str | Chip | Target

BUSY = 0.9
"""A pipe that is busy for this share of the time is the one that binds; below, the waves wait for results."""

_FORMATS = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
"""Element formats by the code that f8f6f4 instructions name them with (amd_matrix_instruction_calculator)."""


@dataclass(frozen=True, slots=True)
class Machine:
    """One SIMD in cycles: a wave's issue slot, a vector instruction, LDS, latencies; None: unknown."""

    chip: Chip
    slot: float
    valu: float
    lds_bytes: float | None
    """A cycle, of the SIMD's share when all use it."""
    lds_latency: float | None
    memory_latency: float | None
    near_latency: float | None
    """Of what stays close: scratch and the scalar unit's loads."""
    clock_mhz: float | None
    arbitration: str
    lanes: int
    facts: Mapping[str, Fact]
    assumptions: tuple[str, ...]


@dataclass(frozen=True)
class LoopFeed:
    """How a loop runs with `waves` waves a SIMD. All est.

    `cycles` is the time in which every wave runs one iteration; `busy` the share of it, 0 to 1, that each
    pipe works; `binds` the pipe that is busiest, or `latency` where none is busy for 90 % of the time.
    `utilisation` is the matrix unit's. `tolerance` are cycles from a load to where its data is waited for:
    a memory that takes no longer costs nothing. None: the loop has no such wait.
    """

    chip: str
    waves: int
    cycles: float
    busy: Mapping[str, float]
    binds: str
    tolerance: float | None
    clock_mhz: float | None
    memory_bytes: float
    """Bytes that all waves of a SIMD ask of memory in `cycles`."""
    assumptions: tuple[str, ...]

    @property
    def utilisation(self) -> float:
        return self.busy["matrix"]

    @property
    def tolerance_ns(self) -> float | None:
        """The tolerance at the clock of `clock_mhz`."""
        if self.tolerance is None or not self.clock_mhz:
            return None
        return self.tolerance / self.clock_mhz * 1e3

    def to_dict(self) -> Json:
        """The result as a JSON object, schema `wavefit.loop-feed/1`."""
        return {
            "schema": "wavefit.loop-feed/1",
            "chip": self.chip,
            "waves": self.waves,
            "cycles": self.cycles,
            "utilisation": self.utilisation,
            "busy": dict(self.busy),
            "binds": self.binds,
            "tolerance_cycles": self.tolerance,
            "tolerance_ns": self.tolerance_ns,
            "memory_bytes": self.memory_bytes,
            "assumptions": list(self.assumptions),
        }


def feed_loop(loop: Loop, of: Of, *, waves: int, group: int = 1, memory_ns: float | None = None) -> LoopFeed:
    """How a decoded loop keeps the pipes of one SIMD busy with `waves` waves on it.

    `group` waves of those belong to one workgroup and meet at its barriers; `memory_ns` is what a load from
    memory takes (0: it is always there in time; default: the chip's own latency, else that of a like chip,
    which the answer says). Raises BadQuestion for a
    count below 1, NotKnown where the chip's issue rate or a matrix instruction's time is not public, or where
    the code does not show what it waits for or calls functions.
    """
    for name, count in (("waves", waves), ("group", group)):
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise BadQuestion(f"{name} must be a whole number of at least 1, not {count!r}")
    known = machine(of, memory_ns=memory_ns)
    if not counters_of(known.chip.target.name):
        raise NotKnown(
            f"{title(known.chip)}: what an instruction waits for is in bits that disassemblers do not print; "
            "no loop can be timed"
        )
    if calls := loop.counts.kind("call"):
        raise NotKnown(f"the loop calls functions ({calls}), whose time is not known; it is not timed")
    steps, cost, said, facts = _steps(loop, known)
    run = play(
        steps, waves, group=min(group, waves), slot=known.slot, cost=cost, arbitration=known.arbitration
    )
    busy = dict(zip(PIPES, run.busy, strict=True))
    most = max(busy, key=lambda name: busy[name])
    return LoopFeed(
        chip=title(known.chip),
        waves=waves,
        cycles=run.cycles,
        busy=busy,
        binds=most if busy[most] >= BUSY else "latency",
        tolerance=run.tolerance,
        clock_mhz=known.clock_mhz,
        memory_bytes=_asked(loop) * known.lanes * waves,
        assumptions=(*known.assumptions, *said, *soft({**known.facts, **facts})),
    )


def feed_around(
    loop: Loop, of: Of, *, waves: int, group: int = 1, most: int | None = None, memory_ns: float | None = None
) -> tuple[LoopFeed, ...]:
    """The same at one wave less, at `waves` and at one more, as far as `most` (the chip's slots) admits."""
    slots = most or as_chip(of).target.unit().wave_slots or waves + 1
    counts = [count for count in (waves - 1, waves, waves + 1) if 1 <= count <= max(slots, waves)]
    return tuple(feed_loop(loop, of, waves=count, group=group, memory_ns=memory_ns) for count in counts)


def machine(of: Of, *, memory_ns: float | None = None) -> Machine:
    """What is known of one SIMD of a chip. Raises NotKnown where its vector rate is not public."""
    chip = as_chip(of)
    target = chip.target
    plain = packed_fp32(chip).plain
    if not plain:
        raise NotKnown(f"{title(chip)}: its rate of vector instructions is not public; no loop can be timed")
    lanes = target.default_wave
    valu = lanes * 2 * simds(target) / plain
    facts: dict[str, Fact] = {}

    def first(*paths: str) -> float | None:
        found = fact(chip, *paths)
        if found is None or not isinstance(found[1].value, int | float):
            return None
        facts[found[0]] = found[1]
        return float(found[1].value)

    clock = first("feed.clock_mhz", "clock.measured_mhz", "clock.peak_mhz")
    lds = first("lds.bytes_per_clock", "tile.lds")
    said = [f"a wave issues one instruction every {valu:g} cycles, one of each class at a time: est."]
    if lds is None:
        said.append(f"the LDS rate of {title(chip)} is not in its page: LDS counted as issue slots alone")

    def latency(what: str, given_ns: float | None = None) -> float | None:
        if given_ns is not None:
            return given_ns * (clock or 0.0) / 1e3
        cycles, nanoseconds = first(f"latency.{what}_cycles"), first(f"latency.{what}_ns")
        if cycles is not None:
            return cycles
        if nanoseconds is None:
            borrowed = _borrowed(what, target.default_wave)
            if borrowed is None:
                said.append(f"the {what} latency of {title(chip)} is not public: counted as nothing")
                return None
            whose, cycles, nanoseconds = borrowed
            amount = f"{nanoseconds:g} ns" if nanoseconds else f"{cycles:g} cycles"
            said.append(f"the {what} latency of {title(chip)} is not public: {amount} as on {whose}, assumed")
        return nanoseconds * clock / 1e3 if nanoseconds and clock else cycles

    lds_latency, memory, near = latency("lds"), latency("memory", memory_ns), latency("l1")
    arbitration = fact(chip, "feed.arbitration")
    return Machine(
        chip=chip, slot=valu, valu=valu,
        lds_bytes=None if lds is None else lds / simds(target),
        lds_latency=lds_latency, memory_latency=memory, near_latency=near, clock_mhz=clock,
        arbitration=str(arbitration[1].value) if arbitration else "oldest",
        lanes=lanes, facts=facts, assumptions=tuple(said),
    )  # fmt: skip


@lru_cache(maxsize=8)
def _borrowed(what: str, lanes: int) -> tuple[str, float | None, float | None] | None:
    """A latency measured on a chip with waves of the same size: its name, cycles, nanoseconds."""
    for chip in products():
        if chip.target.default_wave != lanes:
            continue
        cycles, nanoseconds = (chip.facts.get(f"latency.{what}_{unit}") for unit in ("cycles", "ns"))
        if cycles is not None and cycles.status == "measured":
            time = nanoseconds.value if nanoseconds is not None else None
            return str(chip.name), float(str(cycles.value)), float(str(time)) if time else None
    return None


@dataclass(frozen=True, slots=True)
class Times:
    """One matrix instruction: cycles of work, from one to the next, to its result, and of a loop's end."""

    held: float
    interval: float
    latency: float
    cost: float
    blocks_valu: float
    """Cycles in which no vector instruction may start; all of them where the two share a unit."""


def matrix_times(op: Op, known: Machine) -> tuple[Times, dict[str, Fact], str | None]:
    """The Times of a decoded matrix instruction, their Facts, and what is assumed. Raises NotKnown."""
    found = instruction_of(op, known.chip)
    if found.cycles is None:
        raise NotKnown(f"{title(known.chip)}: the cycles of {found.name} are not public")
    held, said = float(found.cycles), None
    blocks = held if found.unit == "valu" else max(known.valu, held - (found.coexec or held))
    try:
        base = timing(known.chip, found.name)
    except MatrixError:
        said = f"the latency of {found.name} is not public: counted as its cycles, so est. is an upper bound"
        return Times(held, held, held, 0.0, blocks), {"cycles": found.facts["cycles"]}, said
    gap, extra = base.interval - base.held, base.latency - base.held
    return Times(held, held + gap, held + extra, base.cost, blocks), dict(base.facts), None


def instruction_of(op: Op, of: Of) -> Instruction:
    """The table's row of a decoded matrix instruction. Raises MatrixError where there is none."""
    chip = as_chip(of)
    a, b = formats(op)
    name = op.name
    try:
        return named_instruction(chip, name, a=a, b=b)
    except MatrixError:
        if a or b:
            return named_instruction(chip, name)
        raise


def formats(op: Op) -> tuple[str | None, str | None]:
    """Element formats of A and B that an f8f6f4 instruction names in its modifiers, None for others."""
    if "f8f6f4" not in op.name:
        return None, None
    codes = {"cbsz": 0, "blgp": 0}
    for word in op.form.modifiers.split():
        key, _, value = word.partition(":")
        if key in codes and value.isdigit():
            codes[key] = int(value)
    a, b = (codes[key] if codes[key] < len(_FORMATS) else 0 for key in ("cbsz", "blgp"))
    return _FORMATS[a], _FORMATS[b]


def _steps(loop: Loop, known: Machine) -> tuple[list[Step], float, list[str], dict[str, Fact]]:
    """The loop as the simulation plays it, the cost of its end, what is assumed, and the Facts behind it."""
    times: dict[str, Times] = {}
    said: dict[str, None] = {}
    facts: dict[str, Fact] = {}
    steps = []
    for op in loop.instructions:
        if op.kind == "matrix" and op.text not in times:
            times[op.text], because, assumed = matrix_times(op, known)
            facts.update(because)
            if assumed:
                said[assumed] = None
        steps.append(_step(op, known, times.get(op.text)))
    if not loop.straight:
        said["the loop has branches inside: both sides of each are counted"] = None
    cost = max((each.cost for each in times.values()), default=0.0)
    return _thinned(steps), cost, list(said), facts


def _thinned(steps: Sequence[Step]) -> list[Step]:
    """Without reads of registers that no matrix instruction of the loop writes: those wait for nothing."""
    written = 0
    for step in steps:
        written |= step.writes
    return [replace(step, reads=step.reads & written) for step in steps]


def _step(op: Op, known: Machine, times: Times | None) -> Step:
    said, target = op.form, known.chip.target.name
    base = Step(pipe=None, hold=0.0, reads=said.reads)
    if times is not None:
        shared = times.blocks_valu >= times.held
        return replace(
            base, pipe="valu" if shared else "matrix", hold=times.interval, work=times.held,
            latency=times.latency, blocks=times.blocks_valu, writes=said.writes, matrix=True,
        )  # fmt: skip
    if op.kind == "wait":
        return replace(base, waits=allowed(said, target))
    if op.kind == "barrier":
        return replace(base, barrier="signal" not in said.name)
    if op.kind == "nop":
        return replace(base, slots=_idle(op))
    entered = queues(said)
    if op.kind in ("vector", "image", "scalar"):
        far = _from_memory(op)
        slow = (known.memory_latency if far else known.near_latency) or 0.0
        return replace(base, pipe="memory", hold=known.slot, queues=entered, latency=slow, load=far)
    if op.kind == "lds":
        bytes_ = (said.memory.bytes or 4) * known.lanes if said.memory else 0
        hold = max(known.slot, bytes_ / known.lds_bytes) if known.lds_bytes else known.slot
        return replace(base, pipe="lds", hold=hold, queues=entered, latency=hold + (known.lds_latency or 0.0))
    if op.kind == "valu":
        return replace(base, pipe="valu", hold=known.valu)
    return replace(base, pipe="scalar" if op.kind == "salu" else None, hold=known.slot)


def _from_memory(op: Op) -> bool:
    return (
        op.memory is not None
        and op.memory.action == "load"
        and op.memory.space in ("global", "flat", "image")
    )


def _idle(op: Op) -> int:
    """Issue slots that a nop takes: `s_nop 7` takes eight."""
    count = op.form.operands[0] if op.form.operands else "0"
    try:
        return int(count, 0) + 1 if op.name == "s_nop" else 1
    except ValueError:
        return 1


def _asked(loop: Loop) -> int:
    """Bytes a lane that one iteration asks of memory, as far as the mnemonics say."""
    return sum(_bytes(loop))


def _bytes(loop: Loop) -> Iterator[int]:
    for each in loop.counts.moved:
        if each.space in ("global", "flat") and each.action != "prefetch":
            yield (each.width or 0) * each.times
