# mypy: ignore-errors
"""Two kernels that are one dot each, for tools/matrix_triton.py (Triton reads them from a file)."""

import triton
import triton.language as tl


@triton.jit
def plain(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):  # noqa: N803
    """One dot of a whole block."""
    rows, columns, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    left = tl.load(a + rows[:, None] * K + depth[None, :])
    right = tl.load(b + depth[:, None] * N + columns[None, :])
    tl.store(c + rows[:, None] * N + columns[None, :], tl.dot(left, right, input_precision="ieee"))


@triton.jit
def scaled(
    a, b, sa, sb, c,
    AF: tl.constexpr, BF: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,  # noqa: N803
):  # fmt: skip
    """One MX-scaled dot of a whole block; E2M1 holds two elements a byte."""
    wide_a: tl.constexpr = K // 2 if AF == "e2m1" else K
    wide_b: tl.constexpr = K // 2 if BF == "e2m1" else K
    rows, columns, scales = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    left = tl.load(a + rows[:, None] * wide_a + tl.arange(0, wide_a)[None, :])
    right = tl.load(b + tl.arange(0, wide_b)[:, None] * N + columns[None, :])
    left_scale = tl.load(sa + rows[:, None] * (K // 32) + scales[None, :])
    right_scale = tl.load(sb + columns[:, None] * (K // 32) + scales[None, :])
    product = tl.dot_scaled(left, left_scale, AF, right, right_scale, BF)
    tl.store(c + rows[:, None] * N + columns[None, :], product)
