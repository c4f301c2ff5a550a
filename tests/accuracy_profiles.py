"""Agreement of `profiles` with what others measured or worked out: rows for `make accuracy`."""

from __future__ import annotations

import csv
from pathlib import Path

from wavefit.occupancy import Fit, fit
from wavefit.profiles import confirm, measurements

DATA = Path(__file__).parent / "data" / "profiles"
SHARED = Path(__file__).parents[2] / "shared" / "profiles"

Row = tuple[str, int, int, str]


def rows() -> list[Row]:
    """Name, equal, total, note of every comparison."""
    return [*_nsight(), _limiters(), *_samples()]


def _nsight() -> list[Row]:
    items = [
        item for page in ("details", "raw") for item in confirm(DATA / "ncu-h200" / f"ncu_{page}.csv.gz")
    ]
    total = len(items)
    equal = sum(item.tool_ceiling == item.ceiling for item in items)
    below = [
        item for item in items if (item.achieved or 0) <= (item.grid_ceiling or 0) <= (item.ceiling or 0)
    ]
    named = sum(all(reason.code != "unexplained" for reason in item.reasons) for item in items)
    nearest = sorted((item.achieved or 0) / (item.with_tail or 1) for item in items)
    return [
        ("Nsight Compute on H200: theoretical warps", equal, total, "launches of two runs"),
        ("Nsight Compute on H200: achieved <= grid ceiling <= ceiling", len(below), total, ""),
        ("Nsight Compute on H200: gap explained by grid, tail, launch and drain", named, total,
         f"achieved is {nearest[0]:.2f} to {nearest[-1]:.2f} of the ceiling with tail (est.), "
         f"median {nearest[total // 2]:.2f}"),
    ]  # fmt: skip


def _limiters() -> Row:
    """Three kernels on MI250, one limiter each: points between theory and measurement."""
    points = []
    with (DATA / "occupancy_limiters_mi250.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            found = fit(
                "gfx90a", total_vgprs=int(row["arch_vgpr"]) + int(row["accum_vgpr"]),
                sgprs=int(row["sgpr_alloc"]), lds=int(row["lds_bytes"]),
                scratch=int(row["scratch_bytes"]), threads=int(row["wg"]),
            )  # fmt: skip
            assert isinstance(found, Fit)
            points.append(found.occupancy * 100 - float(row["measured_pct"]))
    near = sum(0 <= point <= 2 for point in points)
    shown = ", ".join(f"{point:.2f}" for point in points)
    return ("MI250 limiter kernels within 2 points below theory", near, len(points), f"points below: {shown}")


def _samples() -> list[Row]:
    """What AMD's sample outputs show; they are not part of the repository."""
    if not SHARED.exists():
        return [("AMD's sample outputs", 0, 0, f"not there: {SHARED}")]
    files = [path for path in sorted(SHARED.rglob("*")) if path.is_file()]
    answered = 0
    for path in files:
        found = measurements(path)
        answered += bool(list(found) or found.errors)
    ran = confirm(SHARED / "rocprofv3" / "mi350x-json" / "908_results_trimmed.json")
    fits = sum(bool(item.fit and item.fit.workgroups) for item in ran)
    return [
        ("sample outputs read, or refused with a reason", answered, len(files), ""),
        ("kernels of an MI350X run that fit (they ran)", fits, len(ran), "328 dispatches"),
    ]


if __name__ == "__main__":
    for row in rows():
        print(*row, sep="  ")
