"""Enumerate, prune what cannot launch (with the reason), rank by est. time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from wavefit.chips import Chip, Target
from wavefit.occupancy import Fit, fit
from wavefit.occupancy.question import as_chip
from wavefit.tiles.footprint import Footprint, footprint
from wavefit.tiles.prior import prior
from wavefit.tiles.shape import BYTES, NAMES, Candidates, Floats, Ints, Problem, problem
from wavefit.tiles.shape import candidates as as_candidates
from wavefit.tiles.time import Constants, Estimate, constants, estimate


@dataclass(frozen=True)
class Tile:
    """One GEMM configuration with its est. time and footprint; sizes in elements, LDS in bytes.

    `seconds` is est.; `lds` is the range that the compiled size lies in; `registers` and `spilled` are
    est. per lane. `fit` is the occupancy derived from them, at the high end of `lds` where that launches.

    A workgroup of `warps` waves (`threads` work-items) makes a `block_m` x `block_n` tile in steps of
    `block_k`, `stages` of them held at once; `group_m` rows of tiles are walked together, K is cut in
    `split_k` parts. `fit` is for `chip` with `charged_lds`.
    """

    block_m: int
    block_n: int
    block_k: int
    warps: int
    stages: int
    group_m: int
    split_k: int
    seconds: float
    lds: tuple[int, int]
    registers: int
    spilled: int
    programs: int
    """Workgroups of the grid, split K included."""
    bound: str
    """What takes longest: `cu` (one CU's work), `matrix` (sustained rate), `l2` or `memory`."""
    chip: Chip = field(repr=False, compare=False)
    charged_lds: int = field(repr=False, compare=False)
    threads: int = field(repr=False, compare=False)

    @cached_property
    def fit(self) -> Fit:
        """Waves and workgroups on one CU at the est. registers and LDS."""
        found = fit(self.chip, total_vgprs=self.registers, lds=self.charged_lds, threads=self.threads)
        assert isinstance(found, Fit)
        return found


@dataclass(frozen=True, slots=True)
class Pruned:
    """A candidate that cannot launch, and why."""

    config: dict[str, int]
    why: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer: tiles best first, those that cannot launch, and what the est. rests on."""

    problem: Problem
    chip: Chip
    tiles: tuple[Tile, ...]
    pruned: tuple[Pruned, ...]
    advice: tuple[str, ...]
    assumptions: tuple[str, ...]


def rank_tiles(
    chip: Chip | Target | str,
    *,
    m: int,
    n: int,
    k: int,
    dtype: str,
    candidates: Iterable[Mapping[str, Any]] | None = None,
    layout: str | None = None,
    persistent: bool | None = None,
    top: int | None = None,
) -> list[Tile]:
    """GEMM tiles for a chip, the shortest est. time first; those that cannot launch are left out.

    C[m, n] = A[m, k] B[k, n] with operands of `dtype` (`fp16`, `bf16`, `fp8`, `mxfp4`, ...). `candidates`
    are dictionaries with block_m, block_n, block_k and any of warps, stages, group_m, split_k; None
    enumerates. `layout` and `persistent` as for `rank`; `top` keeps so many. Raises BadQuestion,
    ChipNotFound.
    """
    found = rank(
        chip, m=m, n=n, k=k, dtype=dtype, candidates=candidates, layout=layout, persistent=persistent, top=top
    )
    return list(found.tiles)


def rank(
    chip: Chip | Target | str,
    *,
    m: int,
    n: int,
    k: int,
    dtype: str,
    candidates: Iterable[Mapping[str, Any]] | None = None,
    layout: str | None = None,
    persistent: bool | None = None,
    top: int | None = None,
) -> Ranking:
    """`rank_tiles` with what was pruned, what to do about a grid that fills few CUs, and assumptions.

    `layout`: `TN` where K is the inner axis of A and B, `NN` where both are row-major, None if not known.
    `persistent`: one workgroup a CU walks the tiles; None: as the chip's constants were measured.
    """
    of, asked = as_chip(chip), problem(m, n, k, dtype)
    known = constants(of, asked.dtype)
    walks = known.persistent if persistent is None else persistent
    tiles, origin = _candidates(of, asked, candidates)
    spent = footprint(of, asked, tiles, layout=layout)
    est = estimate(known, asked, tiles, spent, persistent=walks)
    launches: Ints = np.flatnonzero(spent.workgroups > 0)
    seconds = est.seconds.copy()
    learned = prior(of.name, asked.bytes)
    if learned is not None and len(launches):
        seconds[launches] = learned.corrected(est.seconds[launches], asked, tiles.take(launches))
    order = launches[np.argsort(seconds[launches], kind="stable")]
    order = _first_of_each(order, origin)[:top]
    return Ranking(
        problem=asked,
        chip=of,
        tiles=_tiles(of, tiles, spent, est, seconds, order),
        pruned=_pruned(of, tiles, spent),
        advice=_advice(known, est, order),
        assumptions=_assumptions(of, known, learned.source if learned else None),
    )


BLOCKS = (16, 32, 64, 128, 256)
USUAL_WAVES = {32: (4, 8), 64: (1, 2, 4, 8)}
"""Waves of a workgroup that are tried where a candidate does not say, by lanes of a wave."""


GROUPS = (8, 1)
"""Tile orders that are tried where no candidates are given; of equal ones the first."""


def _candidates(
    chip: Chip, asked: Problem, rows: Iterable[Mapping[str, Any]] | None
) -> tuple[Candidates, Ints]:
    """The candidates and, of each, which of the given ones it stands for; its best order where none are."""
    if rows is None:
        found = enumerate_tiles(chip, asked)
        return found, np.arange(len(found)) // len(GROUPS)
    usual = USUAL_WAVES[chip.target.default_wave]
    full: list[Mapping[str, Any]] = []
    origin: list[int] = []
    for at, row in enumerate(rows):
        tried = [row] if "warps" in row else [{**row, "warps": warps} for warps in usual]
        full += tried
        origin += [at] * len(tried)
    return as_candidates(full), np.asarray(origin, dtype=np.int64)


def _first_of_each(order: Ints, origin: Ints) -> Ints:
    """Of the rows that stand for one given candidate, the first alone."""
    _, first = np.unique(origin[order], return_index=True)
    return order[np.sort(first)]


def enumerate_tiles(chip: Chip, asked: Problem) -> Candidates:
    """The candidates where none are given: powers of two, steps of 64 to 512 bytes, usual waves, stages."""
    lanes = chip.target.default_wave
    step = int(max(16, 64 / BYTES[asked.element]))
    depths = [depth for depth in (step, step * 2, step * 4, step * 8) if depth <= 512]
    stages = (2, 3, 4, 5) if lanes == 32 else (2, 3, 1)
    splits = (1,) if asked.m * asked.n >= 1 << 21 or asked.k < 4096 else (1, 2, 4)
    across, down = ([size for size in BLOCKS if size < 2 * max(full, 16)] for full in (asked.m, asked.n))
    waves = sorted(USUAL_WAVES[lanes], key=lambda count: (count < 4, count))
    rows = [
        (bm, bn, bk, w, s, g, split)
        for bm, bn, bk, w, s, split, g in product(across, down, depths, waves, stages, splits, GROUPS)
        if 2 <= bm * bn / (w * lanes) <= 256
    ]
    return Candidates(*np.asarray(rows, dtype=np.int64).T)


def _tiles(
    chip: Chip, tiles: Candidates, spent: Footprint, est: Estimate, seconds: Floats, order: Ints
) -> tuple[Tile, ...]:
    """The rows of the arrays in this order, as Tiles: column by column, since there may be thousands."""
    bound = est.bound()
    columns = [getattr(tiles, name)[order].tolist() for name in NAMES]
    lds = zip(spent.lds_low[order].tolist(), spent.lds_high[order].tolist(), strict=True)
    spilled = spent.spilled[order].astype(np.int64)
    around = (spent.registers[order], spilled, est.programs[order].astype(np.int64))
    charged = zip(spent.lds[order].tolist(), spent.threads[order].tolist(), strict=True)
    rest = zip(*(column.tolist() for column in around), strict=True)
    parts = (order.tolist(), zip(*columns, strict=True), seconds[order].tolist(), lds, rest, charged)
    values: Iterator[tuple[Any, ...]] = (
        (*config, time, span, *numbers, bound[row], chip, *last)
        for row, config, time, span, numbers, last in zip(*parts, strict=True)
    )
    return tuple(Tile(*value) for value in values)


def _pruned(chip: Chip, tiles: Candidates, spent: Footprint) -> tuple[Pruned, ...]:
    """What cannot launch at the low end of its LDS, each with what stops it."""
    cap = chip.target.lds.per_workgroup
    most = chip.target.workgroup.max_threads
    found = []
    for row in np.flatnonzero(spent.workgroups == 0).tolist():
        low, threads = int(spent.lds_low[row]), int(spent.threads[row])
        if threads > most:
            why = f"{threads} threads; a workgroup has at most {most}"
        elif low > cap:
            why = f"LDS est. at least {low} bytes; a workgroup has at most {cap}"
        else:
            why = f"{int(spent.registers[row])} registers est. in {threads} threads do not fit one CU"
        found.append(Pruned(tiles.row(row), why))
    return tuple(found)


def _advice(known: Constants, est: Estimate, order: Any) -> tuple[str, ...]:
    """A grid that leaves CUs idle, said of the best tile."""
    if not len(order):
        return ()
    programs = int(est.programs[order[0]])
    if programs >= known.cus:
        return ()
    return (
        f"{programs} workgroups for {known.cus} CUs: {known.cus - programs} stay idle; "
        "smaller tiles or split-K would use them",
    )


def _assumptions(chip: Chip, known: Constants, learned: str | None) -> tuple[str, ...]:
    said = []
    if known.like:
        said.append(f"est. of time: none timed on {chip.name}; constants of {known.like}, own size and rates")
    if learned:
        said.append(f"order: corrected by what was learned of {learned}")
    compiler = chip.target.facts.get("tile.compiler")
    if compiler is not None:
        said.append(f"LDS and registers: est. by the rules of {compiler.value}")
    return tuple(said)
