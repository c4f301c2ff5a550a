"""The reference of the chips, from their pages: every Fact with value, unit, status and source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tools.docs_words import code, plain, table, word

from wavefit.chips import Chip, Fact, Target, products, targets
from wavefit.chips.pages import page, read

PAGES: Mapping[str, tuple[str, ...]] = {
    "cdna": ("CDNA1", "CDNA2", "CDNA3", "CDNA4", "gfx12.5"),
    "gcn": ("GCN1 (SI)", "GCN2 (CI)", "GCN3 (VI)", "GCN3/4 (VI)", "GCN5"),
    "rdna": ("RDNA1", "RDNA2", "RDNA3", "RDNA3.5", "gfx11.7 (RDNA4m)", "RDNA4", "gfx13"),
    "hygon": (
        "Hygon Z100", "Hygon K100", "Hygon K100_AI", "Hygon YY", "Hygon BW", "Hygon BW1100", "Hygon SB",
    ),
    "nvidia": ("Volta", "Turing", "Ampere", "Ada", "Hopper", "Blackwell"),
    "published": ("CDNA4, as published",),
}  # fmt: skip
"""Families by page."""
GROUPED = 10_000
"""From here on digits are grouped."""


def chips(which: str, language: str) -> str:
    """Targets of a page with their products, family by family. Raises KeyError for a page that is not."""
    made = [_target(each, language) for family in PAGES[which] for each in targets() if each.family == family]
    return "\n".join(made)


def _target(target: Target, language: str) -> str:
    above = read(page("targets", target.id)).get("like")
    lanes = f" {word('or', language)} ".join(map(str, target.wave_sizes))
    waves = word("waves of", language)
    parts = [
        f"## {target.id}\n",
        f"{target.vendor}, {target.family}; {waves} {lanes} {word('lanes', language)}.\n",
    ]
    if target.unknown:
        missing = ", ".join(map(code, target.unknown))
        parts.append(f"{word('no Fit is possible; unknown', language)}: {missing}.\n")
    facts: Mapping[str, Fact] = target.facts
    if above:
        facts = differing(target, above)
        same = "" if facts else f" ({word('nothing differs', language)})"
        parts.append(f"{word('as', language)} [{above}]({_place(above)}){same}\n")
    if facts:
        parts.append(_facts(facts.items(), language))
    parts += [_product(each, language) for each in products() if each.target.id == target.id]
    return "\n".join(parts)


def _place(stem: str) -> str:
    """Where a target's section is; pages lie beside each other."""
    family = next(each for each in targets() if each.id == stem).family
    return f"{next(name for name, families in PAGES.items() if family in families)}.md#{stem}"


def differing(target: Target, above: str) -> dict[str, Fact]:
    """The Facts in which a target is not as the one its page says it is like."""
    base = next(each for each in targets() if each.id == above).facts
    return {path: fact for path, fact in target.facts.items() if base.get(path) != fact}


def _product(chip: Chip, language: str) -> str:
    note = f"{plain(chip.note)}\n\n" if chip.note else ""
    facts = _facts(chip.facts.items(), language) if chip.facts else ""
    return f"### {chip.name}\n\n{note}{facts}"


def _facts(facts: Iterable[tuple[str, Fact]], language: str) -> str:
    heads = [word(each, language) for each in ("fact", "value", "status", "source")]
    return table(heads, [[code(path), *_cells(fact, language)] for path, fact in facts])


def _cells(fact: Fact, language: str) -> Iterator[str]:
    value = word("unknown", language) if fact.value is None else fact.value
    if isinstance(value, tuple):
        value = " ".join(map(str, value))
    elif isinstance(value, int | float) and value >= GROUPED:
        value = f"{value:,}"
    yield plain(f"{value} {fact.unit}" if fact.unit else str(value))
    yield fact.status
    readings = [f"{word('or', language)} {each.value}: {each.source}" for each in fact.readings]
    yield plain("; ".join([fact.source, *readings, *([fact.note] if fact.note else [])]))
