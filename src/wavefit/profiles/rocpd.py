"""rocpd, the SQLite output of rocprofv3 (ROCm 7): read-only, with our own queries on its tables.

The file is somebody else's SQL. Its schema may not call anything (`trusted_schema` off, and an authorizer
that knows nothing but reading), no query runs longer than the file's size explains, and its views are
asked only where a table is missing.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any
from urllib.parse import quote

from wavefit.profiles.devices import agent_of, keyed
from wavefit.profiles.dispatches import BACKWARDS, launch_size
from wavefit.profiles.model import LDS_DISPATCH, Device, Measurement, Problem, ProfileError, Reported
from wavefit.profiles.numerals import LARGEST, LARGEST_SIZE, LARGEST_VALUE, BadNumber, bounded, counted
from wavefit.profiles.text import Progress

TOOL = "rocpd"
MAGIC = b"SQLite format 3\0"
DISPATCH, SYMBOL, AGENT = "rocpd_kernel_dispatch", "rocpd_info_kernel_symbol", "rocpd_info_agent"
PMC, EVENT = "rocpd_info_pmc", "rocpd_pmc_event"
NEEDED = (DISPATCH, SYMBOL)

STEPS, STEPS_PER_BYTE = 50_000_000, 40
"""Virtual machine steps allowed: at least, and for each byte of the file. An honest trace needs a tenth."""
EVERY = 100_000
LONGEST = 16 << 20

_OTHERS = (
    ({"HIP", "OPS", "COPY", "KERN"}, "results.db of rocprof v1: a timeline without registers; use its CSV"),
    ({"rocpd_op", "rocpd_api"}, "an .rpd of RocmProfileData: a timeline without registers"),
    ({"CUPTI_ACTIVITY_KIND_KERNEL"}, "Nsight Systems: a timeline; export Nsight Compute's CSV instead"),
)
_COLUMNS = (
    "id", "agent_id", "kernel_id", "dispatch_id", "start", "end",
    "private_segment_size", "group_segment_size",
    "workgroup_size_x", "workgroup_size_y", "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z",
    "event_id",
)  # fmt: skip
_SIDES = _COLUMNS[8:14]


def database(path: str, progress: Progress | None = None) -> Iterator[Measurement | Problem]:
    """A Measurement a dispatch, with the counters of its event summed over instances.

    Another tool's database is refused by its name. What was read before damage stays good.
    """
    try:
        with closing(_opened(path)) as connection:
            names = _tables(connection)
            tables = [n for n, kind in names.items() if kind == "table" and n.startswith(DISPATCH)]
            suffixes = sorted(n[len(DISPATCH) :] for n in tables) or [""] * (DISPATCH in names)
            if not suffixes:
                yield Problem(path, _other(names), "refused")
            for suffix in suffixes:
                yield from _Run(path, connection, names, suffix, progress).measurements()
    except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's own message quotes the damage
        stopped = "interrupted" in str(error)
        yield Problem(
            path, "a query that does not end was stopped" if stopped else f"damaged database: {error}"
        )
    except ProfileError as error:
        yield error.problem


def _opened(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro", uri=True)
    connection.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
    if hasattr(connection, "setlimit"):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA query_only=ON")
    connection.set_authorizer(_only_reading)
    left = (STEPS + STEPS_PER_BYTE * os.path.getsize(path)) // EVERY

    def step() -> int:
        nonlocal left
        left -= 1
        return left < 0

    connection.set_progress_handler(step, EVERY)
    return connection


def _only_reading(action: int, *_: str | None) -> int:
    return (
        sqlite3.SQLITE_OK if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ) else sqlite3.SQLITE_DENY
    )


def _tables(connection: sqlite3.Connection) -> dict[str, str]:
    """Names of real tables and views to their kind; virtual tables (which have no page) are left out."""
    rows = connection.execute("SELECT type, name, rootpage FROM sqlite_master")
    return {
        name: kind for kind, name, page in rows if kind == "view" or (kind == "table" and page and page > 0)
    }


def _other(names: Mapping[str, str]) -> str:
    for tables, what in _OTHERS:
        if tables <= names.keys():
            return what
    shown = ", ".join(sorted(names)[:4]) or "none"
    return f"a SQLite database that is not rocpd (tables: {shown[:80]})"


class _Run:
    """The tables of one profiled process."""

    def __init__(
        self,
        path: str,
        connection: sqlite3.Connection,
        names: Mapping[str, str],
        suffix: str,
        progress: Progress | None,
    ) -> None:
        self.path, self.connection, self.progress = path, connection, progress
        self.names, self.suffix = names, suffix
        self.reported: dict[tuple[Any, ...], Reported] = {}
        self.bad: list[Problem] = []

    def table(self, base: str) -> str | None:
        """The quoted name of a table of this run; the view over all runs where the table is missing."""
        for name in (base + self.suffix, base):
            if name in self.names:
                return '"' + name.replace('"', '""') + '"'
        return None

    def measurements(self) -> Iterator[Measurement | Problem]:
        for base in NEEDED:
            if self.table(base) is None:
                yield Problem(self.path, f"table {base} is missing")
                return
        self.symbols, self.devices = self._symbols(), self._devices()
        counters = self._counters()
        yield from self._complaints()
        event, found = next(counters, (None, {}))
        listed = ", ".join(f'd."{column}"' for column in _COLUMNS)
        rows = self.connection.execute(f"SELECT {listed} FROM {self.table(DISPATCH)} d ORDER BY d.event_id")
        for done, row in enumerate(rows, 1):
            mine = row[-1] if isinstance(row[-1], int) else None
            while event is not None and mine is not None and event < mine:
                event, found = next(counters, (None, {}))
            if self.progress is not None and done % 4096 == 0:
                self.progress(self.path, done, 0)
            one: Measurement | None = None
            try:
                one = self._measurement(row, (found,) if mine is not None and event == mine else (), done)
            except BadNumber as error:
                self._bad(str(error), done)
            except ArithmeticError:
                self._bad("a workgroup of no work-items", done)
            if self.bad:
                yield from self._complaints()
            if one is not None:
                yield one
        yield from self._complaints()

    def _bad(self, cause: str, row: int | None = None) -> None:
        self.bad.append(Problem(self.path, cause, row=row))

    def _complaints(self) -> list[Problem]:
        """What was found wrong since they were last asked for."""
        bad, self.bad = self.bad, []
        return bad

    def _measurement(
        self, row: tuple[Any, ...], passes: tuple[dict[str, float], ...], done: int
    ) -> Measurement:
        """The dispatch of one row, the so manieth. Raises BadNumber, and ArithmeticError."""
        number, agent, kernel, dispatch, start, end, *launch, _ = row
        kind = (agent, kernel, *launch)
        reported = self.reported.get(kind)
        if reported is None:
            reported = self.reported[kind] = self._reported(agent, kernel, launch)
        dispatch = _whole(dispatch, "dispatch_id", LARGEST)
        if not (type(start) is type(end) is int and 0 <= start <= end):
            start, end = self._times(start, end, done)
        return Measurement(reported, self.path, number, dispatch, start, end, passes)

    def _times(self, start: Any, end: Any, done: int) -> tuple[int | None, int | None]:
        """Neither, and why, where one of them cannot be meant."""
        try:
            began, ended = _whole(start, "start", LARGEST), _whole(end, "end", LARGEST)
        except BadNumber as error:
            self._bad(str(error), done)
            return None, None
        if began is not None and ended is not None and began > ended:
            self._bad(BACKWARDS, done)
            return None, None
        return began, ended

    def _reported(self, agent: Any, kernel: Any, launch: list[Any]) -> Reported:
        sides = [_needed(size, column) for size, column in zip(launch[2:], _SIDES, strict=True)]
        scratch, lds = launch[:2]
        symbol = self.symbols.get(kernel, {})
        threads, workgroups = launch_size(sides[:3], sides[3:])
        return Reported(
            tool=TOOL,
            kernel=str(symbol.get("display_name") or symbol.get("kernel_name") or f"kernel {kernel}"),
            symbol=str(symbol.get("kernel_name") or ""),
            agent=str(agent),
            device=self.devices.get(agent),
            threads=threads,
            workgroups=workgroups,
            vgprs=_whole(symbol.get("arch_vgpr_count"), "arch_vgpr_count"),
            agprs=_whole(symbol.get("accum_vgpr_count"), "accum_vgpr_count"),
            sgprs=_whole(symbol.get("sgpr_count"), "sgpr_count"),
            lds=_whole(lds, "group_segment_size"),
            lds_means=LDS_DISPATCH,
            lds_static=_whole(symbol.get("group_segment_size"), "group_segment_size"),
            scratch=_whole(scratch, "private_segment_size"),
        )

    def _symbols(self) -> dict[Any, dict[str, Any]]:
        columns = (
            "id", "kernel_name", "display_name", "group_segment_size",
            "sgpr_count", "arch_vgpr_count", "accum_vgpr_count",
        )  # fmt: skip
        return {row[0]: dict(zip(columns, row, strict=True)) for row in self._rows(SYMBOL, columns)}

    def _devices(self) -> dict[Any, Device]:
        """GPUs by their id here; what they are made of is JSON text in `extdata`."""
        devices: dict[Any, Device] = {}
        for number, kind, name, product, extra in self._rows(
            AGENT, ("id", "type", "name", "product_name", "extdata")
        ):
            try:
                info = keyed(json.loads(extra)) if isinstance(extra, str) else {}
            except (ValueError, RecursionError, AttributeError):
                info = {}
            info |= {"type": kind, "name": name, "productname": product or ""}
            try:
                agent = agent_of(info, len(devices))
            except BadNumber as error:
                self._bad(f"{AGENT}: {error}")
                continue
            if agent is not None:
                devices[number] = agent.device
        return devices

    def _counters(self) -> Iterator[tuple[int | None, dict[str, float]]]:
        """Event and its counters, by event. One event's instances of a counter add up."""
        if self.table(EVENT) is None or self.table(PMC) is None:
            return
        names = dict(self._rows(PMC, ("id", "name")))
        current: int | None = None
        counters: dict[str, float] = {}
        rows = self.connection.execute(
            f"SELECT e.event_id, e.pmc_id, e.value FROM {self.table(EVENT)} e "
            "WHERE e.event_id IS NOT NULL ORDER BY e.event_id"
        )
        for event, pmc, value in rows:
            if not isinstance(event, int):
                continue
            if event != current:
                if current is not None:
                    yield current, counters
                current, counters = event, {}
            name = names.get(pmc) or f"counter {pmc}"
            try:
                plain = type(value) is float and 0.0 <= value < LARGEST_VALUE  # no call for millions of them
                counters[name] = counters.get(name, 0.0) + (value if plain else counted(value))
            except BadNumber as error:
                self._bad(f"event {event}: {error.of(name)}")
        if current is not None:
            yield current, counters

    def _rows(self, base: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
        table = self.table(base)
        if table is None:
            return
        listed = ", ".join(f't."{column}"' for column in columns)
        yield from self.connection.execute(f"SELECT {listed} FROM {table} t")


def _whole(value: Any, column: str, largest: int = LARGEST_SIZE) -> int | None:
    """A whole number, or none at all. Raises BadNumber, with the column."""
    return None if value is None else _needed(value, column, largest)


def _needed(value: Any, column: str, largest: int = LARGEST_SIZE) -> int:
    try:
        return bounded(value, largest)
    except BadNumber as error:
        raise error.of(column) from None
