"""Chips as text and as JSON: every Fact with unit, status and source."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wavefit.chips import Chip, Fact, Target
from wavefit.report.language import retold, say
from wavefit.report.names import width
from wavefit.report.paint import paint
from wavefit.report.text import says, value_text
from wavefit.report.wrap import beside, hung, listed, pad

Json = dict[str, Any]
_VALUE = 22
"""Columns that values are filled up to."""
_BELOW = " " * 6


def chip_document(chip: Chip) -> Json:
    """The document `wavefit.chip/1`: a product's Facts and its target's, by path."""
    return {
        "schema": "wavefit.chip/1",
        "chip": chip.name,
        "vendor": chip.vendor,
        "aliases": list(chip.aliases),
        "note": chip.note,
        "facts": {path: _fact(fact) for path, fact in chip.facts.items()},
        "target": {
            "name": chip.target.name,
            "family": chip.target.family,
            "wave_sizes": list(chip.target.wave_sizes),
            "modes": list(chip.target.modes),
            "unknown": list(chip.target.unknown),
            "facts": {path: _fact(fact) for path, fact in chip.target.facts.items()},
        },
    }


def list_document(products: Iterable[Chip], targets: Iterable[Target]) -> Json:
    """The document `wavefit.chips/1`: the names of all products and targets."""
    return {
        "schema": "wavefit.chips/1",
        "products": [
            {"chip": c.name, "vendor": c.vendor, "target": c.target.name, "units": c.value("compute.cus")}
            for c in products
        ],
        "targets": [{"target": t.name, "id": t.id, "vendor": t.vendor, "family": t.family} for t in targets],
    }


def chip_text(chip: Chip) -> str:
    """One chip: its own Facts, then its target's."""
    target = chip.target
    name = f"{chip.name}: {chip.vendor}, {target.name}" if chip.name else f"{target.name}: {target.vendor}"
    sizes = say(" or ").join(map(str, target.wave_sizes))
    head = say("{name}, {family}, waves of {sizes} lanes", name=name, family=target.family, sizes=sizes)
    lines = [paint(line, "strong") for line in hung("", head)]
    if chip.note:
        lines += hung("", retold(chip.note))
    if target.unknown:
        missing = ", ".join(target.unknown)
        lines += hung("", say("no Fit is possible; nothing public says {missing}", missing=missing))
    for title, facts in ((chip.name, chip.facts), (target.name, target.facts)):
        if facts:
            lines += ["", paint(f"{title}", "strong"), *_table(facts.items())]
    return "\n".join(lines)


def list_text(products: Iterable[Chip], targets: Iterable[Target]) -> str:
    """Products by target, then the targets without a product, by family."""
    by_target: dict[str, list[str]] = {}
    for product in products:
        by_target.setdefault(product.target.id, []).append(str(product.name))
    lines = []
    for target in targets:
        names = listed(by_target.get(target.id, ()))
        lines += hung(f"{target.name:<18} {target.vendor:<7} {target.family:<16} ", names)
    return "\n".join(lines)


def _table(facts: Iterable[tuple[str, Fact]]) -> list[str]:
    """A Fact a line where it fits: path, value, who says so; other readings and notes below it."""
    rows = [(path, value_text(fact), fact) for path, fact in facts]
    paths = max(len(path) for path, _, _ in rows)
    values = min(max(width(value) for _, value, _ in rows), _VALUE)
    lines = []
    for path, value, fact in rows:
        head = hung(f"  {path:<{paths}}  ", pad(value, values))
        lines += [*head[:-1], *beside(pad(head[-1], paths + values + 4), says(fact), hang=len(_BELOW))]
        for reading in fact.readings:
            text = say("or {value}: {source}", value=reading.value, source=reading.source)
            lines += hung(_BELOW, text)
        if fact.note:
            lines += [paint(line, "quiet") for line in hung(_BELOW, retold(fact.note))]
    return lines


def _fact(fact: Fact) -> Json:
    return {
        "value": list(fact.value) if isinstance(fact.value, tuple) else fact.value,
        "unit": fact.unit,
        "status": fact.status,
        "source": fact.source,
        "note": fact.note,
        "readings": [{"value": reading.value, "source": reading.source} for reading in fact.readings],
    }
