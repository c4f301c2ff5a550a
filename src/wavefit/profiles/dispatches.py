"""Tables with one row a dispatch to Measurements, whatever tool wrote them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wavefit.profiles.columns import LAUNCH, Columns, columns
from wavefit.profiles.devices import Devices
from wavefit.profiles.model import Counters, Measurement, Problem, Reported
from wavefit.profiles.numerals import (
    LARGEST,
    LARGEST_SIZE,
    MISSING,
    SHOWN,
    BadNumber,
    quantity,
    time,
    whole,
)
from wavefit.profiles.table import Table

REMEMBERED = 1 << 16
"""Kinds of dispatch kept to be recognised again; a trace has hundreds."""
SQ_COUNTERS = 8
"""Of one pass: no pass of a public workload (MI100 to MI300X) holds more of the SQ block."""
DAMAGED_TIME = "timestamps rounded by a spreadsheet ({}): durations are lost"
BACKWARDS = "ends before it starts: its duration is lost"


@dataclass(frozen=True, slots=True)
class Tool:
    """What a table's columns mean: the tool's name and what its LDS column counts.

    `merged` says that one row may hold several runs with no mark between them.
    """

    name: str
    lds_means: str
    merged: bool = False


class Launches:
    """Reporteds by the cells they come from: each kind of dispatch is understood once."""

    def __init__(
        self, tool: Tool, at: Mapping[str, int], devices: Devices, decimal: str, titles: Sequence[str]
    ) -> None:
        self.tool, self.devices, self.decimal = tool, devices, decimal
        self.at, self.titles = at, titles
        self.where = [(field, at[field]) for field in LAUNCH if field in at]
        self.known: dict[tuple[str, ...], Reported] = {}

    def of(self, cells: Sequence[str]) -> Reported:
        """The Reported of one row. Raises BadNumber, with the column, for a number that cannot be meant."""
        mine = tuple([cells[position] for _, position in self.where])
        found = self.known.get(mine)
        if found is None:
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            found = self.known[mine] = self._reported({f: cells[p] for f, p in self.where})
        return found

    def _reported(self, cell: Mapping[str, str]) -> Reported:
        def size(field: str) -> int | None:
            largest = LARGEST if field == "grid" else LARGEST_SIZE
            return self._whole(field, cell[field], largest) if field in cell else None

        threads, workgroups = _sizes(size)
        return Reported(
            tool=self.tool.name,
            kernel=cell["kernel"],
            agent=cell.get("agent", ""),
            device=self.devices.of(cell.get("agent", "")),
            threads=threads,
            workgroups=workgroups,
            vgprs=size("vgprs"),
            agprs=size("agprs"),
            sgprs=size("sgprs"),
            lds=size("lds"),
            lds_means=self.tool.lds_means,
            scratch=size("scratch"),
            wave=size("wave"),
        )

    def number(self, cells: Sequence[str]) -> int | None:
        """The tool's own number of the dispatch; None where it has none. Raises BadNumber as `of` does."""
        return self._whole("dispatch", cells[self.at["dispatch"]], LARGEST) if "dispatch" in self.at else None

    def _whole(self, field: str, text: str, largest: int) -> int | None:
        try:
            return whole(text, self.decimal, largest)
        except BadNumber as error:
            raise error.of(self.titles[self.at[field]]) from None


def _sizes(size: Callable[[str], int | None]) -> tuple[int | None, int | None]:
    """Work-items of a workgroup and workgroups of the grid. These tools give grids in work-items."""
    workgroup = [size(f"threads_{axis}") for axis in "xyz"]
    grid = [size(f"grid_{axis}") for axis in "xyz"]
    if all(workgroup) and all(grid):
        return launch_size([side or 1 for side in workgroup], [side or 1 for side in grid])
    threads, items = size("threads"), size("grid")
    return threads, -(-items // threads) if threads and items else None


def launch_size(workgroup: Sequence[int], grid: Sequence[int]) -> tuple[int, int]:
    """Work-items of a workgroup and the number of workgroups, from sides in work-items."""
    threads = workgroups = 1
    for side, items in zip(workgroup, grid, strict=True):
        threads *= side
        workgroups *= -(-items // side)
    return threads, workgroups


def dispatches(table: Table, tool: Tool, devices: Devices) -> Iterator[Measurement | Problem]:
    """A Measurement a row. Rows that are cut or whose launch cannot be meant are Problems.

    So are counters that cannot be meant, and times that a spreadsheet destroyed: the rest of the row stays.
    """
    where = columns(table)
    launches = Launches(tool, where.at, devices, table.decimal, table.header)
    passes = _separated(where, tool)
    for found in table.rows():
        if isinstance(found, Problem):
            yield found
            continue
        row, cells = found
        try:
            reported, which = launches.of(cells), launches.number(cells)
        except BadNumber as error:
            yield Problem(table.file, str(error), row=row)
            continue
        start, end, cause = times(cells, where.at, table.header)
        bad = [cause] if cause else []
        counters = tuple(_counters(cells, one, table, bad) for one in passes)
        yield from (Problem(table.file, cause, row=row) for cause in bad)
        yield Measurement(reported, table.file, row, which, start, end, counters)


def _separated(where: Columns, tool: Tool) -> tuple[Mapping[str, tuple[int, ...]], ...]:
    """The passes; where a tool merges runs without a mark, and too much for one run, a pass a counter."""
    passes = where.passes
    if tool.merged and any(sum(n.startswith("SQ_") for n in one) > SQ_COUNTERS for one in passes):
        return tuple({name: at} for one in passes for name, at in one.items())
    return passes


def times(
    cells: Sequence[str], at: Mapping[str, int], titles: Sequence[str]
) -> tuple[int | None, int | None, str]:
    """Start, end, and what is wrong with one that is there: then both are None."""
    if "start" not in at or "end" not in at:
        return None, None, ""
    moments: list[int | None] = []
    for position in (at["start"], at["end"]):
        text = cells[position]
        try:
            moments.append(time(text))
        except BadNumber as error:
            return None, None, str(error.of(titles[position]))
        if moments[-1] is None and text.strip().lower() not in MISSING:
            return None, None, DAMAGED_TIME.format(text[:SHOWN])
    start, end = moments
    if start is None or end is None:
        return None, None, ""
    return (start, end, "") if start <= end else (None, None, BACKWARDS)


def _counters(
    cells: Sequence[str], one: Mapping[str, tuple[int, ...]], table: Table, bad: list[str]
) -> Counters:
    counters: dict[str, float] = {}
    for name, positions in one.items():
        for position in positions:
            try:
                value = quantity(cells[position], table.decimal)
            except BadNumber as error:
                bad.append(str(error.of(table.header[position])))
                continue
            if value is not None:
                counters[name] = counters.get(name, 0.0) + value
    return counters
