"""Peaks: rate of a CU x CUs x clock, per type, for the matrix and the vector path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import inf

from wavefit.chips import STATUSES, Chip, Fact, Target
from wavefit.chips import chip as named_chip
from wavefit.chips.model import Number
from wavefit.matrix.errors import MatrixError, NoMatrix, NotKnown, Refused, TypeNotFound
from wavefit.matrix.model import Instruction
from wavefit.matrix.read import element_types, fact, meant, number, rows, whole
from wavefit.matrix.table import Of, groups, instructions, target_of

PATHS = ("matrix", "vector")


@dataclass(frozen=True, slots=True)
class Rate:
    """FLOPs (for integer types operations) a clock of one CU, for one type on one path.

    `value` is None where the instruction exists and its rate is not public. `instruction` reaches it
    (None: only the rate is public); `results` are what one lane of it computes, for the vector path.
    """

    target: str
    path: str
    type: str
    sparse: bool
    value: Number | None
    instruction: str | None
    results: int | None
    fact: Fact
    note: str = ""


@dataclass(frozen=True, slots=True)
class Peak:
    """A chip's FLOP/s (for integer types operations/s): `rate.value` x `cus` x `clock_mhz`."""

    chip: str
    rate: Rate
    cus: int
    clock_mhz: Number
    at_peak_clock: bool
    facts: Mapping[str, Fact]

    @property
    def flops(self) -> float:
        """FLOP/s of the whole chip."""
        return float((self.rate.value or 0) * self.cus * self.clock_mhz * 1e6)

    @property
    def status(self) -> str:
        """The least firm status among the factors."""
        return max((fact.status for fact in self.facts.values()), key=STATUSES.index)

    @property
    def arithmetic(self) -> str:
        """The product as a person would write it."""
        return f"{self.rate.value:g} a clock a CU x {self.cus} CUs x {self.clock_mhz:g} MHz"


def peak(
    of: str | Chip,
    type: str,  # noqa: A002
    *,
    path: str = "matrix",
    sparse: bool = False,
    clock_mhz: float | None = None,
    accumulate: str | None = None,
) -> Peak:
    """The chip's peak for a type, in FLOP/s (`.flops`); at `clock_mhz`, or at its peak clock.

    `sparse` counts the zeros of 4:2 sparsity as vendors do; `accumulate` asks for one accumulator type.
    Raises ChipNotFound, TypeNotFound, NoMatrix, and NotKnown (a bare target, or a number not public).
    """
    chip = named_chip(of) if isinstance(of, str) else of
    found = rate(chip, type, path=path, sparse=sparse, accumulate=accumulate)
    if found.value is None:
        raise NotKnown(f"{found.target}: the {path} rate of {type} is not public")
    name, cus, clock = _numbers(chip, clock_mhz)
    factors = ("compute.cus", _clock(chip)) if clock_mhz is None else ("compute.cus",)
    facts = {path: chip.facts[path] for path in factors}
    return Peak(name, found, cus, clock, clock_mhz is None, {**facts, "rate": found.fact})


def peaks(of: str | Chip, *, clock_mhz: float | None = None) -> tuple[Peak, ...]:
    """Every peak of a chip that is known: matrix dense and sparse, then vector.

    Raises ChipNotFound, and NotKnown for a bare target or a chip without a known clock.
    """
    chip = named_chip(of) if isinstance(of, str) else of
    _numbers(chip, clock_mhz)
    asked = ((kind.type, kind.path, kind.sparse) for kind in rates(chip) if kind.value is not None)
    return tuple(
        peak(chip, type_, path=path, sparse=sparse, clock_mhz=clock_mhz)
        for type_, path, sparse in dict.fromkeys(asked)
    )


def rate(
    of: Of,
    type: str,  # noqa: A002
    *,
    path: str = "matrix",
    sparse: bool = False,
    accumulate: str | None = None,
) -> Rate:
    """The highest rate of a CU for a type on a path, into the widest accumulator unless `accumulate` says.

    Of a chip, what its product page says leads: parts of one target differ. Raises as `peak`, except for
    the chip's numbers.
    """
    if path not in PATHS:
        raise Refused(f"unknown path {path!r}: matrix or vector")
    chip = named_chip(of) if isinstance(of, str) else of
    target = target_of(chip)
    found = _of_target(target, type, path, sparse, accumulate)
    if isinstance(chip, Chip) and path == "matrix" and not sparse:
        found = _of_product(chip, type, accumulate, found) or found
    if found is None:
        raise _no_rate(chip, type, path, sparse, accumulate)
    return found


def _of_target(target: Target, type_: str, path: str, sparse: bool, accumulate: str | None) -> Rate | None:
    """What the tables say of every part of a target."""
    wanted = meant(type_)
    asked = {element_types()[name].group for name in wanted}
    listed = () if sparse or _microscaled(type_) else _listed(target.id)
    found = [each for each in listed if each.path == path and each.type in asked]
    table = _table(target) if path == "matrix" else ()
    best = _fastest(table, wanted, sparse, meant(accumulate) if accumulate else None)
    if best is not None and (best.cycles is not None or not found):
        return _rate_of(best)
    return max(found, key=lambda each: each.value or 0, default=None)


def _of_product(chip: Chip, type_: str, accumulate: str | None, known: Rate | None) -> Rate | None:
    """What the product's own page says of a type, where that is not what the tables say."""
    if _microscaled(type_):
        return None
    group = element_types()[min(meant(type_))].group
    said = chip.facts.get(f"{_PAGE}{group}_{accumulate}") if accumulate else chip.facts.get(_PAGE + group)
    if said is None or not isinstance(said.value, int | float) or (known and known.value == said.value):
        return None
    name = known.instruction if known else None
    return Rate(chip.target.name, "matrix", group, False, said.value, name, None, said, said.note or "")


def rates(of: Of) -> tuple[Rate, ...]:
    """Every rate of a CU: the matrix unit's for each type, dense and sparse, then the vector path's."""
    chip = named_chip(of) if isinstance(of, str) else of
    target = target_of(chip)
    table, listed = _table(target), _listed(target.id)
    one_way = groups(each for each in table if not each.sparse)
    dense = dict.fromkeys((*one_way, *(each.type for each in listed if each.path == "matrix")))
    if isinstance(chip, Chip):
        page = (path.removeprefix(_PAGE) for path in chip.facts if path.startswith(_PAGE))
        dense |= dict.fromkeys(group for group in page if group in _groups())
    sparse = (_fastest(table, meant(group), sparse=True) for group in groups(table))
    return (
        *(rate(chip, group) for group in dense),
        *(_rate_of(each) for each in sparse if each),
        *(each for each in listed if each.path == "vector"),
    )


_PAGE = "rate.matrix."


def _microscaled(type_: str) -> bool:
    """A type that only an instruction can serve: a rate of its plain elements does not stand for it."""
    return type_.lower().startswith("mx")


def _groups() -> frozenset[str]:
    return frozenset(each.group for each in element_types().values())


def _no_rate(of: Chip | Target, type_: str, path: str, sparse: bool, accumulate: str | None) -> MatrixError:
    target = target_of(of)
    if path == "matrix" and not sparse and accumulate is None:
        return TypeNotFound(type_, groups(instructions(target.id)), target.name)
    has = dict.fromkeys(each.type for each in rates(of) if (each.path, each.sparse) == (path, sparse))
    what = f"{'sparse ' if sparse else ''}{path} rate of {type_}{f' into {accumulate}' if accumulate else ''}"
    return NotKnown(f"{target.name}: no {what} is known (known: {', '.join(has) or 'none'})")


def _table(target: Target) -> tuple[Instruction, ...]:
    """The target's instructions, none where there is no table (a rate may be public all the same)."""
    try:
        return instructions(target.id)
    except NoMatrix:
        return ()


def _fastest(
    table: Iterable[Instruction],
    wanted: frozenset[str],
    sparse: bool,
    into: frozenset[str] | None = None,
) -> Instruction | None:
    """The fastest instruction whose A and B are both of the wanted types, the first of the table on a tie.

    Into accumulators of the types `into`, or else the widest that there are.
    """
    serving = [
        each
        for each in table
        if each.sparse == sparse
        and {each.a.type.name, each.b.type.name} <= wanted
        and (into is None or each.d.type.name in into)
    ]
    widest = max((each.d.type.bits for each in serving), default=0)
    serving = [each for each in serving if into or each.d.type.bits == widest]
    return max(serving, key=lambda each: each.flops_per_clock_cu or 0, default=None)


def _rate_of(best: Instruction) -> Rate:
    cycles, known = best.facts["cycles"], best.flops_per_clock_cu
    source = f"{best.name}: {best.flops} FLOPs in {best.cycles} clocks on {best.simds} SIMDs; {cycles.source}"
    return Rate(
        target=best.target,
        path="matrix",
        type=best.a.type.group,
        sparse=best.sparse,
        value=known,
        instruction=best.name,
        results=None,
        fact=Fact(known, source if known else cycles.source, cycles.status, "FLOPs a clock a CU"),
        note=best.note,
    )


@cache
def _listed(target_id: str) -> tuple[Rate, ...]:
    return tuple(
        Rate(
            target=target_id,
            path=row["path"],
            type=row["type"],
            sparse=False,
            value=number(row["rate"]),
            instruction=row["instruction"] or None,
            results=whole(row["results"]),
            fact=fact(number(row["rate"]), row["from"], "FLOPs a clock a CU"),
            note=row["note"],
        )
        for row in rows("rates")
        if row["target"] == target_id
    )


def _clock(chip: Chip) -> str:
    """The clock that a maker's peaks hold at: where it publishes one below the highest, that."""
    return "clock.published_mhz" if "clock.published_mhz" in chip.facts else "clock.peak_mhz"


def _numbers(chip: Chip, clock_mhz: float | None) -> tuple[str, int, Number]:
    """Name, CUs and clock of a chip. Raises NotKnown."""
    if chip.name is None:
        raise NotKnown(f"{chip.target.name} is a target, not a chip: a peak needs CUs and a clock")
    cus = chip.value("compute.cus")
    clock = chip.value(_clock(chip)) if clock_mhz is None else clock_mhz
    if not isinstance(cus, int):
        raise NotKnown(f"{chip.name}: the number of CUs is not known")
    if not isinstance(clock, int | float):
        raise NotKnown(f"{chip.name}: the peak clock is not known; give one (--clock MHZ)")
    if not 0 < clock < inf:
        raise Refused(f"a clock of {clock} MHz: must be a positive number")
    return chip.name, cus, clock
