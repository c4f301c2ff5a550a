"""rocprofv3 `--output-format json`: symbols and agents first, then a record a dispatch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from wavefit.profiles.devices import agent_of, keyed
from wavefit.profiles.dispatches import BACKWARDS, launch_size
from wavefit.profiles.jsonstream import JsonStream
from wavefit.profiles.model import LDS_DISPATCH, Device, Measurement, Problem, ProfileError, Reported
from wavefit.profiles.numerals import LARGEST, LARGEST_SIZE, BadNumber, bounded, counted

TOOL = "rocprofv3 JSON"
ROOT = "rocprofiler-sdk-tool"


def json_starts(start: bytes) -> bool:
    """True for the JSON of rocprofv3."""
    return ROOT.encode() in start[:4096]


class _Tables:
    """What dispatch records point to."""

    def __init__(self) -> None:
        self.devices: dict[int, Device] = {}
        self.symbols: dict[int, dict[str, Any]] = {}
        self.counters: dict[int, str] = {}
        self.reported: dict[tuple[Any, ...], Reported] = {}
        self.gpus = 0

    def agent(self, record: Any) -> None:
        agent = agent_of(keyed(record), self.gpus)
        if agent is not None:
            self.gpus += 1
            self.devices[record["id"]["handle"]] = agent.device

    def symbol(self, record: Any) -> None:
        if record.get("kernel_name"):
            self.symbols[record["kernel_id"]] = record

    def counter(self, record: Any) -> None:
        self.counters[record["id"]["handle"]] = record["name"]


def results(file: str, chunks: Iterable[bytes]) -> Iterator[Measurement | Problem]:
    """A Measurement a dispatch record; records with counters are Measurements of their own.

    A record that lacks what it should have is a Problem; a cut file ends with one.
    """
    stream = JsonStream(file, chunks)
    try:
        for name in stream.items():
            if name != ROOT:
                stream.skip()
                continue
            for _ in stream.elements():
                yield from _process(stream)
    except ProfileError as error:
        yield error.problem


def _process(stream: JsonStream) -> Iterator[Measurement | Problem]:
    """One process: its tables, which the tool writes before its records."""
    tables = _Tables()
    keep = {"agents": tables.agent, "kernel_symbols": tables.symbol, "counters": tables.counter}
    for section in stream.items():
        if section in keep:
            for index, _ in enumerate(stream.elements(), 1):
                try:
                    keep[section](stream.value())
                except BadNumber as error:
                    yield Problem(stream.file, f"{section}: {error}", row=index)
                except (KeyError, TypeError, AttributeError):
                    yield Problem(stream.file, f"{section}: record without its fields", row=index)
        elif section in ("buffer_records", "callback_records"):
            for kind in stream.items():
                if kind in ("kernel_dispatch", "counter_collection"):
                    yield from _records(stream, tables)
                else:
                    stream.skip()
        else:
            stream.skip()


def _records(stream: JsonStream, tables: _Tables) -> Iterator[Measurement | Problem]:
    for index, _ in enumerate(stream.elements(), 1):
        record = stream.value()
        bad: list[str] = []
        found: Measurement | None = None
        try:
            found = _measurement(stream.file, index, record, tables, bad)
        except BadNumber as error:
            bad.append(str(error))
        except KeyError as error:
            bad.append(f"dispatch record without {error}")
        except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError):
            bad.append("damaged dispatch record")
        yield from (Problem(stream.file, cause, row=index) for cause in bad)
        if found is not None:
            yield found


def _measurement(
    file: str, index: int, record: dict[str, Any], tables: _Tables, bad: list[str]
) -> Measurement:
    """The dispatch of a record; `bad` gains what is wrong with its counters and times. Raises BadNumber."""
    data = record.get("dispatch_data", record)
    info = data["dispatch_info"]
    workgroup = tuple(_whole(info["workgroup_size"], axis) for axis in "xyz")
    grid = tuple(_whole(info["grid_size"], axis) for axis in "xyz")
    handle, kernel = info["agent_id"]["handle"], info["kernel_id"]
    lds, scratch = _whole(info, "group_segment_size"), _whole(info, "private_segment_size")
    kind = (handle, kernel, workgroup, grid, lds, scratch)
    reported = tables.reported.get(kind)
    if reported is None:
        symbol = tables.symbols.get(kernel, {})
        threads, workgroups = launch_size(workgroup, grid)
        reported = tables.reported[kind] = Reported(
            tool=TOOL,
            kernel=_name(symbol, kernel),
            symbol=str(symbol.get("kernel_name", "")),
            agent=str(handle),
            device=tables.devices.get(handle),
            threads=threads,
            workgroups=workgroups,
            vgprs=_whole({**record, **symbol}, "arch_vgpr_count", needed=False),
            agprs=_whole({**record, **symbol}, "accum_vgpr_count", needed=False),
            sgprs=_whole({**record, **symbol}, "sgpr_count", needed=False),
            lds=lds,
            lds_means=LDS_DISPATCH,
            lds_static=_whole(symbol, "group_segment_size", needed=False),
            scratch=scratch,
        )
    counters: dict[str, float] = {}
    for item in record.get("records", ()):
        handle = item["counter_id"]["handle"]
        name = tables.counters.get(handle, f"counter {handle}")
        try:
            counters[name] = counters.get(name, 0.0) + counted(item["value"])
        except BadNumber as error:
            bad.append(str(error.of(name)))
    number, (start, end) = _whole(info, "dispatch_id", largest=LARGEST), _times(data, bad)
    return Measurement(reported, file, index, number, start, end, (counters,) if counters else ())


def _times(data: Mapping[str, Any], bad: list[str]) -> tuple[int | None, int | None]:
    """Start and end; neither, and the cause in `bad`, where one of them cannot be meant."""
    try:
        start, end = (_whole(data, f"{which}_timestamp", False, LARGEST) for which in ("start", "end"))
    except BadNumber as error:
        bad.append(str(error))
        return None, None
    if start is not None and end is not None and start > end:
        bad.append(BACKWARDS)
        return None, None
    return start, end


def _whole(record: Mapping[str, Any], field: str, needed: bool = True, largest: int = LARGEST_SIZE) -> Any:
    """A field that must be a whole number, or may be missing. Raises BadNumber, and KeyError."""
    value = record[field] if needed else record.get(field)
    if value is None and not needed:
        return None
    try:
        return bounded(value, largest)
    except BadNumber as error:
        raise error.of(field) from None


def _name(symbol: dict[str, Any], kernel: int) -> str:
    for field in ("demangled_kernel_name", "formatted_kernel_name", "kernel_name"):
        if symbol.get(field):
            return str(symbol[field])
    return f"kernel {kernel}"
