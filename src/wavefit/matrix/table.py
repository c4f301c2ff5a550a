"""Instructions of a target: from its table, by name, by type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, lru_cache

from wavefit.chips import Chip, Target
from wavefit.chips import chip as named_chip
from wavefit.chips import target as named_target
from wavefit.matrix.errors import InstructionNotFound, NoMatrix, TypeNotFound
from wavefit.matrix.model import Faster, Instruction, Operand
from wavefit.matrix.read import element_types, fact, meant, number, rows, whole
from wavefit.shown import Listed

Of = str | Chip | Target
"""What can be asked about: a chip, a target, or the name of either."""


def matrix(of: Of, type: str | None = None, *, wave: int | None = None) -> Listed[Instruction]:  # noqa: A002
    """Matrix instructions of a chip or target, those that take `type` as A or B where one is given.

    `type` is a group (`fp8`), a type (`bf8`) or a format (`e4m3`); `wave` keeps one wave size.
    Raises ChipNotFound, NoMatrix (none, or not public), TypeNotFound (naming the types there are).
    """
    found = instructions(target_of(of).id)
    if wave is not None:
        found = tuple(each for each in found if each.wave == wave)
    if type is None:
        return Listed(found)
    wanted = meant(type)
    chosen = tuple(each for each in found if wanted & {each.a.type.name, each.b.type.name})
    if not chosen:
        raise TypeNotFound(type, groups(found), target_of(of).name)
    return Listed(chosen)


def instruction(
    of: Of,
    name: str,
    *,
    a: str | None = None,
    b: str | None = None,
    d: str | None = None,
    wave: int | None = None,
) -> Instruction:
    """One instruction by its mnemonic; older spellings and a missing `v_` are understood.

    Where one mnemonic stands for several, `a`, `b`, `d` (types) and `wave` choose; the default is the
    target's default wave and the first row (f8f6f4: 8-bit A and B, as the assembler encodes with no
    modifier). Raises InstructionNotFound with near matches.
    """
    target = target_of(of)
    table = instructions(target.id)
    same = _named(name, table)
    if not same:
        raise InstructionNotFound(name, target.name, (each.name for each in table))
    size = wave or target.default_wave
    wanted = [(meant(word), operand) for word, operand in ((a, "a"), (b, "b"), (d, "d")) if word]
    for each in same:
        fits = each.wave == size or not any(other.wave == size for other in same)
        if fits and all(getattr(each, operand).type.name in names for names, operand in wanted):
            return each
    variants = dict.fromkeys(f"{each.types} -> {each.d.type.name}, wave{each.wave}" for each in same)
    raise InstructionNotFound(f"{name} with these types", target.name, variants)


def groups(of: Iterable[Instruction]) -> tuple[str, ...]:
    """Type groups that some instruction takes as A, in table order."""
    return tuple(dict.fromkeys(each.a.type.group for each in of))


def target_of(of: Of) -> Target:
    """The Target behind a chip, target or name. Raises ChipNotFound."""
    if isinstance(of, Target):
        return of
    return (named_chip(of) if isinstance(of, str) else of).target


@cache
def instructions(target_id: str) -> tuple[Instruction, ...]:
    """Every instruction of a target, by its id. Raises NoMatrix."""
    target = named_target(target_id)
    entry = _tables().get(target_id)
    if entry is None or entry["has"] != "yes":
        has, note = (entry["has"], entry["note"]) if entry else ("unknown", "no table")
        raise NoMatrix(target.name, has, note)
    return _with_faster([_instruction(row, target, entry["table"]) for row in rows(entry["table"])])


def table_of(target: Target) -> str:
    """Name of the table that a target's instructions come from. Raises NoMatrix."""
    instructions(target.id)
    return _tables()[target.id]["table"]


@lru_cache(maxsize=1)
def _tables() -> Mapping[str, Mapping[str, str]]:
    return {row["target"]: row for row in rows("targets")}


def simds(target: Target) -> int:
    """SIMDs of one CU (not of a WGP)."""
    return (target.units.get("cu") or target.unit()).simds


def _instruction(row: Mapping[str, str], target: Target, table: str) -> Instruction:
    types = element_types()
    a, b, c, d = (Operand(types[row[key]], int(row[f"{key}_regs"])) for key in "abcd")
    cycles, latency = number(row["cycles"]), number(row["latency"])
    made = Instruction(
        name=row["name"], target=target.name, family=row["family"], unit=row["unit"],
        wave=int(row["wave"]), waves=int(row["waves"]),
        m=int(row["m"]), n=int(row["n"]), k=int(row["k"]), blocks=int(row["blocks"]),
        a=a, b=b, c=c, d=d,
        passes=whole(row["passes"]), cycles=cycles, latency=latency, coexec=whole(row["coexec"]),
        sparse=row["sparse"] == "1", scale=whole(row["scale"]), simds=simds(target),
        waits=_waits(table, row), facts={}, note=row["note"],
    )  # fmt: skip
    facts = {
        "shape": fact(made.shape, row["shape_from"]),
        "registers": fact(
            (a.registers, b.registers, c.registers, d.registers), row["registers_from"], "A B C D"
        ),
        "cycles": fact(cycles, row["cycles_from"], "clocks"),
        "latency": fact(latency, row["latency_from"], "clocks"),
        "waits": fact(
            tuple(f"{then} {wait}" for then, wait in made.waits.items()) or None,
            "haz" if made.waits else "",
            "wait states",
        ),
    }
    return replace(made, facts=facts)


@lru_cache(maxsize=1)
def _hazards() -> Mapping[tuple[str, str, str, str], Mapping[str, int]]:
    found: dict[tuple[str, str, str, str], dict[str, int]] = {}
    for row in rows("hazards"):
        key = (row["target"], row["family"], row["unit"], row["cycles"])
        found.setdefault(key, {})[row["then"]] = int(row["wait"])
    return found


def _waits(table: str, row: Mapping[str, str]) -> Mapping[str, int]:
    """Wait states of an instruction: by unit and cycles, and by family where the target asks it."""
    key = (row["unit"], row["cycles"])
    exact = _hazards().get((table, row["family"], *key))
    return exact or _hazards().get((table, "", *key)) or {}


def _with_faster(table: list[Instruction]) -> tuple[Instruction, ...]:
    """The same instructions, each with the fastest one for its types where that is another."""

    def kind(each: Instruction) -> tuple[str, str, bool, int]:
        return each.a.type.group, each.b.type.group, each.sparse, each.wave

    best: dict[tuple[str, str, bool, int], Instruction] = {}
    for each in table:
        if (each.flops_per_clock_cu or 0) > (_rate(best.get(kind(each)))):
            best[kind(each)] = each
    return tuple(
        replace(each, faster=Faster(best[kind(each)].name, share))
        if each.cycles and (share := _rate(each) / _rate(best[kind(each)])) < 1
        else each
        for each in table
    )


def _rate(of: Instruction | None) -> float:
    return (of.flops_per_clock_cu or 0) if of else 0


def _named(name: str, table: Iterable[Instruction]) -> list[Instruction]:
    """Instructions of this name: the exact one first, else one spelt alike."""
    asked = name.lower()
    for spelling in (str, _bare, _old):
        found = [each for each in table if spelling(each.name) == spelling(asked)]
        if found:
            return found
    return []


def _bare(name: str) -> str:
    """A name without `v_` or the builtin's prefix, without underscores and without the block count."""
    name = re.sub(r"^(v_|__builtin_(amdgcn|hcu)_)", "", name)
    return re.sub(r"_(\d+b_)?", "", name)


def _old(name: str) -> str:
    """As `_bare`, and without gfx90a's `_1k`."""
    return _bare(name.removesuffix("_1k"))
