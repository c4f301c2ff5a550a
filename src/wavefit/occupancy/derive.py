"""The arithmetic of a Fit as a person would write it, each constant with who says so."""

from __future__ import annotations

from dataclasses import dataclass

from wavefit.chips import Fact, Target
from wavefit.occupancy.result import Fit, Limit


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the derivation: what it is about, the arithmetic, the Facts it uses by their paths."""

    about: str
    text: str
    facts: tuple[tuple[str, Fact], ...] = ()


def derivation(fit: Fit) -> tuple[Line, ...]:
    """The lines from each limit through the minimum to the percentage. Empty for other Views."""
    if fit.view != "hardware":
        return ()
    counted = [limit for limit in fit.limits if limit.workgroups is not None]
    lines = [Line(limit.resource, _text(fit, limit), _facts(fit.of, limit)) for limit in counted]
    lines.append(Line("workgroup", _workgroup(fit)))
    names = ", ".join(f"{limit.resource} {limit.workgroups}" for limit in counted)
    lines.append(Line("minimum", f"min({names}) = {_groups(fit.workgroups)}, by {' and '.join(fit.binding)}"))
    lines.append(Line("waves", _waves(fit)))
    return tuple(lines)


def plain_division(limit: Limit) -> int | None:
    """What budget / request gives without granules, where that differs from the answer."""
    if (
        limit.why
        or not limit.requested
        or limit.budget is None
        or limit.resource not in ("vgpr", "sgpr", "lds")
    ):
        return None
    counted = limit.workgroups if limit.resource == "lds" else limit.waves_per_simd
    plain = limit.budget // limit.requested
    return None if plain == counted else plain


def _facts(target: Target, limit: Limit) -> tuple[tuple[str, Fact], ...]:
    return tuple((path, target.facts[path]) for path in limit.facts if path in target.facts)


def _text(fit: Fit, limit: Limit) -> str:
    if limit.why and limit.workgroups == 0:
        return f"{limit.why}: 0 workgroups"
    plain = plain_division(limit)
    note = f" (plain division: {plain})" if plain is not None else ""
    match limit.resource:
        case "vgpr" if fit.kernel.wave_vgprs:
            return _unequal(fit, limit)
        case "vgpr":
            return f"{_vgpr(fit, limit)} = {limit.waves_per_simd} waves/SIMD{note}; {_whole(fit, limit)}"
        case "sgpr":
            return f"{_sgpr(fit, limit)} = {limit.waves_per_simd} waves/SIMD{note}; {_whole(fit, limit)}"
        case "lds":
            waves = f"{limit.waves_per_simd:g} waves/SIMD"
            return f"{_lds(fit, limit)} = {_groups(limit.workgroups)}{note} = {waves}"
        case "slots":
            unit = fit.of.unit(fit.mode)
            return (
                f"floor({unit.wave_slots} slots x {unit.simds} SIMDs / {fit.launch.waves} waves) "
                f"= {_groups(limit.workgroups)}"
            )
        case "scratch":
            resident = f"floor({limit.budget} scratch waves / {fit.launch.waves} waves)"
            return f"{resident} = {_groups(limit.workgroups)}"
        case _:
            return f"{limit.workgroups} at once"


def _vgpr(fit: Fit, limit: Limit) -> str:
    kernel, granule = fit.kernel, limit.granule
    asked = str(limit.requested)
    if kernel.allocated_vgprs is None and kernel.agprs and kernel.vgprs is not None:
        step = fit.of.vgpr.accumulator_granule
        asked = f"roundup({kernel.vgprs}, {step}) + {kernel.agprs}"
        if fit.of.vgpr.accumulator == "separate":
            asked = f"max({kernel.vgprs}, {kernel.agprs})"
    return f"floor({limit.budget} / roundup({asked}, {granule}))"


def _unequal(fit: Fit, limit: Limit) -> str:
    simds = fit.of.unit(fit.mode).simds
    kinds = " + ".join(
        f"{count // simds} x roundup({each}, {limit.granule})" for count, each in fit.kernel.wave_vgprs
    )
    return f"floor({limit.budget} / ({kinds})) = {_groups(limit.workgroups)}"


def _sgpr(fit: Fit, limit: Limit) -> str:
    reserve = fit.of.sgpr.trap_reserve
    asked = limit.requested if fit.of.sgpr.fixed is None else fit.of.sgpr.fixed
    charge = f"roundup({asked}, {limit.granule})"
    return (
        f"floor({limit.budget} / ({charge} + {reserve}))" if reserve else f"floor({limit.budget} / {charge})"
    )


def _lds(fit: Fit, limit: Limit) -> str:
    asked, reserve = str(limit.requested or 0), fit.of.lds.reserve
    if fit.kernel.lds and fit.launch.lds_dynamic:
        asked = f"{fit.kernel.lds} + {fit.launch.lds_dynamic}"
    if reserve:
        asked += f" + {reserve}"
    return f"floor({limit.budget} / roundup({asked}, {limit.granule}))"


def _whole(fit: Fit, limit: Limit) -> str:
    simds = fit.of.unit(fit.mode).simds
    resident = f"floor({limit.waves_per_simd} x {simds} SIMDs / {fit.launch.waves} waves)"
    return f"{resident} = {_groups(limit.workgroups)}"


def _workgroup(fit: Fit) -> str:
    simds, waves = fit.of.unit(fit.mode).simds, fit.launch.waves
    size = f"ceil({fit.threads} threads / {fit.wave} lanes) = {waves} waves"
    return f"{size}; workgroups x {waves} / {simds} SIMDs = waves/SIMD"


def _waves(fit: Fit) -> str:
    simds = fit.of.unit(fit.mode).simds
    return (
        f"{fit.workgroups} x {fit.launch.waves} = {fit.waves} of {fit.max_waves} waves a {fit.unit} "
        f"= {fit.occupancy * 100:g} %; {fit.waves} / {simds} SIMDs = {fit.waves_per_simd:g} waves/SIMD"
    )


def _groups(amount: int | None) -> str:
    return "1 workgroup" if amount == 1 else f"{amount} workgroups"
