"""rocprofv3 (ROCm 6.2 to 7.x): kernel_trace, counter_collection, kernel_stats and agent_info tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from wavefit.profiles.devices import Devices, agent_table
from wavefit.profiles.dialects import dialect
from wavefit.profiles.dispatches import Tool, dispatches
from wavefit.profiles.longform import counter_rows
from wavefit.profiles.model import LDS_DISPATCH, LDS_STATIC, Measurement, Problem, Reported
from wavefit.profiles.numerals import count
from wavefit.profiles.table import Table

_NOT_KERNELS = re.compile(
    r"_*(hip|hsa_|roctx|rccl|nccl)[A-Za-z_]\w*|Copy(Host|Device|Peer)\w*"
    r"|MEMORY_\w+|KERNEL_DISPATCH|[A-Z]+(_[A-Z]+)*_API\w*"
)
MOST_KERNELS = 1 << 20
"""Names in one table of statistics."""

counters = partial(counter_rows, tool=Tool("rocprofv3", LDS_STATIC))
counters_62 = partial(counter_rows, tool=Tool("rocprofv3 6.2", LDS_STATIC))
converted = partial(dispatches, tool=Tool("rocprofv3, converted from rocpd", LDS_DISPATCH))
trace_7 = partial(dispatches, tool=Tool("rocprofv3", LDS_STATIC))
trace_6 = partial(dispatches, tool=Tool("rocprofv3", LDS_DISPATCH))


def stats(table: Table, devices: Devices) -> Iterator[Measurement | Problem]:
    """One Measurement a kernel, the sum of its calls; no launch. Statistics of API calls are refused.

    Tables of API calls and copies have the same columns, so the names decide.
    """
    at = {name: position for position, name in enumerate(table.names)}
    found: list[tuple[int, str, int, int]] = []
    for item in table.rows():
        if isinstance(item, Problem):
            yield item
            continue
        row, cells = item
        calls = count(cells[at["calls"]], table.decimal)
        total = count(cells[at["totaldurationns"]], table.decimal)
        if calls is None or total is None:
            yield Problem(table.file, "calls or duration is no number", row=row)
        elif cells[at["name"]] != "Total" and len(found) < MOST_KERNELS:
            found.append((row, cells[at["name"]], calls, total))
    if found and all(_NOT_KERNELS.fullmatch(name) for _, name, _, _ in found):
        yield Problem(table.file, "statistics of API calls, copies or domains, not of kernels", "refused")
        return
    for row, name, calls, total in found:
        reported = Reported("kernel statistics", name, device=devices.of(""))
        yield Measurement(reported, table.file, row, start=0, end=total, calls=calls)


DIALECTS = (
    dialect("agent_info", "agenttype cucount simdcount", machine=agent_table),
    dialect(
        "counter_collection",
        "agentid kernelname countername countervalue gridsize workgroupsize starttimestamp",
        read=counters,
    ),
    dialect(
        "counter_collection of 6.2",
        "agentid kernelname countername countervalue gridsize workgroupsize",
        read=counters_62,
    ),
    dialect("rocpd kernel_trace", "guid kind kernelname starttimestamp gridsizex", read=converted),
    dialect("kernel_trace", "kind kernelname starttimestamp gridsizex ldsblocksize", read=trace_7),
    dialect("kernel_trace of 6.x", "kind kernelname starttimestamp gridsizex", read=trace_6),
    dialect("kernel_stats", "name calls totaldurationns averagens", read=stats),
    dialect("memory copies", "kind direction sourceagentid", refused="memory copies, not kernels"),
    dialect("scratch", "kind operation allocflags", refused="scratch memory, not kernels"),
    dialect("allocations", "kind operation allocationsize", refused="allocations, not kernels"),
    dialect("PC samples", "sampletimestamp instruction dispatchid", refused="PC samples, not dispatches"),
    dialect("API trace", "domain function starttimestamp", refused="API calls, not kernels"),
    dialect("symbols", "kernelid archvgprcount truncatedkernelname", refused="kernel symbols, no dispatch"),
)  # fmt: skip
