"""What one file is: who reads it, or why nobody does. By content and header; names only help with words."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wavefit.profiles import compute, ncu, rocpd, rocprof, rocprofv3, rocprofv3_json
from wavefit.profiles.devices import Agent, Devices
from wavefit.profiles.dialects import Dialect
from wavefit.profiles.model import Measurement, Problem, ProfileError
from wavefit.profiles.table import SEARCHED, Table, find, localised
from wavefit.profiles.text import Progress, head, line_lists, text_chunks

DIALECTS: tuple[Dialect, ...] = (
    *rocprofv3.DIALECTS, *ncu.DIALECTS, *rocprof.DIALECTS, *compute.DIALECTS,
)  # fmt: skip
"""In this order: a table is of the first whose columns it has."""

_BINARIES = (
    (b"\x7fELF", "a compiled binary: give it as the code objects (--kernels)"),
    (b"NVR\0", "an Nsight Compute report: export it with ncu --import FILE --csv --page raw"),
    (b"OTF2", "OTF2, a timeline without registers: use --output-format csv or rocpd"),
    (b"PK\x03\x04", "a zip archive: unpack it"),
)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Found = Iterator[Measurement | Problem]


@dataclass(frozen=True, slots=True)
class Reader:
    """How to read one file: dispatches by `read`, or the GPUs of the machine by `machine`."""

    path: str
    read: Callable[[Devices, Progress | None], Found] | None = None
    machine: Callable[[], Iterator[Agent | Problem]] | None = None


def sniff(path: str) -> Reader | Problem:
    """The Reader of a file, or a Problem that says what the file is instead."""
    try:
        return _sniff(path)
    except ProfileError as error:
        return error.problem


def _sniff(path: str) -> Reader | Problem:
    start = head(path)
    if not start.strip():
        return Problem(path, "an empty file", "empty")
    if start.startswith(rocpd.MAGIC):
        return Reader(path, lambda _, progress: rocpd.database(path, progress))
    for magic, what in _BINARIES:
        if start.startswith(magic):
            return Problem(path, what, "refused")
    if b"\0" in start and not start.startswith(_UTF16):
        return Problem(
            path, "binary, and no profiler's output that can be read (a .pftrace is a timeline)", "refused"
        )
    bare = start.removeprefix(codecs.BOM_UTF8).lstrip()
    if bare[:1] in (b"{", b"["):
        return _json(path, bare)
    if rocprof.text_starts(start):
        return Reader(
            path, lambda devices, progress: rocprof.text_rows(path, line_lists(path, progress), devices)
        )
    table = find(path, line_lists(path), lambda names: _dialect(names) is not None)
    if table is not None:
        return _table(path, _dialect(frozenset(table.names)))
    if path.endswith((".yaml", ".yml")):
        about = compute.config(path)
        shown = ", ".join(
            f"{name} {about[name]}" for name in ("mode", "format_rocprof_output") if name in about
        )
        return Problem(
            path, f"a profiler's configuration ({shown or 'of nothing known'}), no dispatch", "refused"
        )
    return Problem(path, f"no table of a profiler in its first {SEARCHED} lines", "refused")


def _json(path: str, start: bytes) -> Reader | Problem:
    if rocprofv3_json.json_starts(start):
        return Reader(path, lambda _, progress: rocprofv3_json.results(path, text_chunks(path, progress)))
    if b'"traceEvents"' in start:
        return Problem(path, "a Chrome trace: a timeline; use the profiler's CSV or rocpd", "refused")
    return Problem(path, "JSON, but not of rocprofv3", "refused")


def _dialect(names: frozenset[str]) -> Dialect | None:
    return next((dialect for dialect in DIALECTS if dialect.columns <= names), None)


def _table(path: str, dialect: Dialect | None) -> Reader | Problem:
    assert dialect is not None
    if dialect.refused is not None:
        return Problem(path, dialect.refused, "refused")
    machine, read = dialect.machine, dialect.read
    if machine is not None:
        return Reader(path, machine=lambda: machine(_again(path, None)))

    def rows(devices: Devices, progress: Progress | None) -> Found:
        assert read is not None
        return read(_again(path, progress), devices=devices)

    return Reader(path, rows)


def _again(path: str, progress: Progress | None) -> Table:
    """The table of a file that was sniffed, from its beginning. Raises ProfileError if the file changed."""
    table = find(path, line_lists(path, progress), lambda names: _dialect(names) is not None)
    if table is None:
        raise ProfileError(Problem(path, "changed while it was read"))
    return localised(table)
