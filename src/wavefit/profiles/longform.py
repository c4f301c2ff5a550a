"""Tables with one row a dispatch and counter, at the speed of gigabyte traces.

Of the rows of one dispatch only the counter and its value differ, and dispatches of one kind differ in
little else. So a row is parsed as CSV once for each kind; after that the bytes at its ends are compared.
Where the two do not stand side by side, or a quoted value holds the delimiter, every row is parsed.
Rows of one dispatch stand together, as the tools write them; memory does not grow with the file.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain

from wavefit.profiles.columns import LAUNCH, columns
from wavefit.profiles.devices import Devices
from wavefit.profiles.dispatches import REMEMBERED, Launches, Tool, times
from wavefit.profiles.model import Measurement, Problem, Reported
from wavefit.profiles.numerals import LARGEST, LARGEST_VALUE, BadNumber, quantity
from wavefit.profiles.table import Table, listed
from wavefit.profiles.text import decoded

NEVER = b"\0"
"""A beginning that no row has."""
REPEATED = "a row that stands there before, counted once"

Start = tuple[Reported, int | None, int | None, int | None]
"""What a dispatch is: its kind, its number, when it started and ended."""


class _Elsewhere(Exception):
    """The counter and its value are not where the quick way looks for them."""


class _Names(dict[bytes, str]):
    """Counter names by their bytes, quoted or not."""

    def __missing__(self, raw: bytes) -> str:
        name = self[raw] = decoded(raw.strip(b'" '))
        return name


def counter_rows(table: Table, tool: Tool, devices: Devices) -> Iterator[Measurement | Problem]:
    """A Measurement a dispatch and pass, of consecutive rows. Rows that cannot be read are Problems."""
    rows = _Rows(table, tool, devices)
    return _quick(rows) if rows.adjacent else _plain(rows)


def _quick(rows: _Rows) -> Iterator[Measurement | Problem]:
    """The loop is flat, since it runs millions of times: it calls for the first row of a dispatch only."""
    table, names = rows.table, _Names()
    comma, cuts, local = rows.comma, rows.tail + 2, table.decimal != "."
    before, after, skip, drop = NEVER, b"", 0, 0
    counters: dict[str, float] = {}
    now: Measurement | None = None
    lines = chain.from_iterable(table.lists)
    for row, line in enumerate(lines, table.row + 1):
        if not (line.startswith(before) and line.endswith(after)):
            ends = line.rsplit(comma, cuts)
            try:
                start = rows.start(line, ends, row)
            except _Elsewhere:
                table.lists, table.row = chain([[line]], listed(lines)), row - 1
                break
            if not isinstance(start, tuple):
                if start is not None:
                    yield start
                continue
            if now is not None:
                yield now
            yield from rows.complaints()
            reported, which, began, ended = start
            counters = {}
            now = Measurement(reported, table.file, row, which, began, ended, (counters,))
            skip = len(ends[0]) + 1
            drop = len(line) - skip - len(ends[1]) - 1 - len(ends[2])
            before, after = line[:skip], line[len(line) - drop :]
        name, _, text = line[skip : len(line) - drop].partition(comma)
        counter = names[name]
        try:
            value = -1.0 if local else float(text)
        except ValueError:
            value = -1.0
        if counter in counters or not 0.0 <= value < LARGEST_VALUE:  # true of what is not a number, too
            problem = rows.odd(counters, counter, decoded(text).strip('" '), row)
            if problem is not None:
                yield problem
        else:
            counters[counter] = value
    else:
        if now is not None:
            yield now
        return
    if now is not None:
        yield now
    yield from _plain(rows)


def _plain(rows: _Rows) -> Iterator[Measurement | Problem]:
    """The same, row by row as CSV, wherever the columns stand and whatever their cells hold."""
    counter, value = rows.at["counter"], rows.at["value"]
    first, second = sorted((counter, value))
    same: list[str] = []
    counters: dict[str, float] = {}
    now: Measurement | None = None
    for found in rows.table.rows():
        if isinstance(found, Problem):
            yield found
            continue
        row, cells = found
        others = cells[:first] + cells[first + 1 : second] + cells[second + 1 :]
        if now is None or others != same:
            start = rows.parsed(cells, row)
            if isinstance(start, Problem):
                yield start
                continue
            if now is not None:
                yield now
            yield from rows.complaints()
            same, counters = others, {}
            reported, which, began, ended = start
            now = Measurement(reported, rows.table.file, row, which, began, ended, (counters,))
        problem = rows.odd(counters, cells[counter].strip(), cells[value], row)
        if problem is not None:
            yield problem
    if now is not None:
        yield now


class _Rows:
    """How the rows of one table begin and end, and what they mean."""

    def __init__(self, table: Table, tool: Tool, devices: Devices) -> None:
        self.table, self.comma = table, table.delimiter.encode()
        self.late: list[Problem] = []
        self.at = at = dict(columns(table).at)
        self.launches = Launches(tool, at, devices, table.decimal, table.header)
        self.kinds: dict[bytes, Reported] = {}
        self.tail = len(table.header) - 1 - at["value"]
        self.which = at.get("dispatch", -1)
        self.adjacent = at["value"] == at["counter"] + 1
        launch = [at[name] for name in LAUNCH if name in at]
        timed = [at[name] - at["value"] + 2 for name in ("start", "end") if name in at]
        self.times = timed if len(timed) == 2 else []
        """Where in a row split at its end the times are."""
        plain = min(launch) > self.which and max(launch) < at["counter"] and min(timed, default=3) > 2
        self.ids = self.which + 1 if plain else 0
        """Leading cells that are numbers of the dispatch; what follows them is the same for its kind."""

    def start(self, line: bytes, ends: list[bytes], row: int) -> Start | Problem | None:
        """The dispatch of a row that is split at its end; None for an empty line. Raises _Elsewhere."""
        if self.ids and len(ends) == self.tail + 3:
            ids = ends[0].split(self.comma, self.ids)
            kind = self.kinds.get(ids[-1])
            if kind is not None:
                try:
                    which = int(ids[self.which])
                    if not self.times and 0 <= which <= LARGEST:
                        return kind, which, None, None
                    began, ended = [int(ends[at]) for at in self.times]
                    if 0 <= which <= LARGEST and 0 <= began <= ended <= LARGEST:
                        return kind, which, began, ended
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
            raise _Elsewhere
        start = self.parsed(cells, row)
        if self.ids and isinstance(start, tuple):
            if len(self.kinds) >= REMEMBERED:
                self.kinds.clear()
            self.kinds[ends[0].split(self.comma, self.ids)[-1]] = start[0]
        return start

    def parsed(self, cells: list[str], row: int) -> Start | Problem:
        """The dispatch of a row of cells; a Problem where a number of it cannot be meant."""
        try:
            reported, which = self.launches.of(cells), self.launches.number(cells)
        except BadNumber as error:
            return Problem(self.table.file, str(error), row=row)
        began, ended, cause = times(cells, self.at, self.table.header)
        self.late = [Problem(self.table.file, cause, row=row)] if cause else []
        return reported, which, began, ended

    def complaints(self) -> list[Problem]:
        """What is wrong with the dispatch that was just begun, said once."""
        late, self.late = self.late, []
        return late

    def odd(self, counters: dict[str, float], counter: str, text: str, row: int) -> Problem | None:
        """Adds a counter that stands in no plain number; a Problem where it is none, or counted already.

        The tool adds up instances itself: the same row again is a repetition. Another value is added.
        """
        column = self.table.header[self.at["value"]]
        try:
            value = quantity(text, self.table.decimal)
        except BadNumber as error:
            return Problem(self.table.file, f"{column} ({counter}): {error}", row=row)
        if value is None:
            return Problem(self.table.file, f"a counter without a number: {text[:40]!r}", row=row)
        if counters.get(counter) == value:
            return Problem(self.table.file, REPEATED, row=row)
        counters[counter] = counters.get(counter, 0.0) + value
        return None
