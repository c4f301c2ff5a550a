"""C = A @ B in MXFP8: e4m3 elements, one e8m0 scale (a power of two) for every 32 of them along k."""

# Triton's language is untyped.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import triton
import triton.language as tl
from tile_order import tile_at


@triton.jit
def gemm_mxfp8(
    a, a_scale, b, b_scale, c, m, n, k,
    bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, strip: tl.constexpr,
):  # fmt: skip
    """A is [m, k] and B is [n, k], both with k innermost; C is [m, n].

    The scales are [m, k / 32] and [n, k / 32]. k is a multiple of bk and bk of 32; m and n are free.
    Launch cdiv(m, bm) * cdiv(n, bn) workgroups.
    """
    row, column = tile_at(tl.program_id(0), tl.cdiv(m, bm), tl.cdiv(n, bn), strip)
    i = row * bm + tl.arange(0, bm)
    j = column * bn + tl.arange(0, bn)
    depth = tl.arange(0, bk)
    group = tl.arange(0, bk // 32)
    # past the edge the last row is read again, which costs no mask in the loop; the store drops it
    i_read = tl.minimum(i, m - 1)[:, None]
    j_read = tl.minimum(j, n - 1)
    a_at = a + i_read * k + depth[None, :]
    b_at = b + j_read[None, :] * k + depth[:, None]
    a_scale_at = a_scale + i_read * (k // 32) + group[None, :]
    b_scale_at = b_scale + j_read[:, None] * (k // 32) + group[None, :]

    total = tl.zeros((bm, bn), dtype=tl.float32)
    for _ in range(0, k, bk):
        a_part, b_part = tl.load(a_at), tl.load(b_at)
        total = tl.dot_scaled(a_part, tl.load(a_scale_at), "e4m3", b_part, tl.load(b_scale_at), "e4m3", total)
        a_at += bk
        b_at += bk
        a_scale_at += bk // 32
        b_scale_at += bk // 32

    inside = (i[:, None] < m) & (j[None, :] < n)
    tl.store(c + i[:, None] * n + j[None, :], total.to(tl.bfloat16), mask=inside)
