"""The question and its candidates: one GEMM, and many tiles of it as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from wavefit.occupancy import BadQuestion

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.floating[Any]]

BYTES = {
    "fp64": 8.0, "fp32": 4.0, "tf32": 4.0, "fp16": 2.0, "bf16": 2.0,
    "fp8": 1.0, "int8": 1.0, "fp6": 0.75, "fp4": 0.5,
}  # fmt: skip
"""Bytes of one element, packed."""

SCALED = {"mxfp8": "fp8", "mxfp6": "fp6", "mxfp4": "fp4"}
"""Types with one byte of scale per 32 elements of K, by the type of the elements."""

DEFAULTS = {"warps": 4, "stages": 2, "group_m": 8, "split_k": 1}


@dataclass(frozen=True, slots=True)
class Problem:
    """C[m, n] = A[m, k] B[k, n], operands of one type, C of `out_bytes` an element."""

    m: int
    n: int
    k: int
    dtype: str
    out_bytes: float = 2.0

    @property
    def element(self) -> str:
        """The type that the matrix unit multiplies."""
        return SCALED.get(self.dtype, self.dtype)

    @property
    def bytes(self) -> float:
        """Bytes of one operand element, its share of a scale included."""
        return BYTES[self.element] + (1 / 32 if self.dtype in SCALED else 0)

    @property
    def flops(self) -> float:
        """Multiply and add counted as two."""
        return 2.0 * self.m * self.n * self.k


def problem(m: int, n: int, k: int, dtype: str) -> Problem:
    """The checked question. Raises BadQuestion for sizes below 1 and types nobody defined."""
    for name, size in (("m", m), ("n", n), ("k", k)):
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise BadQuestion(f"{name} must be a whole number, not {size!r}")
        if not 1 <= size < 1 << 31:
            raise BadQuestion(f"{name} must be from 1 to 2147483647, not {size}")
    if SCALED.get(dtype, dtype) not in BYTES:
        raise BadQuestion(f"unknown type {dtype!r}; there are {', '.join((*BYTES, *SCALED))}")
    return Problem(int(m), int(n), int(k), dtype, 4.0 if BYTES.get(dtype, 0) >= 4 else 2.0)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Tiles as arrays of one length: block sizes in elements, warps of the target's wave size."""

    block_m: Ints
    block_n: Ints
    block_k: Ints
    warps: Ints
    stages: Ints
    group_m: Ints
    split_k: Ints

    def __len__(self) -> int:
        return len(self.block_m)

    def take(self, rows: Ints) -> Candidates:
        """These rows of all arrays."""
        return Candidates(*(getattr(self, f.name)[rows] for f in fields(self)))

    def row(self, index: int) -> dict[str, int]:
        """One tile as plain numbers."""
        return {f.name: int(getattr(self, f.name)[index]) for f in fields(self)}


NAMES = tuple(f.name for f in fields(Candidates))


def candidates(rows: Iterable[Mapping[str, Any]]) -> Candidates:
    """Candidates of dictionaries with block_m, block_n, block_k and any of warps, stages, group_m, split_k.

    Raises BadQuestion for a missing block size, an unknown key or a number below 1.
    """
    given = list(rows)
    if not given:
        raise BadQuestion("no candidates")
    if unknown := set().union(*given) - set(NAMES):
        named = ", ".join(sorted(map(str, unknown)))
        raise BadQuestion(f"candidates: unknown {named}; there are {', '.join(NAMES)}")
    return Candidates(*(_column(name, given) for name in NAMES))


def _column(name: str, given: list[Mapping[str, Any]]) -> Ints:
    missing = DEFAULTS.get(name)
    values = [row.get(name, missing) for row in given]
    if set(map(type, values)) != {int} or min(values) < 1 or max(values) >= 1 << 31:
        for at, value in enumerate(values):
            whole = hasattr(value, "__index__") and not isinstance(value, bool)
            if not whole or not 1 <= value < 1 << 31:
                raise BadQuestion(f"candidate {at}: {name} must be a whole number from 1 on, not {value!r}")
    return np.asarray(values, dtype=np.int64)
