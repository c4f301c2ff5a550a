"""One function a resource, all of one shape: whole workgroups that this resource alone admits.

Every number comes from the Target; a resource that is not given does not limit (`workgroups` is None).
"""

from __future__ import annotations

from wavefit.chips import STATUSES, Target, Unit
from wavefit.model import Kernel, Launch
from wavefit.occupancy.result import Limit, ratio


def ceil_div(amount: int, by: int) -> int:
    """The quotient rounded up."""
    return -(-amount // by)


def round_up(amount: int, granule: int) -> int:
    """The smallest multiple of the granule that holds the amount."""
    return ceil_div(amount, granule) * granule


def total_vgprs(target: Target, vgprs: int | None, agprs: int | None) -> int | None:
    """What the vector file is charged for both kinds, before the granule.

    On a unified file accumulators start at a multiple of four after the regular registers; on separate
    files the larger of the two counts. None where neither is given.
    """
    if vgprs is None and agprs is None:
        return None
    regular, accumulators = vgprs or 0, agprs or 0
    if target.vgpr.accumulator == "separate":
        return max(regular, accumulators)
    if not accumulators:
        return regular
    return round_up(regular, target.vgpr.accumulator_granule) + accumulators


def vgpr_limit(target: Target, unit: Unit, kernel: Kernel, launch: Launch) -> Limit:
    """Vector registers are private to a SIMD: waves of one SIMD first, whole workgroups from them."""
    file = target.vgpr.files[launch.wave]
    path = f"vgpr.wave{launch.wave}"
    facts = (f"{path}.file", f"{path}.granule", f"units.{unit_key(target, launch)}.simds")
    if kernel.wave_vgprs:
        return _unequal_vgprs(target, unit, kernel, launch, facts)
    requested = kernel.charged_vgprs
    if requested is None:
        return _limit(target, "vgpr", file.file, granule=file.granule, facts=facts)
    allocated = round_up(max(requested, 1), file.granule)  # a wave holds at least one granule
    why = _too_many_vgprs(target, kernel, requested)
    waves = 0 if why else file.file // allocated
    workgroups = waves * unit.simds // launch.waves
    if not workgroups and not why:
        need = ceil_div(launch.waves, unit.simds)
        why = (
            f"one workgroup of {launch.waves} waves puts {need} on a SIMD, "
            f"but {allocated} of {file.file} vector registers allow {waves}"
        )
    return _limit(
        target, "vgpr", file.file, requested, allocated, file.granule, waves, workgroups, facts, why
    )


def _unequal_vgprs(
    target: Target, unit: Unit, kernel: Kernel, launch: Launch, facts: tuple[str, ...]
) -> Limit:
    """Waves of one workgroup with unequal registers: each SIMD holds its share of every kind."""
    file, simds = target.vgpr.files[launch.wave], unit.simds
    kinds = [(count // simds, registers) for count, registers in kernel.wave_vgprs]
    requested = sum(count * registers for count, registers in kinds)
    allocated = sum(count * round_up(max(registers, 1), file.granule) for count, registers in kinds)
    most = max(registers for _, registers in kinds)
    fits, why = file.file // allocated, None
    if most > target.vgpr.addressable:
        fits, why = 0, f"{most} vector registers; a wave can have {target.vgpr.addressable}"
    elif not fits:
        why = f"the waves of one workgroup need {allocated} vector registers on a SIMD; it has {file.file}"
    waves = ratio(fits * launch.waves, simds)
    return _limit(target, "vgpr", file.file, requested, allocated, file.granule, waves, fits, facts, why)


def _too_many_vgprs(target: Target, kernel: Kernel, requested: int) -> str | None:
    vgpr = target.vgpr
    if requested > vgpr.addressable:
        return f"{requested} vector registers; a wave can have {vgpr.addressable}"
    if kernel.vgprs is not None and kernel.vgprs > vgpr.addressable_arch:
        return f"{kernel.vgprs} regular vector registers; a wave can address {vgpr.addressable_arch}"
    if kernel.agprs is not None and kernel.agprs > vgpr.agprs:
        return f"{kernel.agprs} accumulator registers; a wave can address {vgpr.agprs}"
    return None


def sgpr_cap(target: Target) -> int | None:
    """The most scalar registers one wave can have, in whole steps of what a descriptor encodes."""
    sgpr = target.sgpr
    if sgpr.addressable is None:
        return None
    return round_up(sgpr.addressable + (sgpr.extra or 0), sgpr.encode_granule or 1)


def sgpr_limit(target: Target, unit: Unit, kernel: Kernel, launch: Launch) -> Limit:
    """Scalar registers of one SIMD: rounded to the granule, plus what the trap handler takes."""
    sgpr, requested = target.sgpr, kernel.charged_sgprs
    facts: tuple[str, ...] = ("sgpr.file", "sgpr.granule", "sgpr.trap_reserve")
    if sgpr.limits != "yes" or sgpr.file is None or sgpr.granule is None:
        return _limit(target, "sgpr", sgpr.file, requested, granule=sgpr.granule, facts=("sgpr.per_wave",))
    if requested is None:
        return _limit(target, "sgpr", sgpr.file, granule=sgpr.granule, facts=facts)
    cap = sgpr_cap(target)
    why = None
    if cap is not None and requested > cap:
        why = f"{requested} scalar registers; a wave can have {cap}"
        facts += ("sgpr.addressable",)
    charged = max(requested, 1) if sgpr.fixed is None else sgpr.fixed
    allocated = round_up(charged, sgpr.granule) + sgpr.trap_reserve
    waves = 0 if why else sgpr.file // allocated
    workgroups = waves * unit.simds // launch.waves
    if not workgroups and not why:
        why = (
            f"{allocated} of {sgpr.file} scalar registers allow {waves} waves a SIMD, "
            f"fewer than one workgroup puts there"
        )
    return _limit(
        target, "sgpr", sgpr.file, requested, allocated, sgpr.granule, waves, workgroups, facts, why
    )


def lds_cap(target: Target, unit: Unit) -> int:
    """The most LDS one workgroup can have: its own cap, or the pool where a mode makes that smaller."""
    return min(target.lds.per_workgroup, unit.lds_pool)


def lds_limit(target: Target, unit: Unit, kernel: Kernel, launch: Launch) -> Limit:
    """LDS is shared by the unit's SIMDs, so the answer is in workgroups; charged in whole granules."""
    lds = target.lds
    facts: tuple[str, ...] = (f"units.{unit_key(target, launch)}.lds_pool", "lds.granule")
    given = None if kernel.lds is None and launch.lds_dynamic is None else _requested_lds(kernel, launch)
    requested = given or 0
    charged = requested + lds.reserve
    if not charged:
        return _limit(target, "lds", unit.lds_pool, given, granule=lds.granule, facts=facts)
    allocated = round_up(charged, lds.granule)
    pool = _pool(target, unit, launch, allocated)
    cap = lds_cap(target, unit)
    if requested > cap:
        why = f"{requested} bytes of LDS; a workgroup can have {cap}"
        facts += ("lds.per_workgroup",)
        return _limit(target, "lds", pool, given, allocated, lds.granule, 0, 0, facts, why)
    fits = pool // allocated
    waves = ratio(fits * launch.waves, unit.simds)
    return _limit(target, "lds", pool, given, allocated, lds.granule, waves, fits, facts)


def _requested_lds(kernel: Kernel, launch: Launch) -> int:
    return (kernel.lds or 0) + (launch.lds_dynamic or 0)


def _pool(target: Target, unit: Unit, launch: Launch, allocated: int) -> int:
    """The shared memory the unit is set to: a preference in percent is rounded up to a size it has."""
    sizes = target.lds.carveouts
    if launch.carveout is None or not sizes:
        return unit.lds_pool
    wanted = max(unit.lds_pool * launch.carveout // 100, 0)
    pool = next((size for size in sizes if size >= wanted), sizes[-1])
    if pool < allocated:  # one workgroup always gets the room it needs
        pool = next((size for size in sizes if size >= allocated), sizes[-1])
    return pool


def slots_limit(target: Target, unit: Unit, kernel: Kernel, launch: Launch) -> Limit:
    """Wave slots: the most waves a SIMD can hold whatever they spend."""
    key = unit_key(target, launch)
    facts = (f"units.{key}.wave_slots", f"units.{key}.simds")
    total, asked = unit.wave_slots * unit.simds, launch.waves
    fits = total // asked
    why = None if fits else f"{asked} waves a workgroup; there are slots for {total}"
    return _limit(target, "slots", total, asked, asked, 1, unit.wave_slots, fits, facts, why)


def workgroups_limit(target: Target, unit: Unit, kernel: Kernel, launch: Launch) -> Limit:
    """Workgroup slots. On AMD each needs a barrier, which a workgroup of one wave does without."""
    facts: tuple[str, ...] = (f"units.{unit_key(target, launch)}.workgroups",)
    exempt = target.workgroup.one_wave_exempt and launch.waves == 1
    if unit.workgroups is None or exempt:
        return _limit(target, "workgroups", unit.workgroups, granule=1, facts=facts)
    fits = unit.workgroups
    if target.workgroup.barriers is not None and launch.barriers:
        fits = min(fits, target.workgroup.barriers // launch.barriers)
        facts += ("workgroup.barriers",)
    waves = ratio(fits * launch.waves, unit.simds)
    return _limit(target, "workgroups", unit.workgroups, 1, 1, 1, waves, fits, facts)


def scratch_limit(target: Target, unit: Unit, kernel: Kernel, launch: Launch) -> Limit:
    """A kernel with scratch memory needs a scratch slot a wave, where the target is known to count them."""
    total = target.scratch_waves
    uses = bool(kernel.scratch) or kernel.dynamic_stack
    facts = ("scratch.waves",)
    if total is None or not uses:
        return _limit(target, "scratch", total, kernel.scratch, facts=facts)
    waves = ratio(total, unit.simds)
    fits = total // launch.waves
    why = None if fits else f"{launch.waves} waves a workgroup with scratch; there are slots for {total}"
    return _limit(target, "scratch", total, kernel.scratch, launch.waves, None, waves, fits, facts, why)


def threads_limit(target: Target, unit: Unit, kernel: Kernel, launch: Launch) -> Limit:
    """A workgroup has a largest size: the target's, and the one its kernel was compiled for."""
    most, asked = threads_cap(target, kernel), launch.threads
    facts = ("workgroup.max_threads",)
    required = kernel.required_threads
    if asked <= most and asked == (required or asked):
        return _limit(target, "threads", most, asked, asked, 1, facts=facts)
    why = f"{asked} threads a workgroup; the most is {most}"
    if required and asked != required:
        why = f"{asked} threads a workgroup; the kernel requires {required}"
    elif most < target.workgroup.max_threads:
        why = f"{asked} threads a workgroup; the kernel is compiled for at most {most}"
    return _limit(target, "threads", most, asked, asked, 1, 0, 0, facts, why)


def threads_cap(target: Target, kernel: Kernel) -> int:
    """The largest workgroup that can launch."""
    own = kernel.required_threads or kernel.max_threads
    return min(target.workgroup.max_threads, own or target.workgroup.max_threads)


LIMITS = (
    vgpr_limit, sgpr_limit, lds_limit, slots_limit, workgroups_limit, scratch_limit, threads_limit,
)  # fmt: skip


def limits(target: Target, unit: Unit, kernel: Kernel, launch: Launch) -> tuple[Limit, ...]:
    """Every resource's limit, in CONTRACT's order."""
    return tuple(limit(target, unit, kernel, launch) for limit in LIMITS)


def unit_key(target: Target, launch: Launch) -> str:
    """The key of the unit that this launch shares LDS in: its mode, or the target's only one."""
    return launch.mode or next(iter(target.units))


def _limit(
    target: Target,
    resource: str,
    budget: int | None,
    requested: int | None = None,
    allocated: int | None = None,
    granule: int | None = None,
    waves: int | float | None = None,
    workgroups: int | None = None,
    facts: tuple[str, ...] = (),
    why: str | None = None,
) -> Limit:
    known = [target.facts[path].status for path in facts if path in target.facts]
    status = max(known, key=STATUSES.index, default="unknown")
    if resource == "sgpr" and target.sgpr.limits == "unknown":
        status = "unknown"
    return Limit(resource, budget, requested, allocated, granule, waves, workgroups, status, facts, why)
