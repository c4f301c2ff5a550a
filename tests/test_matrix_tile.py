"""Which instruction serves a tile, and Triton's options, against what Triton compiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import accuracy_matrix as oracle
from wavefit import matrix


def test_128x128_on_four_waves_of_gfx936_holds_64_accumulators():
    # 128 * 128 / 256 lanes, hygon.md.
    (choice,) = matrix.tile("gfx936", "fp16", block_m=128, block_n=128, block_k=32, warps=4)
    assert (choice.accumulators, choice.issues, choice.waste) == (64, 32, 0.0)
    assert matrix.tile("gfx936", "fp16", block_m=128, block_n=128, block_k=32, warps=8)[0].accumulators == 32
    assert matrix.tile("gfx936", "fp16", block_m=256, block_n=128, block_k=32, warps=4)[0].accumulators == 128


def test_gfx950_takes_the_full_rate_instruction_first():
    choices = matrix.tile("MI355X", "fp8", block_m=256, block_n=256, block_k=128, warps=8)
    assert [each.instruction.flops_per_clock_cu for each in choices] == [8192, 8192, 4096, 4096]
    assert all(each.instruction.scale is None for each in choices)
    scaled = matrix.tile("MI355X", "fp8", "fp4", block_m=256, block_n=256, block_k=128, warps=8, scaled=True)
    assert {each.instruction.scale for each in scaled} == {32}


def test_the_remainder_of_a_tile_is_computed_and_wasted():
    (choice,) = matrix.tile("gfx936", "fp16", block_m=100, block_n=64, block_k=24, warps=4)
    assert choice.remainder == (12, 0, 8)
    assert choice.waste == pytest.approx(1 - 100 * 64 * 24 / (112 * 64 * 32))


def test_a_warpgroup_instruction_needs_whole_warpgroups():
    best = matrix.tile("H200", "bf16", block_m=128, block_n=256, block_k=64, warps=8)[0]
    assert best.instruction.name == "wgmma.m64n256k16.bf16"
    assert (best.split, best.accumulators) == ((2, 1), 128)
    few = matrix.tile("H200", "bf16", block_m=64, block_n=64, block_k=16, warps=2)
    assert {each.instruction.family for each in few} == {"mma"}


def test_accumulators_are_the_widest_unless_asked():
    default = matrix.tile("gfx1201", "fp16", block_m=64, block_n=64, block_k=32, warps=4)
    assert {each.instruction.d.type.name for each in default} == {"fp32"}
    narrow = matrix.tile("gfx1201", "fp16", block_m=64, block_n=64, block_k=32, warps=4, accumulate="fp16")
    assert {each.instruction.d.type.name for each in narrow} == {"fp16"}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"warps": 0}, "warps 0: must be positive"),
        ({"block_k": -1}, "block_k -1: must be positive"),
        ({"nonkdim": 4}, "no 4x4 fp16 instruction"),
        ({"split": (3, 1)}, "for 4 waves split 3 x 1"),
    ],
)
def test_tiles_that_cannot_be_are_refused(options, says):
    with pytest.raises(matrix.Refused, match=says):
        matrix.tile("MI300X", "fp16", **{"block_m": 64, "block_n": 64, "block_k": 32, "warps": 4, **options})


@given(
    st.sampled_from(["gfx90a", "gfx942", "gfx950", "gfx936", "gfx1100", "gfx1201"]),
    st.integers(1, 300),
    st.integers(1, 300),
    st.integers(1, 200),
    st.sampled_from([1, 2, 4, 8, 16]),
)
def test_every_choice_covers_the_tile_and_counts_add_up(target, m, n, k, warps):
    for each in matrix.tile(target, "fp16", block_m=m, block_n=n, block_k=k, warps=warps):
        assert min(each.remainder) >= 0
        assert each.split[0] * each.split[1] == warps
        issued = each.issues * warps * each.instruction.flops
        assert issued * (1 - each.waste) == pytest.approx(2 * m * n * k)
        # A wave's result in registers, neither more nor less: one element of 32 bits a register and lane.
        assert each.accumulators * each.instruction.wave == each.wave_tile[0] * each.wave_tile[1]


def test_the_chosen_split_wastes_least_of_all_splits():
    best = matrix.tile("MI300X", "fp16", block_m=96, block_n=160, block_k=32, warps=8)[0]
    for across in (1, 2, 4, 8):
        other = matrix.tile(
            "MI300X", "fp16", block_m=96, block_n=160, block_k=32, warps=8, split=(across, 8 // across)
        )
        same = next(each for each in other if each.instruction == best.instruction)
        assert best.waste <= same.waste


def test_dots_become_the_instruction_and_k_width_that_triton_compiled():
    pairs = oracle.triton_dots()
    assert len(pairs) > 300
    assert [pair for pair in pairs if pair[0] != pair[1]] == []


@pytest.mark.parametrize(
    ("target", "options", "says"),
    [
        ("gfx1100", {"nonkdim": 16}, "matrix_instr_nonkdim=16 on gfx1100: the option does not apply"),
        ("gfx1201", {"kpack": 2}, "kpack=2 on gfx1201: the option does not apply"),
        ("gfx936", {"nonkdim": 32}, "matrix_instr_nonkdim=32 on gfx936: only 16"),
        ("gfx950", {"kpack": 2}, "kpack=2 on gfx950: only 1"),
        ("gfx942", {"nonkdim": 64}, "only 16 or 32"),
        ("H200", {}, "options of Triton's AMD backend"),
        ("gfx942", {"block_k": 4}, "block_k 4 is no multiple"),
    ],
)
def test_options_that_do_not_apply_are_refused(target, options, says):
    with pytest.raises(matrix.Refused, match=says):
        matrix.triton_options(target, "fp16", **{"block_m": 64, "block_n": 64, "block_k": 64, **options})


def test_hygon_takes_16_and_rdna_takes_no_option():
    found = matrix.triton_options("BW1000", "fp16", block_m=64, block_n=64, block_k=64, nonkdim=16)
    assert (found.instruction.shape, found.k_width) == ("16x16x16", 4)
    assert matrix.triton_options("gfx1100", "fp16", block_m=64, block_n=64, block_k=64).instruction.m == 16


def test_kpack_2_feeds_two_instructions_from_one_lds_read():
    found = matrix.triton_options("MI300X", "fp16", block_m=64, block_n=64, block_k=64, kpack=2)
    assert (found.k_width, found.reads_feed) == (8, 2)
