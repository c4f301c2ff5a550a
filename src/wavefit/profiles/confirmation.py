"""The result of `confirm`: one Confirmation a kernel and launch, and all of them with what was not read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from wavefit.occupancy import Fit
from wavefit.profiles.grid import Spread
from wavefit.profiles.model import Problem, Reported
from wavefit.profiles.reasons import ABOVE, AGREES, Reason

BUSY = 80.0
"""Percent of the time from which a matrix unit or the VALU counts as busy: more waves cannot do much then."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way (`method`) to read the measured occupancy (0 to 1), over `busy` or over `all` units."""

    method: str
    over: str
    occupancy: float


@dataclass(frozen=True, slots=True)
class Confirmation:
    """One kernel as launched: what fits, what this grid allows, what was achieved, and why they differ.

    Occupancies are 0 to 1 of the wave slots: `ceiling` by the Fit; `grid_ceiling` for this grid, on the
    same basis as `achieved` (`over`: `busy` units, or `all`); `with_tail` (est.) with a last round that is
    not full; `achieved` the mean over the dispatches, `achieved_most` the highest; `tool_ceiling` what the
    profiler itself calls the theory. None where unknown; `why` says why there is no ceiling. `seconds` is
    the time of all dispatches together; `matrix_busy` and `valu_busy` are percent, `clock` is MHz.

    `reported` is what the profiler says of the launch, `source` where in which file, `tools` who wrote it.
    `fit` is the answer for `chip`, `spread` how its workgroups fill the chip. `method` names the counters
    behind `achieved`, `ways` every way to it. `reasons` say why the three differ, `assumptions` and `notes`
    what else.
    """

    reported: Reported
    source: str
    tools: tuple[str, ...]
    dispatches: int
    seconds: float | None
    chip: str | None
    fit: Fit | None
    why: str | None
    ceiling: float | None
    spread: Spread | None
    grid_ceiling: float | None
    with_tail: float | None
    achieved: float | None
    achieved_most: float | None
    method: str | None
    over: str
    ways: tuple[Way, ...]
    tool_ceiling: float | None
    matrix_busy: float | None
    valu_busy: float | None
    clock: float | None
    joined: str | None
    """How the compiled kernel was found, or why none was; None where none was asked for."""
    reasons: tuple[Reason, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    at_most: bool = False
    """The ceilings are upper bounds: the output does not report every register, so fewer waves may fit."""

    @property
    def kernel(self) -> str:
        """The kernel's name, as the profiler has it."""
        return self.reported.kernel

    @property
    def total_vgprs(self) -> int | None:
        """Vector registers that the ceiling charges, before the granule: the profiler's fault corrected."""
        return self.fit.kernel.charged_vgprs if self.fit else None

    @property
    def wrong(self) -> bool:
        """More was measured than fits: a wrong chip, a wrong code object, or a bug of wavefit."""
        return any(reason.code == ABOVE for reason in self.reasons)

    @property
    def busy(self) -> str | None:
        """The unit that works most of the time, where one does."""
        for name, percent in (("matrix unit", self.matrix_busy), ("VALU", self.valu_busy)):
            if percent is not None and percent >= BUSY:
                return f"{name} {percent:.0f} %"
        return None

    @property
    def decision(self) -> str:
        """What to do with it, in a few words."""
        if self.wrong:
            return "more than fits was measured: trust neither number before this is cleared up"
        if self.busy:
            return f"{self.busy} busy: occupancy is not the problem, stop"
        if self.ceiling is None:
            return "no theory to compare with"
        if self.achieved is None:
            return "no occupancy was measured"
        if self.achieved >= self.ceiling * (1 - AGREES):
            return "the kernel holds what fits"
        takes = [reason.code for reason in self.reasons if reason.share] or [r.code for r in self.reasons]
        return f"look at: {', '.join(dict.fromkeys(takes)) or 'nothing known'}"


@dataclass(frozen=True, slots=True)
class Confirmations(Sequence[Confirmation]):
    """Confirmations (`items`), the most time first.

    `errors` are what could not be read of the trace or the binaries, `unjoined` profiled kernels without a
    compiled one, `unseen` compiled kernels that did not run.
    """

    items: tuple[Confirmation, ...]
    errors: tuple[Problem, ...] = ()
    unjoined: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def wrong(self) -> tuple[Confirmation, ...]:
        """Those where more was measured than fits."""
        return tuple(item for item in self.items if item.wrong)

    @overload
    def __getitem__(self, index: int) -> Confirmation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Confirmation, ...]: ...
    def __getitem__(self, index: int | slice) -> Confirmation | tuple[Confirmation, ...]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Confirmation]:
        return iter(self.items)
