"""Rows of `tests/data/oracles`, and wavefit's answer to each. Tests and `make accuracy` share them."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import wavefit as wf

DATA = Path(__file__).parent / "data"
Row = dict[str, str]
Compare = Callable[[Row], tuple[Any, Any]]


def rows(name: str) -> Iterator[Row]:
    """The rows of one table under `data`, compressed or not."""
    path = DATA / name
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
        yield from csv.DictReader(file)


def high(answer: wf.Fit | wf.FitRange) -> wf.Fit:
    """The Fit that a compiler view prints for a range."""
    return answer.high if isinstance(answer, wf.FitRange) else answer


def from_features(target: str, features: str) -> dict[str, Any]:
    """Mode and wave size that LLVM features stand for."""
    modes = bool(wf.chip(target).target.modes)
    wave = 64 if "+wavefrontsize64" in features else None
    return {"mode": "cu" if modes and "+cumode" in features else None, "wave": wave}


def golden(row: Row) -> tuple[int | float, int]:
    """Ours and LLVM's for a row of `llc22_occupancy_golden.csv`."""
    answer = wf.fit(
        row["gfx"],
        view="llvm-22",
        total_vgprs=int(row["total_vgprs"]),
        sgprs=int(row["total_sgprs"]),
        lds=int(row["lds_bytes"]),
        threads=(int(row["wg_min"]), int(row["wg_max"])),
        **{**from_features(row["gfx"], row["mattr"]), "wave": int(row["wave"])},
    )
    return high(answer).waves_per_simd, int(row["llc22_occupancy"])


def grid(row: Row) -> tuple[int | float, int]:
    """Ours and LLVM's for a row of `llvm22_grid.csv.gz`; its `wg` is exact or LOW,HIGH."""
    sizes = [int(size) for size in (row["wg"] or "1,1024").split(",")]
    answer = wf.fit(
        row["cpu"],
        view="llvm-22",
        total_vgprs=int(row["total_vgpr"] or row["vgpr"]),
        sgprs=int(row["sgpr"]),
        lds=int(row["lds"]),
        threads=(sizes[0], sizes[-1]),
        **from_features(row["cpu"], row["features"]),
    )
    return high(answer).waves_per_simd, int(row["occupancy_llvm"])


def theoretical(row: Row) -> tuple[float, float]:
    """Ours and the expected quantity for a row of `theoretical_rows.csv`."""
    given = {"vgprs": "arch_vgpr", "agprs": "agpr", "sgprs": "sgpr", "lds": "lds_bytes", "threads": "threads"}
    numbers: dict[str, Any] = {ours: int(row[theirs]) for ours, theirs in given.items() if row[theirs]}
    fit = high(wf.fit(row["target"], view=row["view"], **numbers))
    quantities: dict[str, float | None] = {
        "occupancy_pct": fit.occupancy * 100,
        "waves_per_simd": fit.waves_per_simd,
        "workgroups_per_cu": fit.workgroups,
    }
    if fit.view == "hardware":
        slots = fit.max_waves * fit.wave
        quantities["threads_of_max_pct"] = 100 * fit.threads * (fit.workgroups or 0) / slots
        quantities["lds_allocated_bytes"] = fit.limit("lds").allocated
    ours = quantities[row["quantity"]]
    assert ours is not None
    return ours, float(row["expect"])


def header(row: Row) -> tuple[int | None, int]:
    """Ours and NVIDIA's header's blocks for a row of `cuda_occupancy_header.csv`."""
    carveout = int(row["carveout_pct"])
    answer = wf.fit(
        "sm_" + row["cc"].replace(".", ""),
        vgprs=int(row["regs"]),
        lds=int(row["static_smem"]),
        lds_dynamic=int(row["dyn_smem"]),
        threads=int(row["block"]),
        barriers=int(row["block_barriers"]),
        carveout=None if carveout < 0 else carveout,
    )
    return high(answer).workgroups, int(row["blocks_per_sm"])


def driver(row: Row) -> tuple[int | None, int]:
    """Ours and the driver's blocks for a row of `cuda_driver_sm90.csv`.

    The driver knows each kernel's declared maximum of threads and refuses larger blocks.
    """
    carveout, threads = int(row["carveout_pct"]), int(row["block"])
    if threads > int(row["max_threads"]):
        return 0, int(row["blocks_per_sm"])
    answer = wf.fit(
        "H200",
        vgprs=int(row["regs"]),
        lds=int(row["static_smem"]),
        lds_dynamic=int(row["dyn_smem"]),
        threads=threads,
        carveout=None if carveout < 0 else carveout,
    )
    return high(answer).workgroups, int(row["blocks_per_sm"])


def compiled(row: Row) -> tuple[int | float, int]:
    """Ours and the compiler's print for a fixture of `kernels/`, read from its code object alone."""
    found = next(iter(wf.kernels(DATA / "kernels" / "triton" / f"{row['file']}.hsaco")))
    assert isinstance(found, wf.Kernel), found
    return high(wf.fit(found, view="llvm-22")).waves_per_simd, int(row["occupancy_llvm"])


EXACT: tuple[tuple[str, str, Compare, int], ...] = (
    ("view llvm-22, LLVM 22's print of random kernels", "oracles/llc22_occupancy_golden.csv", golden, 1500),
    ("view llvm-22, LLVM 22's print over a grid", "oracles/llvm22_grid.csv.gz", grid, 18000),
    ("view llvm-22, the compiler's print of real fixtures", "kernels/compiler_says.csv", compiled, 30),
    ("views by row: hardware, runtime, LLVM's tests", "oracles/theoretical_rows.csv", theoretical, 21),
    ("NVIDIA, cuda_occupancy.h", "oracles/cuda_occupancy_header.csv", header, 780),
    ("NVIDIA, an H200's driver", "oracles/cuda_driver_sm90.csv", driver, 12000),
)
"""What is compared, the table of others' answers, how, and how many rows it must have."""
