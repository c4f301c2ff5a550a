"""The tiles room measured: how fast it ranks and simulates, and how its prior does on shapes held out.

    python -m bench.tiles            speed
    python -m bench.tiles learn      the prior of MI300X, cross-validated (needs the tuned table in ../shared)

A tile step is one step along K of one tile.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.accuracy_tiles import AMD, block_of, sizes_of, tuned

from wavefit.chips import chip
from wavefit.tiles.footprint import footprint
from wavefit.tiles.order import Order, caches, simulate
from wavefit.tiles.prior import FEATURES, features, prior
from wavefit.tiles.rank import USUAL_WAVES, rank_tiles
from wavefit.tiles.shape import candidates, problem
from wavefit.tiles.time import constants, estimate

SCALE = 0.05
"""Log-seconds that count as one unit of odds."""
RIDGE = {"features": 1.0, "everywhere": 2.0, "gated": 2.0}


def best_of(times: int, work: Callable[[], Any]) -> float:
    """Seconds of the fastest of several runs, the first not counted."""
    work()
    took = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return min(took)


def speed() -> None:
    """Ranking of 2,000 candidates, and the simulation of a large grid."""
    row = {"block_m": 128, "block_n": 256, "block_k": 64, "warps": 8, "stages": 3}
    given = [{**row, "block_m": 16 << at % 5, "group_m": 1 + at} for at in range(2000)]
    took = best_of(5, lambda: rank_tiles("H200", m=4096, n=4096, k=4096, dtype="bf16", candidates=given))
    print(f"rank 2,000 candidates      {took * 1e3:8.1f} ms")
    asked, where = problem(65536, 65536, 4096, "bf16"), caches(chip("MI355X"))
    took = best_of(3, lambda: simulate(asked, 64, 64, Order(8, 32), where))
    tiles = 1024 * 1024
    print(f"simulate {tiles:,} tiles {took * 1e3:8.1f} ms, {tiles / took / 1e6:6.1f} M tiles/s, "
          f"{tiles * 64 / took / 1e6:6.0f} M tile steps/s")  # fmt: skip


def logit(given: Any, chosen: Any, ridge: Any) -> Any:
    """Weights of a conditional logit by Newton's method; `given` is (rows, choices, features)."""
    weights = np.zeros(given.shape[-1])
    weights[0] = 1.0
    for _ in range(60):
        odds = given @ weights
        share = np.exp(odds - odds.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        mean = np.einsum("nt,ntf->nf", share, given)
        slope = mean.sum(axis=0) - given[np.arange(len(chosen)), chosen].sum(axis=0) + ridge * weights
        bend = np.einsum("nt,ntf,ntg->fg", share, given, given) - mean.T @ mean + np.diag(ridge)
        step = np.linalg.solve(bend, slope)
        weights -= step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    return weights


def learn() -> None:
    """The prior learned on four fifths of the tuned shapes and tried on the rest, eight times over."""
    table = [(sizes_of(row), block_of(row)) for row in tuned("tuned_gemm_fp16_mi300x.csv")]
    distinct = sorted({block for _, block in table})
    chosen = np.array([distinct.index(block) for _, block in table])
    sizes = np.array([m * n * k for (m, n, k), _ in table])
    given = np.stack([_design(shape, distinct) for shape, _ in table])
    tiles = len(distinct)
    parts = (1 + len(FEATURES), tiles, tiles)
    ridge = np.repeat([RIDGE["features"], RIDGE["everywhere"], RIDGE["gated"]], parts)
    ridge[:2] = 1e-3
    reached = []
    for seed in range(8):
        places = np.zeros(len(table), dtype=int)
        for fold in np.array_split(np.random.default_rng(seed).permutation(len(table)), 5):
            others = np.setdiff1d(np.arange(len(table)), fold)
            odds = given[fold] @ logit(given[others], chosen[others], ridge)
            order = np.argsort(-odds, axis=1, kind="stable")
            places[fold] = (order == chosen[fold][:, None]).argmax(axis=1)
        reached.append([[(places[part] < first).mean() for first in (1, 5, 10)] for part in _parts(sizes)])
    for name, row in zip(("all", "MNK from 2^27", "MNK below 2^27"), np.mean(reached, axis=0), strict=True):
        print(f"{name:<16} tuned tile in the first 1, 5, 10: " + ", ".join(f"{value:.3f}" for value in row))


def _parts(sizes: Any) -> tuple[Any, Any, Any]:
    return sizes > 0, sizes >= 1 << 27, sizes < 1 << 27


def _design(shape: tuple[int, int, int], distinct: list[tuple[int, int, int]]) -> Any:
    """(choices, features) of one shape: est. time, the prior's features, and one of each tile, twice."""
    of, asked = chip("MI300X"), problem(*shape, "fp16")
    learned = prior("MI300X", 2.0)
    assert learned is not None
    waves = USUAL_WAVES[64]
    rows = [
        {"block_m": m, "block_n": n, "block_k": k, "warps": count} for m, n, k in distinct for count in waves
    ]
    tiles, known = candidates(rows), constants(of, "fp16")
    seconds = estimate(known, asked, tiles, footprint(of, asked, tiles), persistent=True).seconds
    least = seconds.reshape(len(distinct), len(waves)).min(axis=1)
    one = tiles.take(np.arange(0, len(rows), len(waves)))
    time_ = -np.log(least / least.min())[:, None] / SCALE
    found = features(learned.gate, least, asked, one)
    found[:, 0] /= SCALE
    same = np.eye(len(distinct))
    return np.concatenate([time_, found, same, learned.gate(float(least.min())) * same], axis=1)


if __name__ == "__main__":
    if "learn" in sys.argv[1:]:
        sys.exit(f"{AMD} is not here") if not AMD.is_dir() else learn()
    else:
        speed()
