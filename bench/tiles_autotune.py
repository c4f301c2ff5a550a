"""A pruned autotune against an exhaustive one, on a real H200. Needs a GPU, PyTorch and Triton.

    python bench/tiles_autotune.py OUT.csv [SECONDS]

Every configuration of a usual list is compiled and timed on shapes that no constant was set on; then
`triton.autotune` runs with the pruning of `wavefit.tiles.triton`, and its choice is looked up among
the exhaustive times. One row a shape and configuration, then a summary on standard output.
"""

from __future__ import annotations

import csv
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from math import exp, log
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

CHIP, DTYPE, KEPT = "H200", "bf16", 24
SHAPES = [
    (6144, 6144, 6144), (2560, 5120, 8192), (1280, 1280, 2048),
    (8192, 3584, 1536), (384, 7168, 2048), (128, 8192, 8192),
]  # fmt: skip
NAMES = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages")
Config = tuple[int, ...]


def every_config() -> list[Config]:
    """Block sizes of 64 to 256, two orders, 4 or 8 warps, 2 to 4 stages: 324."""
    blocks = (64, 128, 256)
    return list(product(blocks, blocks, (32, 64, 128), (1, 8), (4, 8), (2, 3, 4)))


def compile_one(config: Config) -> str | None:
    """Puts one kernel into Triton's cache; why not, where it cannot."""
    import torch

    from wavefit.tiles.gemm import gemm

    m, n, k = SHAPES[0]
    types = (torch.bfloat16,) * 3
    try:
        gemm.warmup(*types, m, n, k, k, 1, n, 1, n, 1, grid=(1,), **dict(zip(NAMES, config, strict=True)))
    except Exception as error:  # whatever the compiler says: that configuration does not run
        return f"{type(error).__name__}: {error}".splitlines()[0][:120]
    return None


def tensors(shape: tuple[int, int, int]) -> tuple[Any, ...]:
    """A, B, C of a shape, row-major, filled with small numbers."""
    import torch

    m, n, k = shape
    a = torch.randn((m, k), device="cuda", dtype=torch.bfloat16) * 0.1
    b = torch.randn((k, n), device="cuda", dtype=torch.bfloat16) * 0.1
    return a, b, torch.empty((m, n), device="cuda", dtype=torch.bfloat16)


def arguments(shape: tuple[int, int, int], given: tuple[Any, ...]) -> tuple[Any, ...]:
    """What the kernel takes for these tensors."""
    m, n, k = shape
    return (*given, m, n, k, k, 1, n, 1, n, 1)


def timed(shape: tuple[int, int, int], given: tuple[Any, ...], config: Config) -> float | None:
    """Median milliseconds of ten launches after three; None where it does not run."""
    import torch
    import triton

    from wavefit.tiles.gemm import gemm

    named = dict(zip(NAMES, config, strict=True))
    grid = (triton.cdiv(shape[0], config[0]) * triton.cdiv(shape[1], config[1]),)
    took = []
    try:
        for at in range(13):
            began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            began.record()
            gemm[grid](*arguments(shape, given), **named)
            ended.record()
            ended.synchronize()
            if at >= 3:
                took.append(began.elapsed_time(ended))
    except Exception:  # out of shared memory or registers
        return None
    return median(took)


def autotuned(shape: tuple[int, int, int], given: tuple[Any, ...]) -> tuple[Config, int]:
    """What `triton.autotune` chooses with our pruning, and how many configurations it timed."""
    import triton

    from wavefit.tiles.gemm import gemm
    from wavefit.tiles.triton import prune_configs_by

    configs = [
        triton.Config(dict(zip(NAMES[:4], c[:4], strict=True)), num_warps=c[4], num_stages=c[5])
        for c in every_config()
    ]
    pruning = prune_configs_by(CHIP, top=KEPT, sizes=("m", "n", "k"))
    tuned = triton.autotune(configs=configs, key=["m", "n", "k"], prune_configs_by=pruning)(gemm)
    m, n, _ = shape
    tuned[lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),)](
        *arguments(shape, given)
    )
    best = tuned.best_config
    chosen = (*(best.kwargs[name] for name in NAMES[:4]), best.num_warps, best.num_stages)
    return chosen, len(getattr(tuned, "configs_timings", None) or range(KEPT))


def places(shape: tuple[int, int, int]) -> dict[Config, int]:
    """Each configuration's place in our ranking, from 1; those that cannot launch have none."""
    from wavefit.tiles.rank import rank_tiles

    keys = ("block_m", "block_n", "block_k", "group_m", "warps", "stages")
    given = [dict(zip(keys, config, strict=True)) for config in every_config()]
    m, n, k = shape
    found = rank_tiles(CHIP, m=m, n=n, k=k, dtype=DTYPE, candidates=given)
    return {tuple(getattr(tile, key) for key in keys): at for at, tile in enumerate(found, 1)}


def main(out: str, limit: float) -> None:
    """Compile in parallel, time, autotune, write and say."""
    began = time.monotonic()
    configs = every_config()
    with ProcessPoolExecutor(8, mp_context=get_context("spawn")) as pool:
        refused = sum(why is not None for why in pool.map(compile_one, configs, chunksize=6))
    print(
        f"compiled {len(configs) - refused} of {len(configs)} in {time.monotonic() - began:.0f} s", flush=True
    )
    shares = []
    with open(out, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["m", "n", "k", *NAMES, "median_ms", "place", "autotune_chose"])
        for shape in SHAPES:
            if time.monotonic() - began > limit:
                print(f"{shape}: left out, {limit:.0f} s are over")
                continue
            given, place = tensors(shape), places(shape)
            chosen, tried = autotuned(shape, given)
            times = {config: timed(shape, given, config) for config in configs}
            table.writerows(
                [*shape, *config, took, place.get(config, ""), config == chosen]
                for config, took in times.items()
                if took is not None
            )
            file.flush()
            ran = {config: took for config, took in times.items() if took is not None}
            shares.append(min(ran.values()) / ran[chosen])
            first = {n: min(ran[c] for c in ran if place.get(c, n + 1) <= n) for n in (1, 8, KEPT)}
            reached = ", ".join(f"first {n} {min(ran.values()) / took:.3f}" for n, took in first.items())
            print(f"{shape}: {len(ran)} ran, autotune tried {tried}: {shares[-1]:.3f} of the best; {reached}",
                  flush=True)  # fmt: skip
    print(f"geometric mean {exp(mean(map(log, shares))):.4f}, worst {min(shares):.4f}; "
          f"{len(configs)} configurations against {KEPT}")  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 240.0)
