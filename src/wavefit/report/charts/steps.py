"""A Fit as stairs: how many waves fit for every amount of one resource, all others as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from wavefit.chips import Target
from wavefit.model import Kernel, Launch
from wavefit.occupancy import BadQuestion, Fit
from wavefit.occupancy.limits import LIMITS, lds_cap, sgpr_cap
from wavefit.occupancy.result import ratio
from wavefit.occupancy.steps import SPENT, spend


@dataclass(frozen=True, slots=True)
class Stair:
    """`waves` a SIMD fit for every amount from `low` to `high`, both counted in."""

    low: int
    high: int
    waves: int | float


@dataclass(frozen=True, slots=True)
class Stairs:
    """Every stair of one resource, where this Fit stands on them, and whether the resource limits it."""

    resource: str
    here: int
    waves: int | float
    limits: bool
    stairs: tuple[Stair, ...]

    @property
    def fewer(self) -> Stair | None:
        """The nearest smaller amounts with more waves: the gain."""
        below = [stair for stair in self.stairs if stair.high < self.here and stair.waves > self.waves]
        return max(below, key=lambda stair: stair.high, default=None)

    @property
    def more(self) -> Stair | None:
        """The nearest larger amounts with fewer waves: the loss."""
        above = [stair for stair in self.stairs if stair.low > self.here and stair.waves < self.waves]
        return min(above, key=lambda stair: stair.low, default=None)


def stairs(fit: Fit) -> tuple[Stairs, ...]:
    """The stairs of each resource that the Fit's question gives, and of a workgroup size that is free.

    Found on the rules themselves, so every cliff is where it is. Raises BadQuestion for another view.
    """
    if fit.view != "hardware":
        raise BadQuestion(f"view {fit.view}: only the hardware view has steps")
    given = {
        "vgpr": fit.kernel.charged_vgprs,
        "sgpr": fit.kernel.charged_sgprs if fit.of.sgpr.limits == "yes" else None,
        "lds": (fit.kernel.lds or 0) + (fit.launch.lds_dynamic or 0),
    }
    found = [
        _stairs(fit, resource, here, _spending(fit, resource))
        for resource, here in given.items()
        if here is not None and not fit.kernel.wave_vgprs
    ]
    if fit.kernel.required_threads is None:  # else the size is no choice
        found.append(_stairs(fit, "threads", fit.threads, _sizes(fit)))
    return tuple(found)


def _stairs(fit: Fit, resource: str, here: int, found: Iterable[Stair]) -> Stairs:
    bound = {"slots", "workgroups", "threads"} if resource == "threads" else {resource}
    return Stairs(resource, here, fit.waves_per_simd, bool(bound & set(fit.binding)), tuple(_merged(found)))


def _spending(fit: Fit, resource: str) -> Iterator[Stair]:
    """What this resource alone admits, under the least of what all others do."""
    others = (limit.workgroups for limit in fit.limits if limit.resource != resource)
    least = min(groups for groups in others if groups is not None)
    simds = fit.of.unit(fit.mode).simds
    read = fit.kernel.allocated_vgprs is not None or fit.kernel.allocated_sgprs is not None
    for low, high, groups in _alone(_Rules(fit.of), replace(fit.launch, lds_dynamic=None), resource, read):
        resident = least if groups is None else min(groups, least)
        yield Stair(low, high, ratio(resident * fit.launch.waves, simds))


def _sizes(fit: Fit) -> Iterator[Stair]:
    """Workgroup sizes by whole waves: those between spend the same."""
    unit = fit.of.unit(fit.mode)
    for high in range(fit.wave, fit.of.workgroup.max_threads + 1, fit.wave):
        launch = replace(fit.launch, threads=high)
        admitted = (limit(fit.of, unit, fit.kernel, launch).workgroups for limit in LIMITS)
        resident = min(groups for groups in admitted if groups is not None)
        yield Stair(high - fit.wave + 1, high, ratio(resident * launch.waves, unit.simds))


def _merged(found: Iterable[Stair]) -> Iterator[Stair]:
    """Neighbours with the same waves are one stair."""
    last: Stair | None = None
    for stair in found:
        if last is not None and last.waves == stair.waves:
            last = Stair(last.low, stair.high, stair.waves)
            continue
        if last is not None:
            yield last
        last = stair
    if last is not None:
        yield last


class _Rules:
    """A Target as the key of a cache: this very one, which need not be hashed whole."""

    __slots__ = ("of",)

    def __init__(self, of: Target) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rules) and self.of is other.of

    def __hash__(self) -> int:
        return id(self.of)


@lru_cache(maxsize=1024)
def _alone(
    rules: _Rules, launch: Launch, resource: str, read: bool
) -> tuple[tuple[int, int, int | None], ...]:
    """(low, high, workgroups) of one resource alone; a report asks for the same ones again and again."""
    unit, limit = rules.of.unit(launch.mode), SPENT[resource]
    bare = Kernel("", allocated_vgprs=0) if read else Kernel("")

    def groups(amount: int) -> int | None:
        kernel, launched = spend(bare, launch, resource, amount)
        return limit(rules.of, unit, kernel, launched).workgroups

    return tuple(_falling(groups, _cap(rules.of, launch, resource)))


def _cap(of: Target, launch: Launch, resource: str) -> int:
    """The most of a resource that one wave or workgroup may have."""
    if resource == "vgpr":
        return of.vgpr.addressable
    if resource == "sgpr":
        return sgpr_cap(of) or of.sgpr.file or 0
    return lds_cap(of, of.unit(launch.mode))


def _falling(groups: Callable[[int], int | None], cap: int) -> Iterator[tuple[int, int, int | None]]:
    """Levels of what only falls as the amount grows, each end by bisection; the last is over the cap."""
    low = 0
    while low <= cap:
        here, first, last = groups(low), low, cap
        while first < last:
            middle = (first + last + 1) // 2
            first, last = (middle, last) if groups(middle) == here else (first, middle - 1)
        yield low, first, here
        low = first + 1
    yield low, low, groups(low)
