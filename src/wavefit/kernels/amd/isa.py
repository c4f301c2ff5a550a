"""The target that a code object was compiled for: from e_flags or from a target string."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_FLAGS_TABLE = Path(__file__).parent.parent / "data" / "elf_mach.csv"
_NAME = re.compile(r"gfx[0-9a-f]+(-[0-9]+)?(-generic)?", re.ASCII)
_FEATURE = re.compile(r"(sramecc|xnack)[+-]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Isa:
    """A target's name and its settings, spelled as LLVM does (`xnack-`, `sramecc+`)."""

    name: str
    features: tuple[str, ...] = ()


def from_text(text: str) -> Isa | None:
    """The Isa of a target string, None where it names no gfx target.

    Three spellings are in use: `amdgcn-amd-amdhsa--gfx950`, `amdgcn-amd-amdhsa-unknown-gfx950` and
    `amdgpu9.50-amd-amdhsa-unknown-gfx950`; settings follow, each after a colon (`gfx90a:xnack-`), and
    some writers put the whole in quotes.
    """
    triple, *features = text.strip("'\" ").split(":")
    name = triple if triple.startswith("gfx") else "".join(triple.split("-", 4)[4:])
    if not _NAME.fullmatch(name):
        return None
    return Isa(name, tuple(sorted(feature for feature in features if _FEATURE.fullmatch(feature))))


def from_flags(flags: int, version: int) -> Isa | None:
    """The Isa of e_flags in a code object of this version; None for a number that no target has.

    V4 on: two bits each say unsupported, any, off, on for XNACK (8-9) and SRAMECC (10-11); before: one
    bit each (8, 9). Source: LLVM AMDGPU user guide, ELF header.
    """
    name = _machines().get(flags & 0xFF)
    if name is None:
        return None
    if version >= 4:
        signs = {"sramecc": " ?-+"[flags >> 10 & 3], "xnack": " ?-+"[flags >> 8 & 3]}
    else:
        signs = {"sramecc": " +"[flags >> 9 & 1], "xnack": " +"[flags >> 8 & 1]}
    return Isa(name, tuple(feature + sign for feature, sign in signs.items() if sign in "+-"))


def generic_version(flags: int, version: int) -> int:
    """The version of a generic target (V6 on), 0 for any other."""
    return flags >> 24 & 0xFF if version >= 6 else 0


def stand_in(name: str) -> str | None:
    """The target whose limits are assumed for this one, where it has no page of its own."""
    return next((row["read_as"] for row in _rows() if row["target"] == name and row["read_as"]), None)


@lru_cache(maxsize=1)
def _rows() -> tuple[dict[str, str], ...]:
    lines = _FLAGS_TABLE.read_text(encoding="utf-8").splitlines()
    return tuple(csv.DictReader(line for line in lines if not line.startswith("#")))


@lru_cache(maxsize=1)
def _machines() -> dict[int, str]:
    return {int(row["mach"], 16): row["target"] for row in _rows()}
