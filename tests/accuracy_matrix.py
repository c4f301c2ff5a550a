"""What the matrix room agrees with: LLVM, AMD's calculator, Triton, vendors' fragments, published peaks.

Each function compares one oracle and returns (ours, theirs) pairs or counts; the tests assert them and
`make accuracy` prints them.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tools import matrix_tables

from wavefit import matrix
from wavefit.chips import targets

DATA = Path(__file__).parent / "data" / "matrix"
Pairs = list[tuple[Any, Any]]


def table(name: str) -> Iterator[dict[str, str]]:
    """Rows of a table of `data/matrix`, compressed or not; lines that begin with # are for people."""
    path = DATA / name
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


@cache
def known(target: str, name: str, a: str | None = None, b: str | None = None) -> matrix.Instruction:
    """An instruction, remembered (oracles ask for the same one thousands of times)."""
    return matrix.instruction(target, name, a=a, b=b)


@cache
def known_layout(target: str, name: str, operand: str) -> matrix.Layout:
    """A layout, remembered."""
    return matrix.layout(known(target, name), operand)


def llvm(target: str) -> tuple[dict[str, tuple[int, int]], list[matrix_tables.Difference]]:
    """Counts by what was compared with the frozen words of LLVM 22, and the differences."""
    words = [each for each in matrix_tables.frozen(DATA / "llvm22.csv") if each.target == target]
    return matrix_tables.compare(target, words)


def spellings() -> Pairs:
    """Every spelling that LLVM assembles, and the name that it stands for."""
    return [
        (matrix.instruction(each.target, each.spelt, wave=each.wave).name, each.name)
        for each in matrix_tables.frozen(DATA / "llvm22.csv")
        if each.name in {row.name for row in matrix.matrix(each.target)}
    ]


def calculator() -> Pairs:
    """Places of elements beside those that AMD's calculator prints."""
    return [(place_of(row), _printed(row)) for row in table("mfma_layouts.csv.gz")]


def place_of(row: dict[str, str]) -> tuple[str, int, int, int]:
    """Register, lane and bits of a row's element, spelt as the calculator spells them."""
    layout = known_layout(row["target"], row["instruction"], row["matrix"])
    place = layout.place(int(row["row"]), int(row["col"]), int(row["block"]))
    one = place.register == place.last_register
    register = str(place.register) if one else f"{place.last_register}-{place.register}"
    return register, place.lane, place.low, place.high


def _printed(row: dict[str, str]) -> tuple[str, int, int, int]:
    return row["register"], int(row["lane"]), int(row["bit_low"]), int(row["bit_high"])


def laid_out() -> Iterator[matrix.Layout]:
    """Every layout the room knows: A, B, C, D of every dense MFMA and MMAC."""
    for target in ("gfx908", "gfx90a", "gfx942", "gfx950", "gfx926", "gfx928", "gfx936", "gfx938"):
        for each in matrix.matrix(target):
            for operand in "ABCD":
                if each.sparse or (operand in "AB" and each.a.type.name in ("int4", "uint4")):
                    continue
                yield matrix.layout(each, operand)


def bijective(layout: matrix.Layout) -> bool:
    """Whether every element has a place of its own, comes back from it, and no bit is left over."""
    seen = set()
    for element, place in layout:
        inside = place.low % 32
        back = layout.element(place.register + place.low // 32, place.lane, inside)
        if back != element:
            return False
        seen.add((place.register, place.lane, place.low))
    rows, columns, blocks = layout.shape
    bits = layout.instruction.wave * layout.registers * 32
    return len(seen) == rows * columns * blocks and len(seen) * layout.bits == bits


def triton_layouts() -> Pairs:
    """Elements by register and lane of gfx950's instructions, beside Triton's AMDMFMALayout version 4."""
    rows_ = list(table("triton_mfma_v4.csv"))
    return [pair for row in rows_ for each in triton_covers(row) for pair in _triton_layout(each, row)]


def triton_covers(row: dict[str, str]) -> list[matrix.Instruction]:
    """The dense one-block instructions of gfx950 that a row of Triton's bases describes."""
    table_ = matrix.matrix("gfx950")
    return [
        each
        for each in table_
        if not each.sparse and not each.scale and each.blocks == 1 and _same_shape(each, row)
    ]


def _triton_layout(each: matrix.Instruction, row: dict[str, str]) -> Iterator[tuple[Any, Any]]:
    """Every slot of every lane."""
    registers, lanes = _bases(row["registers"]), _bases(row["lanes"])
    # Of elements that share a byte the first is compared.
    packed = _packed(each, row)
    scale = {"A": (1, packed), "B": (packed, 1)}.get(row["operand"], (1, 1))
    layout = matrix.layout(each, row["operand"][0])
    for slot in range(2 ** len(registers)):
        first, bit = divmod(slot * packed * layout.bits, 32)
        for lane in range(64):
            found = layout.element(first, lane, bit)
            theirs = _sum(registers, slot, lanes, lane)
            yield (found.row, found.column), (theirs[0] * scale[0], theirs[1] * scale[1])


def _same_shape(of: matrix.Instruction, row: dict[str, str]) -> bool:
    """Whether a row's shape, operand and k width are those of an instruction. Triton has no FP6."""
    if (of.m, of.n) != (int(row["m"]), int(row["n"])):
        return False
    if row["operand"].startswith("D"):
        return of.k == int(row["k"]) and (of.d.type.bits == 64) == (row["operand"] == "D64")
    kind = _kind(of, row)
    depth = of.k // _packed(of, row)
    widest = 128 // max(kind.bits, 8)
    return (
        kind.bits != 6 and depth == int(row["k"]) and int(row["k_width"]) == min(depth * of.m // 64, widest)
    )


def _kind(of: matrix.Instruction, row: dict[str, str]) -> matrix.ElementType:
    return {"A": of.a, "B": of.b}.get(row["operand"], of.d).type


def _packed(of: matrix.Instruction, row: dict[str, str]) -> int:
    """Elements that share what Triton's layout counts: two FP4 a byte."""
    return 2 if _kind(of, row).bits == 4 else 1


def _bases(text: str) -> list[tuple[int, int]]:
    pairs = (base.split() for base in text.split(";") if base)
    return [(int(row), int(column)) for row, column in pairs]


def _sum(
    registers: list[tuple[int, int]], slot: int, lanes: list[tuple[int, int]], lane: int
) -> tuple[int, int]:
    """The element of a linear layout: the exclusive or of the bases of the set bits."""
    row = column = 0
    for bases, number in ((registers, slot), (lanes, lane)):
        for bit, base in enumerate(bases):
            if number >> bit & 1:
                row, column = row ^ base[0], column ^ base[1]
    return row, column


def mx_fragments() -> Pairs:
    """K at a register and bit of a lane of f8f6f4 operands, as AMD's blog and kernels load them."""
    pairs: Pairs = []
    for row in table("blog_fragments.csv"):
        name = f"v_mfma_f32_{row['shape']}_f8f6f4"
        kind = row["type"].split("/")[0]
        each = known("gfx950", name, kind, kind)
        register, lane, bit = int(row["register"]), int(row["lane"]), int(row["bit"])
        pairs.append((matrix.layout(each, "A").element(register, lane, bit).column, int(row["k"])))
        pairs.append((matrix.layout(each, "B").element(register, lane, bit).row, int(row["k"])))
    return pairs


def dumma_fragments() -> Pairs:
    """The n-th element of a lane's fragment, by the formulas of the vendor's header, on gfx938."""
    pairs: Pairs = []
    for row in table("dumma_fragments.csv"):
        each = next(
            each
            for each in (*matrix.matrix("gfx938"), *matrix.matrix("gfx936"))
            if each.a.type.name == row["type"] and each.k == int(row["k"])
        )
        layout = matrix.layout(each, row["operand"])
        register, bit = divmod(int(row["index"]) * layout.bits, 32)
        found = layout.element(register, int(row["lane"]), bit)
        pairs.append(((found.row, found.column), (int(row["row"]), int(row["column"]))))
    return pairs


def triton_dots() -> Pairs:
    """Instruction and k width of a dot beside what Triton compiled; None: not the kind that was asked."""
    return [(_options(row), _compiled(row)) for row in table("triton_dots.csv")]


def _compiled(row: dict[str, str]) -> tuple[str, int] | None:
    upcast = row["scaled"] == "1" and "scale" not in row["instruction"]
    return None if upcast else (row["instruction"], int(row["k_width"]))


def _options(row: dict[str, str]) -> tuple[str, int] | None:
    try:
        found = _translated(row)
    except matrix.Refused:
        return None
    # Triton counts bytes of packed FP4.
    width = found.k_width // 2 if found.instruction.a.type.name == "fp4" else found.k_width
    return found.instruction.name, width


def _translated(row: dict[str, str]) -> matrix.TritonOptions:
    return matrix.triton_options(
        row["target"],
        row["a"],
        row["b"],
        block_m=int(row["block"]),
        block_n=int(row["block"]),
        block_k=int(row["block_k"]),
        nonkdim=int(row["nonkdim"]),
        kpack=int(row["kpack"]),
        warps=int(row["warps"]),
        scaled=row["scaled"] == "1",
    )


def cycles() -> Pairs:
    """Cycles and FLOPs of a CU's clock, beside AMD's blogs and calculator."""
    pairs: Pairs = []
    for row in table("mfma_cycles_cdna.csv"):
        target = {"CDNA1/2": "gfx90a", "CDNA3": "gfx942", "CDNA4": "gfx950"}[row["arch"]]
        name, _, formats = row["instruction"].partition(" ")
        kinds = {"(fp4/fp6)": [("fp4", "fp4"), ("fp6", "fp6"), ("fp4", "fp6")],
                 "(any fp8)": [("fp8", "fp8"), ("fp8", "fp4"), ("fp6", "fp8")]}  # fmt: skip
        for a, b in kinds.get(formats, [(None, None)]):
            each = known(target, name, a, b)
            ours = each.flops, each.cycles, each.flops_per_clock_cu
            pairs.append(
                (
                    ours,
                    tuple(
                        int(row[key]) for key in ("flops_per_inst", "cycles_per_inst", "flops_per_cu_per_clk")
                    ),
                )
            )
    return pairs


def published() -> Pairs:
    """Our peak in TFLOP/s beside the published one, and how far it may be off (measured: below ours)."""
    return [(_peak(row), row) for row in table("published_peaks.csv")]


def _peak(row: dict[str, str]) -> float:
    return matrix.peak(row["chip"], row["type"], path=row["unit_path"]).flops / 1e12


def agrees(ours: float, row: dict[str, str]) -> bool:
    """Published: within 0.5 % or half the last printed digit; measured: never above our peak."""
    theirs = float(row["tflops"])
    if row["source"].startswith("measured"):
        return theirs <= ours
    return abs(ours - theirs) <= max(0.005 * theirs, half_digit(row))


def half_digit(row: dict[str, str]) -> float:
    """Half the last digit as printed, in TFLOP/s (`printed as 2.5 P`: 50)."""
    printed, _, unit = row["source"].partition("printed as ")[2].rstrip(")").partition(" ")
    text, scale = (printed, 1000) if unit == "P" else (row["tflops"], 1)
    decimals = len(text.partition(".")[2])
    return float(scale * 10**-decimals / 2)


def sustained() -> Pairs:
    """Efficiency at the clock the chip held, beside the one published with it."""
    return [
        (
            round(float(row["TFLOPS"]) * 1e12 / _at(row), 3),
            float(row["efficiency_at_that_clock"]),
        )
        for row in table("max_achievable_flops.csv")
    ]


def _at(row: dict[str, str]) -> float:
    return matrix.peak(row["gpu"], row["dtype"], clock_mhz=float(row["median_MHz"])).flops


def equal(pairs: Pairs) -> tuple[int, int]:
    """How many pairs are equal, of how many."""
    return sum(ours == theirs for ours, theirs in pairs), len(pairs)


def rows() -> list[tuple[str, int, int, str]]:
    """One line an oracle: name, equal, total, and what the rest is."""
    found: list[tuple[str, int, int, str]] = []
    for target in matrix_tables.TARGETS:
        counts, differences = llvm(target)
        for what, (same, total) in counts.items():
            reasons = sorted({each.reason or "UNEXPLAINED" for each in differences if each.what == what})
            note = "; ".join(reasons) if total else "llvm-mca does not model them"
            label = {"name": "instructions that LLVM 22 and the table both have"}.get(
                what, f"{what} as LLVM 22"
            )
            found.append((f"{target} {label}", same, total, note))
    laid = list(laid_out())
    close = [agrees(ours, row) for ours, row in published()]
    found += [
        ("spellings LLVM 22 assembles, resolved", *equal(spellings()), ""),
        ("elements where AMD's calculator puts them", *equal(calculator()), ""),
        ("layouts that are bijections", sum(map(bijective, laid)), len(laid), "A, B, C, D; dense MFMA, MMAC"),
        ("elements where Triton's AMDMFMALayout v4 puts them", *equal(triton_layouts()), "gfx950"),
        ("places in f8f6f4 operands as AMD loads them", *equal(mx_fragments()), "gfx950"),
        ("places in MMAC fragments as the vendor's header", *equal(dumma_fragments()), ""),
        ("dots for which Triton takes the same instruction and k width", *equal(triton_dots()), ""),
        ("cycles and rates as AMD prints them", *equal(cycles()), ""),
        ("peaks as published, or not below a measured one", sum(close), len(close), "0.5 % or half a digit"),
        ("efficiency at the sustained clock", *equal(sustained()), "to 0.001"),
    ]
    return found


def tables_missing() -> list[str]:
    """Targets that the matrix room says nothing of, not even that it does not know."""
    from wavefit.matrix.read import rows as table_rows

    said = {row["target"] for row in table_rows("targets")}
    return [each.id for each in targets() if each.id not in said]
