"""`make accuracy`: every agreement count and every error, recomputed from the oracles and measurements.

Prints them, and writes the accuracy page of the documentation with the data that other pages quote.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from importlib.metadata import version

import pytest
from tools import docs_accuracy

from tests import oracles

ROOMS = ("accuracy_matrix", "accuracy_feed", "accuracy_isa", "accuracy_profiles", "accuracy_tiles")


def exact() -> list[tuple[str, int, int]]:
    """Each oracle with how many of its rows are equal, and how many there are."""
    found = []
    for name, table, compare, _ in oracles.EXACT:
        pairs = [compare(row) for row in oracles.rows(table)]
        equal = sum(ours == pytest.approx(theirs, abs=1e-9) for ours, theirs in pairs)
        found.append((name, equal, len(pairs)))
    return found


def rooms() -> Iterator[tuple[str, list[Sequence[object]]]]:
    """Each further room with its rows: name, found, total or limit, note."""
    for room in ROOMS:
        if importlib.util.find_spec(f"tests.{room}") is not None:
            yield room.removeprefix("accuracy_"), list(importlib.import_module(f"tests.{room}").rows())


def main() -> int:
    """Print the tables and write the page; exit 1 when an exact count is short."""
    print("exact: equal of total")
    counts = exact()
    for name, equal, total in counts:
        print(f"  {equal:>6} of {total:<6}  {name}")
    found: list[tuple[str, Sequence[Sequence[object]]]] = [("exact", counts)]
    for room, rows in rooms():
        print(f"\n{room}")
        for row in rows:
            print("  " + "  ".join(str(cell) for cell in row))
        found.append((room, rows))
    today = datetime.now(timezone.utc).date().isoformat()
    docs_accuracy.save(found, date=today, version=version("wavefit"))
    return 1 if any(equal != total for _, equal, total in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
