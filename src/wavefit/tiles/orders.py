"""Tile orders side by side: what each saves in traffic, and what that saves in est. time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wavefit.chips import Chip, Target
from wavefit.occupancy.question import as_chip
from wavefit.tiles.footprint import footprint
from wavefit.tiles.order import Order, Traffic, caches, simulate
from wavefit.tiles.shape import Problem, candidates, problem
from wavefit.tiles.time import TOTAL, constants, estimate, longest


@dataclass(frozen=True, slots=True)
class Ordered:
    """One order of one tile: its traffic, and est. seconds with memory as the order leaves it."""

    order: Order
    traffic: Traffic
    seconds: tuple[float, float]
    """Est. where the rest hides memory's time, and where it hides none of it."""
    memory_seconds: float
    """What memory alone takes."""


@dataclass(frozen=True, slots=True)
class Orders:
    """Several orders of one tile, as they were asked for."""

    problem: Problem
    chip: Chip
    tile: dict[str, int]
    resident: int
    """Workgroups on a CU that the est. footprint admits."""
    orders: tuple[Ordered, ...]
    assumptions: tuple[str, ...]


def compare(
    chip: Chip | Target | str,
    *,
    m: int,
    n: int,
    k: int,
    dtype: str,
    tile: Mapping[str, Any],
    orders: Iterable[Order],
    resident: int | None = None,
) -> Orders:
    """The orders of a tile (keys as for `rank_tiles`) side by side.

    `resident` workgroups a CU are taken from the est. footprint where not given. Raises BadQuestion,
    ChipNotFound.
    """
    of, asked = as_chip(chip), problem(m, n, k, dtype)
    one = candidates([{"warps": 8, **tile}])
    spent = footprint(of, asked, one)
    known = constants(of, asked.dtype)
    est = estimate(known, asked, one, spent, persistent=False)
    held = max(1, int(spent.workgroups[0])) if resident is None else resident
    where = caches(of, held)
    found = []
    for order in orders:
        traffic = simulate(asked, int(one.block_m[0]), int(one.block_n[0]), order, where)
        memory = (traffic.memory + traffic.written) / known.memory
        parts = (float(est.cu[0]), float(est.matrix[0]), float(est.l2[0]), memory)
        hidden = float(longest(*parts, sharp=TOTAL)) + known.launch
        apart = float(longest(*parts[:-1], sharp=TOTAL)) + known.launch + memory
        found.append(Ordered(order, traffic, (hidden, max(hidden, apart)), memory))
    said = ["tiles of a round run in step; the dies are dealt programs in turn"]
    if where.last:
        said.append("the time of the last-level cache is not counted: nothing public gives its bandwidth")
    return Orders(asked, of, one.row(0), held, tuple(found), tuple(said))
