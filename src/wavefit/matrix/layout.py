"""Register layouts: which register, lane and bits hold an element of A, B, C or D, and back.

A layout is two lists of digits. A coordinate (row i, column j, depth k, block) is split into digits; some
of them count lanes, the others count slots, which are the element-wide places of one lane's registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from wavefit.chips import Fact
from wavefit.matrix.errors import Refused
from wavefit.matrix.model import Instruction
from wavefit.matrix.read import fact, rows

AXES = {"A": ("i", "k"), "B": ("k", "j"), "C": ("i", "j"), "D": ("i", "j")}
"""Row and column axis of each operand."""

REGISTER_BITS = 32


@dataclass(frozen=True, slots=True)
class Digit:
    """The part of a coordinate that is `coordinate // stride % size`."""

    axis: str
    size: int
    stride: int = 1


@dataclass(frozen=True, slots=True)
class Element:
    """One element of one operand, by row and column of its own matrix, and block."""

    row: int
    column: int
    block: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where an element is: `lane`, first `register`, and bits `low` to `high` counted from that register.

    An FP64 element has bits 0 to 63 and so takes two registers; some FP6 elements cross into a second.
    """

    register: int
    lane: int
    low: int
    high: int

    @property
    def last_register(self) -> int:
        """The last register the element reaches into."""
        return self.register + self.high // REGISTER_BITS


@dataclass(frozen=True, slots=True)
class Layout:
    """Where each element of one operand of one instruction is. A bijection (tested for every one)."""

    instruction: Instruction
    operand: str
    bits: int
    lanes: tuple[Digit, ...]
    slots: tuple[Digit, ...]
    fact: Fact

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and blocks of the operand."""
        row, column = AXES[self.operand]
        size = _sizes(self.instruction)
        return size[row], size[column], size["block"]

    @property
    def registers(self) -> int:
        """Registers of one lane that the elements fill."""
        return prod(digit.size for digit in self.slots) * self.bits // REGISTER_BITS

    def place(self, row: int, column: int, block: int = 0) -> Place:
        """Register, lane and bits of an element. Raises Refused outside the operand's shape."""
        for index, size, word in zip(
            (row, column, block), self.shape, ("row", "column", "block"), strict=True
        ):
            if not 0 <= index < size:
                raise Refused(
                    f"{self.operand} of {self.instruction.name} has {size} {word}s: no {word} {index}"
                )
        row_axis, column_axis = AXES[self.operand]
        at = {row_axis: row, column_axis: column, "block": block}
        first, low = divmod(_count(self.slots, at) * self.bits, REGISTER_BITS)
        return Place(first, _count(self.lanes, at), low, low + self.bits - 1)

    def element(self, register: int, lane: int, bit: int = 0) -> Element:
        """The element that holds a bit of a register of a lane. Raises Refused outside the operand."""
        slot = (register * REGISTER_BITS + bit) // self.bits
        inside = 0 <= register < self.registers and 0 <= bit < REGISTER_BITS
        if not inside or not 0 <= lane < self.instruction.wave:
            raise Refused(
                f"{self.operand} of {self.instruction.name} fills {self.registers} registers of "
                f"{self.instruction.wave} lanes: no register {register}, lane {lane}, bit {bit}"
            )
        at = dict.fromkeys(("i", "j", "k", "block"), 0)
        for digits, number in ((self.lanes, lane), (self.slots, slot)):
            for digit in digits:
                number, part = divmod(number, digit.size)
                at[digit.axis] += part * digit.stride
        row, column = AXES[self.operand]
        return Element(at[row], at[column], at["block"])

    def __iter__(self) -> Iterator[tuple[Element, Place]]:
        """Every element with its place, block by block, row by row."""
        rows_, columns, blocks = self.shape
        for block in range(blocks):
            for row in range(rows_):
                for column in range(columns):
                    yield Element(row, column, block), self.place(row, column, block)


def layout(of: Instruction, operand: str) -> Layout:
    """The layout of operand A, B, C or D of an instruction.

    Known for every dense MFMA and MMAC (of MMAC's 4-bit types only C and D). Raises Refused elsewhere.
    """
    name = operand.upper()
    if name not in AXES:
        raise Refused(f"no operand {operand!r}: A, B, C or D")
    rule = _rule(of, name)
    if name in ("A", "B"):
        lanes, slots = _input_digits(of, name, int(rule["run"] or 0))
    else:
        lanes, slots = _result_digits(of, rule["lane_axis"], int(rule["run"]))
    return Layout(of, name, of.operand(name).type.bits, lanes, slots, fact(None, rule["from"]))


def _sizes(of: Instruction) -> Mapping[str, int]:
    return {"i": of.m, "j": of.n, "k": of.k, "block": of.blocks}


@lru_cache(maxsize=1)
def _rules() -> tuple[Mapping[str, str], ...]:
    return tuple(rows("layouts"))


def _rule(of: Instruction, operand: str) -> Mapping[str, str]:
    """The row of `layouts.csv` for an operand: the first that fits family, target and type."""
    for row in _rules():
        fits = (
            row["family"] == of.family
            and operand in row["operands"]
            and row["target"] in ("", of.target)
            and row["type"] in ("", of.operand(operand).type.name)
        )
        if fits and row["known"] == "no":
            raise Refused(f"layout of {operand} of {of.name}: {row['note']}")
        if fits and not of.sparse:
            return row
    raise Refused(f"layout of {of.name} is not known: dense MFMA and MMAC only")


def _input_digits(of: Instruction, operand: str, run: int) -> tuple[tuple[Digit, ...], tuple[Digit, ...]]:
    """A or B: lanes count rows (columns of B), then blocks, then groups of K; slots count K.

    A lane holds `run` elements of K one after the other (0: all it has); further runs are one round of
    all lane groups away.
    """
    outer, size = ("i", of.m) if operand == "A" else ("j", of.n)
    groups = of.wave // (size * of.blocks)
    held = of.k // groups
    run = run or held
    lanes = (Digit(outer, size), Digit("block", of.blocks), Digit("k", groups, run))
    slots = (Digit("k", run), Digit("k", held // run, run * groups))
    return _real(lanes), _real(slots)


def _result_digits(of: Instruction, lane_axis: str, run: int) -> tuple[tuple[Digit, ...], tuple[Digit, ...]]:
    """C or D: lanes count one axis, blocks, groups of `run` along the other axis; slots the rest."""
    sizes = _sizes(of)
    other = "i" if lane_axis == "j" else "j"
    spread = min(sizes[other] // run, of.wave // sizes[lane_axis])
    blocks = of.wave // (sizes[lane_axis] * spread)
    lanes = (Digit(lane_axis, sizes[lane_axis]), Digit("block", blocks), Digit(other, spread, run))
    rest = sizes[other] // (run * spread)
    slots = (Digit(other, run), Digit(other, rest, run * spread), Digit("block", of.blocks // blocks, blocks))
    return _real(lanes), _real(slots)


def _real(digits: Sequence[Digit]) -> tuple[Digit, ...]:
    return tuple(digit for digit in digits if digit.size > 1)


def _count(digits: Sequence[Digit], at: Mapping[str, int]) -> int:
    """The number that the digits of a coordinate spell, lowest first."""
    total, weight = 0, 1
    for digit in digits:
        total += at[digit.axis] // digit.stride % digit.size * weight
        weight *= digit.size
    return total
