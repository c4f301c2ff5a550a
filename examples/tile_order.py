"""Which tile of the output a workgroup computes."""

# Triton's language is untyped.
# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import triton
import triton.language as tl


@triton.jit
def tile_at(number, rows, columns, strip: tl.constexpr):
    """Row and column of tile `number` of a grid of `rows` x `columns` tiles.

    The grid is cut into strips of strip rows and each strip is walked column by column, so that
    workgroups that run at the same time share rows of A and columns of B in the L2 cache.
    """
    first = number // (strip * columns) * strip
    height = tl.minimum(strip, rows - first)
    within = number - first * columns
    return first + within % height, within // height
