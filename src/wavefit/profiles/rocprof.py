"""rocprof v1 and v2 (ROCm up to 6), and Hygon's hipprof, which writes the tables and the text of v1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain

from wavefit.profiles.columns import FIELDS
from wavefit.profiles.devices import Devices
from wavefit.profiles.dialects import dialect
from wavefit.profiles.dispatches import Launches, Tool, dispatches, times
from wavefit.profiles.model import LDS_ROUNDED, Measurement, Problem
from wavefit.profiles.numerals import count
from wavefit.profiles.table import key
from wavefit.profiles.text import decoded

V1 = Tool("rocprof v1", LDS_ROUNDED, merged=True)
HIPPROF = Tool("hipprof", LDS_ROUNDED)

_DISPATCH = re.compile(r"dispatch\[(\d+)\], (.*)")
_FIELD = re.compile(r'([a-z_-]+)\(("(?:[^"]*)"|[^()]*)\)')
_COUNTER = re.compile(r"\s+(\S.*?) \((-?[\d.eE+]+)\)\s*")
_OURS = {name: field for field, names in FIELDS.items() for name in names}


def text_starts(start: bytes) -> bool:
    """True for the text output: a dispatch a line, its counters indented below it."""
    return re.search(rb"(?m)^dispatch\[\d+\], gpu-id\(", start) is not None


def text_rows(file: str, lists: Iterable[list[bytes]], devices: Devices) -> Iterator[Measurement | Problem]:
    """A Measurement a dispatch of hipprof's (or rocprof's) text output."""
    now: Measurement | None = None
    counters: dict[str, float] = {}
    for row, raw in enumerate(chain.from_iterable(lists), 1):
        line = decoded(raw)
        head = _DISPATCH.fullmatch(line)
        if head:
            if now is not None:
                yield now
            counters = {}
            now = _dispatch(file, row, head[1], head[2], counters, devices)
            if now is None:
                yield Problem(file, "a dispatch without a kernel name", row=row)
            continue
        found = _COUNTER.fullmatch(line)
        if found and now is not None:
            try:
                counters[found[1]] = float(found[2])
                continue
            except ValueError:
                pass
        if now is not None and line.strip():
            yield Problem(file, f"neither a dispatch nor a counter: {line.strip()[:40]!r}", row=row)
    if now is not None:
        yield now


def _dispatch(
    file: str, row: int, number: str, fields: str, counters: dict[str, float], devices: Devices
) -> Measurement | None:
    cells = {_OURS.get(key(name), name): text.strip('"') for name, text in _FIELD.findall(fields)}
    if "kernel" not in cells:
        return None
    moments = cells.pop("time", "").split(",")
    if len(moments) == 4:  # dispatched, began, ended, completed
        cells["start"], cells["end"] = moments[1:3]
    names = list(cells)
    at = {name: position for position, name in enumerate(names)}
    row_cells = list(cells.values())
    start, end, _ = times(row_cells, at)
    reported = Launches(HIPPROF, at, devices, ".").of(row_cells)
    return Measurement(reported, file, row, count(number), start, end, (counters,))


DIALECTS = (
    dialect("rocprof v1", "kernelname grd wgr obj", read=partial(dispatches, tool=V1)),
    dialect(
        "rocprof v2", "dispatchid kernelname grd wgr",
        read=partial(dispatches, tool=Tool("rocprof v2", LDS_ROUNDED)),
    ),
    dialect("hipprof", "kernelname grd wgr", read=partial(dispatches, tool=HIPPROF)),
)  # fmt: skip
