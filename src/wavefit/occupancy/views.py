"""Views: one authority's rules for the same question. `hardware` is not here: it is the default.

A View answers what that authority answers, in its own unit, from what it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from wavefit.chips import SOFT, Target, Unit
from wavefit.model import Kernel
from wavefit.occupancy import compiler
from wavefit.occupancy.limits import round_up
from wavefit.occupancy.question import Question
from wavefit.occupancy.result import BadQuestion, Fit, FitRange, Limit, ratio


@dataclass(frozen=True, slots=True)
class View:
    """An authority: how it answers, who it is, and in one sentence per resource what it does otherwise."""

    name: str
    authority: str
    answer: Callable[[Question], Fit | FitRange]
    differs: Mapping[str, str]


def differences(hardware: Fit, other: Fit) -> tuple[str, ...]:
    """Why a View's answer is not the hardware's: its rule for each resource whose numbers differ."""
    rules = VIEWS[other.view].differs
    found = []
    for limit in other.limits:
        base = hardware.limit(limit.resource)
        charged = limit.allocated is not None and limit.allocated != base.allocated
        moved = (limit.budget, limit.waves_per_simd) != (base.budget, base.waves_per_simd)
        counted = limit.requested and (base.workgroups is not None or limit.resource == "slots")
        if limit.resource in rules and counted and (charged or moved):
            found.append(f"{limit.resource}: {rules[limit.resource]}")
        if limit.resource == "lds" and limit.budget != base.budget and "pool" in rules:
            found.append(f"lds: {rules['pool']}")
    if "" in rules and not found and other.waves_per_simd != hardware.waves_per_simd:
        found.append(rules[""])
    if other.max_waves != hardware.max_waves and "slots" in rules:
        found.append(f"slots: {rules['slots']}")
    return tuple(dict.fromkeys(found))


def _said(target: Target, view: str, key: str, default: int) -> int:
    value = target.views.get(view, {}).get(key)
    return value if isinstance(value, int) else default


def _needs_toolchain(question: Question, view: str) -> None:
    """Compiler and runtime Views exist where LLVM's AMDGPU back end knows the target."""
    target = question.chip.target
    if view not in target.views and "llvm-22" not in target.views:
        raise BadQuestion(f"view {view} does not apply to {target.vendor}'s {target.name}")


def _compiler_view(name: str) -> Callable[[Question], Fit | FitRange]:
    def answer(question: Question) -> Fit | FitRange:
        _needs_toolchain(question, name)
        target, launch, kernel = question.chip.target, question.launch, question.kernel
        unit = target.unit(launch.mode)
        steps = target.views.get(name, {}).get("sgpr_steps")
        rules = compiler.Rules(
            lds_granule=_said(target, name, "lds_granule", target.lds.granule),
            sgpr_steps=tuple(int(step) for step in steps) if isinstance(steps, tuple) else None,
        )
        sizes = question.sizes
        if kernel.max_threads and not question.threads_given and not kernel.required_threads:
            sizes = (1, kernel.max_threads)
        vgprs, sgprs, lds = kernel.charged_vgprs, _compiled_sgprs(target, kernel), kernel.lds or 0
        low, high = compiler.by_workgroups(unit, launch.wave, lds, sizes, rules)
        counts = {
            "vgpr": (vgprs, compiler.by_vgprs(target, unit, launch.wave, vgprs or 0)),
            "sgpr": (sgprs, compiler.by_sgprs(target, unit, sgprs or 0, rules)),
        }
        registers = min(waves for _, waves in counts.values())
        fits: list[Fit] = []
        for waves in (min(low, registers), min(high, registers)):
            limits = [
                _limit("vgpr", target.vgpr.files[launch.wave].file, *counts["vgpr"]),
                _limit("sgpr", target.sgpr.file, *counts["sgpr"]),
                _limit("lds", unit.lds_pool, lds, low if len(fits) == 0 else high),
            ]
            fits.append(_in_waves(question, name, unit, sizes[1], waves, limits))
        if question.is_range:
            return FitRange(fits[0], fits[1], sizes)
        return fits[1]

    return answer


def _compiled_sgprs(target: Target, kernel: Kernel) -> int | None:
    """The count the compiler printed by: padding shows only in what the descriptor allocates."""
    allocated, counted = kernel.allocated_sgprs, kernel.sgprs
    if allocated is None or counted is None or target.sgpr.encode_granule is None:
        return counted
    padded = allocated > round_up(counted, target.sgpr.encode_granule)
    return min(allocated, target.sgpr.addressable or allocated) if padded else counted


def _runtime_view(name: str) -> Callable[[Question], Fit | FitRange]:
    def answer(question: Question) -> Fit | FitRange:
        _needs_toolchain(question, name)
        if not question.is_range:
            return _runtime(question, name, question.launch.threads)
        fits = [_runtime(question, name, size) for size in question.representative()]
        return _range(question, fits)

    return answer


def _runtime(question: Question, name: str, threads: int) -> Fit:
    """The HIP runtime's `hipOccupancyMaxActiveBlocksPerMultiprocessor`, from the metadata's counts."""
    target, kernel, launch = question.chip.target, question.kernel, question.sized(threads)
    unit = target.unit(launch.mode)
    file = target.vgpr.files[launch.wave]
    slots = _said(target, name, "wave_slots", unit.wave_slots)
    limits = [_limit("slots", slots * unit.simds, launch.waves, slots, launch.waves)]
    waves = [slots]
    if kernel.total_vgprs:
        allocated = round_up(kernel.total_vgprs, file.granule)
        waves.append(file.file // allocated)
        limits.append(_limit("vgpr", file.file, kernel.total_vgprs, waves[-1], allocated))
    if kernel.sgprs and target.sgpr.limits == "yes" and target.sgpr.file:
        granule = _said(target, name, "sgpr_granule", target.sgpr.granule or 1)
        allocated = round_up(kernel.sgprs, granule) + _said(
            target, name, "trap_reserve", target.sgpr.trap_reserve
        )
        waves.append(target.sgpr.file // allocated)
        limits.append(_limit("sgpr", target.sgpr.file, kernel.sgprs, waves[-1], allocated))
    blocks = min(waves) * unit.simds // launch.waves
    lds = (kernel.lds or 0) + (launch.lds_dynamic or 0)
    if lds:
        pool = _said(target, name, f"lds_pool_{launch.mode}", unit.lds_pool)
        fits = pool // lds
        limits.append(
            replace(_limit("lds", pool, lds, ratio(fits * launch.waves, unit.simds), lds), workgroups=fits)
        )
        blocks = min(blocks, fits)
    if threads > target.workgroup.max_threads:
        blocks = 0
    resident, most = blocks * launch.waves, slots * unit.simds
    in_workgroups = [
        replace(limit, workgroups=int(limit.waves_per_simd or 0) * unit.simds // launch.waves)
        if limit.workgroups is None
        else limit
        for limit in limits
    ]
    return replace(
        _in_waves(question, name, unit, threads, ratio(resident, unit.simds), in_workgroups),
        workgroups=blocks,
        waves=resident,
        max_waves=most,
        occupancy=resident / most,
        why=None if blocks else "the runtime admits no workgroup",
        binding=tuple(limit.resource for limit in in_workgroups if limit.workgroups == blocks),
    )


def _by_hand(question: Question) -> Fit | FitRange:
    """The plain divisions of guides and calculators: no granules, no whole workgroups, fractions kept."""
    sizes = list(question.representative()) if question.is_range else [question.launch.threads]
    fits = [_divided(question, size) for size in sizes]
    return _range(question, fits) if question.is_range else fits[0]


def _divided(question: Question, threads: int) -> Fit:
    target, kernel, launch = question.chip.target, question.kernel, question.sized(threads)
    unit = target.unit(launch.mode)
    both = (kernel.vgprs or 0) + (kernel.agprs or 0) or kernel.total_vgprs
    limits = [_limit("slots", unit.wave_slots * unit.simds, launch.waves, unit.wave_slots)]
    if both:
        file = target.vgpr.files[launch.wave].file
        limits.append(_limit("vgpr", file, both, file // both, both))
    if kernel.sgprs and target.sgpr.file:
        limits.append(
            _limit("sgpr", target.sgpr.file, kernel.sgprs, target.sgpr.file // kernel.sgprs, kernel.sgprs)
        )
    lds = (kernel.lds or 0) + (launch.lds_dynamic or 0)
    if lds:
        fits = unit.lds_pool // lds
        waves = ratio(fits * launch.waves, unit.simds)
        limits.append(replace(_limit("lds", unit.lds_pool, lds, waves, lds), workgroups=fits))
    least = min(limit.waves_per_simd for limit in limits if limit.waves_per_simd is not None)
    return _in_waves(question, "by-hand", unit, threads, least, limits)


def _range(question: Question, fits: list[Fit]) -> FitRange:
    low = min(fits, key=lambda fit: fit.waves_per_simd)
    high = max(fits, key=lambda fit: fit.waves_per_simd)
    return FitRange(low, high, question.sizes)


def _limit(
    resource: str, budget: int | None, requested: int | None, waves: int | float, allocated: int | None = None
) -> Limit:
    return Limit(resource, budget, requested, allocated, None, waves, None, "documented")


def _in_waves(
    question: Question, view: str, unit: Unit, threads: int, waves: int | float, limits: list[Limit]
) -> Fit:
    """A Fit of an authority that answers in waves per SIMD only."""
    target = question.chip.target
    return Fit(
        chip=question.chip.name,
        target=target.name,
        view=view,
        mode=question.launch.mode,
        wave=question.launch.wave,
        unit=unit.name,
        threads=threads,
        workgroups=None,
        why=None,
        waves=None,
        max_waves=unit.wave_slots * unit.simds,
        waves_per_simd=waves,
        occupancy=waves / unit.wave_slots,
        limits=tuple(limits),
        binding=tuple(limit.resource for limit in limits if limit.waves_per_simd == waves),
        assumptions=question.said + _soft_rules(target, view),
        of=target,
        kernel=question.kernel,
        launch=question.sized(threads),
    )


def _soft_rules(target: Target, view: str) -> tuple[str, ...]:
    """Rules of an authority that does not know this target by name."""
    facts = ((path, target.facts[path]) for path in target.facts if path.startswith(f"view.{view}."))
    return tuple(
        f"{path} = {fact.value}: {fact.status} ({fact.source})" for path, fact in facts if fact.status in SOFT
    )


_WHOLE = "counts waves per SIMD, not whole workgroups, and never less than one"
_ROUNDED = "LDS is not rounded up to its granule"

VIEWS: Mapping[str, View] = {
    view.name: view
    for view in (
        View(
            "llvm-22",
            "LLVM 22's `; Occupancy`",
            _compiler_view("llvm-22"),
            {
                "sgpr": "a threshold table, without what the trap handler takes",
                "lds": f"{_ROUNDED}; it and the workgroup size are one limit, rounded up",
                "": _WHOLE,
            },
        ),
        View(
            "llvm-main",
            "LLVM main after #201342, #205637",
            _compiler_view("llvm-main"),
            {"lds": "it and the workgroup size are one limit, rounded up", "": _WHOLE},
        ),
        View(
            "hip",
            "HIP runtime after its 2026 fixes",
            _runtime_view("hip"),
            {
                "vgpr": "reads the metadata's count, not what the descriptor allocates",
                "sgpr": "reads the metadata's count, not what the descriptor allocates",
                "lds": _ROUNDED,
                "slots": "8 waves a SIMD up to gfx9 and 16 after, whatever the chip has",
            },
        ),
        View(
            "hip-2024",
            "HIP runtime before its 2026 fixes",
            _runtime_view("hip-2024"),
            {
                "vgpr": "reads the metadata's count, not what the descriptor allocates",
                "sgpr": "without what the trap handler takes",
                "lds": _ROUNDED,
                "pool": "a WGP is taken for one CU's 64 KiB",
                "slots": "8 waves a SIMD up to gfx9 and 16 after, whatever the chip has",
            },
        ),
        View(
            "by-hand",
            "the plain divisions of guides",
            _by_hand,
            {
                "vgpr": "no granule",
                "sgpr": "no granule, no trap handler",
                "lds": "no granule",
                "": "fractions of a workgroup are counted",
            },
        ),
    )
}
