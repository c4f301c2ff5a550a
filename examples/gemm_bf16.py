"""C = A @ B in bf16: the plain GEMM."""

# Triton's language is untyped.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import triton
import triton.language as tl
from tile_order import tile_at


@triton.jit
def gemm_bf16(a, b, c, m, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, strip: tl.constexpr):
    """A is [m, k] and B is [n, k], both with k innermost; C is [m, n].

    k is a multiple of bk; m and n are free. Launch cdiv(m, bm) * cdiv(n, bn) workgroups.
    """
    row, column = tile_at(tl.program_id(0), tl.cdiv(m, bm), tl.cdiv(n, bn), strip)
    i = row * bm + tl.arange(0, bm)
    j = column * bn + tl.arange(0, bn)
    depth = tl.arange(0, bk)
    # past the edge the last row is read again, which costs no mask in the loop; the store drops it
    a_at = a + tl.minimum(i, m - 1)[:, None] * k + depth[None, :]
    b_at = b + tl.minimum(j, n - 1)[None, :] * k + depth[:, None]

    total = tl.zeros((bm, bn), dtype=tl.float32)
    for _ in range(0, k, bk):
        total = tl.dot(tl.load(a_at), tl.load(b_at), total)
        a_at += bk
        b_at += bk

    inside = (i[:, None] < m) & (j[None, :] < n)
    tl.store(c + i[:, None] * n + j[None, :], total.to(tl.bfloat16), mask=inside)
