"""LDS ranges and registers of tiles against compiled kernels."""

from statistics import median

import pytest

from tests.accuracy_tiles import lds_widths
from wavefit.chips import chip
from wavefit.occupancy import BadQuestion
from wavefit.tiles.footprint import footprint, step_bytes
from wavefit.tiles.lds import lds_range, rules
from wavefit.tiles.shape import candidates, problem


def span(target, dtype, block, stages, *, warps=4, layout=None):
    m, n, k = block
    one = candidates([{"block_m": m, "block_n": n, "block_k": k, "warps": warps, "stages": stages}])
    low, high = lds_range(rules(chip(target)), problem(4096, 4096, 4096, dtype), one, layout=layout)
    return int(low[0]), int(high[0])


def test_every_compiled_size_is_in_its_range():
    """822 kernels compiled with Triton 3.9 for gfx942 and gfx950."""
    outside, widths = lds_widths()
    assert len(widths) == 822
    assert outside == 0
    assert median(widths) <= 0.06
    assert max(widths) <= 0.25


def test_kernels_compiled_after_the_rules_were_written():
    """160 of them, drawn at random, none of which changed a rule."""
    outside, widths = lds_widths(fresh=True)
    assert len(widths) == 160
    assert outside == 0
    assert median(widths) <= 0.06


def test_a_step_of_64x64x32_fp16_is_8_kib():
    """G3-09."""
    assert step_bytes(64, 64, 32, 2) == 8192


@pytest.mark.parametrize(
    ("target", "stages", "dtype", "block", "shared"),
    [
        ("gfx942", 3, "fp16", (128, 128, 64), 65536),
        ("sm_90", 3, "bf16", (128, 256, 64), 147456),  # gemm_bf16_triton_resources.csv
        ("sm_90", 5, "bf16", (16, 64, 128), 81920),  # the same: mma.sync below 64 rows
    ],
)
def test_exact_rules(target, stages, dtype, block, shared):
    assert span(target, dtype, block, stages) == (shared, shared)


def test_more_than_two_stages_of_lds_005():
    """LDS-001, LDS-003: three stages that need 73,728 bytes do not fit 64 KiB, two do."""
    low, high = span("gfx942", "fp16", (128, 160, 64), 3)
    assert low == high == 73728
    assert span("gfx942", "fp16", (128, 160, 64), 2)[1] <= 65536


def test_a_stage_of_gfx950_depends_on_the_compiler():
    """LDS-007: two stages of 256x256x128 bf16 compile to 266,208 bytes with Triton 3.9."""
    low, high = span("gfx950", "bf16", (256, 256, 128), 2, warps=8)
    assert low <= 266208 <= high
    assert low > 163840


def test_layout_scratch_of_gfx936():
    """DCU-001: 67,584 bytes where the buffers alone are 65,536."""
    low, high = span("gfx936", "fp16", (128, 128, 128), 2)
    assert (low, high) == (65536, 67584)


def test_a_stage_is_not_always_one_more_buffer():
    """One stage and two of gfx942: 31 of 31 compiles of the issue have (stages - 1) x (A + B)."""
    assert span("gfx942", "fp16", (128, 128, 64), 2)[1] == 32768
    assert span("gfx942", "fp16", (128, 128, 64), 1, layout="NN")[1] == 16384


def test_accumulators_of_the_hygon_guide():
    """hygon.md 3: a 128x128 tile holds 64 accumulators a lane on 4 waves, 32 on 8."""
    of, asked = chip("BW1000"), problem(4096, 4096, 4096, "fp16")
    two = candidates([{"block_m": 128, "block_n": 128, "block_k": 32, "warps": warps} for warps in (4, 8)])
    assert footprint(of, asked, two).accumulators.tolist() == [64, 32]


def test_targets_without_a_compiler_say_so():
    with pytest.raises(BadQuestion, match=r"gfx1100: no est\. of LDS"):
        rules(chip("gfx1100"))
