"""Chips as text and as JSON: every Fact with unit, status and source."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wavefit.chips import Chip, Fact, Target

Json = dict[str, Any]


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
    lines = [f"{name}, {target.family}, waves of {' or '.join(map(str, target.wave_sizes))} lanes"]
    if chip.note:
        lines.append(chip.note)
    if target.unknown:
        lines.append(f"no Fit is possible; nothing public says {', '.join(target.unknown)}")
    for title, facts in ((chip.name, chip.facts), (target.name, target.facts)):
        if facts:
            lines += ["", f"{title}", *_table(facts.items())]
    return "\n".join(lines)


def list_text(products: Iterable[Chip], targets: Iterable[Target]) -> str:
    """Products by target, then the targets without a product, by family."""
    by_target: dict[str, list[str]] = {}
    for product in products:
        by_target.setdefault(product.target.id, []).append(str(product.name))
    lines = []
    for target in targets:
        names = ", ".join(by_target.get(target.id, ()))
        lines.append(f"{target.name:<18} {target.vendor:<7} {target.family:<16} {names}".rstrip())
    return "\n".join(lines)


def _table(facts: Iterable[tuple[str, Fact]]) -> list[str]:
    rows = [(path, _value(fact), f"[{fact.status}] {fact.source}", fact) for path, fact in facts]
    path_width = max(len(row[0]) for row in rows)
    value_width = min(max(len(row[1]) for row in rows), 34)
    lines = []
    for path, value, says, fact in rows:
        lines.append(f"  {path:<{path_width}}  {value:<{value_width}}  {says}")
        indent = " " * (path_width + 4)
        lines += [f"{indent}or {reading.value}: {reading.source}" for reading in fact.readings]
        if fact.note:
            lines.append(f"{indent}{fact.note}")
    return lines


def _value(fact: Fact) -> str:
    value = "unknown" if fact.value is None else fact.value
    if isinstance(value, tuple):
        value = " ".join(map(str, value))
    return f"{value} {fact.unit}" if fact.unit else str(value)


def _fact(fact: Fact) -> Json:
    return {
        "value": list(fact.value) if isinstance(fact.value, tuple) else fact.value,
        "unit": fact.unit,
        "status": fact.status,
        "source": fact.source,
        "note": fact.note,
        "readings": [{"value": reading.value, "source": reading.source} for reading in fact.readings],
    }
