"""Faces of the matrix room: what they print says what the results hold."""

import csv
import io
import json
from xml.etree import ElementTree

import pytest

from wavefit import matrix
from wavefit.report import matrix as report


@pytest.mark.parametrize("chip", ["MI355X", "BW1000", "H200", "gfx1201"])
def test_csv_and_document_hold_the_same_numbers(chip):
    table = matrix.matrix(chip)
    rows = list(csv.DictReader(io.StringIO(report.instructions_csv(table))))
    document = json.loads(json.dumps(report.document(chip, table)))
    assert document["schema"] == "wavefit.matrix/1"
    assert len(rows) == len(document["instructions"]) == len(table)
    for row, entry, each in zip(rows, document["instructions"], table, strict=True):
        assert row["name"] == entry["name"] == each.name
        assert row["cycles"] == ("" if each.cycles is None else str(each.cycles))
        assert entry["flops_per_clock_cu"] == each.flops_per_clock_cu
        assert entry["facts"]["cycles"]["status"] == each.facts["cycles"].status


def test_text_prints_the_half_rate_note_and_unknown_cycles():
    text = report.instructions_text(matrix.matrix("MI355X", type="fp16"))
    lines = text.splitlines()
    at = next(at for at, line in enumerate(lines) if line.strip().startswith("v_mfma_f32_16x16x16_f16"))
    assert "half the rate of" in lines[at + 1]
    assert "unknown" in report.instructions_text(matrix.matrix("gfx928"))


def test_one_instruction_prints_each_source_and_wait_state():
    each = matrix.instruction("MI355X", "v_mfma_f32_32x32x64_f8f6f4")
    text = " ".join(report.instruction_text(each).split())
    assert all(fact.source in text for fact in each.facts.values())
    assert all(matrix.WAITS[then] in text for then in each.waits)


def test_peaks_print_in_tera_with_the_arithmetic():
    text = report.peaks_text(matrix.peaks("MI355X"))
    assert "5033.2 TFLOP/s" in text
    assert "8192 a clock a CU x 256 CUs x 2400 MHz" in text
    assert "TOP/s" in next(line for line in text.splitlines() if line.startswith("int8"))
    document = report.document("MI355X", (), matrix.peaks("MI355X"), matrix.packed_fp32("MI355X"))
    assert {entry["type"]: entry["flops"] for entry in document["peaks"] if entry["path"] == "vector"} == {
        "fp64": 256 * 128 * 2400e6,
        "fp32": 256 * 256 * 2400e6,
    }


def test_a_layout_csv_comes_back_as_the_layout():
    layout = matrix.layout(matrix.instruction("gfx942", "v_mfma_f64_16x16x4_f64"), "D")
    rows = list(csv.DictReader(io.StringIO(report.layout_csv(layout))))
    assert len(rows) == 256
    for row in rows:
        first = int(row["register"].split("-")[-1])
        found = layout.element(first, int(row["lane"]), int(row["bit_low"]))
        assert (found.row, found.column) == (int(row["row"]), int(row["column"]))


@pytest.mark.parametrize(
    ("target", "name", "operand", "cells"),
    [
        ("gfx942", "v_mfma_f32_32x32x8_f16", "D", 1024),
        ("gfx90a", "v_mfma_f32_4x4x4f16", "D", 256),
        ("gfx950", "v_mfma_f32_16x16x128_f8f6f4", "A", 2048),
        ("gfx936", "v_mmac_f32_16x16x16_f16", "D", 256),
    ],
)
def test_the_picture_is_well_formed_and_has_a_cell_an_element(target, name, operand, cells):
    layout = matrix.layout(matrix.instruction(target, name), operand)
    picture = ElementTree.fromstring(report.layout_svg(layout))
    boxes = [each for each in picture.iter() if each.tag.endswith("rect")]
    assert len(boxes) == cells
    width, height = (float(picture.get(key)) for key in ("width", "height"))
    assert all(float(box.get("x")) + float(box.get("width")) <= width for box in boxes)
    assert all(float(box.get("y")) + float(box.get("height")) <= height for box in boxes)


def test_the_grid_shows_register_and_lane_of_each_element():
    layout = matrix.layout(matrix.instruction("gfx936", "v_mmac_f32_16x16x16_f16"), "D")
    lines = report.layout_text(layout).splitlines()
    last = lines[-1].split()
    assert last[0] == "15"
    # Row 15, column 15: lane 15 + 16 * 3, register 3, as the vendor's header has it.
    assert last[-1] == "3.63"


def test_tiles_and_packed_fp32_print_their_numbers():
    text = report.tile_text(matrix.tile("gfx936", "fp16", block_m=128, block_n=128, block_k=32, warps=4))
    assert "v_mmac_f32_16x16x16_f16" in text
    assert " 64 " in text
    assert report.tile_text(()) == "no instruction serves this tile"
    packed = report.packed_text(matrix.packed_fp32("BW1000"))
    assert "packed 256, plain 128, matrix 512" in packed
    assert "no packed FP32 FMA is known" in report.packed_text(matrix.packed_fp32("gfx908"))
