"""Reading machine code: instructions, loops, accumulator chains. Facts of the code, no estimates."""

from wavefit.isa.chains import Chain
from wavefit.isa.counts import Counts, Moved, Wait
from wavefit.isa.decode import code
from wavefit.isa.live import Width
from wavefit.isa.loops import Code, Loop
from wavefit.isa.model import Form, Listing, Memory, Op
from wavefit.isa.tools import NoDisassembler

__all__ = [
    "Chain", "Code", "Counts", "Form", "Listing", "Loop", "Memory", "Moved", "NoDisassembler", "Op", "Wait",
    "Width", "code",
]  # fmt: skip
