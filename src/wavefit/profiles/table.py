"""Finding the table in a text file: its header, its delimiter, its decimal mark, and then its rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice

from wavefit.profiles.model import Problem
from wavefit.profiles.numerals import decimal_mark, quotes_commas
from wavefit.profiles.text import decoded

SEARCHED = 200
"""Lines searched for a header: tools and captured output put their own lines before it."""
LIST = 4096
_DELIMITERS = (",", ";", "\t")
_NOISE = re.compile(r"[^a-z0-9]")

Names = tuple[str, ...]


@dataclass(slots=True)
class Table:
    """A header and the lines after it, in lists. `row` is the header's line, from 1; `names` are keys."""

    file: str
    header: tuple[str, ...]
    names: Names
    delimiter: str
    row: int
    lists: Iterator[list[bytes]]
    decimal: str = "."

    def rows(self, needed: int | None = None) -> Iterator[tuple[int, list[str]] | Problem]:
        """Line number and cells of every row; a row that is not CSV is a Problem and the rest goes on.

        Rows of another width are Problems too: they are cut, or belong to another table. A tool that leaves
        out the last cells of a row says how many are `needed`; the others are empty then.
        """
        width, row = len(self.header), self.row
        fewest = width if needed is None else needed
        reader = csv.reader(map(decoded, chain.from_iterable(self.lists)), delimiter=self.delimiter)
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Problem(self.file, f"not CSV: {error}", row=row + reader.line_num)
                continue
            if fewest <= len(cells) <= width:
                yield row + reader.line_num, cells + [""] * (width - len(cells))
            elif any(cells):
                cause = f"{len(cells)} of {width} columns{': cut off' if len(cells) < width else ''}"
                yield Problem(self.file, cause, row=row + reader.line_num)


@lru_cache(maxsize=4096)
def key(name: str) -> str:
    """A column name without case, separators and quotes: `Kernel_Name`, `KernelName` -> `kernelname`."""
    return _NOISE.sub("", name.lower())


def find(file: str, lists: Iterator[list[bytes]], known: Callable[[frozenset[str]], bool]) -> Table | None:
    """The first line whose column names are `known`, as a Table; None where the first lines hold none."""
    row = 0
    for lines in lists:
        for at, line in enumerate(lines[: SEARCHED - row], 1):
            text = decoded(line)
            for delimiter in _DELIMITERS:
                header = _cells(text, delimiter) if delimiter in text else ()
                names = tuple(key(name) for name in header)
                if known(frozenset(names)):
                    return Table(file, header, names, delimiter, row + at, chain([lines[at:]], lists))
        row += len(lines)
        if row >= SEARCHED:
            break
    return None


def with_decimal_mark(table: Table, but: str = "") -> Table:
    """The same Table, knowing its decimal mark from its first lines; one column (a key) may be left out."""
    lines = chain.from_iterable(table.lists)
    ahead = list(islice(lines, SEARCHED * 5))
    left_out = table.names.index(but) if but in table.names else -1
    rows = (_cells(decoded(line), table.delimiter) for line in ahead)
    table.decimal = decimal_mark(cell for row in rows for at, cell in enumerate(row) if at != left_out)
    table.lists = chain([ahead], listed(lines))
    return table


def localised(table: Table) -> Table:
    """The same Table, knowing its decimal mark where it may have another than the point.

    A table of commas can only where it quotes a number with a comma: others are passed on unread.
    """
    if table.delimiter == ",":
        lines = chain.from_iterable(table.lists)
        ahead = list(islice(lines, SEARCHED * 5))
        table.lists = chain([ahead], listed(lines))
        if not any(map(quotes_commas, ahead)):
            return table
    return with_decimal_mark(table)


def listed(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    """Lines in lists again."""
    while some := list(islice(lines, LIST)):
        yield some


def _cells(text: str, delimiter: str) -> tuple[str, ...]:
    try:
        return tuple(cell.strip() for cell in next(csv.reader([text], delimiter=delimiter)))
    except (csv.Error, StopIteration):
        return ()
