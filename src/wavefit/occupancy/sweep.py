"""The hardware view over NumPy arrays: the same rules as `limits`, for many kernels at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wavefit.chips import Chip, Target, Unit
from wavefit.occupancy.limits import lds_cap, sgpr_cap
from wavefit.occupancy.question import LARGEST, as_chip
from wavefit.occupancy.result import BadQuestion

Ints = npt.NDArray[np.int64]
RESOURCES = ("vgpr", "sgpr", "lds", "slots", "workgroups", "scratch", "threads")
NO_LIMIT = np.iinfo(np.int64).max
_NAMES = ("vgprs", "agprs", "total_vgprs", "sgprs", "lds", "lds_dynamic", "scratch", "threads", "barriers")


@dataclass(frozen=True, slots=True)
class Sweep:
    """Arrays of one shape: what is resident on one unit for each row.

    `alone[resource]` are the workgroups that this resource alone admits (NO_LIMIT where it does not
    limit); `workgroups` and `waves` are resident on one unit, `waves_per_simd` on one SIMD, `occupancy` is
    waves over slots, 0 to 1. `binding` has bit i set where RESOURCES[i] admits no more than `workgroups`.
    """

    workgroups: Ints
    waves: Ints
    waves_per_simd: npt.NDArray[np.float64]
    occupancy: npt.NDArray[np.float64]
    binding: npt.NDArray[np.uint8]
    alone: dict[str, Ints]


def sweep(
    chip: Chip | Target | str,
    *,
    vgprs: npt.ArrayLike | None = None,
    agprs: npt.ArrayLike | None = None,
    total_vgprs: npt.ArrayLike | None = None,
    sgprs: npt.ArrayLike | None = None,
    lds: npt.ArrayLike | None = None,
    lds_dynamic: npt.ArrayLike | None = None,
    scratch: npt.ArrayLike | None = None,
    threads: npt.ArrayLike,
    barriers: npt.ArrayLike | None = None,
    mode: str | None = None,
    wave: int | None = None,
) -> Sweep:
    """Whole workgroups resident for every row of the arrays, which broadcast against each other.

    `vgprs`, `agprs` or `total_vgprs` a lane, `sgprs` a wave, `lds`, `lds_dynamic` and `scratch` in bytes,
    `threads` and `barriers` a workgroup: whole numbers as for `fit`, of any shapes that broadcast; a
    negative number is one that is not given. `mode` and `wave` hold for all. Raises ChipNotFound, and
    BadQuestion for what `fit` refuses of any row: a mode or wave the chip does not have, threads below 1,
    no whole numbers.
    """
    target = as_chip(chip).target
    if target.unknown:
        raise BadQuestion(f"{target.name}: no Fit, since nothing public says {', '.join(target.unknown)}")
    if total_vgprs is not None and (vgprs is not None or agprs is not None):
        raise BadQuestion("total_vgprs is vgprs and agprs together: give it, or them, not both")
    wave = target.default_wave if wave is None else wave
    if wave not in target.wave_sizes:
        raise BadQuestion(f"{target.name} has waves of {target.wave_sizes} lanes, not {wave}")
    if mode is not None and mode not in target.units:
        raise BadQuestion(f"{target.name} has no mode {mode!r}")
    unit = target.unit(mode)
    given = (vgprs, agprs, total_vgprs, sgprs, lds, lds_dynamic, scratch, threads, barriers)
    columns = np.broadcast_arrays(*(_whole(*each) for each in zip(_NAMES, given, strict=True)))
    ask = dict(zip(_NAMES, columns, strict=True))
    if (ask["threads"] < 1).any():
        raise BadQuestion("threads must be at least 1 in every row")
    if not target.vgpr.agprs and (ask["agprs"] > 0).any():
        raise BadQuestion(f"{target.name} has no accumulator registers (agprs)")
    waves = -(-ask["threads"] // wave)
    alone = {
        "vgpr": _vgpr(target, unit, wave, waves, ask),
        "sgpr": _sgpr(target, unit, waves, ask["sgprs"]),
        "lds": _lds(target, unit, np.maximum(ask["lds"], 0) + np.maximum(ask["lds_dynamic"], 0)),
        "slots": unit.wave_slots * unit.simds // waves,
        "workgroups": _slots(target, unit, waves, ask["barriers"]),
        "scratch": _scratch(target, waves, ask["scratch"]),
        "threads": np.where(ask["threads"] > target.workgroup.max_threads, 0, NO_LIMIT),
    }
    stacked = np.stack([alone[name] for name in RESOURCES])
    fits: Ints = stacked.min(axis=0)
    binding = (np.uint8(1) << np.arange(len(RESOURCES), dtype=np.uint8)) @ (
        (stacked == fits).reshape(len(RESOURCES), -1).astype(np.uint8)
    )
    resident = fits * waves
    return Sweep(
        workgroups=fits,
        waves=resident,
        waves_per_simd=resident / unit.simds,
        occupancy=resident / (unit.wave_slots * unit.simds),
        binding=binding.reshape(fits.shape).astype(np.uint8),
        alone=alone,
    )


def _whole(name: str, given: npt.ArrayLike | None) -> Ints:
    column = np.asarray(-1 if given is None else given)
    if column.dtype.kind not in "iu":
        raise BadQuestion(f"{name} must be whole numbers, not {column.dtype}")
    if column.size and int(column.max()) > LARGEST:
        raise BadQuestion(f"{name}: no chip has so many; the most that is taken is {LARGEST}")
    return column.astype(np.int64)


def _round_up(amount: Ints, granule: int) -> Ints:
    return -(-amount // granule) * granule


def _in_workgroups(unit: Unit, waves_per_simd: Ints, waves: Ints, given: Any) -> Ints:
    return np.where(given, waves_per_simd * unit.simds // waves, NO_LIMIT)


def _vgpr(target: Target, unit: Unit, wave: int, waves: Ints, ask: dict[str, Ints]) -> Ints:
    vgpr, file = target.vgpr, target.vgpr.files[wave]
    regular, extra = np.maximum(ask["vgprs"], 0), np.maximum(ask["agprs"], 0)
    if vgpr.accumulator == "separate":
        both = np.maximum(regular, extra)
    else:
        both = np.where(extra > 0, _round_up(regular, vgpr.accumulator_granule) + extra, regular)
    split = (ask["vgprs"] >= 0) | (ask["agprs"] >= 0)
    total = np.where(split, both, ask["total_vgprs"])
    over = (total > vgpr.addressable) | (ask["vgprs"] > vgpr.addressable_arch) | (ask["agprs"] > vgpr.agprs)
    fits = np.where(over, 0, file.file // _round_up(np.maximum(total, 1), file.granule))
    return _in_workgroups(unit, fits, waves, total >= 0)


def _sgpr(target: Target, unit: Unit, waves: Ints, asked: Ints) -> Ints:
    sgpr = target.sgpr
    if sgpr.limits != "yes" or sgpr.file is None or sgpr.granule is None:
        return np.full(asked.shape, NO_LIMIT)
    cap = sgpr_cap(target)
    charged = np.maximum(asked, 1) if sgpr.fixed is None else np.full_like(asked, sgpr.fixed)
    fits = sgpr.file // (_round_up(charged, sgpr.granule) + sgpr.trap_reserve)
    if cap is not None:
        fits = np.where(asked > cap, 0, fits)
    return _in_workgroups(unit, fits, waves, asked >= 0)


def _lds(target: Target, unit: Unit, asked: Ints) -> Ints:
    lds = target.lds
    charged = _round_up(asked + lds.reserve, lds.granule)
    fits = unit.lds_pool // np.maximum(charged, 1)
    fits = np.where(asked > lds_cap(target, unit), 0, fits)
    return np.where(charged > 0, fits, NO_LIMIT)


def _slots(target: Target, unit: Unit, waves: Ints, barriers: Ints) -> Ints:
    if unit.workgroups is None:
        return np.full(waves.shape, NO_LIMIT)
    fits = np.full(waves.shape, unit.workgroups)
    if target.workgroup.barriers is not None:
        pool = target.workgroup.barriers // np.maximum(barriers, 1)
        fits = np.where(barriers > 0, np.minimum(fits, pool), fits)
    return np.where(target.workgroup.one_wave_exempt & (waves == 1), NO_LIMIT, fits)


def _scratch(target: Target, waves: Ints, asked: Ints) -> Ints:
    if target.scratch_waves is None:
        return np.full(waves.shape, NO_LIMIT)
    return np.where(asked > 0, target.scratch_waves // waves, NO_LIMIT)
