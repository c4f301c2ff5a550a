"""Which column of a table of dispatches is what, whatever its tool calls it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from wavefit.profiles.table import Table, key

FIELDS: Mapping[str, tuple[str, ...]] = {
    "kernel": ("kernelname",),
    "dispatch": ("dispatchid", "index"),
    "agent": ("agentid", "gpuid"),
    "grid": ("gridsize", "grd"),
    "grid_x": ("gridsizex",),
    "grid_y": ("gridsizey",),
    "grid_z": ("gridsizez",),
    "threads": ("workgroupsize", "wgr"),
    "threads_x": ("workgroupsizex",),
    "threads_y": ("workgroupsizey",),
    "threads_z": ("workgroupsizez",),
    "lds": ("ldsblocksize", "ldsperworkgroup", "groupsegmentsize", "lds"),
    "scratch": ("scratchsize", "scratchperworkitem", "privatesegmentsize", "scr"),
    "vgprs": ("vgprcount", "archvgpr", "vgpr"),
    "agprs": ("accumvgprcount", "accumvgpr"),
    "sgprs": ("sgprcount", "sgpr"),
    "wave": ("wavesize",),
    "start": ("starttimestamp", "beginns"),
    "end": ("endtimestamp", "endns"),
    "counter": ("countername",),
    "value": ("countervalue",),
}
"""Our name of a column, and the keys it has in the headers of the tools."""

LAUNCH = (
    "kernel", "agent", "grid", "grid_x", "grid_y", "grid_z", "threads", "threads_x", "threads_y", "threads_z",
    "lds", "scratch", "vgprs", "agprs", "sgprs", "wave",
)  # fmt: skip
"""The columns that repeat from dispatch to dispatch: what a Reported is made of."""

NOT_COUNTERS = frozenset(
    [
        "correlationid",
        "queueid",
        "queueindex",
        "processid",
        "pid",
        "threadid",
        "tid",
        "kernelid",
        "guid",
        "kind",
        "streamid",
        "nodeid",
        "sig",
        "obj",
        "dispatchns",
        "completens",
        "durationns",
        "fbar",
        "xccindex",
    ]
)
_OURS = {name: field for field, names in FIELDS.items() for name in names}
_REPEATED = re.compile(r"(.+)_(\d{1,4})")
_INSTANCE = re.compile(r"(.+)\[\d+\]")


@dataclass(frozen=True, slots=True)
class Columns:
    """Where a table keeps what. `passes` are the counter columns of each pass: name, then positions.

    A counter with several positions has one column an instance (`TCC_HIT[3]`); they add up.
    """

    at: Mapping[str, int]
    passes: tuple[Mapping[str, tuple[int, ...]], ...]


def columns(table: Table) -> Columns:
    """The Columns of a table of dispatches, in any tool's words and any case.

    In a table merged from passes, the tool's own columns come again with a number (`Wave_Size_3`) in
    front of each further pass's counters: that is where one pass ends and the next begins.
    """
    at: dict[str, int] = {}
    passes: list[dict[str, list[int]]] = [{}]
    current: str | None = None
    for position, title in enumerate(table.header):
        repeated = _REPEATED.fullmatch(title)
        if repeated and _is_own(key(repeated[1])):
            if repeated[2] != current:
                current = repeated[2]
                passes.append({})
        elif _is_own(key(title)):
            at.setdefault(_OURS.get(key(title), title), position)
        elif title:
            instance = _INSTANCE.fullmatch(title)
            passes[-1].setdefault(instance[1] if instance else title, []).append(position)
    frozen = ({name: tuple(where) for name, where in one.items()} for one in passes if one)
    return Columns(at, tuple(frozen))


def _is_own(name: str) -> bool:
    return name in _OURS or name in NOT_COUNTERS
