"""Matrix instructions, peaks, layouts and tile choices as text, CSV, SVG and JSON-able documents."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from html import escape
from itertools import groupby
from typing import Any

from wavefit.chips.model import Number
from wavefit.matrix import WAITS, Instruction, Layout, PackedFp32, Peak, Place, TileChoice
from wavefit.report.language import counted, retold, say
from wavefit.report.paint import paint
from wavefit.report.text import says, value_text
from wavefit.report.wrap import WIDTH, beside, hung, pad, table

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
    """By types, one line an instruction: shape, registers a lane, cycles, rate; what to know of it below."""
    found = list(instructions)
    heads = ("instruction", "M x N x K", "A B C D", "cycles", "FLOP/clk/CU")
    rows = [tuple(map(say, heads)), *(_row(each) for each in found)]
    lines = table(rows, "<<<>>", indent=2, gap=2)
    parts = [paint(lines[0], "quiet")]
    for types, group in groupby(zip(found, lines[1:], strict=True), key=lambda pair: _types(pair[0])):
        parts.append(paint(types, "strong"))
        for each, line in group:
            parts += beside(line, "; ".join((*_marks(each), *map(retold, each.notes))))
    legend = "A B C D: registers a lane of each operand; x2 after a shape: so many blocks at once"
    return "\n".join([*parts, *hung("", say(legend))])


def _row(of: Instruction) -> tuple[str, ...]:
    registers = " ".join(str(operand.registers) for operand in (of.a, of.b, of.c, of.d))
    return (
        of.name,
        of.shape.removesuffix(" blocks"),
        registers,
        _known(of.cycles),
        _known(of.flops_per_clock_cu),
    )


def _types(of: Instruction) -> str:
    return f"{of.types} -> {of.d.type.name}"


def instruction_text(of: Instruction) -> str:
    """Everything about one instruction, each number with who says it."""
    kind = ", ".join(_marks(of)) or say("dense")
    issued = say(
        "issued by {waves} of {lanes} lanes on the {unit} unit",
        waves=counted(of.waves, "wave"), lanes=of.wave, unit=of.unit,
    )  # fmt: skip
    rate = say("{flops} FLOPs, {rate} a clock a CU", flops=of.flops, rate=_known(of.flops_per_clock_cu))
    lines = [
        paint(line, "strong")
        for line in hung(f"{of.name}: ", f"{of.target}, {_types(of)}, {of.shape}, {kind}", hang=2)
    ]
    for note in of.notes:
        lines += hung("  ", retold(note))
    lines += [*hung("  ", issued), *hung("  ", rate)]
    for key, fact in of.facts.items():
        if key != "waits":
            lines += hung(f"  {pad(say(key), 10)} ", f"{value_text(fact)} {says(fact)}")
    if of.waits:
        lines.append("  " + say("wait states (issue slots) before"))
        for then, wait in of.waits.items():
            lines += hung(f"    {wait:>3}  ", retold(WAITS[then]))
        lines += hung("    ", says(of.facts["waits"]))
    return "\n".join(lines)


def peaks_text(peaks: Iterable[Peak]) -> str:
    """One line a peak: type, path, TFLOP/s, the product; how firm it is and by which instruction, below."""
    known = list(peaks)
    rows = [
        (
            f"{each.rate.type}{' 4:2' if each.rate.sparse else ''}",
            each.rate.path,
            f"{each.flops / 1e12:.1f} T{'OP' if each.rate.type.startswith('int') else 'FLOP'}/s",
            retold(each.arithmetic),
        )
        for each in known
    ]
    lines = []
    for each, line in zip(known, table(rows, "<<><", indent=0, gap=2), strict=True):
        about = "; ".join(filter(None, (each.rate.instruction, retold(each.rate.note))))
        lines += beside(line, f"[{say(each.status)}] {about}")
    return "\n".join(lines)


def packed_text(of: PackedFp32) -> str:
    """What FP32 multiply-adds a target has, and that the type does not choose among them."""
    what = say("no packed FP32 FMA is known")
    if of.instruction:
        what = say("{instruction}, two FP32 results a lane", instruction=of.instruction)
    text = say(
        "{what}; packed {packed}, plain {plain}, matrix {matrix} FLOP/clk/CU", what=what,
        packed=_known(of.packed), plain=_known(of.plain), matrix=_known(of.matrix),
    )  # fmt: skip
    return "\n".join([*hung(f"{of.target}: ", text, hang=2), *hung("  ", retold(of.note))])


def tile_text(choices: Sequence[TileChoice]) -> str:
    """One line an instruction that serves the tile: how it is shared, issued, held, and what is wasted."""
    if not choices:
        return say("no instruction serves this tile")
    m, n, k = choices[0].block
    heads = (
        "instruction", "waves M x N", "a wave", "issues a step", "cycles", "acc regs", "A+B regs", "waste",
    )  # fmt: skip
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
    title = say("{m} x {n} tile, {k} a step, {warps} waves", m=m, n=n, k=k, warps=choices[0].warps)
    return "\n".join([title, *table([tuple(map(say, heads)), *rows], "<<<>>>>>", indent=0, gap=2)])


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
    """A grid a block: each cell is register.lane; elements narrower than a register show their first bit.

    A grid wider than the terminal is cut into bands of columns.
    """
    rows, columns, blocks = of.shape
    lines = [line for text in _title(of) for line in hung("", text)]
    widest = max(len(_cell(place, of.bits)) for _, place in of)
    band = max(1, (WIDTH - len(str(rows))) // (max(widest, len(str(columns))) + 2))
    for block in range(blocks):
        lines += [say("block {block}", block=block) if blocks > 1 else ""]
        for first in range(0, columns, band):
            shown = range(first, min(first + band, columns))
            grid = [["", *map(str, shown)]]
            for row in range(rows):
                places = (of.place(row, column, block) for column in shown)
                grid.append([str(row), *(_cell(place, of.bits) for place in places)])
            lines += [""] * bool(first) + table(grid, "<" * len(grid[0]), indent=0, gap=2)
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
    text = say(
        "{operand} of {name} ({target}), {rows} x {columns}, {registers} registers a lane; cells are {cells}",
        operand=of.operand, name=of.instruction.name, target=of.instruction.target, rows=rows,
        columns=columns, registers=of.registers,
        cells=say("register.lane[first bit]" if of.bits < 32 else "register.lane"),
    )  # fmt: skip
    return text, says(of.fact)


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
    scaled = say("scaled by {scale}", scale=of.scale) if of.scale else ""
    sparse = say("4:2 sparse") if of.sparse else ""
    return tuple(filter(None, (sparse, scaled, f"wave{of.wave}" if of.wave != 64 else "")))


def _known(value: Number | str | None) -> str:
    return say("unknown") if value is None else f"{value:g}" if isinstance(value, float) else f"{value}"
