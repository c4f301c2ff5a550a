"""A matrix instruction: what it multiplies, what it costs in registers and cycles, and who says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wavefit.chips.model import Fact, Number
from wavefit.shown import Shown

WAITS = {
    "c_same": "next matrix instruction accumulates onto exactly this D",
    "c_overlap": "next matrix instruction's C overlaps D in part",
    "c_overlap_fp64": "the same, and it is FP64",
    "ab": "next matrix instruction's A or B reads D",
    "read": "VALU, memory or export reads D",
    "memory": "memory or export reads D",
    "write": "VALU overwrites D",
    "c_then_write": "VALU overwrites what was read as C",
}
"""What may follow an instruction, by the keys of `Instruction.waits`."""


@dataclass(frozen=True, slots=True)
class ElementType:
    """One element type: its width, the type a rate is quoted for (`group`), the formats it covers."""

    name: str
    bits: int
    group: str
    formats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand of an instruction: element type, and 32-bit registers per lane (0: not in registers)."""

    type: ElementType
    registers: int


@dataclass(frozen=True, slots=True)
class Instruction(Shown):
    """One matrix instruction of one target, as its table row says it.

    Registers are per lane. `cycles` are clocks that one instruction holds the unit of one SIMD, `latency`
    clocks from one to the next that accumulates onto it; None is not known. `facts` says who says each.

    `name` is its mnemonic, `family` its kind (`mfma`, `wmma`, `mma`, ...). It multiplies `m` x `k` by
    `k` x `n`: D = A B + C with operands `a`, `b`, `c`, `d`, issued by `wave` lanes. `passes` are LLVM's, four
    clocks each. `note` is a remark.
    """

    name: str
    target: str
    family: str
    unit: str
    """The pipe it runs on: `xdl`, `sgemm`, `dgemm`, `valu`, `mmac`, `tensor`."""
    wave: int
    waves: int
    """Waves that issue it together (a warpgroup instruction: 4)."""
    m: int
    n: int
    k: int
    blocks: int
    """Independent products in one instruction."""
    a: Operand
    b: Operand
    c: Operand
    d: Operand
    passes: int | None
    cycles: Number | None
    latency: Number | None
    coexec: int | None
    """Clocks in which the VALU may run beside it."""
    sparse: bool
    """A holds two of every four elements (4:2)."""
    scale: int | None
    """Elements of K that share one scale."""
    simds: int
    """SIMDs of a CU, each with such a unit."""
    waits: Mapping[str, int] = field(compare=False)
    """Wait states (issue slots) before what may follow, by the keys of WAITS; absent is not known."""
    facts: Mapping[str, Fact] = field(compare=False)
    note: str = ""
    faster: Faster | None = None
    """Another instruction for the same types that is faster, if there is one."""

    def operand(self, name: str) -> Operand:
        """Operand A, B, C or D by its letter."""
        return {"A": self.a, "B": self.b, "C": self.c, "D": self.d}[name]

    @property
    def shape(self) -> str:
        """`32x32x16`, with `x2 blocks` where there are several."""
        base = f"{self.m}x{self.n}x{self.k}"
        return base if self.blocks == 1 else f"{base} x{self.blocks} blocks"

    @property
    def types(self) -> str:
        """`fp16`, or `fp8 x bf8` where A and B differ."""
        a, b = self.a.type.name, self.b.type.name
        return a if a == b else f"{a} x {b}"

    @property
    def flops(self) -> int:
        """Multiplications and additions of one instruction (of a sparse one, those with the zeros)."""
        return 2 * self.m * self.n * self.k * self.blocks

    @property
    def flops_per_clock_cu(self) -> Number | None:
        """FLOPs a clock of a CU that issues nothing else on any SIMD; None where cycles are not known."""
        if self.cycles is None:
            return None
        rate = self.flops * self.simds / (self.waves * self.cycles)
        return int(rate) if rate == int(rate) else rate

    @property
    def notes(self) -> tuple[str, ...]:
        """What a report prints beside the instruction, one sentence each."""
        return tuple(filter(None, (self.faster.sentence if self.faster else "", self.note)))


@dataclass(frozen=True, slots=True)
class Faster:
    """The fastest instruction for the same types (`name`), and what share of its rate this one reaches."""

    name: str
    share: float

    @property
    def sentence(self) -> str:
        """`half the rate of v_mfma_f32_16x16x32_f16`."""
        words = {0.5: "half", 0.25: "a quarter of", 0.125: "an eighth of"}
        return f"{words.get(self.share, f'{self.share:.0%} of')} the rate of {self.name}"
