"""Tables with one row a dispatch and counter, at the speed of gigabyte traces.

Of the rows of one dispatch only the counter and its value differ, and dispatches of one kind differ in
little else. So a row is parsed as CSV once for each kind; after that the bytes at its ends are compared.
Rows of one dispatch stand together, as the tools write them; memory does not grow with the file.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain

from wavefit.profiles.columns import LAUNCH, columns
from wavefit.profiles.devices import Devices
from wavefit.profiles.dispatches import DAMAGED_TIME, REMEMBERED, Launches, Tool, times
from wavefit.profiles.model import Measurement, Problem, Reported
from wavefit.profiles.numerals import count, number
from wavefit.profiles.table import Table
from wavefit.profiles.text import decoded

NEVER = b"\0"
"""A beginning that no row has."""

Start = tuple[Reported, int | None, int | None, int | None]
"""What a dispatch is: its kind, its number, when it started and ended."""


class _Names(dict[bytes, str]):
    """Counter names by their bytes, quoted or not."""

    def __missing__(self, raw: bytes) -> str:
        name = self[raw] = decoded(raw.strip(b'" '))
        return name


def counter_rows(table: Table, tool: Tool, devices: Devices) -> Iterator[Measurement | Problem]:
    """A Measurement a dispatch and pass, of consecutive rows. Rows that cannot be read are Problems.

    The loop is flat, since it runs millions of times: it calls for the first row of a dispatch only.
    """
    rows, names = _Rows(table, tool, devices), _Names()
    comma, cuts = rows.comma, rows.tail + 2
    before, after, skip, drop = NEVER, b"", 0, 0
    counters: dict[str, float] = {}
    now: Measurement | None = None
    for row, line in enumerate(chain.from_iterable(table.lists), table.row + 1):
        if not (line.startswith(before) and line.endswith(after)):
            if now is not None:
                yield now
            ends = line.rsplit(comma, cuts)
            start = rows.start(line, ends, row)
            if not isinstance(start, tuple):
                if start is not None:
                    yield start
                now, before = None, NEVER
                continue
            if rows.damaged:
                yield rows.complaint(row)
            reported, which, began, ended = start
            counters = {}
            now = Measurement(reported, table.file, row, which, began, ended, (counters,))
            skip = len(ends[0]) + 1
            drop = len(line) - skip - len(ends[1]) - 1 - len(ends[2])
            before, after = line[:skip], line[len(line) - drop :]
        name, _, text = line[skip : len(line) - drop].partition(comma)
        try:
            value = float(text)
        except ValueError:
            found = number(decoded(text).strip('" '), table.decimal)
            if found is None:
                yield Problem(table.file, f"a counter without a number: {decoded(text)[:40]!r}", row=row)
                continue
            value = found
        counter = names[name]
        counters[counter] = counters[counter] + value if counter in counters else value
    if now is not None:
        yield now


class _Rows:
    """How the rows of one table begin and end, and what they mean."""

    def __init__(self, table: Table, tool: Tool, devices: Devices) -> None:
        self.table, self.comma = table, table.delimiter.encode()
        self.damaged, self.complained = "", False
        self.at = at = dict(columns(table).at)
        self.launches = Launches(tool, at, devices, table.decimal)
        self.kinds: dict[bytes, Reported] = {}
        self.tail = len(table.header) - 1 - at["value"]
        self.which = at.get("dispatch", -1)
        launch = [at[name] for name in LAUNCH if name in at]
        timed = [at[name] - at["value"] + 2 for name in ("start", "end") if name in at]
        self.times = timed if len(timed) == 2 else []
        """Where in a row split at its end the times are."""
        plain = min(launch) > self.which and max(launch) < at["counter"] and min(timed, default=3) > 2
        self.ids = self.which + 1 if plain else 0
        """Leading cells that are numbers of the dispatch; what follows them is the same for its kind."""

    def start(self, line: bytes, ends: list[bytes], row: int) -> Start | Problem | None:
        """The dispatch of a row that is split at its end; None for an empty line."""
        if self.ids and len(ends) == self.tail + 3:
            ids = ends[0].split(self.comma, self.ids)
            kind = self.kinds.get(ids[-1])
            if kind is not None:
                try:
                    if not self.times:
                        return kind, int(ids[self.which]), None, None
                    began, ended = self.times
                    return kind, int(ids[self.which]), int(ends[began]), int(ends[ended])
                except ValueError:
                    pass  # quoted or damaged: the careful way
        return self._careful(line, ends, row) if line.strip() else None

    def _careful(self, line: bytes, ends: list[bytes], row: int) -> Start | Problem:
        try:
            cells = next(csv.reader([decoded(line)], delimiter=self.table.delimiter, strict=True))
        except csv.Error as error:
            return Problem(self.table.file, f"not CSV: {error}", row=row)
        width = len(self.table.header)
        if len(cells) != width:
            cut = ": cut off" if len(cells) < width else ""
            return Problem(self.table.file, f"{len(cells)} of {width} columns{cut}", row=row)
        if len(ends) != self.tail + 3 or decoded(ends[1]).strip('" ') != cells[self.at["counter"]].strip():
            return Problem(self.table.file, "columns in an order that is not known", row=row)
        reported = self.launches.of(cells)
        if self.ids:
            if len(self.kinds) >= REMEMBERED:
                self.kinds.clear()
            self.kinds[ends[0].split(self.comma, self.ids)[-1]] = reported
        began, ended, damaged = times(cells, self.at)
        if damaged and not self.complained:
            self.damaged = damaged
        return reported, count(cells[self.which]) if self.which >= 0 else None, began, ended

    def complaint(self, row: int) -> Problem:
        """Said once of damaged timestamps."""
        problem = Problem(self.table.file, DAMAGED_TIME.format(self.damaged), row=row)
        self.damaged, self.complained = "", True
        return problem
