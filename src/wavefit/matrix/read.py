"""Reads the tables in `data/`: one CSV a target, and the small ones that they refer to."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from wavefit.chips.model import Fact, Number, Value
from wavefit.matrix.errors import TypeNotFound
from wavefit.matrix.model import ElementType

DATA = Path(__file__).parent / "data"


def rows(table: str) -> Iterator[dict[str, str]]:
    """The rows of `data/<table>.csv`; lines that begin with # are for people."""
    with (DATA / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def number(text: str) -> Number | None:
    """A number as it stands in a table, None where the field is empty."""
    if not text:
        return None
    return float(text) if "." in text else int(text)


def whole(text: str) -> int | None:
    """A whole number as it stands in a table, None where the field is empty."""
    return int(text) if text else None


@lru_cache(maxsize=1)
def _sources() -> Mapping[str, tuple[str, str]]:
    return {row["id"]: (row["source"], row["status"]) for row in rows("sources")}


def fact(value: Value, source: str, unit: str | None = None) -> Fact:
    """The Fact of a number of a table, with the row of `sources.csv` that the table names."""
    if not source:
        return Fact(None, "not public", "unknown", unit)
    text, status = _sources()[source]
    return Fact(value, text, status, unit)


@lru_cache(maxsize=1)
def element_types() -> Mapping[str, ElementType]:
    """Every element type of the tables, by name."""
    return {
        row["name"]: ElementType(row["name"], int(row["bits"]), row["group"], tuple(row["formats"].split()))
        for row in rows("types")
    }


def meant(word: str) -> frozenset[str]:
    """Names of the element types that a user's word means: a group (`fp8`), a name, a format (`e4m3`).

    Raises TypeNotFound with near matches.
    """
    asked = word.lower()
    found = frozenset(
        each.name
        for each in element_types().values()
        if asked in (each.group, each.name) or asked in each.formats
    )
    if not found:
        words = [word for each in element_types().values() for word in (each.group, each.name, *each.formats)]
        raise TypeNotFound(word, words)
    return found
