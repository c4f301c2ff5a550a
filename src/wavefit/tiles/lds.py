"""LDS of a tile as a range that the compiled size lies in: one target's rules, read off one compiler.

Never one formula for all: what a stage costs, which padding is added and when an operand needs no LDS
at all are Facts of the target's page (`tile.*`). Another compiler version may differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wavefit.chips import Chip
from wavefit.feed.facts import number, value
from wavefit.occupancy import BadQuestion
from wavefit.tiles.shape import Candidates, Floats, Ints, Problem

SCALE_BLOCK = 32
"""Elements of K under one byte of scale (OCP MX)."""

CHUNK = 16
"""Bytes that one lane loads at once, at most."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a compiler lays one target's tiles out. Sizes are bytes."""

    wave: int
    compiler: str
    stage_reserve: int
    """Stages that take no LDS buffer: operands of one step wait in registers."""
    narrow_stage_reserve: int
    """The same for blocks of fewer than `wide_rows` rows."""
    wide_rows: int
    thin_bytes: int
    """An operand with fewer bytes a lane and step is not pipelined: one buffer."""
    padding: tuple[float, float]
    """At most so many bytes beside each KiB of a buffer: K contiguous in both operands, otherwise."""
    scratch: int
    """Bytes that the compiler may add for changes of layout."""
    bypass: tuple[float, ...]
    """One stage: where a wave's load covers so many times the rows of a matrix instruction, no LDS."""
    from_lds: bool
    """The matrix unit reads LDS itself: one stage holds both operands, not the larger."""


def rules(chip: Chip) -> Rules:
    """The Rules of a chip's target. Raises BadQuestion where no compiler was read."""
    padding, bypass = value(chip, "tile.padding"), value(chip, "tile.bypass")
    if not isinstance(padding, tuple):
        raise BadQuestion(f"{chip.target.name}: no est. of LDS, since no compiler's tiles were read for it")
    return Rules(
        wave=chip.target.default_wave,
        compiler=str(value(chip, "tile.compiler")),
        stage_reserve=int(number(chip, "tile.stage_reserve") or 0),
        narrow_stage_reserve=int(number(chip, "tile.narrow_stage_reserve") or 0),
        wide_rows=int(number(chip, "tile.wide_rows") or 1),
        thin_bytes=int(number(chip, "tile.thin_bytes") or 0),
        padding=(float(padding[0]), float(padding[1])),
        scratch=int(number(chip, "tile.scratch_reserve") or 0),
        bypass=tuple(float(ratio) for ratio in bypass) if isinstance(bypass, tuple) else (),
        from_lds=bool(value(chip, "tile.from_lds")),
    )


def lds_range(
    by: Rules, asked: Problem, tiles: Candidates, *, layout: str | None = None
) -> tuple[Ints, Ints]:
    """LDS bytes a workgroup that the compiler asks for, at least and at most.

    `layout` says whether K is the inner axis of A and of B: `TN` of both, `NN` of A alone (both row-major);
    None: not known, so that the range covers both.
    """
    if layout is None:
        inner = lds_range(by, asked, tiles, layout="TN")
        other = lds_range(by, asked, tiles, layout="NN")
        return np.minimum(inner[0], other[0]), np.maximum(inner[1], other[1])
    if layout not in {"TN", "NN"}:
        raise BadQuestion(f"layout must be TN or NN, not {layout!r}")
    a, b = _Operand.both(by, asked, tiles)
    one = _single(by, asked, tiles, a, b, layout)
    low, high = _pipelined(by, tiles, a, b, layout)
    single = tiles.stages == 1
    return _whole(np.where(single, one, low)), _whole(np.where(single, one, high) + by.scratch)


def _whole(amount: Floats) -> Ints:
    return np.ceil(amount).astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Operand:
    """One operand's block of a step: bytes, those of its scales, and of one lane."""

    block: Ints
    bytes: Floats
    scales: Floats
    lane: Floats
    row: Floats

    @classmethod
    def both(cls, by: Rules, asked: Problem, tiles: Candidates) -> tuple[_Operand, _Operand]:
        scaled = asked.dtype != asked.element
        width = asked.bytes - (1 / SCALE_BLOCK if scaled else 0)

        def of(block: Ints) -> _Operand:
            elements = block * tiles.block_k
            scales = elements / SCALE_BLOCK if scaled else np.zeros(len(tiles))
            lane = elements * width / (tiles.warps * by.wave)
            return cls(block, elements * width, scales, lane, tiles.block_k * width)

        return of(tiles.block_m), of(tiles.block_n)


def _pipelined(by: Rules, tiles: Candidates, a: _Operand, b: _Operand, layout: str) -> tuple[Floats, Floats]:
    """Buffers of both operands, one a stage less the reserve, with padding and scales at most."""
    reserve = np.where(tiles.block_m >= by.wide_rows, by.stage_reserve, by.narrow_stage_reserve)
    buffers = np.maximum(tiles.stages - reserve, 1)
    pad = 1 + by.padding[layout != "TN"] / 1024
    low, high = np.zeros(len(tiles)), np.zeros(len(tiles))
    for operand in (a, b):
        held = np.where(operand.lane < by.thin_bytes, 1, buffers)
        low += held * operand.bytes
        high += held * (operand.bytes + operand.scales) * pad
    return low, high


def _single(by: Rules, asked: Problem, tiles: Candidates, a: _Operand, b: _Operand, layout: str) -> Floats:
    """One stage: LDS only changes the layout of one operand after the other; some need no change."""
    if by.from_lds:
        return a.bytes + b.bytes
    scaled = asked.dtype != asked.element
    rows = np.where(np.minimum(tiles.block_m, tiles.block_n) >= 32, 32, 16)
    along_m, along_n = waves_along(tiles, rows)
    never = np.zeros(len(tiles), dtype=bool)
    free_a = _bypasses(by, tiles, a, along_m, rows, scaled)
    free_b = _bypasses(by, tiles, b, along_n, rows, scaled) if layout == "TN" else never
    larger = np.maximum(np.where(free_a, 0, a.bytes), np.where(free_b, 0, b.bytes))
    return np.where(free_a & free_b, np.maximum(a.scales, b.scales), larger)


def _bypasses(
    by: Rules, tiles: Candidates, operand: _Operand, along: Ints, rows: Ints, scaled: bool
) -> npt.NDArray[np.bool_]:
    """Each wave loads just the rows that its matrix instructions take, so the data stay in the wave."""
    ratio = by.wave * np.minimum(CHUNK, operand.lane) / operand.row / rows
    same = (ratio == 1) & (tiles.block_k <= 64) if scaled else np.isin(ratio, by.bypass)
    whole = (ratio == 1) & (along == tiles.warps) & (operand.block >= tiles.warps * rows)
    found: npt.NDArray[np.bool_] = np.where(tiles.warps == 1, same, whole) & bool(by.bypass)
    return found


def waves_along(tiles: Candidates, rows: Ints) -> tuple[Ints, Ints]:
    """How the compiler lays the waves of a workgroup along M and N: the longer side is halved first."""
    m, n = np.ones_like(tiles.warps), np.ones_like(tiles.warps)
    for _ in range(int(tiles.warps.max()).bit_length()):
        more = m * n < tiles.warps
        tall = (tiles.block_m // (2 * rows) // m >= tiles.block_n // rows // n) & (m < tiles.block_m // rows)
        m = np.where(more & tall, m * 2, m)
        n = np.where(more & ~tall, n * 2, n)
    return m, n
