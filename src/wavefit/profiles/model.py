"""What a profiler saw: Devices, what was launched on them, and one Measurement a dispatch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

Counters = Mapping[str, float]
"""Counter or metric name to value, of one pass: only these may be divided by each other."""

LDS_STATIC = "static LDS rounded up to 512 bytes; dynamic LDS is not in this output"
LDS_DISPATCH = "bytes of the dispatch, static and dynamic"
LDS_ROUNDED = "bytes of the dispatch, rounded up to 512"
LDS_STEP = 512
"""What ROCm's tools round LDS to, whatever the target's granule is."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A file, or one row of it, that was not read, and the `cause`. `row` counts lines (or records) from 1.

    `kind` is `refused` (not a list of dispatches), `empty` (nothing in it), or `damaged`. `more` counts the
    rows after this one that have the same kind of damage, whatever their numbers.
    """

    file: str
    cause: str
    kind: str = "damaged"
    row: int | None = None
    more: int = 0

    def __str__(self) -> str:
        where = self.file if self.row is None else f"{self.file}:{self.row}"
        again = f" (and {self.more} more)" if self.more else ""
        return f"{where}: {self.cause}{again}"


class ProfileError(ValueError):
    """A path, a file or the rest of a file that cannot be read: one line, as a Problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU (or partition of one) as the trace describes it; None where the trace does not say.

    `target` and `name` are what the trace calls it. `units` are CUs or SMs, `dies` XCDs, `engines` shader
    engines, all of them of the whole device; `simds` and `waves` (wave slots) are per unit, `lds` bytes per
    unit, `clock` the highest in MHz.
    """

    target: str | None
    name: str | None = None
    units: int | None = None
    dies: int | None = None
    engines: int | None = None
    simds: int | None = None
    waves: int | None = None
    lds: int | None = None
    clock: int | None = None
    partition: str | None = None


@dataclass(frozen=True, slots=True)
class Reported:
    """One kind of dispatch as its tool reports it: the kernel, where it ran, how it was launched, its cost.

    `threads` are work-items of a workgroup, `workgroups` those of the grid. Registers and LDS are the
    tool's columns, unchanged: `lds_means` says what its number counts, `lds_static` is the symbol's own
    part where the tool knows it apart. `symbol` is the name in the code object, where the tool gives both.
    So are `vgprs`, `agprs`, `sgprs`, `lds`, `scratch` (bytes a work-item) and `wave` (lanes). `agent` is the
    tool's own name of the `device`; `notes` say what is known to be wrong with its columns.
    """

    tool: str
    kernel: str
    symbol: str = ""
    agent: str = ""
    device: Device | None = None
    threads: int | None = None
    workgroups: int | None = None
    vgprs: int | None = None
    agprs: int | None = None
    sgprs: int | None = None
    lds: int | None = None
    lds_means: str = LDS_DISPATCH
    lds_static: int | None = None
    scratch: int | None = None
    wave: int | None = None
    notes: tuple[str, ...] = ()


class Measurement(NamedTuple):
    """One dispatch, in one pass or several. A NamedTuple, since a trace holds millions of them.

    `start` and `end` are nanoseconds; None where the tool gives none or a spreadsheet destroyed them.
    `calls` is above 1 where the tool reports the sum over several dispatches. `reported` is what the launch
    was, `file` and `row` where it stands, `dispatch` the tool's own number; `passes` hold counters by name,
    one run of the kernel each.
    """

    reported: Reported
    file: str
    row: int
    dispatch: int | None = None
    start: int | None = None
    end: int | None = None
    passes: tuple[Counters, ...] = ()
    calls: int = 1
    part: int = 0
    """Which pass, where one file holds the same dispatches once a pass."""

    @property
    def counters(self) -> Counters:
        """Every counter by name, the first pass that has it first. Not for dividing: use `passes`."""
        if len(self.passes) == 1:
            return self.passes[0]
        merged: dict[str, float] = {}
        for counters in reversed(self.passes):
            merged.update(counters)
        return merged

    @property
    def seconds(self) -> float | None:
        """How long the dispatch (or all `calls`) ran, in seconds."""
        if self.start is None or self.end is None or self.end <= self.start:
            return None
        return (self.end - self.start) / 1e9

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self.reported.kernel

    @property
    def tool(self) -> str:
        """Which profiler wrote it."""
        return self.reported.tool

    @property
    def device(self) -> Device | None:
        """Where it ran, as far as the trace says."""
        return self.reported.device

    @property
    def chip(self) -> str | None:
        """The target, or the product where no target is known, as the trace names it."""
        device = self.reported.device
        return None if device is None else device.target or device.name

    @property
    def threads(self) -> int | None:
        """Work-items of a workgroup."""
        return self.reported.threads

    @property
    def workgroups(self) -> int | None:
        """Workgroups of the grid."""
        return self.reported.workgroups

    @property
    def grid(self) -> int | None:
        """Work-items of the whole grid, workgroups filled up."""
        reported = self.reported
        if reported.threads is None or reported.workgroups is None:
            return None
        return reported.threads * reported.workgroups

    @property
    def vgprs(self) -> int | None:
        """The tool's column, unchanged: see `Reported`."""
        return self.reported.vgprs

    @property
    def agprs(self) -> int | None:
        """The tool's column, unchanged: see `Reported`."""
        return self.reported.agprs

    @property
    def sgprs(self) -> int | None:
        """The tool's column, unchanged: see `Reported`."""
        return self.reported.sgprs

    @property
    def lds(self) -> int | None:
        """Bytes as the tool counts them: see `Reported.lds_means`."""
        return self.reported.lds

    @property
    def scratch(self) -> int | None:
        """Bytes a work-item."""
        return self.reported.scratch
