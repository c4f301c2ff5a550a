# mypy: ignore-errors
# ruff: noqa: N803
"""The Triton GEMMs that `verify` compiles: grouped tile order, masked K, and one with MX scales.

Importing this needs Triton; nothing else in the package imports it.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def tile_of(pid, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    tiles_m = tl.cdiv(m, BLOCK_M)
    tiles_n = tl.cdiv(n, BLOCK_N)
    first = pid // (GROUP_M * tiles_n) * GROUP_M
    rows = min(tiles_m - first, GROUP_M)
    inside = pid - first * tiles_n
    return first + inside % rows, inside // rows


@triton.jit
def gemm(
    a, b, c, m, n, k, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    row, column = tile_of(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP_M)
    rows = row * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    at_a = a + (rows % m)[:, None] * stride_am + depth[None, :] * stride_ak
    at_b = b + depth[:, None] * stride_bk + (columns % n)[None, :] * stride_bn
    sums = tl.int32 if a.dtype.element_ty == tl.int8 else tl.float32
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=sums)
    for step in range(tl.cdiv(k, BLOCK_K)):
        left = k - step * BLOCK_K
        x = tl.load(at_a, mask=depth[None, :] < left, other=0.0)
        y = tl.load(at_b, mask=depth[:, None] < left, other=0.0)
        total = tl.dot(x, y, total)
        at_a += BLOCK_K * stride_ak
        at_b += BLOCK_K * stride_bk
    at_c = c + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(at_c, total.to(c.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def gemm_mx(
    a, b, c, scale_a, scale_b, m, n, k, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    stride_sam, stride_sbn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr, FORMAT: tl.constexpr, PACK: tl.constexpr,
):  # fmt: skip
    row, column = tile_of(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP_M)
    rows = row * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = column * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K // PACK)
    blocks = tl.arange(0, BLOCK_K // 32)
    at_a = a + (rows % m)[:, None] * stride_am + depth[None, :] * stride_ak
    at_b = b + depth[:, None] * stride_bk + (columns % n)[None, :] * stride_bn
    at_sa = scale_a + (rows % m)[:, None] * stride_sam + blocks[None, :]
    at_sb = scale_b + (columns % n)[:, None] * stride_sbn + blocks[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(tl.cdiv(k, BLOCK_K)):
        x, y = tl.load(at_a), tl.load(at_b)
        total = tl.dot_scaled(x, tl.load(at_sa), FORMAT, y, tl.load(at_sb), FORMAT, total)
        at_a += BLOCK_K // PACK * stride_ak
        at_b += BLOCK_K // PACK * stride_bk
        at_sa += BLOCK_K // 32
        at_sb += BLOCK_K // 32
    at_c = c + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    tl.store(at_c, total.to(c.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))
