"""A Fit as stairs: how many waves fit for every amount of one resource, all others as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wavefit.occupancy import BadQuestion, Fit
from wavefit.occupancy.limits import lds_cap, sgpr_cap
from wavefit.occupancy.result import ratio
from wavefit.occupancy.steps import evaluate, spend


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
        _stairs(fit, resource, here, tuple(_falling(_waves(fit, resource), _cap(fit, resource))))
        for resource, here in given.items()
        if here is not None and not fit.kernel.wave_vgprs
    ]
    if fit.kernel.required_threads is None:  # else the size is no choice
        found.append(_stairs(fit, "threads", fit.threads, tuple(_sizes(fit))))
    return tuple(found)


def _stairs(fit: Fit, resource: str, here: int, found: tuple[Stair, ...]) -> Stairs:
    bound = {"slots", "workgroups", "threads"} if resource == "threads" else {resource}
    return Stairs(resource, here, fit.waves_per_simd, bool(bound & set(fit.binding)), found)


def _waves(fit: Fit, resource: str) -> Callable[[int], int | float]:
    unit = fit.of.unit(fit.mode)

    def at(amount: int) -> int | float:
        kernel, launch = spend(fit.kernel, fit.launch, resource, amount)
        return ratio(evaluate(fit.of, unit, kernel, launch).waves, unit.simds)

    return at


def _cap(fit: Fit, resource: str) -> int:
    """The most of a resource that one wave or workgroup may have."""
    if resource == "vgpr":
        return fit.of.vgpr.addressable
    if resource == "sgpr":
        return sgpr_cap(fit.of) or fit.of.sgpr.file or 0
    return lds_cap(fit.of, fit.of.unit(fit.mode))


def _falling(waves: Callable[[int], int | float], cap: int) -> Iterator[Stair]:
    """Stairs of what only falls as the amount grows, each end by bisection; the last is over the cap."""
    low = 0
    while low <= cap:
        here, first, last = waves(low), low, cap
        while first < last:
            middle = (first + last + 1) // 2
            first, last = (middle, last) if waves(middle) >= here else (first, middle - 1)
        yield Stair(low, first, here)
        low = first + 1
    yield Stair(low, low, waves(low))


def _sizes(fit: Fit) -> Iterator[Stair]:
    """Workgroup sizes by whole waves: those between spend the same."""
    waves, wave = _waves(fit, "threads"), fit.wave
    for high in range(wave, fit.of.workgroup.max_threads + 1, wave):
        yield Stair(high - wave + 1, high, waves(high))
