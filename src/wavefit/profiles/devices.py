"""The machine beside the trace: agent tables and sysinfo files to Devices, and which dispatch ran where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from wavefit.profiles.model import Device, Problem
from wavefit.profiles.numerals import BadNumber, count, whole
from wavefit.profiles.table import Table, key

_NUMBER = re.compile(r"\d+")
_KIB = 1024


@dataclass(frozen=True, slots=True)
class Agent:
    """A GPU of a machine, by the numbers that traces call it: of all nodes, of visible ones, of GPUs."""

    device: Device
    node: int | None = None
    logical: int | None = None
    index: int | None = None


@dataclass(slots=True)
class Devices:
    """The GPUs of one trace."""

    agents: list[Agent] = field(default_factory=list)

    def of(self, name: str) -> Device | None:
        """The Device that a trace calls `Agent 2`, `GPU 0` or plain `2`.

        rocprofv3 counts all nodes unless told otherwise (`--agent-index`). Where several fit, or none does
        and the machine has several GPUs, only what they share is answered.
        """
        found = _NUMBER.search(name)
        wanted = int(found[0]) if found and len(found[0]) < 10 else None
        orders: tuple[Callable[[Agent], int | None], ...] = (
            (lambda agent: agent.index,)
            if name.upper().startswith("GPU")
            else (lambda agent: agent.node, lambda agent: agent.logical)
        )
        for order in orders:
            called = [agent.device for agent in self.agents if wanted is not None and order(agent) == wanted]
            if called:
                return _common(called)
        return _common([agent.device for agent in self.agents])


def _common(devices: list[Device]) -> Device | None:
    """What all of several Devices are; None where they are of different targets, or there is none."""
    if len({device.target for device in devices}) != 1:
        return None
    first = devices[0]
    differ = {
        one.name: None
        for one in fields(Device)
        if any(getattr(device, one.name) != getattr(first, one.name) for device in devices)
    }
    return replace(first, **differ) if differ else first


def agent_table(table: Table) -> Iterator[Agent | Problem]:
    """The GPUs of an agent_info table; its CPUs are passed over."""
    index = 0
    for found in table.rows():
        if isinstance(found, Problem):
            yield found
            continue
        row = dict(zip(table.names, found[1], strict=True))
        try:
            agent = agent_of(row, index)
        except BadNumber as error:
            yield Problem(table.file, str(error), row=found[0])
            continue
        if agent is not None:
            index += 1
            yield agent


def agent_of(info: Mapping[str, object], index: int) -> Agent | None:
    """The Agent that one record of an agent table describes, keys as `key` makes them; None for a CPU.

    Raises BadNumber, with the key, for a size that cannot be meant.
    """

    def size(name: str) -> int | None:
        return _size(info, name) or None

    def at(name: str) -> int | None:
        return count(str(info.get(name, "")))

    if str(info.get("agenttype", info.get("type"))).upper() not in ("GPU", "2"):
        return None
    lds = size("ldssizeinkb")
    units = size("cucount")
    device = Device(
        target=target_of(str(info.get("name", "")), size("gfxtargetversion")),
        name=str(info.get("productname", "")) or None,
        units=units,
        dies=size("numxcc"),
        engines=_engines(size("arraycount"), size("simdarraysperengine")),
        simds=size("simdpercu"),
        waves=size("maxwavespercu"),
        lds=lds * _KIB if lds else None,
        clock=size("maxengineclkfcompute"),
    )
    return Agent(device, at("nodeid"), at("logicalnodeid"), index)


def _engines(arrays: int | None, per_engine: int | None) -> int | None:
    return arrays // per_engine if arrays and per_engine else None


def target_of(name: str, version: int | None) -> str | None:
    """The ISA target: its own name, or the runtime's number (90402 is gfx942, 90010 is gfx90a)."""
    if name.startswith("gfx"):
        return name.partition(":")[0]
    if not version:
        return None
    major, minor, step = version // 10000, version // 100 % 100, version % 100
    return f"gfx{major}{minor:x}{step:x}"


def sysinfo(table: Table) -> Iterator[Agent | Problem]:
    """The one GPU that a rocprofiler-compute (Omniperf) workload describes."""
    for found in table.rows():
        if isinstance(found, Problem):
            yield found
            continue
        row = dict(zip(table.names, found[1], strict=True))
        try:
            yield Agent(_described(row))
        except BadNumber as error:
            yield Problem(table.file, str(error), row=found[0])


def _described(row: Mapping[str, str]) -> Device:
    """The device of a sysinfo row. Raises BadNumber."""
    return Device(
        target=target_of(row.get("gpuarch", ""), None),
        name=row.get("gpumodel") or None,
        units=_size(row, "cupergpu"),
        dies=_size(row, "numxcd"),
        engines=_size(row, "sepergpu"),
        simds=_size(row, "simdpercu"),
        waves=_size(row, "maxwavespercu"),
        clock=_size(row, "maxsclk") or None,
        partition=_partition(row.get("computepartition", "")),
    )


def _size(info: Mapping[str, object], name: str) -> int | None:
    """A size of a machine; None where a table does not say it, in whatever word. Raises BadNumber."""
    try:
        return whole(str(info.get(name, "")))
    except BadNumber as error:
        raise error.of(name) from None


def _partition(text: str) -> str | None:
    return text if text.endswith("PX") else None


def keyed(record: Mapping[str, object]) -> dict[str, object]:
    """A JSON record with keys as `key` makes them."""
    return {key(name): value for name, value in record.items()}


def merged(several: Iterable[Devices]) -> Devices:
    """The Devices of several tables of one folder, where none stands closer to the trace."""
    return Devices([agent for one in several for agent in one.agents])
