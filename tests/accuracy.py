"""`make accuracy`: every agreement count and every error, recomputed from the oracles and measurements."""

from __future__ import annotations

import importlib.util
import sys

import pytest

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


def main() -> int:
    """Print the table; exit 1 when an exact count is short."""
    short = 0
    print("exact: equal of total")
    for name, equal, total in exact():
        short += equal != total
        print(f"  {equal:>6} of {total:<6}  {name}")
    for room in ROOMS:
        if importlib.util.find_spec(f"tests.{room}") is None:
            continue
        print(f"\n{room.removeprefix('accuracy_')}")
        for row in importlib.import_module(f"tests.{room}").rows():
            print("  " + "  ".join(str(cell) for cell in row))
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
