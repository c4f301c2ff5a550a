"""`confirm`: theory beside measurement, each difference with its reason."""

from __future__ import annotations

import os
from collections.abc import Iterable

from wavefit.chips import Chip, ChipNotFound, bare
from wavefit.chips import chip as find_chip
from wavefit.chips import target as find_target
from wavefit.model import Kernel
from wavefit.profiles.collect import Collector, Group
from wavefit.profiles.confirmation import Confirmation, Confirmations, Way
from wavefit.profiles.explain import differences
from wavefit.profiles.join import Compiled, Joined
from wavefit.profiles.meaning import charged
from wavefit.profiles.model import Problem, Reported
from wavefit.profiles.open import measurements
from wavefit.profiles.reasons import Seen, gap
from wavefit.profiles.text import Progress
from wavefit.profiles.theory import Theory, chip_of, machine_of, part_of, spread_of, theory

SEVERAL_RUNS = 1.5
"""SQ_WAVES is exact: this many times the waves of the grid are the sum of several runs."""

Path = str | os.PathLike[str]


def confirm(
    path: Path, kernels: Path | None = None, chip: str | None = None, progress: Progress | None = None
) -> Confirmations:
    """Theory beside measurement for every kernel in a profiler's output, a file or folder.

    `kernels` is a file or folder of code objects, joined by name; `chip` names the chip where the trace
    does not; `progress` is called as by `measurements`. Raises ProfileError for a path that is not there,
    ChipNotFound, and BadQuestion where the trace is of another target than `chip`.
    """
    seen = measurements(path, progress)
    named = find_chip(chip) if chip else None
    bad: list[Problem] = []
    compiled = None if kernels is None else Compiled.of(_readable(kernels, bad))
    confirmer = _Confirmer(named, compiled)
    for measurement in seen:
        confirmer.collector.add(measurement)
    items = sorted(confirmer.confirmations(), key=lambda item: (-(item.seconds or 0), item.kernel))
    unjoined = [
        item.kernel for item in items if compiled is not None and item.joined not in ("symbol", "base name")
    ]
    return Confirmations(
        items=tuple(items),
        errors=(*bad, *seen.errors),
        unjoined=tuple(dict.fromkeys(unjoined)),
        unseen=compiled.unseen() if compiled is not None else (),
    )


def _readable(path: Path, bad: list[Problem]) -> Iterable[Kernel]:
    from wavefit.kernels import kernels as read_kernels

    for found in read_kernels(path):
        if isinstance(found, Kernel):
            yield found
        else:
            bad.append(Problem(found.file, str(found).removeprefix(f"{found.file}: ")))


class _Confirmer:
    """What is known beside the trace: the chip that was named, and the compiled kernels."""

    def __init__(self, named: Chip | None, compiled: Compiled | None) -> None:
        self.named, self.compiled = named, compiled
        self.collector = Collector(lambda r: machine_of(r.device, self._chip(r), r.tool))

    def _chip(self, reported: Reported) -> Chip | None:
        """The trace's chip, else the named one, else what the compiled kernels are for."""
        found = chip_of(reported.device, self.named)
        if found is None and self.compiled is not None and self.compiled.only_target:
            try:
                return bare(find_target(self.compiled.only_target))
            except ChipNotFound:
                return None
        return found

    def confirmations(self) -> list[Confirmation]:
        return [self._confirmation(group) for group in self.collector.groups()]

    def _confirmation(self, group: Group) -> Confirmation:
        reported = group.reported
        chip = self._chip(reported)
        charge = charged(reported, chip.target, self.collector.evidence[chip.target.name]) if chip else None
        joined = self._join(reported, chip, charge.total_vgprs if charge else None)
        found = theory(reported, chip, charge, joined)
        compiled = joined.kernel if joined else None
        seen, ways = _seen(group, found, chip)
        slots = found.fit.max_waves if found.fit else None

        def share(waves: float | None) -> float | None:
            return None if waves is None or not slots else waves / slots

        stats = group.stats
        return Confirmation(
            reported=reported,
            source=group.source,
            tools=tuple(sorted(group.tools)),
            dispatches=group.dispatches,
            seconds=group.seconds.mean * group.dispatches if group.seconds.mean else None,
            chip=(chip.name or chip.target.name) if chip else None,
            fit=found.fit,
            why=found.why,
            ceiling=found.fit.occupancy if found.fit else None,
            spread=seen.spread if seen else None,
            grid_ceiling=share(min(seen.grid_ceiling, seen.ceiling)) if seen else None,
            with_tail=share(min(seen.with_tail, seen.ceiling)) if seen and not seen.at_most else None,
            achieved=share(seen.achieved) if seen else None,
            achieved_most=share(seen.most) if seen else None,
            method=ways[0].method if ways else None,
            over=seen.over if seen else "all",
            ways=ways,
            tool_ceiling=share(stats["theory"].mean),
            matrix_busy=stats["matrix"].mean,
            valu_busy=stats["valu"].mean,
            clock=stats["clock"].mean,
            joined=joined.how if joined else None,
            reasons=(*(gap(seen) if seen else ()), *differences(group, found, compiled)),
            assumptions=found.assumptions,
            notes=tuple(_notes(group, found, chip)),
            at_most=found.at_most,
        )

    def _join(self, reported: Reported, chip: Chip | None, total_vgprs: int | None) -> Joined | None:
        if self.compiled is None:
            return None
        names = (reported.symbol, reported.kernel)
        return self.compiled.find(names, chip.target.name if chip else None, total_vgprs, reported.sgprs)


def _seen(group: Group, found: Theory, chip: Chip | None) -> tuple[Seen | None, tuple[Way, ...]]:
    """What the gap is explained from, and every way in which occupancy was read, the most robust first."""
    fit = found.fit
    if fit is None or fit.waves is None:
        return None, ()
    reported, machine = group.reported, group.machine
    per_unit = fit.of.unit(fit.mode).simds / (machine.simds or fit.of.unit(fit.mode).simds)
    ordered = sorted((way, stat) for way, stat in group.readings.items() if stat.mean)
    ways = tuple(
        Way(method, over, (stat.mean or 0.0) * per_unit / fit.max_waves)
        for (_, method, over), stat in ordered
    )
    (_, _, over), best = ordered[0] if ordered else ((0, "", "all"), None)
    return Seen(
        unit=fit.unit,
        slots=fit.max_waves,
        waves_each=-(-fit.threads // fit.wave),
        ceiling=fit.waves,
        spread=spread_of(reported, fit, reported.device, chip),
        over=over,
        achieved=best.mean * per_unit if best and best.mean else None,
        most=best.high * per_unit if best else None,
        seconds=_seconds(group),
        at_most=found.at_most,
    ), ways


def _seconds(group: Group) -> float | None:
    """How long one dispatch runs; from its clocks where the times are lost (then at the highest clock)."""
    if group.seconds.mean is not None:
        return group.seconds.mean
    device, cycles = group.reported.device, group.stats["cycles"].mean
    return cycles / (device.clock * 1e6) if cycles and device and device.clock else None


def _notes(group: Group, found: Theory, chip: Chip | None) -> Iterable[str]:
    reported, launched = group.reported, group.stats["waves"].mean
    part = part_of(reported.device, chip)
    if part:
        yield part
    yield from (f"{name}: {why}" for name, why in sorted(group.unusable.items()))
    if group.repeated:
        yield f"rows of {group.repeated} dispatches stand twice in a file: counted once"
    if group.stats["waves"].count and not launched:
        yield "SQ_WAVES is 0: these counters were not collected"
    if launched and found.fit is not None and reported.workgroups:
        expected = reported.workgroups * -(-found.fit.threads // found.fit.wave)
        if launched > SEVERAL_RUNS * expected:
            yield f"SQ_WAVES counts {launched:.0f} waves of {expected}: several runs in one row"
