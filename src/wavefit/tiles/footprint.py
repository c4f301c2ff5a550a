"""What one tile spends: bytes of a step, LDS as a range, registers, and the occupancy that follows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wavefit.chips import Chip
from wavefit.feed.facts import value
from wavefit.occupancy import BadQuestion
from wavefit.occupancy.sweep import sweep
from wavefit.tiles.lds import lds_range, rules
from wavefit.tiles.shape import Candidates, Floats, Ints, Problem


@dataclass(frozen=True, slots=True)
class Footprint:
    """Arrays over candidates. LDS bytes a workgroup as a range, registers per lane, all kinds together."""

    step_bytes: Floats
    """Bytes of the A and B blocks of one step; not the compiled LDS."""
    lds_low: Ints
    lds_high: Ints
    accumulators: Ints
    registers: Ints
    """Est., at most what a wave of so large a workgroup can have."""
    spilled: Floats
    """Est. registers that did not fit. Not a reason to drop a tile: real winners spill."""
    threads: Ints
    lds: Ints
    """What the occupancy is derived at: the high end where it launches, else the low one."""
    workgroups: Ints
    """Resident on one CU; 0 where it cannot launch even at the low end."""


def step_bytes(block_m: int, block_n: int, block_k: int, element_bytes: float) -> float:
    """Bytes of the A and B blocks of one K step; not the compiled LDS."""
    return (block_m + block_n) * block_k * element_bytes


def footprint(chip: Chip, asked: Problem, tiles: Candidates, *, layout: str | None = None) -> Footprint:
    """The est. footprint of each candidate; `layout` as for `lds_range`.

    Raises BadQuestion where no compiler's tiles were read for the target.
    """
    by = rules(chip)
    low, high = lds_range(by, asked, tiles, layout=layout)
    threads = tiles.warps * by.wave
    loaded = (tiles.block_m + tiles.block_n) * tiles.block_k * asked.bytes
    accumulators = -(-tiles.block_m * tiles.block_n // threads)
    wanted = _registers(chip, asked, tiles, accumulators, loaded / threads / 4, by.wave)
    usable = _usable(chip, tiles, by.wave)
    registers = np.minimum(np.ceil(wanted), usable).astype(np.int64)
    at_most = sweep(chip, total_vgprs=registers, lds=high, threads=threads).workgroups
    lds = np.where(at_most > 0, high, low)
    resident = sweep(chip, total_vgprs=registers, lds=lds, threads=threads).workgroups
    spilled = np.maximum(0.0, wanted - usable)
    return Footprint(loaded, low, high, accumulators, registers, spilled, threads, lds, resident)


def _usable(chip: Chip, tiles: Candidates, wave: int) -> Ints:
    """Registers that a compiler gives a wave at most, since one workgroup has to fit; beyond, it spills."""
    vgpr, simds = chip.target.vgpr, chip.target.unit().simds
    file = vgpr.files[wave]
    share = file.file // -(-tiles.warps // simds) // file.granule * file.granule
    return np.minimum(share, vgpr.addressable)


def _registers(
    chip: Chip, asked: Problem, tiles: Candidates, accumulators: Ints, loads: Floats, wave: int
) -> Floats:
    """Est. registers a lane: addresses, accumulators, a step's loads, the operands of a wave."""
    found = value(chip, "tile.registers")
    if not isinstance(found, tuple) or len(found) != 4:
        raise BadQuestion(f"{chip.target.name}: no est. of registers, since no compiler was read for it")
    always, accumulator, load, operand = (float(part) for part in found)
    across = along_m(tiles)
    rows = tiles.block_m / across + tiles.block_n / (tiles.warps / across)
    operands = rows * tiles.block_k * asked.bytes / wave / 4
    return np.asarray(always + accumulator * accumulators + load * loads + operand * operands, dtype=float)


def along_m(tiles: Candidates) -> Floats:
    """How many of a workgroup's waves lie along M, the others along N: what the constants were set with."""
    tall = tiles.block_m >= tiles.block_n
    by_two = np.where((tiles.warps >= 2) & tall, 2, 1)
    by_four = np.where(tiles.warps >= 4, 2, by_two)
    return np.where(tiles.warps >= 8, np.where(tall, 4, 2), by_four).astype(float)
