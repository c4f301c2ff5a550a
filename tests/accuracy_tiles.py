"""`make accuracy`, tiles: ranking, LDS ranges and tile orders against what was measured or compiled."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from math import exp, log
from pathlib import Path
from statistics import mean, median

from wavefit.chips import chip
from wavefit.tiles.lds import lds_range, rules
from wavefit.tiles.order import Order
from wavefit.tiles.orders import compare
from wavefit.tiles.prior import prior
from wavefit.tiles.rank import rank_tiles
from wavefit.tiles.shape import candidates, problem

DATA = Path(__file__).parent / "data" / "tiles"
AMD = Path(__file__).parents[2] / "shared" / "measured" / "amd"
"""Tuned tables that are read in place, never copied."""

SIX = {
    "BM": "block_m",
    "BN": "block_n",
    "BK": "block_k",
    "warps": "warps",
    "stages": "stages",
    "GM": "group_m",
}
Rows = list[tuple[str, float | str, float | str, str]]
Shape = tuple[int, int, int]


def rows() -> Rows:
    """(name, value, limit, note) of every figure of this room."""
    return [*_h200(), *_mi300x(), *_gfx950(), *_lds(), *_autotune(), *_windows(), *_published()]


def geometric(values: Iterable[float]) -> float:
    """The geometric mean."""
    return exp(mean(log(value) for value in values))


def share(ranks: list[int], first: int) -> float:
    """The share of ranks (counted from 0) among the `first`."""
    return sum(rank < first for rank in ranks) / len(ranks)


def h200_scores(*, held: bool) -> dict[Shape, tuple[float, float]]:
    """Best measured time over that of the first choice, and of the best of the first eight, by shape.

    The constants were set on the shapes at even places of the file; `held` are the others.
    """
    measured: dict[Shape, dict[tuple[int, ...], float]] = {}
    with (DATA / "gemm_bf16_triton_sweep.csv").open() as file:
        for row in csv.DictReader(file):
            config = tuple(int(row[name]) for name in SIX)
            if any(config):
                shape = (int(row["M"]), int(row["N"]), int(row["K"]))
                measured.setdefault(shape, {})[config] = float(row["median_ms"])
    return {shape: _score(shape, measured[shape]) for shape in list(measured)[1 if held else 0 :: 2]}


def _score(shape: Shape, times: dict[tuple[int, ...], float]) -> tuple[float, float]:
    m, n, k = shape
    given = [dict(zip(SIX.values(), config, strict=True)) for config in times]
    found = rank_tiles("H200", m=m, n=n, k=k, dtype="bf16", candidates=given)
    took = [times[tuple(getattr(tile, name) for name in SIX.values())] for tile in found]
    best = min(times.values())
    return best / took[0], best / min(took[:8])


def _h200() -> Iterator[tuple[str, float, float, str]]:
    for held, note in ((True, "8 shapes that set no constant"), (False, "8 shapes that set the constants")):
        scores = h200_scores(held=held).values()
        firsts, eighths = [first for first, _ in scores], [eighth for _, eighth in scores]
        yield "H200 first choice / best, geometric mean", round(geometric(firsts), 4), 0.95, note
        yield "H200 first choice / best, worst", round(min(firsts), 4), 0.85, note
        yield "H200 best of first eight / best", round(geometric(eighths), 4), 0.99, note


def tuned(name: str) -> list[dict[str, str]]:
    """Rows of a tuned table."""
    with (AMD / name).open() as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def mi300x_ranks() -> list[tuple[int, int]]:
    """The place of the tuned tile (from 0) among the 27 distinct ones, and MNK, of every row."""
    table = tuned("tuned_gemm_fp16_mi300x.csv")
    return _ranks("MI300X", "fp16", [(sizes_of(row), block_of(row)) for row in table])


def block_of(row: dict[str, str]) -> Shape:
    """The tuned tile of a row."""
    return int(row["BM"]), int(row["BN"]), int(row["BK"])


def sizes_of(row: dict[str, str]) -> Shape:
    """M (the top of its range), N, K of a row."""
    return int(row["M"].removeprefix("M_LEQ_")), int(row["N"]), int(row["K"])


def _ranks(name: str, dtype: str, tuned: list[tuple[Shape, Shape]]) -> list[tuple[int, int]]:
    distinct = sorted({block for _, block in tuned})
    given = [{"block_m": m, "block_n": n, "block_k": k} for m, n, k in distinct]
    found = []
    for (m, n, k), block in tuned:
        tiles = rank_tiles(name, m=m, n=n, k=k, dtype=dtype, candidates=given)
        order = [(tile.block_m, tile.block_n, tile.block_k) for tile in tiles]
        found.append((order.index(block) if block in order else len(distinct), m * n * k))
    return found


def _mi300x() -> Iterator[tuple[str, float | str, float | str, str]]:
    if not AMD.is_dir():
        yield "MI300X tuned tile", "not checked", "", f"{AMD} is not here"
        return
    ranked = mi300x_ranks()
    parts = {
        "all": [rank for rank, _ in ranked],
        "MNK from 2^27": [rank for rank, size in ranked if size >= 1 << 27],
        "MNK below 2^27": [rank for rank, size in ranked if size < 1 << 27],
    }
    for part, ranks in parts.items():
        for first, limit in ((1, 0.60), (5, 0.85), (10, 0.94)):
            note = f"{len(ranks)} shapes, 27 tiles; the prior was learned on these shapes"
            yield (
                f"MI300X tuned tile in the first {first}, {part}",
                round(share(ranks, first), 3),
                limit,
                note,
            )
    learned = prior("MI300X", 2.0)
    assert learned is not None
    for part, reached in learned.cross_validated.items():
        for first, value in zip((1, 5, 10), reached, strict=True):
            note = "held out: five-fold over shapes, mean of eight splits; recorded when it was learned"
            yield f"MI300X tuned tile in the first {first}, {part}, held out", value, "", note


def _gfx950() -> Iterator[tuple[str, float | str, float | str, str]]:
    if not AMD.is_dir():
        return
    table = tuned("tuned_gemm_gfx950_triton.csv")
    for dtype, kernel in (("bf16", "triton:GEMM-A16W16"), ("fp8", "triton:GEMM-A8W8")):
        known = [
            row for row in table
            if row["gpu"].startswith("gfx950") and row["kernel"].startswith(kernel)
            and all(row[name] for name in ("N", "K", "BM", "BN", "BK")) and row["M"].startswith("M_LEQ_")
        ]  # fmt: skip
        ranks = _ranks("MI355X", dtype, [(sizes_of(row), block_of(row)) for row in known])
        tiles = len({block_of(row) for row in known})
        for part, places in (
            ("all", [place for place, _ in ranks]),
            ("MNK below 2^27", [place for place, size in ranks if size < 1 << 27]),
        ):
            for first in (1, 5, 10):
                note = f"{len(places)} rows, {tiles} tiles; nothing timed on it, M at the top of its range"
                yield (
                    f"gfx950 {dtype} tuned in the first {first}, {part}",
                    round(share(places, first), 3),
                    "",
                    note,
                )


def lds_widths(*, fresh: bool | None = None, target: str | None = None) -> tuple[int, list[float]]:
    """How many compiled sizes lie outside their range, and every range's width over the compiled size."""
    outside, widths = 0, []
    with (DATA / "lds_triton_3_9.csv").open() as file:
        for row in csv.DictReader(file):
            if fresh not in (None, row["fresh"] == "1") or target not in (None, row["target"]):
                continue
            given = {name: int(row[name]) for name in ("block_m", "block_n", "block_k", "warps", "stages")}
            asked = problem(4096, 4096, 4096, row["dtype"])
            low, high = lds_range(
                rules(chip(row["target"])), asked, candidates([given]), layout=row["layout"]
            )
            shared = int(row["shared"])
            outside += not low[0] <= shared <= high[0]
            widths.append(float(high[0] - low[0]) / max(shared, 1))
    return outside, widths


def _lds() -> Iterator[tuple[str, float, float, str]]:
    for target in ("gfx942", "gfx950"):
        for fresh in (False, True):
            outside, widths = lds_widths(fresh=fresh, target=target)
            note = f"{len(widths)} compiles {'after' if fresh else 'before'} the rules were written"
            yield f"{target} LDS outside the range", outside, 0, note
            yield f"{target} LDS range width, median", round(median(widths), 4), 0.06, note
            yield f"{target} LDS range width, most", round(max(widths), 4), 0.25, note


def _windows() -> Iterator[tuple[str, float, float | str, str]]:
    """The five measured windows beside the simulation, for plausible tiles and chunks. Nothing fitted."""
    with (DATA / "xcd_window_sweep.csv").open() as file:
        points = list(csv.DictReader(line for line in file if not line.startswith("#")))
    for block, chunk in (((256, 256), 64), ((192, 256), 64), ((256, 256), 32)):
        orders = [Order(max(1, int(p["window"])), chunk if int(p["window"]) else None) for p in points]
        tile = {"block_m": block[0], "block_n": block[1], "block_k": 64, "warps": 8, "stages": 2}
        found = compare("MI355X", m=8192, n=8192, k=8192, dtype="bf16", tile=tile, orders=orders, resident=1)
        for point, each in zip(points, found.orders, strict=True):
            hits = f"L2 {each.traffic.l2_hits:.0%}, last {each.traffic.last_hits or 0:.0%}"
            name = f"MI355X window {point['window']}, {block[0]}x{block[1]}, chunk {chunk}: est. ms"
            yield (
                name,
                round(each.seconds[1] * 1e3, 3),
                float(point["avg_time_ms"]),
                f"{hits}; beside it measured",
            )


def autotuned() -> dict[Shape, float]:
    """Per shape: the time of the exhaustive best over that of what the pruned autotune chose."""
    times: dict[Shape, list[tuple[float, bool]]] = {}
    with (DATA / "tiles_autotune_h200.csv").open() as file:
        for row in csv.DictReader(file):
            shape = int(row["m"]), int(row["n"]), int(row["k"])
            times.setdefault(shape, []).append((float(row["median_ms"]), row["autotune_chose"] == "True"))
    return {
        shape: min(time for time, _ in rows) / next(time for time, chosen in rows if chosen)
        for shape, rows in times.items()
    }


def _autotune() -> Iterator[tuple[str, float, float | str, str]]:
    kept = list(autotuned().values())
    note = "24 of 324 configurations compiled, 13.5 times fewer; six shapes that set no constant"
    yield "H200 pruned autotune / exhaustive best, geometric mean", round(geometric(kept), 4), 0.97, note
    yield "H200 pruned autotune / exhaustive best, worst", round(min(kept), 4), "-", note


PUBLISHED = {Order(): (0.55, 0.95, 1113), Order(7, 216): (0.79, 0.24, 991), Order(5, 25): (0.75, 0.93, 1145)}
"""arXiv 2511.08083, table 4: 9216 cubed, tiles of 192x256x64: L2 hits, last-level hits, TFLOP/s."""


def published_orders() -> dict[Order, tuple[float, float, float]]:
    """Simulated L2 and last-level hits and memory seconds of the orders of PUBLISHED."""
    tile = {"block_m": 192, "block_n": 256, "block_k": 64, "warps": 8, "stages": 2}
    found = compare("MI355X", m=9216, n=9216, k=9216, dtype="bf16", tile=tile, orders=PUBLISHED, resident=1)
    return {
        each.order: (each.traffic.l2_hits, each.traffic.last_hits or 0, each.memory_seconds)
        for each in found.orders
    }


def _published() -> Iterator[tuple[str, float, float, str]]:
    for order, (l2, last, memory) in published_orders().items():
        measured = PUBLISHED[order]
        name = f"9216 cubed, groups of {order.group_m}, chunk {order.chunk}"
        note = f"beside it measured; memory alone {memory * 1e3:.2f} ms, measured {measured[2]} TFLOP/s"
        yield f"{name}: L2 hits", round(l2, 3), measured[0], note
        yield f"{name}: last-level hits", round(last, 3), measured[1], note
