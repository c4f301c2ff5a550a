"""The answer: limits, what fits, what binds, what the next step costs. Frozen; JSON by `to_dict`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from wavefit.chips import Target
from wavefit.model import Kernel, Launch
from wavefit.shown import Shown

Json = dict[str, Any]


class BadQuestion(ValueError):
    """The numbers asked about contradict each other or the target. One line that says how."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One resource: its budget, what one wave or workgroup is charged, and how many fit on it alone.

    `requested` is what is asked, `allocated` what is charged of the `budget` after rounding up to `granule`
    (of `sgpr` with the trap handler's): registers a lane or wave, bytes, or slots, as the resource counts.
    `waves_per_simd` is not capped by the wave slots. `workgroups` are whole ones on one unit: 0 where a cap
    is broken (`why` says which), None where the resource cannot limit. `facts` are the paths of the Facts
    it rests on, `status` the weakest of theirs.
    """

    resource: str
    budget: int | None
    requested: int | None
    allocated: int | None
    granule: int | None
    waves_per_simd: int | float | None
    workgroups: int | None
    status: str
    facts: tuple[str, ...] = ()
    why: str | None = None

    def to_dict(self) -> Json:
        """The limit as CONTRACT's JSON object."""
        return {
            "resource": self.resource,
            "budget": self.budget,
            "requested": self.requested,
            "allocated": self.allocated,
            "granule": self.granule,
            "waves_per_simd": self.waves_per_simd,
            "workgroups": self.workgroups,
            "status": self.status,
        }


@dataclass(frozen=True, slots=True)
class Change:
    """One resource from what it is to the value that makes the difference."""

    resource: str
    from_: int
    to: int

    def to_dict(self) -> Json:
        """The change as CONTRACT's JSON object."""
        return {"resource": self.resource, "from": self.from_, "to": self.to}


@dataclass(frozen=True, slots=True)
class Step:
    """Changes made together, and what is resident after them."""

    changes: tuple[Change, ...]
    workgroups: int
    waves: int
    occupancy: float

    def to_dict(self) -> Json:
        """The step as CONTRACT's JSON object."""
        return {
            "changes": [change.to_dict() for change in self.changes],
            "workgroups": self.workgroups,
            "waves": self.waves,
            "occupancy": self.occupancy,
        }


class Around(Protocol):
    """What can still be asked of an evaluated question: see `steps`."""

    def next_steps(self) -> tuple[Step, ...]:
        """See `Fit.next_steps`."""
        ...

    def losses(self) -> tuple[Step, ...]:
        """See `Fit.losses`."""
        ...

    def slack(self) -> Mapping[str, int]:
        """See `Fit.slack`."""
        ...


@dataclass(frozen=True)
class Fit(Shown):
    """How many waves of a kernel fit on one unit of a chip, under one View.

    `chip` is None for a bare `target`; `mode` is `cu`, `wgp` or None; `wave` counts lanes, `threads` the
    work-items of a workgroup, `unit` names where workgroups share LDS (CU, WGP, SM). `workgroups` and
    `waves` are resident on one unit, `waves_per_simd` on one SIMD, `max_waves` the unit's slots;
    `occupancy` is waves / max_waves, 0 to 1. `why` says why none can launch. `limits` holds every resource,
    `binding` those that stop the next workgroup, `assumptions` the soft Facts and defaults beneath. Counts
    are None where the `view`'s authority does not answer in them. `schema` names the document. `of`,
    `kernel` and `launch` are what the answer is about; they are not part of the document. Steps, losses and
    slack are found in what is `around` the answer when they are first asked for.
    """

    chip: str | None
    target: str
    view: str
    mode: str | None
    wave: int
    unit: str
    threads: int
    workgroups: int | None
    why: str | None
    waves: int | None
    max_waves: int
    waves_per_simd: int | float
    occupancy: float
    limits: tuple[Limit, ...]
    binding: tuple[str, ...]
    assumptions: tuple[str, ...]
    of: Target = field(repr=False, compare=False)
    kernel: Kernel = field(repr=False, compare=False)
    launch: Launch = field(repr=False, compare=False)
    around: Around | None = field(default=None, repr=False, compare=False)
    schema: str = "wavefit.fit/1"

    @cached_property
    def next_steps(self) -> tuple[Step, ...]:
        """Per way to gain waves: the changes, each to the largest value that works. Empty at the maximum."""
        return self.around.next_steps() if self.around else ()

    @cached_property
    def losses(self) -> tuple[Step, ...]:
        """Per resource: the smallest increase that loses a workgroup."""
        return self.around.losses() if self.around else ()

    @cached_property
    def slack(self) -> Mapping[str, int]:
        """Per resource: how much more may be spent at the same workgroups."""
        return self.around.slack() if self.around else {}

    def limit(self, resource: str) -> Limit:
        """The limit of one resource by its name. Raises KeyError."""
        for limit in self.limits:
            if limit.resource == resource:
                return limit
        raise KeyError(resource)

    def to_dict(self) -> Json:
        """The document `wavefit.fit/1`."""
        return {
            "schema": self.schema,
            "chip": self.chip,
            "target": self.target,
            "view": self.view,
            "mode": self.mode,
            "wave": self.wave,
            "unit": self.unit,
            "threads": self.threads,
            "workgroups": self.workgroups,
            "why": self.why,
            "waves": self.waves,
            "max_waves": self.max_waves,
            "waves_per_simd": self.waves_per_simd,
            "occupancy": self.occupancy,
            "limits": [limit.to_dict() for limit in self.limits],
            "binding": list(self.binding),
            "next_steps": [step.to_dict() for step in self.next_steps],
            "losses": [step.to_dict() for step in self.losses],
            "slack": dict(self.slack),
            "assumptions": list(self.assumptions),
        }


@dataclass(frozen=True, slots=True)
class FitRange(Shown):
    """The Fits with the fewest and the most waves over every workgroup size of a range.

    `low` has the fewest and `high` the most (in a compiler view the integer it prints for the range);
    `threads` is the range, lowest and highest size. `schema` names the document.
    """

    low: Fit
    high: Fit
    threads: tuple[int, int]
    schema: str = "wavefit.fit-range/1"

    def to_dict(self) -> Json:
        """The document `wavefit.fit-range/1`: the range and the two Fits."""
        return {
            "schema": self.schema,
            "threads": list(self.threads),
            "low": self.low.to_dict(),
            "high": self.high.to_dict(),
        }


def ratio(numerator: int, denominator: int) -> int | float:
    """A quotient that stays an integer where it is one."""
    whole, rest = divmod(numerator, denominator)
    return numerator / denominator if rest else whole
