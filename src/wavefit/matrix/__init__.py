"""Matrix instructions as data: shapes, registers, cycles, peaks, layouts, and which serves a tile."""

from wavefit.matrix.errors import InstructionNotFound, MatrixError, NoMatrix, NotKnown, Refused, TypeNotFound
from wavefit.matrix.layout import Element, Layout, Place, layout
from wavefit.matrix.model import WAITS, ElementType, Instruction, Operand
from wavefit.matrix.packed import PackedFp32, packed_fp32
from wavefit.matrix.peaks import Peak, Rate, peak, peaks, rate, rates
from wavefit.matrix.table import instruction, matrix
from wavefit.matrix.tile import TileChoice, tile
from wavefit.matrix.triton import TritonOptions, triton_options
from wavefit.room import callable_as

__all__ = [
    "WAITS", "Element", "ElementType", "Instruction", "InstructionNotFound", "Layout", "MatrixError",
    "NoMatrix", "NotKnown", "Operand", "PackedFp32", "Peak", "Place", "Rate", "Refused", "TileChoice",
    "TritonOptions", "TypeNotFound", "instruction", "layout", "matrix", "packed_fp32", "peak", "peaks",
    "rate", "rates", "tile", "triton_options",
]  # fmt: skip

callable_as(__name__, matrix)
