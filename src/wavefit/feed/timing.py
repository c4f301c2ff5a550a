"""From a chip's Facts and its table of matrix instructions to the Timing of one instruction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from wavefit.chips import Chip, Fact, Target
from wavefit.chips.model import Number
from wavefit.feed.facts import fact, number, soft, title, value
from wavefit.feed.model import Timing
from wavefit.matrix.errors import InstructionNotFound, NoMatrix, NotKnown, Refused
from wavefit.matrix.model import Instruction
from wavefit.matrix.table import instruction as named_instruction
from wavefit.occupancy.question import as_chip

_VECTOR = "feed.vector."


def timing(
    of: str | Chip | Target,
    instruction: str,
    *,
    interval: float | None = None,
    latency: float | None = None,
    clock_mhz: float | None = None,
) -> Timing:
    """How often a chip can issue an instruction and how long its result takes, as far as it is known.

    `interval` and `latency` (cycles) and `clock_mhz` replace what the chip's pages say. Raises
    ChipNotFound, InstructionNotFound, NotKnown (a number that nobody published, and was not given),
    Refused (a number that is not positive).
    """
    for name, given in (("interval", interval), ("latency", latency), ("clock_mhz", clock_mhz)):
        if given is not None and not given > 0:
            raise Refused(f"{name} must be positive, not {given:g}")
    chip = as_chip(of)
    found = _known(chip, instruction)
    if latency is not None:
        found = replace(found, latency=latency, facts=_without(found, "latency", "extra"))
    if interval is not None:
        found = replace(found, held=interval, interval=interval, facts=_without(found, "interval"))
    if clock_mhz is not None:
        found = replace(found, clock_mhz=clock_mhz, facts=_without(found, "clock"))
    for what, number_ in (("interval", found.interval), ("latency", found.latency)):
        if not number_:
            raise NotKnown(
                f"{title(chip)}: the {what} of {found.instruction} is not public; give {what}= in cycles"
            )
    said = (*found.assumptions, *_latency_words(found), *soft(dict(found.facts)))
    return replace(found, assumptions=said)


def _without(found: Timing, *what: str) -> dict[str, Fact]:
    return {path: fact for path, fact in found.facts.items() if not path.startswith(what)}


def _latency_words(found: Timing) -> Iterator[str]:
    """A latency that nobody measured: the compiler's model of the machine schedules code and is no clock."""
    extra = found.facts.get("extra")
    if extra is not None and extra.status == "compiler":
        yield f"latency: not measured; the compiler's schedule, {extra.value} cycles over the interval"


def _known(chip: Chip, name: str) -> Timing:
    if number(chip, f"{_VECTOR}{name}.interval") is not None:
        return _vector(chip, name)
    try:
        return _matrix(chip, named_instruction(chip, name))
    except InstructionNotFound as error:
        vector = [*_vector_names(chip)]
        if not vector:
            raise
        raise InstructionNotFound(name, chip.target.name, (*error.near, *vector)) from None
    except NoMatrix as error:
        raise NotKnown(f"{error}; no other instruction of {title(chip)} has a known timing") from None


def _vector_names(chip: Chip) -> tuple[str, ...]:
    ends = (path for path in chip.target.facts if path.startswith(_VECTOR) and path.endswith(".interval"))
    return tuple(path.removeprefix(_VECTOR).removesuffix(".interval") for path in ends)


def _matrix(chip: Chip, of: Instruction) -> Timing:
    """A matrix instruction: its table row, overlaid by what `feed` knows better."""
    if of.waves > 1:
        raise NotKnown(
            f"{of.name} is issued by {of.waves} waves together; its dependence latency is not public"
        )
    reader = _Reader(chip, "feed.instruction.", of.name)
    held = reader("interval", of.cycles, of.facts["cycles"])
    extra = reader("extra", None) if of.latency is None else None
    if held and extra:
        latency: Number | None = held + extra
    else:
        latency = reader("latency", of.latency, of.facts["latency"])
    return _timing(
        chip, of.name, reader, held, latency, of.flops, of.a.registers + of.b.registers, of.c.registers
    )


def _vector(chip: Chip, name: str) -> Timing:
    """A vector instruction: everything from the target's page, with its operands at hand.

    That is not sure on NVIDIA. Of an fma of three registers two lie in one of the two banks and are read
    one after the other, unless the instruction before, of the same wave, left one of them in the operand
    cache. With fewer chains than the latency another wave comes in every round, and the round's first fma
    then takes 2 cycles: 1 + 1/K cycles an instruction for K chains. The second run on the H200 shows just
    that for K = 1, 2, 3 (the code says which operands are kept), where this est. is up to 73 % too high;
    the first run, whose loops are not public, does not. It is no property of the instruction but of the
    registers that the compiler chose, so no Fact holds it.
    """
    reader = _Reader(chip, _VECTOR, name)
    flops, operands = reader("flops", None) or 0, reader("operands", None) or 0
    return _timing(
        chip, name, reader, reader("interval", None), reader("latency", None), int(flops), int(operands), 1
    )


def _timing(
    chip: Chip, name: str, reader: _Reader, held: Number | None, latency: Number | None,
    flops: int, operands: int, accumulator: int,
) -> Timing:  # fmt: skip
    gap, cost, drain = reader("gap", 0) or 0, reader("cost", 0) or 0, reader("drain", 0)
    clock = reader("clock_mhz", chip.value("clock.peak_mhz"), chip.facts.get("clock.peak_mhz"))
    cus = chip.value("compute.cus")
    arbitration = fact(chip, "feed.arbitration")
    return Timing(
        chip=chip.name,
        target=chip.target.name,
        instruction=name,
        held=held or 0.0,
        interval=(held or 0.0) + gap,
        latency=latency or 0.0,
        flops=flops,
        units=cus * _simds(chip.target) if isinstance(cus, int) else None,
        clock_mhz=clock,
        cost=cost,
        wait=drain + (number(chip, "feed.loop.branch") or 0) if drain else 0.0,
        repeats=_repeats(chip),
        arbitration=str(arbitration[1].value) if arbitration else "oldest",
        operands=operands,
        accumulator=accumulator,
        facts=reader.facts,
        assumptions=tuple(reader.said()),
    )


def _simds(target: Target) -> int:
    """SIMDs of one CU (of a WGP there are twice as many)."""
    return (target.units.get("cu") or target.unit()).simds


def _repeats(chip: Chip) -> tuple[tuple[int, int], ...]:
    """How many iterations of the source's loop the compiler puts in one, by chains at most."""
    short, often, seldom = (
        number(chip, f"feed.loop.{key}") for key in ("short", "short_times", "long_times")
    )
    if short is None or often is None or seldom is None:
        return ()
    return ((int(short), int(often)), (1 << 30, int(seldom)))


class _Reader:
    """Numbers of one instruction: its own Fact, else the chip's for all, else what is given."""

    def __init__(self, chip: Chip, section: str, name: str) -> None:
        self.chip, self.name, self.prefix = chip, name, f"{section}{name}."
        self.facts: dict[str, Fact] = {}
        self.shared: list[str] = []

    def __call__(self, key: str, otherwise: object, said: Fact | None = None) -> Number | None:
        found = fact(self.chip, self.prefix + key, f"feed.{key}")
        if found is None:
            if isinstance(otherwise, int | float) and said is not None:
                self.facts[key] = said
            return otherwise if isinstance(otherwise, int | float) else None
        path, what = found
        self.facts[key] = what
        if not path.startswith(self.prefix):
            self.shared.append(key)
        return what.value if isinstance(what.value, int | float) else None

    def said(self) -> list[str]:
        """What the result rests on: numbers taken from another instruction, a clock that is only nominal."""
        said, chip = [], self.chip
        with_ = value(chip, "feed.measured_with")
        if self.shared and with_ not in {None, self.name}:
            said.append(f"{', '.join(self.shared)}: measured with {with_}, taken to hold for {self.name}")
        if (
            chip.name
            and "clock_mhz" in self.facts
            and self.facts["clock_mhz"] is chip.facts.get("clock.peak_mhz")
        ):
            said.append("clock: the peak clock; under load it is lower")
        if (interval := self.facts.get("interval")) and interval.note:
            said.append(f"interval: {interval.note}")
        if fact(chip, "feed.arbitration") is None:
            said.append("arbitration: oldest wave first, assumed")
        return said
