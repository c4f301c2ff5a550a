"""Machine balance, intensity and the trap, against the published numbers."""

from __future__ import annotations

from itertools import pairwise

import pytest

from wavefit.feed import balance, intensity, trap, under
from wavefit.matrix.errors import NotKnown, Refused
from wavefit.occupancy import BadQuestion, fit

F8F6F4 = "v_mfma_f32_16x16x128_f8f6f4"


def test_mxfp8_on_an_mi355x_balances_at_about_625_flop_a_byte():  # G1-20
    assert balance("MI355X", "mxfp8").balance == pytest.approx(625, rel=0.01)


def test_half_the_clock_is_half_the_balance():
    assert balance("MI355X", "fp8", clock_mhz=1200).balance == pytest.approx(
        balance("MI355X", "fp8").balance / 2
    )


def test_intensity_of_a_square_tile():
    assert intensity(256, 256, "bf16") == 128  # 2 x 256 x 256 over 512 x 2 bytes
    assert intensity(256, 128, "fp8", "bf16") == 2 * 256 * 128 / (256 + 256)
    assert intensity(128, 128, "mxfp8") == pytest.approx(128 / (1 + 1 / 32))  # a byte of scale for 32


def test_a_small_tile_is_under_the_memory_roof_and_a_large_one_is_not():
    small, large = (under("BW1000", "bf16", size, size) for size in (128, 1024))
    assert (small.by, large.by) == ("memory", "matrix")
    assert small.flops == pytest.approx(64 * 1.8432e12)
    assert large.flops == pytest.approx(491.52e12)


def test_levels_that_are_not_public_say_so():
    with pytest.raises(NotKnown, match="bandwidth of its l2 is not public"):
        under("MI355X", "fp8", 256, 256, levels=("l2",))
    with pytest.raises(BadQuestion, match="unknown level"):
        balance("MI355X", "fp8", "l1")
    with pytest.raises(Refused, match="a tile of 0 x 16"):
        intensity(0, 16, "fp8")


# The trap


def test_more_waves_mean_fewer_registers_smaller_tiles_and_less_reuse():  # G1-21
    points = trap("MI355X", F8F6F4).points
    assert [point.waves for point in points] == list(range(1, 9))
    for few, many in pairwise(points):
        assert few.registers > many.registers
        assert few.accumulators >= many.accumulators
        assert few.wave_intensity >= many.wave_intensity
    assert points[0].intensity > 2 * points[-1].intensity


def test_every_point_fits_and_its_tile_fits_its_registers():
    for point in trap("MI355X", F8F6F4, other=32).points:
        assert fit("MI355X", total_vgprs=point.registers, threads=256).waves_per_simd >= point.waves
        rows, columns = point.wave_tile[0] // 16, point.wave_tile[1] // 16
        assert rows * columns == point.chains
        assert 8 * (rows + columns) + 4 * point.chains + 32 <= point.registers


def test_mxfp8_gemms_are_fastest_with_few_waves():
    """Published: two waves a SIMD 2.65 PFLOP/s, four 2.06 to 2.40; one, with all registers, beats two."""
    at = {point.waves: point.flops for point in trap("MI355X", F8F6F4).points}
    assert at[1] > at[2] > at[4] > at[8]


def test_exposed_time_moves_the_peak_to_two_to_four_waves():  # G1-21: MFMA-bound kernels like 2 to 4
    best = trap("MI355X", F8F6F4, exposed=300, reuse=8).best
    assert 2 <= best.waves <= 4


def test_a_trap_needs_room_and_a_chip():
    with pytest.raises(BadQuestion, match="no wave has room"):
        trap("MI355X", F8F6F4, other=512)
    with pytest.raises(NotKnown, match="name a product"):
        trap("gfx950", F8F6F4)
    assert trap("MI355X", F8F6F4).to_dict()["schema"] == "wavefit.trap/1"
