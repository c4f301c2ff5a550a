"""Times of surveys, as ratios in one run.

    python -m bench.surveys library FILE...     # one job, against LLVM's tools on the same library
    python -m bench.surveys jobs [FILE...]      # one job against two, over all packages or these files
    python -m bench.surveys cache [FILES]       # a Triton cache of so many files, 10,000 if not said

Packages are those of bench/corpus.py, fetched as it says; a library is a file with bundles, not packed.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from bench.corpus import PACKAGES, READELF, cut

from wavefit.kernels.bulk import Rows, rows
from wavefit.survey import Table, survey

KERNELS = Path(__file__).parent.parent / "tests" / "data" / "kernels" / "triton"
PAIRS = 3


def library(path: Path) -> None:
    """Processor seconds of both ways in one run, on one core; peak memory and first row of ours."""
    begin = time.perf_counter()
    next(found for found in rows(path) if not isinstance(found, Rows) or len(found))
    first = time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as folder:
        start = spent()
        table = Path(folder, "x.parquet")
        command = ["survey", path, "--jobs", "1", "--out", table, "--json"]
        run = subprocess.Popen([sys.executable, "-m", "wavefit", *command], stdout=subprocess.PIPE)
        assert run.stdout
        said = json.load(run.stdout)
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        mine, peak = spent() - start, used.ru_maxrss * 1024
        copy = Path(folder, path.name)
        copy.symlink_to(path.resolve())
        start = spent()
        subprocess.run([READELF, "--notes", *cut(copy)], stdout=subprocess.DEVNULL, check=True)
        reference = spent() - start
    print(f"{path.name}: {said['kernels']} kernels")
    print(
        f"  reading, Fit, Parquet {mine:.2f} s; LLVM's tools {reference:.2f} s; ratio {mine / reference:.2f}"
    )
    print(f"  peak {peak / 1e6:.0f} MB, first row after {first:.2f} s")


def cache(files: int) -> None:
    """A cache as Triton leaves it, a folder a kernel, surveyed to Parquet with one job."""
    kept = sorted(path for path in KERNELS.glob("*") if path.suffix in (".hsaco", ".json"))
    with tempfile.TemporaryDirectory() as folder:
        for copy in range(-(-files // len(kept))):
            for path in kept:
                home = Path(folder, f"{copy}", path.stem)
                home.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, home)
        begin = time.perf_counter()
        next(found for found in survey([folder]) if isinstance(found, Table))
        first = time.perf_counter() - begin
        kernels, taken = surveyed([Path(folder)], 1)
    print(f"{files} files or some more, {kernels} kernels: {taken:.2f} s, first rows {first:.2f} s")


def jobs(paths: Sequence[Path]) -> None:
    """A survey to Parquet with one job and with two, in turn: seconds on the clock, and their ratios.

    The last line is what this machine can give: two surveys with one job each, at once.
    """
    ratios = []
    for _ in range(PAIRS):
        kernels, one = surveyed(paths, 1)
        same, two = surveyed(paths, 2)
        ratios.append(one / two)
        print(f"  {kernels} kernels: one job {one:.2f} s, two {two:.2f} s: {ratios[-1]:.2f}", flush=True)
        assert kernels == same
    print(f"two jobs are {median(ratios):.2f} times one (median of {PAIRS} pairs)")
    with ThreadPoolExecutor(2) as pool:
        begin = time.perf_counter()
        list(pool.map(surveyed, [paths, paths], [1, 1]))
    both = 2 * one / (time.perf_counter() - begin)
    print(f"two separate surveys at once are {both:.2f} times one after the other")


def surveyed(paths: Sequence[Path], count: int) -> tuple[int, float]:
    """Kernels found with so many jobs, and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        command = ["survey", *paths, "--jobs", str(count), "--out", Path(folder, "x.parquet"), "--json"]
        run = subprocess.run([sys.executable, "-m", "wavefit", *command], capture_output=True, check=True)
        taken = time.perf_counter() - begin
    return json.loads(run.stdout)["kernels"], taken


def spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(arguments: Sequence[str]) -> int:
    match arguments:
        case ["library", *paths]:
            for path in paths:
                library(Path(path))
        case ["jobs", *paths]:
            jobs([Path(path) for path in paths] or [package.fetched() for package in PACKAGES])
        case ["cache", *files]:
            cache(int(files[0]) if files else 10_000)
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
