"""Where columns, code object and counters differ in words: registers, granules, LDS, limiters, the clock."""

from __future__ import annotations

from collections.abc import Iterator

from wavefit.model import Kernel
from wavefit.occupancy import Fit
from wavefit.profiles.collect import Group
from wavefit.profiles.model import LDS_STATIC, Reported
from wavefit.profiles.reasons import (
    CLOCK,
    DYNAMIC_LDS,
    GRANULE,
    LIMITER,
    REGISTERS,
    SLOW,
    UNEXPLAINED,
    Reason,
)
from wavefit.profiles.theory import Theory

NAMED = 1.0
"""Percent of the time from which an SPI counter names a resource."""


def differences(group: Group, found: Theory, compiled: Kernel | None) -> Iterator[Reason]:
    """Every difference that is no gap in occupancy itself but tells where one comes from."""
    if found.corrected:
        yield Reason(REGISTERS, found.corrected)
    fit = found.fit
    if fit is None:
        return
    if compiled is not None:
        yield from _registers(compiled, group.reported, fit)
    if found.lds_dynamic:
        yield Reason(
            DYNAMIC_LDS,
            f"{found.lds_dynamic} bytes of LDS came with the launch, beside {fit.kernel.lds or 0} static",
        )
    yield from _limiters(group, found)
    yield from _blocks(group, fit)
    yield from _clock(group)


def _registers(compiled: Kernel, reported: Reported, fit: Fit) -> Iterator[Reason]:
    """The compiler's count beside the profiler's, which should be what the hardware allocates."""
    counted, columns = compiled.total_vgprs, reported.vgprs
    if counted is None or columns is None:
        return
    separate = fit.of.vgpr.accumulator == "separate"
    seen = columns if separate else columns + (reported.agprs or 0)
    granule = fit.limit("vgpr").granule or 1
    allocated = -(-counted // granule) * granule
    if seen == counted:
        return
    if allocated == -(-seen // granule) * granule:
        text = f"the compiler counts {counted} vector registers, {seen} are allocated (granule {granule})"
        yield Reason(GRANULE, text)
    elif 2 * seen == allocated:
        yield Reason(REGISTERS, f"the code object has {counted} vector registers, the profiler says {seen}")
    else:
        text = f"the code object has {counted} vector registers, the profiler says {seen}: another build?"
        yield Reason(UNEXPLAINED, text)


def _limiters(group: Group, found: Theory) -> Iterator[Reason]:
    """The resource that SPI counters name, beside the one that the Fit names."""
    assert found.fit is not None
    named: dict[str, float] = {}
    for (resource, _), limited in group.limits.items():
        if limited.cycles.total:
            named[resource] = max(named.get(resource, 0.0), limited.percent.mean or 0.0)
    strong = [r for r, percent in named.items() if percent >= NAMED or not any(named.values())]
    if not strong:
        return
    strong.sort(key=lambda resource: -named[resource])
    shown = ", ".join(
        f"{resource} {named[resource]:.1f} %" if named[resource] else resource for resource in strong
    )
    if set(strong) & set(found.fit.binding):
        yield Reason(LIMITER, f"SPI counters name {shown}: as the Fit does ({', '.join(found.fit.binding)})")
    elif strong[0] == "lds" and group.reported.lds_means == LDS_STATIC:
        text = f"SPI counters name {shown}, and this output hides dynamic LDS: the launch has some"
        yield Reason(DYNAMIC_LDS, text)
    else:
        yield Reason(
            LIMITER, f"SPI counters name {shown}; the Fit names {', '.join(found.fit.binding) or 'nothing'}"
        )


def _blocks(group: Group, fit: Fit) -> Iterator[Reason]:
    """Nsight Compute's own ceiling, where it is another than the Fit's."""
    theirs = group.stats["theory"].mean
    if theirs is None or fit.waves is None or round(theirs) == fit.waves:
        return
    text = f"Nsight Compute counts {theirs:.0f} warps an SM, the Fit {fit.waves}"
    limits = {resource: stat.low for resource, stat in group.blocks.items()}
    least = min(limits, key=lambda resource: limits[resource], default=None)
    if least is not None and least not in fit.binding:
        yield Reason(LIMITER, f"{text}: by its account {least} allows {limits[least]:.0f} workgroups")
    else:
        yield Reason(UNEXPLAINED, text)


def _clock(group: Group) -> Iterator[Reason]:
    device = group.reported.device
    ran, highest = group.stats["clock"].mean, device.clock if device else None
    if ran and highest and ran < SLOW * highest:
        yield Reason(CLOCK, f"ran at {ran:.0f} MHz of {highest}: that takes time, not occupancy")
