"""Register layouts against AMD's calculator, Triton, AMD's kernels and Hygon's header; and as bijections."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import accuracy_matrix as oracle
from wavefit import matrix

LAYOUTS = list(oracle.laid_out())
"""A, B, C, D of every dense MFMA and MMAC."""


def wrong(pairs):
    return [pair for pair in pairs if pair[0] != pair[1]]


def test_every_element_is_where_amds_calculator_puts_it():
    pairs = oracle.calculator()
    assert len(pairs) == 102_144
    assert wrong(pairs) == []


def test_every_dense_mfma_of_the_calculator_and_no_other_is_in_the_tables():
    ours = {
        (target, each.name)
        for target in ("gfx908", "gfx90a", "gfx942")
        for each in matrix.matrix(target)
        if not each.sparse
    }
    assert ours == {(row["target"], row["instruction"]) for row in oracle.table("mfma_layouts.csv.gz")}


def test_gfx950_elements_are_where_tritons_mfma_layout_puts_them():
    pairs = oracle.triton_layouts()
    assert len(pairs) > 80_000
    assert wrong(pairs) == []


def test_triton_covers_every_operand_of_gfx950_but_fp6_and_multi_block():
    covered = {
        (each.name, each.types, row["operand"][0])
        for row in oracle.table("triton_mfma_v4.csv")
        for each in oracle.triton_covers(row)
    }
    for each in matrix.matrix("gfx950"):
        if each.sparse or each.scale or each.blocks > 1:
            continue
        for operand, holder in (("A", each.a), ("B", each.b), ("D", each.d)):
            assert holder.type.bits == 6 or (each.name, each.types, operand) in covered, (each.name, operand)


def test_f8f6f4_operands_are_as_amds_blog_and_kernels_load_them():
    pairs = oracle.mx_fragments()
    assert len(pairs) > 100
    assert wrong(pairs) == []


def test_mmac_fragments_are_those_of_the_vendors_header():
    pairs = oracle.dumma_fragments()
    assert len(pairs) > 400
    assert wrong(pairs) == []


@pytest.mark.parametrize(
    "target", ["gfx908", "gfx90a", "gfx942", "gfx950", "gfx926", "gfx928", "gfx936", "gfx938"]
)
def test_every_layout_is_a_bijection(target):
    layouts = [each for each in LAYOUTS if each.instruction.target == target]
    assert layouts
    assert [
        f"{each.operand} of {each.instruction.name}" for each in layouts if not oracle.bijective(each)
    ] == []


@given(st.sampled_from(LAYOUTS), st.data())
def test_any_bit_of_any_register_belongs_to_the_element_that_is_placed_there(layout, data):
    register = data.draw(st.integers(0, layout.registers - 1))
    lane = data.draw(st.integers(0, layout.instruction.wave - 1))
    bit = data.draw(st.integers(0, 31))
    element = layout.element(register, lane, bit)
    place = layout.place(element.row, element.column, element.block)
    assert place.lane == lane
    assert place.low <= (register - place.register) * 32 + bit <= place.high


@given(st.sampled_from(LAYOUTS), st.data())
def test_an_operand_fills_the_registers_its_instruction_has(layout, data):
    assert layout.registers == layout.instruction.operand(layout.operand).registers
    rows, columns, blocks = layout.shape
    outside = data.draw(st.sampled_from([(rows, 0, 0), (0, columns, 0), (0, 0, blocks), (-1, 0, 0)]))
    with pytest.raises(matrix.Refused, match=r"has \d+ (row|column|block)s"):
        layout.place(*outside)


def test_statuses_tell_printed_layouts_from_derived_ones():
    def status(target, name, operand):
        return matrix.layout(matrix.instruction(target, name), operand).fact.status

    assert status("gfx942", "v_mfma_f32_32x32x8_f16", "A") == "documented"
    assert status("gfx950", "v_mfma_f32_32x32x16_f16", "A") == "derived"
    assert status("gfx950", "v_mfma_f32_32x32x64_f8f6f4", "A") == "derived"
    assert status("gfx936", "v_mmac_f32_16x16x16_f16", "D") == "documented"


@pytest.mark.parametrize(
    ("target", "name", "operand", "reason"),
    [
        ("gfx942", "v_smfmac_f32_16x16x32_f16", "A", "dense MFMA and MMAC only"),
        ("gfx1100", "v_wmma_f32_16x16x16_f16", "D", "dense MFMA and MMAC only"),
        ("gfx936", "v_mmac_i32_16x16x64_i4", "A", "two values in a byte"),
        ("gfx942", "v_mfma_f32_32x32x8_f16", "E", "no operand 'E'"),
    ],
)
def test_unknown_layouts_are_refused_with_the_reason(target, name, operand, reason):
    with pytest.raises(matrix.Refused, match=reason):
        matrix.layout(matrix.instruction(target, name), operand)


def test_registers_and_lanes_outside_an_operand_are_refused():
    layout = matrix.layout(matrix.instruction("gfx942", "v_mfma_f32_32x32x8_f16"), "D")
    for asked in ((16, 0, 0), (0, 64, 0), (0, 0, 32), (-1, 0, 0)):
        with pytest.raises(matrix.Refused, match="fills 16 registers of 64 lanes"):
            layout.element(*asked)
