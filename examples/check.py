"""Run each example kernel in Triton's interpreter, on the CPU, and compare with NumPy.

    python examples/check.py

Small matrices whose edges do not fall on tile edges. Needs NumPy and Triton; no GPU, no torch.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"  # read when a kernel is decorated, so before they are imported

import numpy as np
import triton.language as tl
from gemm_bf16 import gemm_bf16
from gemm_mxfp8 import gemm_mxfp8
from softmax import softmax

Array = np.ndarray[Any, Any]
BF16_STEP = 2.0**-7
"""One unit in the last place of bf16, relative: the interpreter cuts off where the hardware rounds."""


class Buffer:
    """A NumPy array with the few tensor methods that the interpreter calls on an argument."""

    def __init__(self, data: Array, dtype: tl.dtype) -> None:
        self.data, self.dtype = np.ascontiguousarray(data), dtype

    def data_ptr(self) -> int:
        return self.data.ctypes.data

    def untyped_storage(self) -> Buffer:
        return self

    def cpu(self) -> Buffer:
        return self

    def new_empty(self, *_: object, **__: object) -> Buffer:
        return Buffer(np.empty(0, np.uint8), self.dtype)

    def set_(self, storage: Buffer, *_: object) -> None:
        self.data = storage.data

    def copy_(self, other: Buffer) -> None:
        self.data[...] = other.data

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return self.data.shape

    def stride(self) -> tuple[int, ...]:
        return tuple(step // self.data.itemsize for step in self.data.strides)


def bf16(values: Array) -> Array:
    """The upper half of each float32, rounded to nearest even."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits: Array) -> Array:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def from_e4m3(codes: Array) -> Array:
    """Values of OCP e4m3 codes: sign, 4 bits of exponent (bias 7), 3 of mantissa."""
    exponent, mantissa = (codes >> 3) & 15, codes & 7
    size = np.where(exponent > 0, (8 + mantissa) * 2.0 ** (exponent - 10.0), mantissa * 2.0**-9)
    return np.where(codes & 128, -size, size)


def cdiv(a: int, b: int) -> int:
    return -(-a // b)


def mxfp8_error(draw: np.random.Generator) -> float:
    """Largest error of gemm_mxfp8, relative to the sum of the magnitudes that were added."""
    m, n, k, bm, bn, bk = 70, 50, 192, 32, 32, 64
    codes = [draw.integers(0, 256, (rows, k)).astype(np.uint8) for rows in (m, n)]
    codes = [np.where(part & 127 == 127, 0, part).astype(np.uint8) for part in codes]  # 127 is NaN
    scales = [draw.integers(120, 134, (rows, k // 32)).astype(np.uint8) for rows in (m, n)]
    both = list(zip(codes, scales, strict=True))
    a, b = (from_e4m3(part) * 2.0 ** (np.repeat(scale, 32, axis=1) - 127.0) for part, scale in both)
    out = Buffer(np.zeros((m, n), np.uint16), tl.bfloat16)
    operands = [
        given for part, scale in both for given in (Buffer(part, tl.float8e4nv), Buffer(scale, tl.uint8))
    ]
    gemm_mxfp8[(cdiv(m, bm) * cdiv(n, bn),)](*operands, out, m, n, k, bm=bm, bn=bn, bk=bk, strip=2)
    return relative(from_bf16(out.data), a @ b.T, np.abs(a) @ np.abs(b).T)


def bf16_error(draw: np.random.Generator) -> float:
    """Largest error of gemm_bf16, relative to the sum of the magnitudes that were added."""
    m, n, k, bm, bn, bk = 70, 50, 96, 32, 16, 32
    # the interpreter's dot multiplies the bits of bf16 operands (Triton 3.9), and the kernel names no type
    a, b = (draw.standard_normal((rows, k)).astype(np.float16) for rows in (m, n))
    out = Buffer(np.zeros((m, n), np.uint16), tl.bfloat16)
    operands = (Buffer(part, tl.float16) for part in (a, b))
    gemm_bf16[(cdiv(m, bm) * cdiv(n, bn),)](*operands, out, m, n, k, bm=bm, bn=bn, bk=bk, strip=2)
    x, y = a.astype(np.float64), b.astype(np.float64)
    return relative(from_bf16(out.data), x @ y.T, np.abs(x) @ np.abs(y).T)


def softmax_error(draw: np.random.Generator) -> float:
    """Largest relative error of softmax."""
    rows, columns = 5, 100
    x = bf16(draw.standard_normal((rows, columns)) * 4)
    out = Buffer(np.zeros((rows, columns), np.uint16), tl.bfloat16)
    softmax[(rows,)](Buffer(x, tl.bfloat16), out, columns, width=128)
    powers = np.exp(from_bf16(x).astype(np.float64))
    expected = powers / powers.sum(axis=1, keepdims=True)
    return relative(from_bf16(out.data), expected, expected)


def relative(got: Array, expected: Array, size: Array) -> float:
    return float(np.max(np.abs(got - expected) / size))


CHECKS: dict[str, Callable[[np.random.Generator], float]] = {
    "gemm_mxfp8": mxfp8_error,
    "gemm_bf16": bf16_error,
    "softmax": softmax_error,
}


def main() -> None:
    errors = {name: check(np.random.default_rng(1)) for name, check in CHECKS.items()}
    for name, error in errors.items():
        print(f"{name}: largest error {error:.1e} of {BF16_STEP:.1e}")
    if not all(error <= BF16_STEP for error in errors.values()):
        raise SystemExit("an example computes something else than NumPy")


if __name__ == "__main__":
    main()
