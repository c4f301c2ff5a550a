"""Is the matrix unit fed: parallelism in flight = latency x rate, from waves or from chains inside a wave."""

from __future__ import annotations

from collections.abc import Iterator

from wavefit.chips import Chip, Target
from wavefit.feed.facts import title
from wavefit.feed.model import Feed, Loop, Timing, Way
from wavefit.feed.simulate import INSTRUCTIONS, Run, simulate
from wavefit.feed.timing import timing
from wavefit.matrix.errors import MatrixError
from wavefit.matrix.peaks import peak
from wavefit.matrix.table import instruction as named_instruction
from wavefit.occupancy.fit import fit
from wavefit.occupancy.question import as_chip
from wavefit.occupancy.result import BadQuestion, Fit

Of = str | Chip | Target


def feed(
    of: Of,
    instruction: str,
    *,
    ilp: int,
    waves: int,
    registers: int | None = None,
    instructions: int = INSTRUCTIONS,
    interval: float | None = None,
    latency: float | None = None,
    clock_mhz: float | None = None,
) -> Feed:
    """Whether `waves` waves a SIMD, each with `ilp` independent chains of an instruction, keep the unit busy.

    `registers` a lane are what the kernel spends (default: the operands and accumulators alone);
    `instructions` are what each wave issues in all; `interval` and `latency` (cycles) and `clock_mhz`
    replace what the chip's pages say. Raises BadQuestion with the reason where the waves or chains do
    not fit the slots or registers; ChipNotFound, InstructionNotFound and NotKnown as `timing` does.
    """
    counts = {"ilp": ilp, "waves": waves, "instructions": instructions, "registers": registers}
    for name, count in counts.items():
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
            raise BadQuestion(f"{name} must be a whole number of at least 1, not {count!r}")
    chip = as_chip(of)
    known = timing(chip, instruction, interval=interval, latency=latency, clock_mhz=clock_mhz)
    spent = spends(known, ilp) if registers is None else registers
    if why := refusal(
        chip, known, ilp, waves, spent, most_waves(chip, known, max(spent, spends(known, ilp)))
    ):
        raise BadQuestion(why)
    run = _run(known, ilp, waves, instructions)
    loop, busy = known.loop(ilp), run.busy(known.held)
    flops = None if known.peak is None else busy * known.peak
    best = _best(chip, known)
    return Feed(
        timing=known,
        ilp=ilp,
        waves=waves,
        registers=spent,
        needed_in_flight=loop.needed,
        in_flight=waves * ilp,
        utilisation=busy,
        bound=bound(loop, waves),
        flops=flops,
        of_peak=flops / best if flops and best else None,
        alone=1 - min(run.finished) / run.cycles,
        ways=tuple(_ways(chip, known, ilp, waves, spent, busy)),
        assumptions=(*known.assumptions, *_register_words(registers, spent)),
    )


def bound(loop: Loop, waves: int) -> float:
    """Little's law in closed form: the share of the unit that `waves` x chains in flight can keep busy."""
    return min(1.0, waves * loop.chains * loop.interval / loop.latency)


def spends(known: Timing, chains: int) -> int:
    """Registers a lane of nothing but one set of operands and the accumulators of `chains` chains."""
    return known.operands + chains * known.accumulator


def refusal(
    chip: Chip, known: Timing, chains: int, waves: int, registers: int, most: int | None
) -> str | None:
    """Why so many waves of so many chains cannot be resident on one SIMD; None if they can.

    `most` is what `most_waves` says of these registers.
    """
    slots, name = chip.target.unit().wave_slots, title(chip)
    if slots and waves > slots:
        return f"{name}: {waves} waves a SIMD, and it has {slots} wave slots"
    least = spends(known, chains)
    if registers < least:
        return f"{chains} chains of {known.instruction} need {least} registers a lane, not {registers}"
    if most is not None and waves > most:
        what = "cannot run at all" if not most else f"fit {most} waves a SIMD, not {waves}"
        return f"{name}: {chains} chains of {known.instruction} in {registers} registers a lane {what}"
    return None


def most_waves(chip: Chip, known: Timing, registers: int) -> int | None:
    """Waves a SIMD that registers and slots admit, 0 if none; None where sizes are not public."""
    target = chip.target
    if target.unknown:
        return None
    threads = target.default_wave * target.unit().simds
    if target.vgpr.accumulator == "separate":
        found = fit(chip, vgprs=known.operands, agprs=registers - known.operands, threads=threads)
    else:
        found = fit(chip, total_vgprs=registers, threads=threads)
    assert isinstance(found, Fit)
    return int(found.waves_per_simd)


def most_registers(chip: Chip, known: Timing, waves: int) -> int:
    """The most registers a lane with which `waves` waves a SIMD still fit; 0 if they never do."""
    low, high = 0, chip.target.vgpr.addressable
    while low < high:
        middle = (low + high + 1) // 2
        if (most_waves(chip, known, middle) or 0) >= waves:
            low = middle
        else:
            high = middle - 1
    return low


def _run(known: Timing, chains: int, waves: int, instructions: int = INSTRUCTIONS) -> Run:
    return simulate(known.loop(chains), waves, instructions, known.arbitration)


GAIN = 0.005
"""Share of the unit that a way must win at least: less does not show in whole percents."""


def _ways(chip: Chip, known: Timing, chains: int, waves: int, registers: int, busy: float) -> Iterator[Way]:
    """Ways to have enough in flight, the cheapest that is possible first; none that the est. sees lose.

    Enough by Little's law may be played worse: longer loops wait at their end, and rounds do not fit. Then
    a few more chains or waves are tried, up to twice as many.
    """
    needed = known.loop(chains).needed
    if waves * chains >= needed or chip.target.unknown:
        return
    deep, wide = -(-needed // waves), -(-needed // chains)
    by_chains = (
        _more_chains(chip, known, more, waves, registers, (more - chains) * known.accumulator)
        for more in range(deep, 2 * deep + 1)
    )
    by_waves = (_more_waves(chip, known, chains, more, registers) for more in range(wide, 2 * wide + 1))
    found = [way for tried in (by_chains, by_waves) if (way := _first_that_gains(tried, busy))]
    yield from sorted(found, key=lambda way: (not way.possible, way.waves * way.registers))


def _first_that_gains(tried: Iterator[Way], busy: float) -> Way | None:
    """The first way that is possible and better; one that is not possible ends the search, and says why."""
    for at, way in enumerate(tried):
        if not way.possible:
            return None if at else way
        if way.utilisation > busy + GAIN:
            return way
    return None


def _more_chains(chip: Chip, known: Timing, chains: int, waves: int, registers: int, extra: int) -> Way:
    most = most_waves(chip, known, registers + extra) or 0
    left = min(waves, most)
    return Way(
        by="chains",
        chains=chains,
        waves=left,
        registers=registers + extra,
        extra_registers=extra,
        possible=most >= waves,
        utilisation=_run(known, chains, left).busy(known.held) if left else 0.0,
        words=f"{chains} chains a wave, {extra} registers a lane more: {most} waves a SIMD fit",
    )


def _more_waves(chip: Chip, known: Timing, chains: int, waves: int, registers: int) -> Way:
    slots = chip.target.unit().wave_slots
    room = most_registers(chip, known, waves) if waves <= slots else 0
    least = spends(known, chains)
    limit = (
        f"at most {room} registers a lane"
        if room >= least
        else f"they do not fit the {slots} slots or the file"
    )
    return Way(
        by="waves",
        chains=chains,
        waves=waves,
        registers=room,
        extra_registers=min(0, room - registers),
        possible=room >= least,
        utilisation=_run(known, chains, waves).busy(known.held),
        words=f"{waves} waves a SIMD: {limit}",
    )


def _best(chip: Chip, known: Timing) -> float | None:
    """The chip's peak for the instruction's type, FLOP/s; None where it is not known."""
    try:
        kind = named_instruction(chip, known.instruction).a.type.group
        return peak(chip, kind).flops
    except MatrixError:
        return None


def _register_words(given: int | None, spent: int) -> Iterator[str]:
    if given is None:
        yield f"registers: {spent} a lane, operands and accumulators alone; a kernel needs more for addresses"
