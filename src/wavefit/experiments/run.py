"""Runs what was built where its chip is present, and joins the outputs into one CSV."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wavefit.chips import products, targets
from wavefit.experiments.build import Built, build

TIMEOUT_S = 900
COLUMNS = (
    "experiment", "chip", "target", "instruction", "ilp", "waves_per_simd", "workgroups_per_cu", "threads",
    "lds_bytes", "instructions", "cus_in_use", "vector_bytes", "outstanding", "median_ms", "flops",
    "bytes_per_second", "clock_mhz", "cycles_per_instruction", "first_end", "nominal_mhz", "driver",
    "compiler",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a bench did: builds, where the CSV is (None: nothing ran), and why each thing did not run."""

    built: tuple[Built, ...]
    csv: Path | None
    rows: int
    skipped: tuple[str, ...]


def bench(folder: Path, targets: Sequence[str] = (), *, quick: bool = False) -> Outcome:
    """Writes, compiles and, where its GPU is present, runs the experiments; one CSV `feed.csv` in `folder`.

    `targets` default to what is at hand, and to every target with kernels where no GPU is. `quick` takes
    fewer points (CUDA). Nothing is written outside `folder`.
    """
    here = present()
    wanted = tuple(targets) or here or ("sm_90", "gfx942", "gfx950")
    built = build(folder, wanted)
    outputs, skipped = run(built, here, quick=quick)
    if not outputs:
        return Outcome(built, None, 0, skipped)
    out = folder / "feed.csv"
    return Outcome(built, out, join(outputs, out), skipped)


def present() -> tuple[str, ...]:
    """Targets of this machine's GPUs, as the vendors' own tools name them; empty where there are none."""
    found: list[str] = []
    if said := _asked("nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"):
        found += [f"sm_{line.strip().replace('.', '')}" for line in said.splitlines() if line.strip()]
    if said := _asked("rocm_agent_enumerator"):
        known = {target.name for target in targets()}  # it lists the processor too, as none
        found += [line.strip() for line in said.splitlines() if line.strip() in known]
    return tuple(dict.fromkeys(found))


def run(
    built: Iterable[Built], here: Sequence[str], *, quick: bool = False
) -> tuple[list[str], tuple[str, ...]]:
    """Runs each build whose target is `here`. Returns CSV texts, and a line for each that did not run."""
    all_built, outputs, skipped = list(built), list[str](), list[str]()
    host = next((each.path for each in all_built if each.kind == "hip-host" and each.path), None)
    for target in dict.fromkeys(each.target for each in all_built if each.kind != "hip-host"):
        mine = [each for each in all_built if each.target == target and each.path]
        if target not in here:
            skipped.append(f"{target}: no such GPU here")
            continue
        for command in _commands(mine, target, host, quick):
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
            except (OSError, subprocess.TimeoutExpired) as error:
                skipped.append(f"{target}: {error}")
                continue
            if done.returncode:
                skipped.append(f"{target}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
            else:
                outputs.append(done.stdout)
    return outputs, tuple(skipped)


def _commands(mine: list[Built], target: str, host: Path | None, quick: bool) -> list[list[str]]:
    cuda = [each for each in mine if each.kind == "cuda"]
    objects = [each for each in mine if each.kind == "hip-device" and each.plan]
    found = [[str(each.path), *(["quick"] if quick else [])] for each in cuda]
    if host and objects:
        specs = [f"{each.plan.waves}:{each.plan.lds}:{each.path}" for each in objects if each.plan]
        found.append([str(host), str(_clock(target)), *specs])
    gluon = next((each.path for each in mine if each.kind == "gluon" and each.path), None)
    if gluon:
        found.append([sys.executable, str(gluon.parent / "feed_gluon.py")])
    return found


def _clock(target: str) -> float:
    """The highest clock of the target's products, MHz: what the host program prints as the nominal one."""
    clocks = [each.value("clock.peak_mhz") for each in products() if each.target.name == target]
    return max((float(clock) for clock in clocks if isinstance(clock, int | float)), default=0.0)


def join(outputs: Iterable[str], out: Path) -> int:
    """One CSV of several, under one header; returns its rows. Columns that an output lacks stay empty."""
    count = 0
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", extrasaction="ignore")
        writer.writeheader()
        for text in outputs:
            for row in csv.DictReader(text.splitlines()):
                writer.writerow(row)
                count += 1
    return count


def _asked(tool: str, *arguments: str) -> str:
    path = shutil.which(tool)
    if path is None:
        return ""
    try:
        done = subprocess.run([path, *arguments], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
