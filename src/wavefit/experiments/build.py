"""Writes the experiment's sources to a folder and compiles them with the compilers that are there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from wavefit.chips import Target
from wavefit.chips import target as named_target

SOURCES = ("feed.cu", "feed_device.hip.cpp", "feed_host.cpp", "feed_gluon.py")
THREADS = 256
"""Of a workgroup on AMD: one wave a SIMD, so that workgroups a CU are waves a SIMD."""
DEVICE_TARGETS = ("gfx908", "gfx90a", "gfx942", "gfx950")
GLUON_TARGETS = ("gfx942", "gfx950")
CLANGS = ("clang-22", "clang-21", "clang-20", "clang", "amdclang++")


@dataclass(frozen=True, slots=True)
class Plan:
    """One occupancy of a target: `waves` a SIMD, by reserving `lds` bytes in each workgroup."""

    target: str
    waves: int
    lds: int


@dataclass(frozen=True, slots=True)
class Built:
    """One thing that was compiled, or `why` it was not."""

    kind: str
    """`cuda`, `hip-device`, `hip-host` or `gluon`."""
    target: str
    path: Path | None
    why: str | None = None
    plan: Plan | None = None

    @property
    def line(self) -> str:
        """What became of it, in one line."""
        where = f" {self.plan.waves} waves/SIMD" if self.plan else ""
        return f"{self.kind} {self.target}{where}: {self.path if self.path else f'not built: {self.why}'}"


def write_sources(folder: Path) -> tuple[Path, ...]:
    """Puts the sources into `folder`, which is made; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in SOURCES:
        text = files("wavefit.experiments").joinpath("sources", name).read_text(encoding="utf-8")
        path = folder / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return tuple(written)


def plan(target: Target | str, waves: Sequence[int] | None = None) -> tuple[Plan, ...]:
    """How much LDS to reserve for each wave count that LDS can set: the most that still admits it.

    Wave counts that the LDS pool cannot tell from the next (or that the workgroup slots forbid) are left out.
    """
    of = named_target(target) if isinstance(target, str) else target
    unit, granule = of.unit(), of.lds.granule
    most = min(unit.wave_slots, unit.workgroups or unit.wave_slots)
    found = []
    for count in waves or range(1, most + 1):
        room = (unit.lds_pool // count - of.lds.reserve) // granule * granule
        lds = min(room, of.lds.per_workgroup)
        if 1 <= count <= most and lds > 0 and unit.lds_pool // (lds + of.lds.reserve) == count:
            found.append(Plan(of.name, count, lds))
    return tuple(found)


def build(folder: Path, targets: Sequence[str] = ()) -> tuple[Built, ...]:
    """Writes the sources and compiles each for `targets`, as far as compilers are found.

    An sm_ target needs nvcc; a gfx target clang with the AMDGPU back end (device side), hipcc (host side)
    and Triton (Gluon). What a missing or failing compiler leaves out is in the answer, with the reason.
    """
    write_sources(folder)
    found: list[Built] = []
    for target in targets:
        if target.startswith("sm_"):
            found.append(_cuda(folder, target))
        else:
            found += _device(folder, target)
            found += _gluon(folder, target)
    if any(not target.startswith("sm_") for target in targets):
        found.append(_host(folder))
    return tuple(found)


def _cuda(folder: Path, target: str) -> Built:
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        return Built("cuda", target, None, "nvcc is not on PATH")
    out = folder / f"feed_{target}"
    return _compiled(
        "cuda", target, out, [nvcc, "-O3", f"-arch={target}", "-o", str(out), str(folder / "feed.cu")]
    )


def _device(folder: Path, target: str) -> Iterator[Built]:
    if target not in DEVICE_TARGETS:
        yield Built(
            "hip-device", target, None, f"no kernels for it; there are some for {', '.join(DEVICE_TARGETS)}"
        )
        return
    clang = next((found for name in CLANGS if (found := shutil.which(name))), None)
    if clang is None:
        yield Built("hip-device", target, None, f"none of {', '.join(CLANGS)} is on PATH")
        return
    for each in plan(target):
        out = folder / f"feed_{target}_{each.waves}waves.co"
        flags = [
            f"-mcpu={target}",
            "-nogpulib",
            "-O3",
            "-std=c++17",
            f"-DTHREADS={THREADS}",
            f"-DLDS_BYTES={each.lds}",
        ]
        source = str(folder / "feed_device.hip.cpp")
        command = [clang, "--target=amdgcn-amd-amdhsa", *flags, "-o", str(out), source]
        yield _compiled("hip-device", target, out, command, each)


def _gluon(folder: Path, target: str) -> Iterator[Built]:
    if target not in GLUON_TARGETS:
        yield Built("gluon", target, None, f"no layout for it; there are some for {', '.join(GLUON_TARGETS)}")
        return
    for each in plan(target, (1, 4)):
        first = folder / f"gluon_{target}_ilp1_lds{each.lds}.hsaco"
        command = [sys.executable, str(folder / "feed_gluon.py"), "build", target, str(each.lds), str(folder)]
        yield _compiled("gluon", target, first, command, each)


def _host(folder: Path) -> Built:
    hipcc = shutil.which("hipcc")
    if hipcc is None:
        return Built("hip-host", "host", None, "hipcc is not on PATH")
    out = folder / "feed_host"
    return _compiled(
        "hip-host", "host", out, [hipcc, "-O3", "-std=c++17", "-o", str(out), str(folder / "feed_host.cpp")]
    )


def _compiled(kind: str, target: str, out: Path, command: Sequence[str], of: Plan | None = None) -> Built:
    """Runs one compiler; its last line of complaint is the reason where it fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=600, check=False, errors="replace",
            env={**os.environ, "TRITON_CACHE_DIR": str(out.parent / ".triton")},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return Built(kind, target, None, str(error), of)
    if done.returncode or not out.exists():
        said = [line for line in done.stderr.splitlines() if "rror" in line] or done.stderr.splitlines()
        return Built(kind, target, None, said[0].strip() if said else f"exit {done.returncode}", of)
    return Built(kind, target, out, None, of)
