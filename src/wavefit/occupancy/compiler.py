"""The compiler's own rule: what LLVM's AMDGPU back end prints as `Occupancy`, in waves per SIMD.

Source: LLVM's AMDGPUSubtarget getOccupancyWithWorkGroupSizes and GCNSubtarget computeOccupancy, as
described in our facts; equal to LLVM 22's print on every row of both oracles.
"""

from __future__ import annotations

from dataclasses import dataclass

from wavefit.chips import Target, Unit
from wavefit.occupancy.limits import ceil_div, round_up


@dataclass(frozen=True, slots=True)
class Rules:
    """What the compiler of one release knows. `sgpr_steps` is its table (at most, waves, ...)."""

    lds_granule: int
    sgpr_steps: tuple[int, ...] | None


def by_workgroups(unit: Unit, wave: int, lds: int, sizes: tuple[int, int], rules: Rules) -> tuple[int, int]:
    """Fewest and most waves per SIMD by workgroup size and LDS together, over a range of sizes.

    LDS over the pool counts as one wave, not as none: the compiler has no word for "cannot launch".
    """
    slots = unit.wave_slots * unit.simds
    by_lds = unit.lds_pool // max(round_up(lds, rules.lds_granule), 1)
    if by_lds == 0:
        return 1, 1

    def resident(size: int) -> tuple[int, int]:
        waves = ceil_div(size, wave)
        barriers = slots if waves == 1 or unit.workgroups is None else unit.workgroups
        return min(slots // waves, barriers, by_lds), waves

    small_groups, small_waves = resident(sizes[0])
    large_groups, large_waves = resident(sizes[1])
    least, most = large_groups * large_waves, small_groups * small_waves
    if least >= most:
        least, most = most, least
    else:
        spread = large_waves - small_waves
        goal = ceil_div(slots, large_groups + 1) * large_groups
        if least > goal:
            least -= large_groups * min((least - goal) // large_groups, spread)
        left = (slots - most) // small_groups
        most += small_groups * min(left, spread)
    return (
        _clamp(least // unit.simds, unit.wave_slots),
        _clamp(ceil_div(most, unit.simds), unit.wave_slots),
    )


def by_vgprs(target: Target, unit: Unit, wave: int, total: int) -> int:
    """Waves per SIMD by vector registers; fewer than one granule never limit."""
    file = target.vgpr.files[wave]
    if total < file.granule:
        return unit.wave_slots
    return _clamp(file.file // round_up(total, file.granule), unit.wave_slots)


def by_sgprs(target: Target, unit: Unit, total: int, rules: Rules) -> int:
    """Waves per SIMD by scalar registers: a table up to LLVM 22, a division with the trap reserve after."""
    sgpr = target.sgpr
    if sgpr.limits != "yes" or sgpr.file is None or sgpr.granule is None:
        return unit.wave_slots
    if rules.sgpr_steps is None:
        return _clamp(sgpr.file // (round_up(total, sgpr.granule) + sgpr.trap_reserve), unit.wave_slots)
    steps = list(zip(rules.sgpr_steps[::2], rules.sgpr_steps[1::2], strict=True))
    waves = next((waves for most, waves in steps if total <= most), steps[-1][1])
    return _clamp(waves, unit.wave_slots)


def _clamp(waves: int, most: int) -> int:
    return max(1, min(waves, most))
