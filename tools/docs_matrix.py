"""The reference of the matrix instructions, from their tables."""

from __future__ import annotations

from tools.docs_words import code, plain, table, word

from wavefit.chips import targets
from wavefit.matrix import Instruction, NoMatrix, matrix


def instructions(which: str, language: str) -> str:
    """A table a target: `which` are targets, separated by blanks. Targets with one table share a section."""
    return "\n".join(_target(name, language) for name in which.split())


def _target(name: str, language: str) -> str:
    heads = [word(each, language) for each in ("instruction", "types", "shape")]
    heads += [f"{word('registers', language)} A B C D", word("cycles", language), word("latency", language)]
    heads += [word("FLOP a clock a CU", language), word("note", language)]
    rows = [_row(each, language) for each in matrix(name)]
    return f"## {name}\n\n{table(heads, rows, right=(4, 5, 6))}"


def _row(each: Instruction, language: str) -> list[str]:
    registers = " ".join(str(each.operand(letter).registers) for letter in "ABCD")
    notes = [*(["4:2 sparse"] if each.sparse else []), *([f"scaled by {each.scale}"] if each.scale else [])]
    return [
        code(each.name), f"{each.types} → {each.d.type.name}", each.shape, registers,
        *(_number(value, language) for value in (each.cycles, each.latency, each.flops_per_clock_cu)),
        plain("; ".join([*notes, *each.notes])),
    ]  # fmt: skip


def _number(value: float | None, language: str) -> str:
    return word("unknown", language) if value is None else f"{value:,.6g}"


def without(language: str) -> str:
    """Targets that have no matrix instructions, or of which none are public, by the reason."""
    reasons: dict[str, list[str]] = {}
    for target in targets():
        try:
            matrix(target)
        except NoMatrix as why:
            reasons.setdefault(str(why).removeprefix(target.name).lstrip(": "), []).append(code(target.id))
    heads = [word("name", language), word("note", language)]
    return table(heads, [[", ".join(names), plain(why)] for why, names in reasons.items()])
