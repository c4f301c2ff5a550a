"""What a reader of tables declares: which columns it knows its table by, and what to do with the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wavefit.profiles.devices import Agent
from wavefit.profiles.model import Measurement, Problem
from wavefit.profiles.table import Table

Rows = Callable[..., Iterator[Measurement | Problem]]
"""Called with a Table and `devices=`."""
Machine = Callable[[Table], Iterator[Agent | Problem]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One kind of table. Exactly one of `read` (dispatches), `machine` (devices), `refused` (why not) is set.

    A table is of the first Dialect in the list whose `columns` (keys) it has all of.
    """

    what: str
    columns: frozenset[str]
    read: Rows | None = None
    machine: Machine | None = None
    refused: str | None = None


def dialect(
    what: str,
    columns: str,
    *,
    read: Rows | None = None,
    machine: Machine | None = None,
    refused: str | None = None,
) -> Dialect:
    """A Dialect; columns as words."""
    return Dialect(what, frozenset(columns.split()), read, machine, refused)
