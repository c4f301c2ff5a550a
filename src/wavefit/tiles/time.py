"""Est. time of one GEMM: rounds over the CUs, each step as long as its slowest part, plus what nothing hides.

Everything is arrays over candidates. The constants are Facts of the chip's page (`tile.*`), set on
GEMMs measured there; where a page is `like` another, they are that chip's and the result says so.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from wavefit.chips import Chip
from wavefit.chips import chip as find_chip
from wavefit.feed.facts import number, value
from wavefit.matrix.errors import MatrixError
from wavefit.matrix.peaks import rate
from wavefit.occupancy import BadQuestion
from wavefit.tiles.footprint import Footprint, along_m
from wavefit.tiles.shape import SCALED, Candidates, Floats, Problem

SHARP, SOFT, TOTAL = 8.0, 6.0, 5.0
"""How sharply the longer of overlapping times wins: inside a CU, in a step, over the whole chip."""


@dataclass(frozen=True, slots=True)
class Constants:
    """What the est. needs of a chip. Rates are per clock and CU, times in cycles, unless named otherwise."""

    cus: int
    clock: float
    """Hz."""
    matrix: float
    """FLOP, of this type."""
    cache: float
    """Bytes of the last cache before memory, of the whole chip."""
    efficiency: float
    """Share of the matrix rate that issues back to back."""
    sustained: float
    """FLOP/s of the whole chip under power, at best."""
    memory: float
    """Bytes/s that a GEMM draws from memory."""
    memory_per_cu: float
    """Bytes that one CU draws from memory at most."""
    l2: float
    """Bytes from the L2."""
    l2_chip: float
    """Bytes/s of the L2 as a whole."""
    lds: float
    """Bytes read from LDS."""
    lds_write: float
    latency: float
    """From the issue of a load to its data in LDS."""
    step: float
    """Of every K step, hidden by no other wave of the workgroup: barrier, wait, first instruction."""
    step_per_kib: float
    start: float
    """Of a workgroup before its first step."""
    finish: float
    """Per 1024 outputs written."""
    launch: float
    """Seconds."""
    spill: float
    """How much longer the matrix work takes per 100 registers spilled."""
    spill_free: float
    """Registers over that the est. may err by without a spill."""
    crowd: float
    """How much longer a full chip takes per `crowd_kib` in flight on a CU beyond the first."""
    crowd_kib: float
    one_wave: float
    """Share of its matrix rate that a SIMD reaches with one wave."""
    narrow: float
    """FLOP where a block has fewer than `wide_rows` rows."""
    wide_rows: int
    """Rows from which the wide matrix instruction is used (1: always)."""
    least: int
    """Rows and columns of the smallest matrix instruction; smaller blocks are padded to it."""
    from_lds: bool
    """The matrix unit reads operands from LDS itself, by 64 rows; else they pass through registers."""
    persistent: bool
    """Set on a kernel of one workgroup a CU that walks the tiles; else one workgroup a tile."""
    like: str | None = None
    """The chip that the constants are borrowed from."""


_AROUND = frozenset({"cus", "clock", "matrix", "cache", "like"})


def constants(chip: Chip, dtype: str) -> Constants:
    """The Constants of a product for one element type. Raises BadQuestion where nobody knows them."""
    title = chip.name or chip.target.name
    cus, mhz = _size(chip)
    element = SCALED.get(dtype, dtype)
    if element != dtype:
        _scaled_or_refused(chip, dtype)
    speed = number(chip, f"rate.matrix.{element}")
    if speed is None:
        raise BadQuestion(f"{title}: no matrix rate is known for {dtype}")
    lender = find_chip(str(value(chip, "tile.like") or title))
    known: dict[str, Any] = {}
    for name in (f.name for f in fields(Constants) if f.name not in _AROUND):
        own = value(chip, f"tile.{name}")
        known[name] = _borrowed(chip, lender, name) if own is None else own
    if any(found is None for found in known.values()):
        raise BadQuestion(f"{title}: no est. of time, since no tile was timed on it or on a chip like it")
    base = number(chip, f"rate.matrix.{value(chip, 'tile.dtype')}")
    for name in ("sustained", "narrow"):
        known[name] *= speed / base if base else 1.0
    cache = number(chip, "cache.mall_bytes") or number(chip, "cache.l2_bytes") or 0
    like = None if lender is chip else lender.name
    return Constants(int(cus), mhz * 1e6, float(speed), float(cache), **known, like=like)


def _size(chip: Chip) -> tuple[float, float]:
    """CUs and peak clock (MHz) of a product. Raises BadQuestion naming what is not known."""
    cus, mhz = number(chip, "compute.cus"), number(chip, "clock.peak_mhz")
    if chip.name is None:
        raise BadQuestion(
            f"{chip.target.name}: a time needs a product, its CUs and clock; name one, like MI300X"
        )
    if cus is None:
        raise BadQuestion(f"{chip.name}: no est. of time, since the number of its CUs is not known")
    if mhz is None:
        raise BadQuestion(f"{chip.name}: no est. of time, since its peak clock is not known")
    return cus, mhz


def _scaled_or_refused(chip: Chip, dtype: str) -> None:
    """Raises BadQuestion where no instruction of the chip takes the microscaled type as it is."""
    try:
        rate(chip, dtype)
    except MatrixError as error:
        raise BadQuestion(str(error)) from None


_WITH = {
    "sustained": ("compute.cus", "clock.peak_mhz", "rate.matrix.fp16"),
    "l2_chip": ("compute.cus", "clock.peak_mhz"),
    "memory": ("memory.bandwidth",),
}
"""What a borrowed constant of the whole chip grows with."""


def _borrowed(chip: Chip, lender: Chip, name: str) -> Any:
    """Another chip's constant, grown to this one's size."""
    found = value(lender, f"tile.{name}")
    for path in _WITH.get(name, ()):
        own, other = number(chip, path), number(lender, path)
        if found is not None and own and other:
            found = float(str(found)) * own / other
    return found


BOUNDS = ("cu", "matrix", "l2", "memory")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Arrays over candidates: est. seconds, and what they are made of (seconds, the longest wins)."""

    seconds: Floats
    cu: Floats
    """What the busiest CU takes."""
    matrix: Floats
    """The chip's matrix work at its sustained rate, padding included."""
    l2: Floats
    memory: Floats
    programs: Floats
    rounds: Floats
    """Workgroups that the busiest CU runs."""
    resident: Floats
    """Workgroups on a CU at once."""

    def bound(self) -> list[str]:
        """The part that is longest, for each candidate."""
        parts = np.stack([getattr(self, name) for name in BOUNDS])
        return [BOUNDS[part] for part in parts.argmax(axis=0).tolist()]


def estimate(
    known: Constants, asked: Problem, tiles: Candidates, spent: Footprint, *, persistent: bool
) -> Estimate:
    """Est. time of each candidate, from its footprint and derived occupancy (`spent`)."""
    shape = _Shape.of(asked, tiles)
    step = _Step.of(known, asked, tiles, spent)
    resident = np.minimum(np.maximum(spent.workgroups, 1), 16).astype(float)
    rounds = np.ceil(shape.programs / known.cus)
    if persistent:
        work = rounds * step.workgroup(known, shape, np.ones_like(rounds))
        resident = np.ones_like(rounds)
    else:
        full = np.floor(rounds / resident)
        left = rounds - full * resident
        work = full * step.workgroup(known, shape, resident)
        work += np.where(left > 0, step.workgroup(known, shape, np.maximum(left, 1)), 0)
    beyond = np.maximum(0, np.minimum(resident, rounds) * step.in_flight / 1024 / known.crowd_kib - 1)
    crowd = 1 + known.crowd * beyond * np.clip(shape.programs / known.cus - 1, 0, 1)
    cu = work * crowd / known.clock
    matrix = shape.padded_flops / np.where(step.wide, known.sustained, np.inf)
    l2 = shape.programs * shape.steps * step.bytes / known.l2_chip
    memory = (_traffic(known, asked, shape, resident) + _partial(asked, tiles)) / np.minimum(
        known.memory, np.minimum(shape.programs, known.cus) * known.memory_per_cu * known.clock
    )
    seconds = longest(cu, matrix, l2, memory, sharp=TOTAL) + known.launch * np.where(tiles.split_k > 1, 2, 1)
    return Estimate(seconds, cu, matrix, l2, memory, shape.programs, rounds, resident)


def longest(*parts: npt.ArrayLike, sharp: float) -> Floats:
    """The longest of times that overlap, a little more where several are close."""
    powers = np.stack(np.broadcast_arrays(*(np.asarray(part, dtype=float) ** sharp for part in parts)))
    return np.asarray(powers.sum(axis=0) ** (1 / sharp))


@dataclass(frozen=True, slots=True)
class _Shape:
    """The grid that a problem makes of each tile."""

    tiles_m: Floats
    tiles_n: Floats
    programs: Floats
    steps: Floats
    area: Floats
    padded_flops: Floats
    group: Floats
    block_m: Floats
    block_n: Floats

    @classmethod
    def of(cls, asked: Problem, tiles: Candidates) -> _Shape:
        bm, bn = tiles.block_m.astype(float), tiles.block_n.astype(float)
        tiles_m, tiles_n = np.ceil(asked.m / bm), np.ceil(asked.n / bn)
        steps = np.ceil(np.ceil(asked.k / tiles.split_k) / tiles.block_k)
        outputs = tiles_m * bm * tiles_n * bn
        group = np.minimum(tiles.group_m, tiles_m)
        flops = 2 * outputs * asked.k
        return cls(tiles_m, tiles_n, tiles_m * tiles_n * tiles.split_k, steps, bm * bn, flops, group, bm, bn)


@dataclass(frozen=True, slots=True)
class _Step:
    """Cycles of one K step of one workgroup."""

    bytes: Floats
    in_flight: Floats
    wide: npt.NDArray[np.bool_]
    shared: Floats
    """What the CU spends: workgroups on it add up."""
    alone: Floats
    """What one workgroup takes however idle the CU is."""
    waiting: Floats
    """The same where it waits for its loads."""

    @classmethod
    def of(cls, known: Constants, asked: Problem, tiles: Candidates, spent: Footprint) -> _Step:
        bm, bn = np.maximum(tiles.block_m, known.least), np.maximum(tiles.block_n, known.least)
        bk = tiles.block_k.astype(float)
        loaded = (tiles.block_m + tiles.block_n) * bk * asked.bytes
        wide = tiles.block_m >= known.wide_rows
        rate = np.where(wide, known.matrix * known.efficiency, known.narrow)
        spilled = np.maximum(0, spent.spilled - known.spill_free) / 100
        matrix = 2.0 * bm * bn * bk / rate * (1 + known.spill * spilled)
        share = np.minimum(tiles.warps, 4) / 4
        few = np.where(tiles.warps <= 4, known.one_wave, 1.0)
        write = loaded / known.lds_write
        lds = _lds_reads(known, asked, tiles) / known.lds + write
        l2 = loaded / known.l2
        extra = known.step + known.step_per_kib * loaded / 1024
        depth = np.maximum(tiles.stages - 1, 1)
        if known.from_lds:
            alone = matrix / share + extra
            waiting = (known.latency + matrix + extra) / depth
        else:
            alone = matrix / share / few + lds + extra
            waiting = (known.latency + write) / depth
            waiting = np.where(tiles.stages == 1, known.latency + alone, waiting)
        shared = longest(matrix / share if not known.from_lds else matrix, lds, l2, sharp=SHARP)
        return cls(loaded, depth * loaded, wide, shared, alone, waiting)

    def workgroup(self, known: Constants, shape: _Shape, together: Floats) -> Floats:
        """Cycles of `together` workgroups that share a CU, start to end."""
        one = longest(self.shared * together, self.alone, self.waiting, sharp=SOFT)
        return shape.steps * one + known.start + known.finish * shape.area / 1024 * np.sqrt(together)


def _lds_reads(known: Constants, asked: Problem, tiles: Candidates) -> Floats:
    """Bytes that the waves of a workgroup read from LDS in one step."""
    bm, bn = tiles.block_m.astype(float), tiles.block_n.astype(float)
    if known.from_lds:
        rows = np.maximum(1, bm / 64)
        groups = np.maximum(1, tiles.warps / 4)
        columns = np.where(rows >= groups, 1, groups / rows)
        read = rows * columns * 64 + rows * bn
    else:
        across = along_m(tiles)
        read = bm * (tiles.warps / across) + bn * across
    return np.asarray(read * tiles.block_k * asked.bytes, dtype=float)


def _partial(asked: Problem, tiles: Candidates) -> Floats:
    """Bytes of the FP32 partial sums of split K, written and read once."""
    return np.where(tiles.split_k > 1, 2.0 * tiles.split_k * asked.m * asked.n * 4, 0)


def _traffic(known: Constants, asked: Problem, shape: _Shape, resident: Floats) -> Floats:
    """Bytes from and to memory: the operands once, or once a round where they outgrow the last cache."""
    at_once = np.minimum(shape.programs, known.cus * resident)
    width = shape.group * shape.tiles_n
    rows = np.where(at_once >= width, np.ceil(at_once / width) * shape.group, shape.group)
    rows = np.minimum(shape.tiles_m, rows)
    columns = np.minimum(shape.tiles_n, np.ceil(at_once / shape.group))
    once = (asked.m + asked.n) * asked.k * asked.bytes
    missed = np.clip(once / (0.67 * known.cache) - 1, 0, 1) if known.cache else 1.0
    a_round = (rows * shape.block_m + columns * shape.block_n) * asked.k * asked.bytes
    again = shape.programs / at_once * a_round
    return np.asarray(np.maximum(once, missed * again) + asked.m * asked.n * asked.out_bytes, dtype=float)
