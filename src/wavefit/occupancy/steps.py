"""What one more workgroup costs, what one more register loses, how much may be spent for nothing.

Found on the rules themselves (every limit falls as its resource grows), then proved by evaluating them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from wavefit.chips import Target, Unit
from wavefit.model import Kernel, Launch
from wavefit.occupancy.limits import (
    lds_cap,
    lds_limit,
    limits,
    scratch_limit,
    sgpr_cap,
    sgpr_limit,
    threads_cap,
    total_vgprs,
    vgpr_limit,
)
from wavefit.occupancy.result import Change, Limit, Step

SPENT = {"vgpr": vgpr_limit, "sgpr": sgpr_limit, "lds": lds_limit, "scratch": scratch_limit}
"""The resources a kernel can spend less of."""


@dataclass(frozen=True, slots=True)
class Case:
    """One evaluated question: the kernel and launch on a unit, its limits and what is resident."""

    target: Target
    unit: Unit
    kernel: Kernel
    launch: Launch
    limits: tuple[Limit, ...]
    workgroups: int

    @property
    def waves(self) -> int:
        """Resident waves of the unit."""
        return self.workgroups * self.launch.waves

    @property
    def max_waves(self) -> int:
        """Wave slots of the unit."""
        return self.unit.wave_slots * self.unit.simds

    @property
    def binding(self) -> tuple[str, ...]:
        """The resources that admit no more than this."""
        return tuple(limit.resource for limit in self.limits if limit.workgroups == self.workgroups)

    def next_steps(self) -> tuple[Step, ...]:
        """Per way to gain waves: the changes that together reach at least one workgroup more."""
        if self.workgroups == 0:
            return _launch_step(self)
        if self.waves >= self.max_waves:
            return ()
        found = []
        after = _spend_less(self, self.workgroups + 1)
        if after is not None:
            found.append(_step(self, after))
        if "slots" in self.binding or "workgroups" in self.binding:
            found.extend(_other_size(self))
        return tuple(found)

    def losses(self) -> tuple[Step, ...]:
        """Per resource: the smallest increase that loses a workgroup."""
        if self.workgroups == 0:
            return ()
        found = []
        for resource, most in _room(self):
            kernel, launch = spend(self.kernel, self.launch, resource, most + 1)
            after = evaluate(self.target, self.unit, kernel, launch)
            if after.workgroups < self.workgroups:
                found.append(_step(self, after))
        return tuple(found)

    def slack(self) -> dict[str, int]:
        """Per resource: how much more may be spent at the same number of workgroups."""
        if self.workgroups == 0:
            return {}
        return {resource: most - spent(self, resource) for resource, most in _room(self)}


def evaluate(target: Target, unit: Unit, kernel: Kernel, launch: Launch) -> Case:
    """Whichever runs out first: the least of all limits."""
    found = limits(target, unit, kernel, launch)
    least = min(limit.workgroups for limit in found if limit.workgroups is not None)
    return Case(target, unit, kernel, launch, found, least)


def spent(case: Case, resource: str) -> int:
    """What the case spends of a resource, in the currency its limit counts."""
    if resource == "lds":
        return (case.kernel.lds or 0) + (case.launch.lds_dynamic or 0)
    amounts = {
        "vgpr": case.kernel.charged_vgprs,
        "sgpr": case.kernel.charged_sgprs,
        "scratch": case.kernel.scratch,
        "threads": case.launch.threads,
    }
    return amounts[resource] or 0


def spend(kernel: Kernel, launch: Launch, resource: str, amount: int) -> tuple[Kernel, Launch]:
    """The same question with another amount of one resource."""
    read = _is_read(kernel)
    if resource == "vgpr":
        bare = replace(kernel, vgprs=None, agprs=None)
        return replace(bare, allocated_vgprs=amount) if read else replace(bare, total_vgprs=amount), launch
    if resource == "sgpr":
        return replace(kernel, allocated_sgprs=amount) if read else replace(kernel, sgprs=amount), launch
    if resource == "lds":
        return replace(kernel, lds=amount), replace(launch, lds_dynamic=None)
    if resource == "scratch":
        return replace(kernel, scratch=amount), launch
    return kernel, replace(launch, threads=amount)


def _is_read(kernel: Kernel) -> bool:
    """Whether registers are counted as a descriptor allocates them."""
    return kernel.allocated_vgprs is not None or kernel.allocated_sgprs is not None


def _room(case: Case) -> Iterator[tuple[str, int]]:
    """Each resource that is counted, with the most of it that keeps the workgroups resident."""
    given = {"vgpr": case.kernel.charged_vgprs, "sgpr": case.kernel.charged_sgprs, "lds": 0}
    for resource, amount in given.items():
        if amount is None or (resource == "sgpr" and case.target.sgpr.limits != "yes"):
            continue
        most = _most(case, resource, case.workgroups)
        if most is not None:
            yield resource, most


def _most(case: Case, resource: str, goal: int) -> int | None:
    """The largest amount of a resource that still admits `goal` workgroups on its own; None for none."""
    limit, read = SPENT[resource], _is_read(case.kernel)
    stack, launch = case.kernel.dynamic_stack, replace(case.launch, lds_dynamic=None)

    def admits(amount: int) -> bool:
        # a kernel of this one resource: copying all of the real one costs more than the rule
        if resource == "vgpr":
            probe = Kernel("", allocated_vgprs=amount) if read else Kernel("", total_vgprs=amount)
        elif resource == "sgpr":
            probe = Kernel("", allocated_sgprs=amount) if read else Kernel("", sgprs=amount)
        elif resource == "lds":
            probe = Kernel("", lds=amount)
        else:
            probe = Kernel("", scratch=amount, dynamic_stack=stack)
        workgroups = limit(case.target, case.unit, probe, launch).workgroups
        return workgroups is None or workgroups >= goal

    return _largest(admits, _cap(case, resource))


def _cap(case: Case, resource: str) -> int:
    caps = {
        "vgpr": case.target.vgpr.addressable,
        "sgpr": sgpr_cap(case.target) or case.target.sgpr.file,
        "lds": lds_cap(case.target, case.unit),
    }
    cap = caps.get(resource)
    return spent(case, resource) if cap is None else cap


def _largest(admits: Callable[[int], bool], cap: int) -> int | None:
    """The largest n in 0..cap that is admitted, where all smaller ones are; None if not even 0 is."""
    if not admits(0):
        return None
    low, high = 0, cap
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if admits(middle) else (low, middle - 1)
    return low


def _spend_less(case: Case, goal: int) -> Case | None:
    """All binding resources lowered together to what admits the goal; None if one cannot be."""
    kernel, launch = case.kernel, case.launch
    for resource in case.binding:
        if not _can_be_less(case, resource):
            return None
        kind_cap = resource == "vgpr" and case.workgroups == 0
        amount = _within_kinds(case, goal) if kind_cap else _most(case, resource, goal)
        if amount is None or amount >= spent(case, resource):
            return None
        kernel, launch = spend(kernel, launch, resource, amount)
    after = evaluate(case.target, case.unit, kernel, launch)
    return after if after.workgroups >= goal else None


def _can_be_less(case: Case, resource: str) -> bool:
    return resource in SPENT and not (resource == "vgpr" and case.kernel.wave_vgprs)


def _within_kinds(case: Case, goal: int) -> int | None:
    """As `_most`, and where one kind of register is over its own cap, the total with that kind cut to it."""
    most = _most(case, "vgpr", goal)
    vgpr, kernel = case.target.vgpr, case.kernel
    if most is None or (kernel.vgprs is None and kernel.agprs is None):
        return most
    regular, accumulators = kernel.vgprs or 0, kernel.agprs or 0
    cut = total_vgprs(case.target, min(regular, vgpr.addressable_arch), min(accumulators, vgpr.agprs))
    return min(most, cut or 0)


def _launch_step(case: Case) -> tuple[Step, ...]:
    """From what cannot launch to the most that can: the threads first, then whatever is still over."""
    most = threads_cap(case.target, case.kernel)
    start = case
    if "threads" in case.binding:
        start = evaluate(case.target, case.unit, *spend(case.kernel, case.launch, "threads", most))
    after = start if start.workgroups else _spend_less(start, 1)
    return () if after is None else (_step(case, after),)


def _other_size(case: Case) -> Iterator[Step]:
    """The nearest workgroup size, up or down, that gains waves; with less of what else binds if need be."""
    launch, most = case.launch, threads_cap(case.target, case.kernel)
    smaller = [waves * launch.wave for waves in range(launch.waves - 1, 0, -1)]
    larger = [waves * launch.wave + 1 for waves in range(launch.waves, -(-most // launch.wave))]
    for gaining in (_at_size, _at_size_with_less):
        gains = []
        for sizes in (smaller, larger):
            gain = next(filter(None, (gaining(case, threads) for threads in sizes)), None)
            if gain is not None:
                gains.append(gain)
        if gains:
            yield _step(case, min(gains, key=lambda gain: abs(gain.launch.threads - launch.threads)))
            return


def _at_size(case: Case, threads: int) -> Case | None:
    """The same kernel at another workgroup size, where that gains waves."""
    after = evaluate(case.target, case.unit, case.kernel, replace(case.launch, threads=threads))
    return after if after.waves > case.waves else None


def _at_size_with_less(case: Case, threads: int) -> Case | None:
    """The same with the other binding resources lowered to what gains at that size."""
    sized = evaluate(case.target, case.unit, case.kernel, replace(case.launch, threads=threads))
    goal = case.waves // sized.launch.waves + 1
    others = [resource for resource in case.binding if resource not in ("slots", "workgroups")]
    if not others or goal * sized.launch.waves > case.max_waves:
        return None
    kernel, launch = sized.kernel, sized.launch
    for resource in others:
        amount = _most(sized, resource, goal) if _can_be_less(sized, resource) else None
        if amount is None:
            return None
        if amount < spent(sized, resource):
            kernel, launch = spend(kernel, launch, resource, amount)
    after = evaluate(case.target, case.unit, kernel, launch)
    return after if after.workgroups >= goal else None


def _step(before: Case, after: Case) -> Step:
    changes = tuple(
        Change(resource, spent(before, resource), spent(after, resource))
        for resource in ("vgpr", "sgpr", "lds", "scratch", "threads")
        if spent(before, resource) != spent(after, resource)
    )
    return Step(changes, after.workgroups, after.waves, after.waves / after.max_waves)
