"""Tables with one row a dispatch to Measurements, whatever tool wrote them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wavefit.profiles.columns import LAUNCH, Columns, columns
from wavefit.profiles.devices import Devices
from wavefit.profiles.model import Counters, Measurement, Problem, Reported
from wavefit.profiles.numerals import count, number, time
from wavefit.profiles.table import Table

REMEMBERED = 1 << 16
"""Kinds of dispatch kept to be recognised again; a trace has hundreds."""
SQ_COUNTERS = 8
"""Of one pass: no pass of a public workload (MI100 to MI300X) holds more of the SQ block."""
DAMAGED_TIME = "timestamps rounded by a spreadsheet ({}): durations are lost"


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

    def __init__(self, tool: Tool, at: Mapping[str, int], devices: Devices, decimal: str) -> None:
        self.tool, self.devices, self.decimal = tool, devices, decimal
        self.where = [(field, at[field]) for field in LAUNCH if field in at]
        self.known: dict[tuple[str, ...], Reported] = {}

    def of(self, cells: Sequence[str]) -> Reported:
        """The Reported of one row."""
        mine = tuple([cells[position] for _, position in self.where])
        found = self.known.get(mine)
        if found is None:
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            found = self.known[mine] = self._reported({f: cells[p] for f, p in self.where})
        return found

    def _reported(self, cell: Mapping[str, str]) -> Reported:
        def whole(field: str) -> int | None:
            return count(cell[field], self.decimal) if field in cell else None

        threads, workgroups = _sizes(whole)
        return Reported(
            tool=self.tool.name,
            kernel=cell["kernel"],
            agent=cell.get("agent", ""),
            device=self.devices.of(cell.get("agent", "")),
            threads=threads,
            workgroups=workgroups,
            vgprs=whole("vgprs"),
            agprs=whole("agprs"),
            sgprs=whole("sgprs"),
            lds=whole("lds"),
            lds_means=self.tool.lds_means,
            scratch=whole("scratch"),
            wave=whole("wave"),
        )


def _sizes(whole: Callable[[str], int | None]) -> tuple[int | None, int | None]:
    """Work-items of a workgroup and workgroups of the grid. These tools give grids in work-items."""
    workgroup = [whole(f"threads_{axis}") for axis in "xyz"]
    grid = [whole(f"grid_{axis}") for axis in "xyz"]
    if all(workgroup) and all(grid):
        return launch_size([side or 1 for side in workgroup], [side or 1 for side in grid])
    threads, items = whole("threads"), whole("grid")
    return threads, -(-items // threads) if threads and items else None


def launch_size(workgroup: Sequence[int], grid: Sequence[int]) -> tuple[int, int]:
    """Work-items of a workgroup and the number of workgroups, from sides in work-items."""
    threads = workgroups = 1
    for side, items in zip(workgroup, grid, strict=True):
        threads *= side
        workgroups *= -(-items // side)
    return threads, workgroups


def dispatches(table: Table, tool: Tool, devices: Devices) -> Iterator[Measurement | Problem]:
    """A Measurement a row. Rows that are cut, and timestamps that a spreadsheet destroyed, are Problems."""
    where = columns(table)
    launches = Launches(tool, where.at, devices, table.decimal)
    passes = _separated(where, tool)
    complained = False
    for found in table.rows():
        if isinstance(found, Problem):
            yield found
            continue
        row, cells = found
        start, end, damaged = times(cells, where.at)
        if damaged and not complained:
            complained = True
            yield Problem(table.file, DAMAGED_TIME.format(damaged), row=row)
        yield Measurement(
            launches.of(cells),
            table.file,
            row,
            count(cells[where.at["dispatch"]]) if "dispatch" in where.at else None,
            start,
            end,
            tuple(_counters(cells, one, table.decimal) for one in passes),
        )


def _separated(where: Columns, tool: Tool) -> tuple[Mapping[str, tuple[int, ...]], ...]:
    """The passes; where a tool merges runs without a mark, and too much for one run, a pass a counter."""
    passes = where.passes
    if tool.merged and any(sum(n.startswith("SQ_") for n in one) > SQ_COUNTERS for one in passes):
        return tuple({name: at} for one in passes for name, at in one.items())
    return passes


def times(cells: Sequence[str], at: Mapping[str, int]) -> tuple[int | None, int | None, str]:
    """Start, end, and the text of one that is there but is no whole number."""
    if "start" not in at or "end" not in at:
        return None, None, ""
    texts = cells[at["start"]], cells[at["end"]]
    start, end = map(time, texts)
    if start is None or end is None:
        return None, None, next((text for text in texts if text and time(text) is None), "")
    return start, end, ""


def _counters(cells: Sequence[str], one: Mapping[str, tuple[int, ...]], decimal: str) -> Counters:
    counters: dict[str, float] = {}
    for name, positions in one.items():
        for position in positions:
            value = number(cells[position], decimal)
            if value is not None:
                counters[name] = counters.get(name, 0.0) + value
    return counters
