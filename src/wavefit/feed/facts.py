"""Facts of a chip that the feed room reads: by path, the product's page before its target's."""

from __future__ import annotations

from collections.abc import Iterator

from wavefit.chips import SOFT, Chip, Fact
from wavefit.chips.model import Number, Value


def fact(chip: Chip, *paths: str) -> tuple[str, Fact] | None:
    """The first of these Facts that the product or else its target knows, with its path."""
    for path in paths:
        for facts in (chip.facts, chip.target.facts):
            found = facts.get(path)
            if found is not None and found.value is not None:
                return path, found
    return None


def value(chip: Chip, path: str) -> Value:
    """The value of a Fact of the product or its target, None where it is not known."""
    found = fact(chip, path)
    return found[1].value if found else None


def number(chip: Chip, path: str) -> Number | None:
    """A Fact's value where it is a number."""
    found = value(chip, path)
    return found if isinstance(found, int | float) and not isinstance(found, bool) else None


def soft(facts: dict[str, Fact]) -> Iterator[str]:
    """One line for each Fact that is assumed, secondary, contradicted or unknown."""
    for path, found in facts.items():
        if found.status in SOFT:
            note = f"; {found.note}" if found.note else ""
            yield f"{path} = {found.value} is {found.status}: {found.source}{note}"


def title(chip: Chip) -> str:
    """The product's name, or the target's where only that was named."""
    return chip.name or chip.target.name
