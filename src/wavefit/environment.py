"""What is installed beside us: packages, programs, devices. Nothing here is needed to fit a kernel."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

SECONDS = 10.0
"""That a program may take to say its version."""

PROGRAMS = (
    (("amdclang++", "hipcc", "clang++"), "compiling HIP"),
    (("nvcc",), "compiling CUDA"),
    (("rocprofv3",), "measuring on AMD"),
    (("ncu",), "measuring on NVIDIA"),
)
"""Names, the first that is found counts, and what it is for."""

KFD = Path("/sys/class/kfd/kfd/topology/nodes")
NVIDIA = Path("/proc/driver/nvidia/gpus")
_OF_EXTRA = re.compile(r"(?P<name>[\w.-]+).*\bextra\s*==\s*['\"](?P<extra>[\w.-]+)")
_VERSION = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class Part:
    """One optional part: what it is for (of a package: the extras that ask for it), and where it is here."""

    name: str
    kind: Literal["package", "program", "device"]
    purpose: str
    present: bool
    version: str | None = None
    where: str | None = None


def parts() -> list[Part]:
    """Every optional part, here or not."""
    return [*_packages(), *_programs(), *_devices()]


def about() -> dict[str, str]:
    """Versions of the interpreter and of wavefit, and the system."""
    return {
        "python": platform.python_version(),
        "wavefit": version("wavefit"),
        "platform": platform.platform(),
    }


def _packages() -> Iterator[Part]:
    """What the extras of this installation ask for, the tests' own left out."""
    wanted: dict[str, list[str]] = {}
    for asked in requires("wavefit") or ():
        of_extra = _OF_EXTRA.match(asked)
        if of_extra and of_extra["extra"] != "test":
            wanted.setdefault(of_extra["name"], []).append(f"wavefit[{of_extra['extra']}]")
    for name, extras in sorted(wanted.items()):
        try:
            yield Part(name, "package", ", ".join(extras), True, version(name))
        except PackageNotFoundError:
            yield Part(name, "package", ", ".join(extras), False)


def _programs() -> Iterator[Part]:
    from wavefit.isa.tools import libraries, nvdisasm, objdumps

    disassemblers = (*libraries(), *objdumps())
    found = [("llvm-objdump", "decoding AMD code", next(iter(disassemblers), None))]
    found.append(("nvdisasm", "decoding NVIDIA code", nvdisasm()))
    for names, purpose in PROGRAMS:
        found.append((names[0], purpose, next((path for name in names if (path := find(name))), None)))
    for name, purpose, path in found:
        if path is None:
            yield Part(name, "program", purpose, False)
        else:
            yield Part(os.path.basename(path), "program", purpose, True, _version_of(path), path)


def find(name: str) -> str | None:
    """A program on the path, under a versioned name as Debian has it, or where ROCm and CUDA put it."""
    places = [f"/usr/lib/llvm-{release}/bin" for release in range(30, 13, -1)]
    places += [
        "/opt/rocm/bin",
        "/opt/rocm/llvm/bin",
        "/opt/dtk/bin",
        "/opt/dtk/llvm/bin",
        "/usr/local/cuda/bin",
    ]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(places))


def _version_of(program: str) -> str | None:
    if ".so" in os.path.basename(program):
        return None
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, errors="replace",
                              timeout=SECONDS, stdin=subprocess.DEVNULL)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(done.stdout)
    return None if found is None else found[0]


def _devices() -> Iterator[Part]:
    found = [*_amd(), *_nvidia()]
    yield from found or [Part("GPU", "device", "measuring (no fit needs one)", False)]


def _amd() -> Iterator[Part]:
    """GPUs of the kernel driver's topology: AMD's, and Hygon's, which use it too."""
    for node in sorted(KFD.glob("*/properties")) if KFD.is_dir() else ():
        try:
            said = dict(line.split(maxsplit=1) for line in node.read_text().splitlines() if " " in line)
            encoded = int(said.get("gfx_target_version", "0"))
        except (OSError, ValueError):
            continue
        if encoded:
            major, minor, step = encoded // 10000, encoded // 100 % 100, encoded % 100
            yield Part(f"gfx{major}{minor:x}{step:x}", "device", "measuring", True, where=str(node.parent))


def _nvidia() -> Iterator[Part]:
    for card in sorted(NVIDIA.glob("*/information")) if NVIDIA.is_dir() else ():
        try:
            lines = card.read_text(errors="replace").splitlines()
        except OSError:
            continue
        model = next(
            (line.partition(":")[2].strip() for line in lines if line.startswith("Model:")), "NVIDIA GPU"
        )
        yield Part(model, "device", "measuring", True, where=str(card.parent))
