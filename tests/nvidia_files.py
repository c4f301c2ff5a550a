"""The NVIDIA cubins of the tests, wherever they are kept, and what NVIDIA's tools say of them."""

from __future__ import annotations

import csv
import zipfile
from functools import lru_cache
from pathlib import Path

from wavefit.kernels.backing import Memory
from wavefit.kernels.open import read
from wavefit.kernels.source import BadFile, Source
from wavefit.model import Kernel

DATA = Path(__file__).parent / "data/nvidia"
SAID = tuple(csv.DictReader((DATA / "said.csv").open(newline="")))
Row = dict[str, str]


@lru_cache(maxsize=1)
def packed() -> dict[str, bytes]:
    """The cubins of `cubins.zip` by name."""
    with zipfile.ZipFile(DATA / "cubins.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def content(name: str) -> bytes:
    """One cubin as `said.csv` names it."""
    return packed()[name] if name in packed() else (DATA / name).read_bytes()


def found(data: bytes) -> list[Kernel | BadFile]:
    """Everything that is read from these bytes."""
    items = list(read(Source(Memory(data), len(data), "f")))
    return [item for item in items if isinstance(item, Kernel | BadFile)]


@lru_cache(maxsize=1)
def ours() -> dict[tuple[str, str], Kernel]:
    """Every kernel of every cubin by file and name. Raises what could not be read."""
    kernels = {}
    for name in dict.fromkeys(row["file"] for row in SAID):
        for kernel in found(content(name)):
            if isinstance(kernel, BadFile):
                raise kernel
            kernels[name, kernel.name] = kernel
    return kernels


def number(target: str) -> int:
    """90 of `sm_90a`."""
    return int(target.removeprefix("sm_").rstrip("af"))
