"""The Fit of every row of a Table: one sweep for all rows of a target, mode and wave size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from wavefit.chips import ChipNotFound, Target
from wavefit.chips import target as find_target
from wavefit.occupancy.question import LARGEST
from wavefit.occupancy.sweep import NO_LIMIT, RESOURCES, Sweep, sweep

Ints = npt.NDArray[np.int64]
RATIOS = ("waves_per_simd", "occupancy")
_ASKED = (
    "total_vgprs", "allocated_vgprs", "sgprs", "allocated_sgprs", "lds", "lds_dynamic", "scratch",
)  # fmt: skip

_MASKS = range(1 << len(RESOURCES))
_BINDING = ["+".join(name for bit, name in enumerate(RESOURCES) if mask >> bit & 1) for mask in _MASKS]


def add_fits(columns: dict[str, Any], numbers: dict[str, Ints]) -> None:
    """Adds the Fit of every row; nothing for a target that has none."""
    count = len(columns["name"])
    threads = np.select(
        [numbers["required_threads"] > 0, numbers["side_threads"] > 0, numbers["max_threads"] > 0],
        [numbers["required_threads"], numbers["side_threads"], numbers["max_threads"]],
        -1,
    )
    made: dict[str, Any] = {
        **{
            name: np.full(count, -1, np.int64)
            for name in ("workgroups", "waves", "vgprs_to_gain", "vgprs_to_lose")
        },
        **{name: np.full(count, np.nan) for name in RATIOS},
    }
    binding = np.full(count, -1, np.int64)
    for (name, mode, wave), rows in _groups(columns, numbers, threads):
        target = _target(name)
        if target is None or (wave not in target.wave_sizes and wave >= 0):
            continue
        found = _sweep(target, mode, wave, rows, numbers, threads)
        for key in ("workgroups", "waves", "waves_per_simd", "occupancy"):
            made[key][rows] = getattr(found, key)
        binding[rows] = found.binding
        edges = _edges(target, mode, wave if wave > 0 else target.default_wave, found, rows, numbers, threads)
        made["vgprs_to_gain"][rows], made["vgprs_to_lose"][rows] = edges
    columns["binding"] = [None if mask < 0 else _BINDING[mask] for mask in binding.tolist()]
    numbers.update(made, threads=threads)


def _groups(
    columns: dict[str, Any], numbers: dict[str, Ints], threads: Ints
) -> Iterator[tuple[tuple[str, str | None, int], Ints]]:
    """Rows that one sweep can answer: same target, mode and wave size."""
    keys: dict[tuple[str, str | None, int], int] = {}
    of_row = [
        keys.setdefault(key, len(keys))
        for key in zip(columns["target"], columns["mode"], numbers["wave"].tolist(), strict=True)
    ]
    group = np.array(of_row, np.int64)
    usable = (threads > 0) & (threads <= LARGEST)
    for name in _ASKED:
        usable &= numbers[name] <= LARGEST  # more than that is no question, but damage
    for key, index in keys.items():
        rows = np.flatnonzero((group == index) & usable)
        if len(rows):
            yield key, rows


def _target(name: str) -> Target | None:
    try:
        target = find_target(name)
    except ChipNotFound:
        return None
    return None if target.unknown else target


def _charged(numbers: dict[str, Ints], kind: str, counted: str, rows: Ints) -> Ints:
    allocated = numbers[f"allocated_{kind}"][rows]
    return np.where(allocated >= 0, allocated, numbers[counted][rows])


def _sweep(
    target: Target,
    mode: str | None,
    wave: int,
    rows: Ints,
    numbers: dict[str, Ints],
    threads: Ints,
) -> Sweep:
    return sweep(
        target,
        total_vgprs=_charged(numbers, "vgprs", "total_vgprs", rows),
        sgprs=_charged(numbers, "sgprs", "sgprs", rows),
        lds=numbers["lds"][rows],
        lds_dynamic=numbers["lds_dynamic"][rows],
        scratch=numbers["scratch"][rows],
        threads=threads[rows],
        mode=mode if target.modes else None,
        wave=wave if wave > 0 else None,
    )


def _edges(
    target: Target,
    mode: str | None,
    wave: int,
    found: Sweep,
    rows: Ints,
    numbers: dict[str, Ints],
    threads: Ints,
) -> tuple[Ints, Ints]:
    """Vector registers fewer that gain a workgroup (where they alone bind), and more that lose one."""
    unit, file = target.unit(mode if target.modes else None), target.vgpr.files[wave]
    charged = _charged(numbers, "vgprs", "total_vgprs", rows)
    waves = -(-threads[rows] // wave)

    def most(workgroups: Ints) -> Ints:
        """The most registers with which this many workgroups fit; -1 where none do."""
        per_simd = np.maximum(-(-(workgroups * waves) // unit.simds), 1)
        admitted = np.minimum(file.file // per_simd // file.granule * file.granule, target.vgpr.addressable)
        return np.where(admitted > 0, admitted, -1)

    alone = found.alone["vgpr"]
    binds = (found.binding == 1 << RESOURCES.index("vgpr")) & (charged >= 0)
    room = found.workgroups * waves + waves <= unit.wave_slots * unit.simds
    gain_at = most(found.workgroups + 1)
    gain = np.where(binds & room & (gain_at >= 0), charged - gain_at, -1)
    known = (charged >= 0) & (found.workgroups > 0) & (alone < NO_LIMIT)
    lose = np.where(known, most(np.maximum(found.workgroups, 1)) - charged + 1, -1)
    return gain, lose
