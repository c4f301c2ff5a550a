"""What a memory operation is counted by, and what a wait lets pass."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

from wavefit.isa.model import Form

QUEUES = ("load", "store", "ds", "scalar", "export", "async", "tensor")
"""Kinds of operations that a counter counts; within each but `scalar` they end in order."""


def queues(said: Form) -> tuple[str, ...]:
    """The queues that an instruction enters, none for what no counter counts."""
    memory = said.memory
    if said.kind == "export":
        return ("export",)
    if memory is None or memory.action == "prefetch":
        return ()
    if said.kind == "scalar":
        return ("scalar",)
    if said.kind == "lds":
        return ("ds",)
    if "async" in said.name:
        return ("async",)
    if said.name.startswith("tensor_"):
        return ("tensor",)
    gives = memory.action == "load" or memory.returns
    main = "load" if gives else "store"
    return (main, "ds") if memory.space == "flat" else (main,)


def allowed(said: Form, target: str) -> tuple[tuple[frozenset[str], int], ...]:
    """For a wait: sets of queues, each with how many of its operations may still be under way."""
    counters = counters_of(target)
    return tuple((counters[counter], count) for counter, count in said.counts.items() if counter in counters)


@lru_cache(maxsize=256)
def counters_of(target: str) -> Mapping[str, frozenset[str]]:
    """The wait counters of a target, and the queues that each counts."""
    found: dict[str, frozenset[str]] = {}
    match: str | None = None
    for row in _rows():
        if match is None and re.fullmatch(row["match"], target):
            match = row["match"]
        if row["match"] == match:
            found[row["counter"]] = frozenset(row["counts"].split())
    return found


@lru_cache(maxsize=1)
def _rows() -> tuple[dict[str, str], ...]:
    text = files("wavefit.isa").joinpath("data", "counters.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
