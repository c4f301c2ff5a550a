"""Softmax of each row of a matrix, the whole row held in the registers of one workgroup."""

# Triton's language is untyped.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def softmax(x, y, columns, width: tl.constexpr):
    """x and y are bf16 [rows, columns], columns innermost and at most width. Launch one workgroup a row."""
    start = tl.program_id(0) * columns
    column = tl.arange(0, width)
    inside = column < columns
    # powers of two are what the hardware has; -inf outside makes those elements 0 of the sum
    bits = tl.load(x + start + column, mask=inside, other=float("-inf")).to(tl.float32) * LOG2_E
    share = tl.exp2(bits - tl.max(bits, axis=0))
    tl.store(y + start + column, (share / tl.sum(share, axis=0)).to(tl.bfloat16), mask=inside)
