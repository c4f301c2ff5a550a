"""Matrix instructions, peaks, layouts and tile choices as text, CSV, SVG and JSON-able documents."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

from wavefit.chips.model import Fact, Number
from wavefit.matrix import WAITS, Instruction, Layout, PackedFp32, Peak, Place, TileChoice

Json = dict[str, Any]

COLUMNS = (
    "name", "target", "family", "unit", "wave", "waves", "a", "b", "c", "d", "m", "n", "k", "blocks",
    "a_registers", "b_registers", "c_registers", "d_registers", "passes", "cycles", "latency", "coexec",
    "flops", "flops_per_clock_cu", "sparse", "scale", "notes",
)  # fmt: skip
"""Keys of an instruction in CSV and in documents."""


def document(
    name: str,
    instructions: Iterable[Instruction],
    peaks: Iterable[Peak] = (),
    packed: PackedFp32 | None = None,
) -> Json:
    """The document `wavefit.matrix/1` of a chip or target: instructions, peaks, packed FP32, with sources."""
    return {
        "schema": "wavefit.matrix/1",
        "chip": name,
        "instructions": [instruction_json(each) for each in instructions],
        "peaks": [peak_json(each) for each in peaks],
        "packed_fp32": None if packed is None else packed_json(packed),
    }


def instruction_json(of: Instruction) -> Json:
    """One instruction: its fields, wait states, and the Fact behind each number."""
    return {
        **_fields(of),
        "notes": list(of.notes),
        "waits": dict(of.waits),
        "facts": {key: asdict(fact) for key, fact in of.facts.items()},
    }


def peak_json(of: Peak) -> Json:
    """One peak: FLOP/s, the product it is, and the Fact behind each factor."""
    return {
        "chip": of.chip,
        "type": of.rate.type,
        "path": of.rate.path,
        "sparse": of.rate.sparse,
        "flops": of.flops,
        "flops_per_clock_cu": of.rate.value,
        "cus": of.cus,
        "clock_mhz": of.clock_mhz,
        "instruction": of.rate.instruction,
        "note": of.rate.note,
        "status": of.status,
        "facts": {key: asdict(fact) for key, fact in of.facts.items()},
    }


def packed_json(of: PackedFp32) -> Json:
    """Packed FP32: the instruction, and the three rates side by side."""
    keys = ("target", "instruction", "packed", "plain", "matrix", "note")
    return {key: getattr(of, key) for key in keys}


def instructions_csv(instructions: Iterable[Instruction]) -> str:
    """Instructions as CSV with a header; empty is not known."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for each in instructions:
        writer.writerow({**_fields(each), "notes": "; ".join(each.notes)})
    return out.getvalue()


def instructions_text(instructions: Iterable[Instruction]) -> str:
    """One line an instruction: types, shape, registers per lane, cycles, rate, and what to know of it."""
    header = ("instruction", "A x B -> D", "M x N x K", "registers A B C D", "cycles", "FLOP/clk/CU", "")
    rows = [
        (
            each.name,
            f"{each.types} -> {each.d.type.name}",
            each.shape,
            " ".join(str(operand.registers) for operand in (each.a, each.b, each.c, each.d)),
            _known(each.cycles),
            _known(each.flops_per_clock_cu),
            "; ".join((*_marks(each), *each.notes)),
        )
        for each in instructions
    ]
    return _columns([header, *rows])


def instruction_text(of: Instruction) -> str:
    """Everything about one instruction, each number with who says it."""
    kind = ", ".join(_marks(of)) or "dense"
    lines = [
        f"{of.name}: {of.target}, {of.types} -> {of.d.type.name}, {of.shape}, {kind}",
        *of.notes,
        f"  issued by {of.waves} wave{'s' if of.waves > 1 else ''} of {of.wave} lanes on the {of.unit} unit",
        f"  {of.flops} FLOPs, {_known(of.flops_per_clock_cu)} a clock a CU",
        *(_says(key, fact) for key, fact in of.facts.items() if key != "waits"),
    ]
    if of.waits:
        lines.append("  wait states (issue slots) before")
        lines += [f"    {wait:>3}  {WAITS[then]}" for then, wait in of.waits.items()]
        lines.append(f"    [{of.facts['waits'].status}] {of.facts['waits'].source}")
    return "\n".join(lines)


def peaks_text(peaks: Iterable[Peak]) -> str:
    """One line a peak: type, path, TFLOP/s, the product, the instruction, and how firm the rate is."""
    rows = [
        (
            f"{each.rate.type}{' 4:2' if each.rate.sparse else ''}",
            each.rate.path,
            f"{each.flops / 1e12:.1f} T{'OP' if each.rate.type.startswith('int') else 'FLOP'}/s",
            each.arithmetic,
            each.rate.instruction or "",
            f"[{each.status}]{f' {each.rate.note}' if each.rate.note else ''}",
        )
        for each in peaks
    ]
    return _columns(rows)


def packed_text(of: PackedFp32) -> str:
    """What FP32 multiply-adds a target has, and that the type does not choose among them."""
    what = f"{of.instruction}, two FP32 results a lane" if of.instruction else "no packed FP32 FMA is known"
    rates = f"packed {_known(of.packed)}, plain {_known(of.plain)}, matrix {_known(of.matrix)} FLOP/clk/CU"
    return f"{of.target}: {what}; {rates}\n{of.note}"


def tile_text(choices: Sequence[TileChoice]) -> str:
    """One line an instruction that serves the tile: how it is shared, issued, held, and what is wasted."""
    if not choices:
        return "no instruction serves this tile"
    m, n, k = choices[0].block
    header = (
        "instruction",
        "waves M x N",
        "a wave",
        "issues a step",
        "cycles",
        "acc regs",
        "A+B regs",
        "waste",
    )
    rows = [
        (
            each.instruction.name,
            f"{each.split[0]} x {each.split[1]}",
            f"{each.wave_tile[0]} x {each.wave_tile[1]}",
            str(each.issues),
            _known(each.cycles),
            str(each.accumulators),
            str(each.operands),
            f"{each.waste:.1%}",
        )
        for each in choices
    ]
    return f"{m} x {n} tile, {k} a step, {choices[0].warps} waves\n{_columns([header, *rows])}"


def layout_json(of: Layout) -> Json:
    """The document `wavefit.layout/1`: every element of one operand with its place."""
    return {
        "schema": "wavefit.layout/1",
        "instruction": of.instruction.name,
        "target": of.instruction.target,
        "operand": of.operand,
        "bits": of.bits,
        "shape": list(of.shape),
        "fact": asdict(of.fact),
        "elements": [{**asdict(element), **asdict(place)} for element, place in of],
    }


def layout_csv(of: Layout) -> str:
    """Every element with its place: block, row, column, register (`1-0` where it takes two), lane, bits."""
    lines = ["block,row,column,register,lane,bit_low,bit_high"]
    for element, place in of:
        where = f"{_register(place)},{place.lane},{place.low},{place.high}"
        lines.append(f"{element.block},{element.row},{element.column},{where}")
    return "\n".join(lines) + "\n"


def layout_text(of: Layout) -> str:
    """A grid a block: each cell is register.lane; elements narrower than a register show their first bit."""
    rows, columns, blocks = of.shape
    lines = [*_title(of)]
    for block in range(blocks):
        grid = [["", *(str(column) for column in range(columns))]]
        for row in range(rows):
            places = (of.place(row, column, block) for column in range(columns))
            grid.append([str(row), *(_cell(place, of.bits) for place in places)])
        lines += [f"block {block}" if blocks > 1 else "", _columns(grid)]
    return "\n".join(lines)


def layout_svg(of: Layout) -> str:
    """A picture of a layout: a grid a block, hue by lane, shade by register, `register.lane` in each cell."""
    rows, columns, blocks = of.shape
    width = 6 * max(len(_cell(place, of.bits)) for _, place in of) + 6
    height, head, title = 20, 40, _title(of)
    across = max((columns + 1) * width, *(7 * len(line) for line in title))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{across}" '
        f'height="{head + blocks * (rows + 1) * height + 10}" font-family="monospace" font-size="9">',
        f"<title>{escape(title[0])}</title>",
        *(
            f'<text x="4" y="{15 * (n + 1)}" font-size="11">{escape(line)}</text>'
            for n, line in enumerate(title)
        ),
    ]
    for block in range(blocks):
        top = head + block * (rows + 1) * height
        for column in range(columns):
            parts.append(f'<text x="{(column + 1) * width + 4}" y="{top + 13}">{column}</text>')
        for row in range(rows):
            y = top + (row + 1) * height
            parts.append(f'<text x="4" y="{y + 13}">{f"{block}: " if blocks > 1 else ""}{row}</text>')
            for column in range(columns):
                place = of.place(row, column, block)
                parts.append(_box(place, of, (column + 1) * width, y, width, height))
    return "\n".join([*parts, "</svg>\n"])


def _box(place: Place, of: Layout, x: int, y: int, width: int, height: int) -> str:
    hue = 360 * place.lane // of.instruction.wave
    light = 88 - 34 * place.register // max(of.registers, 1)
    colour = f"hsl({hue},60%,{light}%)"
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colour}" stroke="white"/>'
        f'<text x="{x + 3}" y="{y + 13}">{_cell(place, of.bits)}</text>'
    )


def _title(of: Layout) -> tuple[str, str]:
    """What is shown, and who says so."""
    rows, columns, _ = of.shape
    what = f"{of.operand} of {of.instruction.name} ({of.instruction.target}), {rows} x {columns}"
    cells = f"cells are register.lane{'[first bit]' if of.bits < 32 else ''}"
    return f"{what}, {of.registers} registers a lane; {cells}", f"[{of.fact.status}] {of.fact.source}"


def _cell(place: Place, bits: int) -> str:
    return f"{_register(place)}.{place.lane}{f'[{place.low}]' if bits < 32 else ''}"


def _register(place: Place) -> str:
    first, last = place.register, place.last_register
    return str(first) if first == last else f"{last}-{first}"


def _fields(of: Instruction) -> Json:
    operands = {letter.lower(): of.operand(letter) for letter in "ABCD"}
    return {
        **{key: getattr(of, key) for key in COLUMNS if hasattr(of, key)},
        **{key: operand.type.name for key, operand in operands.items()},
        **{f"{key}_registers": operand.registers for key, operand in operands.items()},
    }


def _marks(of: Instruction) -> tuple[str, ...]:
    """Words that set an instruction apart: sparse, scaled, wave size where it is not the usual 64."""
    scaled = f"scaled by {of.scale}" if of.scale else ""
    return tuple(
        filter(None, ("4:2 sparse" if of.sparse else "", scaled, f"wave{of.wave}" if of.wave != 64 else ""))
    )


def _says(key: str, fact: Fact) -> str:
    value = " ".join(map(str, fact.value)) if isinstance(fact.value, tuple) else _known(fact.value)
    return f"  {key:<10}{value}{f' {fact.unit}' if fact.unit else ''}  [{fact.status}] {fact.source}"


def _known(value: Number | str | None) -> str:
    return "unknown" if value is None else f"{value}"


def _columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows as text in columns, each as wide as its widest cell."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))] if rows else []
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
