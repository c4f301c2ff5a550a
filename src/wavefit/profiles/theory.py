"""The ceiling of one Group: its chip, its compiled kernel if given, its Fit, and its grid on that chip."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from wavefit.chips import Chip, ChipNotFound, bare
from wavefit.chips import chip as find_chip
from wavefit.chips import target as find_target
from wavefit.model import Kernel
from wavefit.occupancy import BadQuestion, Fit, fit
from wavefit.profiles.grid import Array, Spread, partition_of
from wavefit.profiles.join import Joined
from wavefit.profiles.meaning import Charged, applies, counters
from wavefit.profiles.metrics import Machine
from wavefit.profiles.model import LDS_DISPATCH, LDS_STATIC, LDS_STEP, Device, Reported

SEPARATE_DEVICES = "GCDs"
"""The unit of `compute.dies` where each die is a device of its own, which a launch does not leave."""


def chip_of(device: Device | None, named: Chip | None) -> Chip | None:
    """The Chip a trace is of: the product it names, else its bare target, else the one that a person named.

    Raises BadQuestion where a person named a chip of another target than the trace says.
    """
    seen = _seen(device.target, device.name) if device else None
    if named is None or seen is None:
        return seen or named
    if seen.target.name != named.target.name:
        raise BadQuestion(f"the trace is of {seen.target.name}, not of {named.name or named.target.name}")
    return named


@lru_cache(maxsize=256)
def _seen(target: str | None, name: str | None) -> Chip | None:
    try:
        product = find_chip(name) if name else None
    except ChipNotFound:
        product = None
    if product is not None and target in (None, product.target.name):
        return product
    try:
        return bare(find_target(target)) if target else None
    except ChipNotFound:
        return None


def array_of(device: Device | None, chip: Chip | None) -> Array | None:
    """The CUs or SMs that a launch spreads over, and their dies: the trace's, else the product's."""
    units = device.units if device else None
    dies = device.dies if device else None
    if chip is not None and chip.name is not None:
        all_units, all_dies = chip.value("compute.cus"), chip.value("compute.dies")
        fact = chip.facts.get("compute.dies")
        if fact is not None and fact.unit == SEPARATE_DEVICES:
            all_units, all_dies = chip.value("compute.cus_per_die"), 1
        if units is None and isinstance(all_units, int):
            units, dies = all_units, dies or (all_dies if isinstance(all_dies, int) else None)
        elif dies is None and units == all_units and isinstance(all_dies, int):
            dies = all_dies
    if not units:
        return None
    return Array(units, min(dies or 1, units))


def machine_of(device: Device | None, chip: Chip | None, tool: str = "") -> Machine:
    """What the counters of a device are divided by. Dies that are not known stay so: sums over them too."""
    if chip is None:
        return Machine((device.target if device else None) or "", tool)
    array, target = array_of(device, chip), chip.target
    dies: int | None = 1
    if applies(counters()["summed_over_dies"], target.name):
        known = (device is not None and device.dies) or chip.value("compute.dies")
        dies = array.dies if array and known else None
    return Machine(
        target=target.name,
        tool=tool,
        units=array.units if array else None,
        dies=dies,
        engines=device.engines if device else None,
        simds=(device.simds if device else None) or target.unit("cu" if "cu" in target.modes else None).simds,
    )


def part_of(device: Device | None, chip: Chip | None) -> str | None:
    """A sentence where the device is not the whole product: a partition of it, or another product."""
    if device is None or chip is None or chip.name is None or device.units is None:
        return None
    whole, here = array_of(None, chip), array_of(device, chip)
    if whole is None or here is None or whole.units == here.units:
        return None
    mode = partition_of(here, whole)
    if mode is None:
        seen, known = (f"{array.units} units on {array.dies} dies" for array in (here, whole))
        return f"the trace's GPU has {seen}, {chip.name} {known}"
    return f"one {mode} partition of {chip.name}: {here.units} of its {whole.units} units"


@dataclass(frozen=True, slots=True)
class Theory:
    """A Fit, or why there is none; `lds_dynamic` is what the trace shows beyond the static bytes."""

    fit: Fit | None
    why: str | None
    assumptions: tuple[str, ...] = ()
    lds_dynamic: int | None = None
    corrected: str | None = None
    """Why the registers are not the sum of the tool's columns."""
    at_most: bool = False
    """The Fit counts fewer registers than there may be, so fewer waves may fit."""


def theory(reported: Reported, chip: Chip | None, charged: Charged | None, joined: Joined | None) -> Theory:
    """The Fit of what was launched: of the compiled kernel where there is one, else of the tool's columns."""
    compiled = joined.kernel if joined else None
    if reported.threads is None:
        return Theory(None, "this output does not say how the kernel was launched")
    if compiled is not None:
        chip = chip or _seen(compiled.target, None)
    if chip is None or charged is None:
        return Theory(None, "this output does not say on which chip the kernel ran; name it (--chip)")
    said = charged.assumptions
    if compiled is not None:
        dynamic = _dynamic(reported, compiled.lds)
        kernel, corrected = compiled, None
        said = ()
    else:
        dynamic = _dynamic(reported, reported.lds_static) or 0
        kernel, corrected = _as_kernel(reported, chip, charged, dynamic), charged.corrected
        if charged.total_vgprs is None:
            said += ("vgprs: this output does not report them; counted as if they did not limit",)
    try:
        found = _fit(kernel, chip, reported, dynamic)
        if corrected and not found.workgroups:
            plain = replace(kernel, total_vgprs=reported.vgprs, allocated_vgprs=reported.vgprs)
            if _fit(plain, chip, reported, dynamic).workgroups:
                found, corrected = _fit(plain, chip, reported, dynamic), None
                said += ("vgprs: not doubled, since the kernel ran and twice as many would not fit",)
    except BadQuestion as error:
        return Theory(None, str(error))
    at_most = compiled is None and charged.at_least
    return Theory(found, found.why, (*said, *found.assumptions), dynamic, corrected, at_most)


def _as_kernel(reported: Reported, chip: Chip, charged: Charged, dynamic: int) -> Kernel:
    lds = reported.lds_static if dynamic else charged.lds
    return Kernel(
        target=chip.target.name,
        name=reported.kernel,
        symbol=reported.symbol,
        total_vgprs=charged.total_vgprs,
        allocated_vgprs=charged.total_vgprs,
        sgprs=charged.sgprs,
        allocated_sgprs=charged.sgprs,
        lds=lds,
        scratch=reported.scratch,
    )


def _dynamic(reported: Reported, static: int | None) -> int | None:
    """Bytes of the dispatch beyond the static ones, the least after rounding; None where they are hidden."""
    if reported.lds is None or reported.lds_means == LDS_STATIC:
        return None
    if static is None:
        return 0
    rounding = 0 if reported.lds_means == LDS_DISPATCH else LDS_STEP - 1
    return max(reported.lds - rounding - static, 0)


def _fit(kernel: Kernel, chip: Chip, reported: Reported, dynamic: int | None) -> Fit:
    assert reported.threads is not None
    wave = reported.wave if reported.wave in chip.target.wave_sizes else None
    found = _cached(
        replace(kernel, name="", symbol="", file=""), chip.target.name, reported.threads, wave, dynamic
    )
    return replace(found, chip=chip.name)


@lru_cache(maxsize=4096)
def _cached(kernel: Kernel, target: str, threads: int, wave: int | None, dynamic: int | None) -> Fit:
    """One Fit for all grids and names of the same cost."""
    found = fit(kernel, chip=bare(find_target(target)), threads=threads, wave=wave, lds_dynamic=dynamic)
    assert isinstance(found, Fit)
    return found


def spread_of(reported: Reported, found: Fit, device: Device | None, chip: Chip | None) -> Spread | None:
    """The launch's grid on the chip, in units of the Fit (two CUs where workgroups share a WGP)."""
    array = array_of(device, chip)
    if array is None or not reported.workgroups or not found.workgroups:
        return None
    simds = found.of.unit(found.mode).simds
    each = machine_of(device, chip).simds or simds
    units = max(array.units * each // simds, 1)
    return Spread(reported.workgroups, found.workgroups, Array(units, min(array.dies, units)))
