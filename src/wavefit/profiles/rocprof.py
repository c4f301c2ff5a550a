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
from wavefit.profiles.numerals import BadNumber, count, quantity
from wavefit.profiles.table import key
from wavefit.profiles.text import decoded

V1 = Tool("rocprof v1", LDS_ROUNDED, merged=True)
HIPPROF = Tool("hipprof", LDS_ROUNDED)

_DISPATCH = re.compile(r"dispatch\[(\d+)\], (.*)")
_FIELD = re.compile(r'([a-z_-]+)\(("(?:[^"]*)"|[^()]*)\)')
_COUNTER = re.compile(r"\s+(\S.*?) \(([^()]+)\)\s*")
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
            try:
                now, cause = _dispatch(file, row, head[1], head[2], counters, devices)
            except BadNumber as error:
                now, cause = None, str(error)
            if cause:
                yield Problem(file, cause, row=row)
            continue
        if now is None or not line.strip():
            continue
        found, value = _COUNTER.fullmatch(line), None
        try:
            value = quantity(found[2]) if found else None
        except BadNumber as error:
            yield Problem(file, str(error.of(found[1] if found else "")), row=row)
            continue
        if found and value is not None:
            counters[found[1]] = value
        else:
            yield Problem(file, f"neither a dispatch nor a counter: {line.strip()[:40]!r}", row=row)
    if now is not None:
        yield now


def _dispatch(
    file: str, row: int, number: str, fields: str, counters: dict[str, float], devices: Devices
) -> tuple[Measurement | None, str]:
    """A dispatch, if it has a name, and what is wrong with it. Raises BadNumber."""
    found = [(key(name), name, text.strip('"')) for name, text in _FIELD.findall(fields)]
    cells = {_OURS.get(known, known): (name, text) for known, name, text in found}
    if "kernel" not in cells:
        return None, "a dispatch without a kernel name"
    _, moments = cells.pop("time", ("", ""))
    if moments.count(",") == 3:  # dispatched, began, ended, completed
        cells["start"], cells["end"] = [("time", text) for text in moments.split(",")[1:3]]
    at = {name: position for position, name in enumerate(cells)}
    titles, texts = zip(*cells.values(), strict=True)
    start, end, cause = times(texts, at, titles)
    reported = Launches(HIPPROF, at, devices, ".", titles).of(texts)
    return Measurement(reported, file, row, count(number), start, end, (counters,)), cause


DIALECTS = (
    dialect("rocprof v1", "kernelname grd wgr obj", read=partial(dispatches, tool=V1)),
    dialect(
        "rocprof v2", "dispatchid kernelname grd wgr",
        read=partial(dispatches, tool=Tool("rocprof v2", LDS_ROUNDED)),
    ),
    dialect("hipprof", "kernelname grd wgr", read=partial(dispatches, tool=HIPPROF)),
)  # fmt: skip
