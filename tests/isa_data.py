"""The assembly texts and code objects that the tests of `isa`, `feed.loop` and `advise` read."""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path

from wavefit.isa import Code, code

TEXTS = Path(__file__).parent / "data" / "isa"
OBJECTS = Path(__file__).parent / "data" / "kernels" / "triton"
TRITON = sorted(path.name.removesuffix(".amdgcn.gz") for path in (TEXTS / "triton").glob("*.gz"))
FEED = sorted(path.name.removesuffix(".amdgcn.gz") for path in (TEXTS / "feed").glob("*.gz"))


def unpacked(folder: str, name: str, place: Path) -> Path:
    """One text as a compiler writes it, in `place`."""
    path = place / f"{name}.amdgcn"
    path.write_bytes(gzip.decompress((TEXTS / folder / f"{name}.amdgcn.gz").read_bytes()))
    return path


@lru_cache(maxsize=64)
def from_text(folder: str, name: str, place: Path) -> Code:
    """The one kernel of a text, decoded."""
    (found,) = code(unpacked(folder, name, place))
    assert isinstance(found, Code), found
    return found


def tile(name: str) -> tuple[int, int, int] | None:
    """M, N and waves of the GEMM tile that a fixture's name states, None for what is no GEMM."""
    parts = name.split("_")
    if parts[0] not in ("matmul", "mx", "gluon"):
        return None
    block = next(part for part in parts if part.count("x") == 2 and part[0].isdigit())
    waves = next(part for part in parts if part[0] == "w" and part[1:].isdigit())
    m, n, _ = map(int, block.split("x"))
    return m, n, int(waves[1:])
