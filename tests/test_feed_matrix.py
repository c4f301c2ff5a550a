"""Is the matrix unit fed: published points, measured sweeps, and reasons for what does not fit."""

from __future__ import annotations

from itertools import product
from statistics import mean

import pytest

import wavefit
import wavefit.feed  # the room and its main question share a name: both must work
from tests.accuracy_feed import SWEEPS, Sweep, errors, null_errors
from wavefit.chips import ChipNotFound
from wavefit.chips import chip as named_chip
from wavefit.feed import feed, feed_curves, timing
from wavefit.feed.measured import Row
from wavefit.matrix.errors import InstructionNotFound, NotKnown, Refused
from wavefit.occupancy import BadQuestion, fit

F8F6F4 = "v_mfma_f32_16x16x128_f8f6f4"
MMA = "mma.m16n8k16.bf16"

# Against measurements: the limits are those of the issue


def test_h200_mma_rows_within_4_percent_and_14_at_worst():
    found = errors(SWEEPS["mma"])
    assert len(found) == 36
    assert mean(found) < 0.04
    assert max(found) < 0.14
    assert mean(found) < mean(null_errors(SWEEPS["mma"])) / 5


def test_mi355x_ilp_2_and_4_within_3_5_percent_and_9_at_worst():
    sweep = SWEEPS["mfma"]
    tested, used = errors(sweep, lambda row: row.ilp in (2, 4)), errors(sweep, sweep.set_on)
    assert (len(tested), len(used)) == (8, 7)
    assert mean(tested) < 0.035
    assert max(tested) < 0.09
    assert max(used) < 0.03
    assert mean([*tested, *used]) < mean(null_errors(sweep))


@pytest.mark.parametrize(("ilp", "published"), [(1, 0.70), (8, 0.97)])
def test_mi355x_at_one_wave_is_busy_as_published(ilp: int, published: float):  # G1-16
    assert feed("MI355X", F8F6F4, ilp=ilp, waves=1).utilisation == pytest.approx(published, abs=0.015)


def test_ilp_8_at_one_wave_beats_ilp_2_at_eight():  # G1-17
    assert feed("MI355X", F8F6F4, ilp=8, waves=1).flops > feed("MI355X", F8F6F4, ilp=2, waves=8).flops


@pytest.mark.parametrize(("ilp", "waves", "needed"), [(1, 1, 6), (6, 1, 6), (2, 3, 6)])
def test_gfx936_needs_six_independent_mmacs_a_simd(ilp: int, waves: int, needed: int):  # hygon.md 2.1
    answer = feed("gfx936", "v_mmac_f32_16x16x16_f16", ilp=ilp, waves=waves)
    assert (answer.needed_in_flight, answer.in_flight) == (needed, ilp * waves)
    assert answer.missing == max(0, needed - ilp * waves)
    assert answer.utilisation > 0.99 if not answer.missing else answer.utilisation < 0.2


# Constants come from the points that are named, and from no other


def _row(sweep: Sweep, ilp: int, waves: int) -> Row:
    return next(row for row in sweep.rows() if (row.ilp, row.waves) == (ilp, waves))


def _fact(chip: str, path: str) -> float:
    value = named_chip(chip).facts[path].value
    assert isinstance(value, int | float)
    return float(value)


def test_the_h200s_clock_is_set_on_ilp_1_at_one_warp():
    ms = 132 * 4 * 65536 * 4096 / _row(SWEEPS["mma"], 1, 1).amount * 1e3
    cycles = 65536 / 16 * (15 * 24 + 24 + 7.6)  # sixteen to a loop, 24 apart, and a branch
    assert _fact("H200", "feed.clock_mhz") == pytest.approx(cycles / ms / 1e3, rel=0.001)


def test_the_branch_is_set_on_fma_ilp_1_at_one_warp():
    seconds = 132 * 4 * 65536 * 64 / _row(SWEEPS["fma"], 1, 1).amount
    loop = seconds * 1980e6 / (65536 / 16)  # sixteen to a loop; 67 cycles of it are in the code
    assert timing("sm_90", "fma.f32").wait - 7 == pytest.approx(loop - 67, abs=0.1)


def test_the_mi355xs_constants_are_set_on_ilp_1_and_8():
    sweep = SWEEPS["mfma"]
    clock = 4.824e15 / 0.97 / (8192 * 256) / 1e6
    assert _fact("MI355X", "feed.clock_mhz") == pytest.approx(clock, rel=0.001)

    def cycles(amount: float) -> float:
        return 65536 * 1024 * clock * 1e6 / amount

    eight = cycles(_row(sweep, 8, 1).amount)
    one = cycles(mean(row.amount for row in sweep.rows() if row.ilp == 1 and row.waves > 1))
    cost = (one - eight) / (1 - 1 / 8)
    assert _fact("MI355X", "feed.cost") == pytest.approx(cost, abs=0.02)
    assert _fact("MI355X", "feed.gap") == pytest.approx(one - cost - 32, abs=0.02)
    assert _fact("MI355X", "feed.extra") == pytest.approx(cycles(_row(sweep, 1, 1).amount) - 32, abs=0.05)


# The answer


def test_the_contracts_call():
    answer = wavefit.feed("H200", instruction=MMA, ilp=2, waves=3)
    assert 0 < answer.utilisation <= 1
    assert answer.needed_in_flight == 4
    assert answer.flops == pytest.approx(469.442e12, rel=0.04)  # measured
    assert answer.to_dict()["schema"] == "wavefit.feed/1"


def test_a_way_is_enough_and_one_less_is_not():
    answer = feed("MI355X", "v_mfma_f32_32x32x16_bf16", ilp=1, waves=1)
    chains = next(way for way in answer.ways if way.by == "chains")
    assert chains.chains * chains.waves >= answer.needed_in_flight > (chains.chains - 1) * chains.waves
    assert chains.extra_registers == (chains.chains - 1) * 16
    assert fit("MI355X", total_vgprs=chains.registers, threads=256).waves_per_simd >= chains.waves
    waves = next(way for way in answer.ways if way.by == "waves")
    assert fit("MI355X", total_vgprs=waves.registers, threads=256).waves_per_simd >= waves.waves
    assert fit("MI355X", total_vgprs=waves.registers + 8, threads=256).waves_per_simd < waves.waves


FED = [
    ("BW1000", "v_mmac_f32_16x16x16_f16"), ("MI300X", "v_mfma_f32_16x16x16_f16"), ("MI355X", F8F6F4),
    ("MI250X", "v_mfma_f32_16x16x4f32"), ("H200", MMA), ("A100", "mma.m16n8k16.f16"),
]  # fmt: skip


@pytest.mark.parametrize(("chip", "instruction"), FED, ids=[chip for chip, _ in FED])
def test_no_way_is_worse_by_its_own_estimate(chip, instruction):
    for waves, ilp in product(range(1, 9), range(1, 6)):
        try:
            answer = feed(chip, instruction, ilp=ilp, waves=waves)
        except BadQuestion:  # so many do not fit
            continue
        for way in answer.ways:
            assert not way.possible or way.utilisation > answer.utilisation, (waves, ilp, way)


def test_enough_by_littles_law_that_plays_worse_is_raised_until_it_gains():
    answer = feed("BW1000", "v_mmac_f32_16x16x16_f16", ilp=1, waves=4)
    assert answer.ways  # 2 chains are enough in flight and no gain: a loop of both is played slower
    assert all(feed("BW1000", "v_mmac_f32_16x16x16_f16", ilp=way.chains, waves=way.waves).utilisation
               > answer.utilisation for way in answer.ways)  # fmt: skip


def test_a_kernel_of_many_registers_is_told_what_a_wave_more_would_save():
    answer = feed("MI355X", F8F6F4, ilp=1, waves=1, registers=300)
    waves = next(way for way in answer.ways if way.by == "waves")
    assert (waves.registers, waves.extra_registers) == (256, -44)


def test_what_is_fed_has_no_ways():
    assert feed("MI355X", F8F6F4, ilp=8, waves=1).ways == ()


def test_a_latency_that_only_the_compilers_schedule_gives_is_said_to_be_no_measurement():
    answer = feed("MI300X", "v_mfma_f32_16x16x16_f16", ilp=2, waves=2)
    assert any("latency: not measured" in line for line in answer.assumptions)
    given = feed("MI300X", "v_mfma_f32_16x16x16_f16", ilp=2, waves=2, latency=30)
    assert not any("latency" in line for line in given.assumptions)
    assert not any("latency" in line for line in feed("H200", MMA, ilp=2, waves=2).assumptions)


def test_what_an_answer_rests_on_is_said():
    assert any(
        "peak clock" in line for line in feed("BW1000", "v_mmac_f32_16x16x16_f16", ilp=1, waves=1).assumptions
    )
    other = feed("MI355X", "v_mfma_f32_16x16x32_f16", ilp=1, waves=1)
    assert any(F8F6F4 in line and "taken to hold" in line for line in other.assumptions)


def test_a_bare_target_has_a_utilisation_and_no_flops():
    answer = feed("gfx942", "v_mfma_f32_32x32x8_f16", ilp=1, waves=1)
    assert answer.flops is None
    assert 0 < answer.utilisation < 1


# What cannot be


@pytest.mark.parametrize(
    ("chip", "instruction", "more", "says"),
    [
        ("MI355X", F8F6F4, {"ilp": 1, "waves": 9}, "9 waves a SIMD, and it has 8 wave slots"),
        ("H200", MMA, {"ilp": 1, "waves": 17}, "17 waves a SIMD, and it has 16 wave slots"),
        ("MI355X", F8F6F4, {"ilp": 40, "waves": 3}, "fit 2 waves a SIMD, not 3"),
        ("H200", MMA, {"ilp": 80, "waves": 1}, "cannot run at all"),
        ("MI355X", F8F6F4, {"ilp": 8, "waves": 1, "registers": 40}, "need 48 registers a lane, not 40"),
        ("MI355X", F8F6F4, {"ilp": 0, "waves": 1}, "ilp must be a whole number of at least 1"),
        ("MI355X", F8F6F4, {"ilp": 1, "waves": 1.5}, "waves must be a whole number"),
        ("MI355X", F8F6F4, {"ilp": True, "waves": 1}, "ilp must be a whole number"),
    ],
)
def test_what_does_not_fit_gets_the_reason(chip: str, instruction: str, more: dict[str, int], says: str):
    with pytest.raises(BadQuestion, match=says):
        feed(chip, instruction, **more)


def test_unknown_names_and_numbers_say_so():
    with pytest.raises(ChipNotFound, match="did you mean"):
        feed("MI355", F8F6F4, ilp=1, waves=1)
    with pytest.raises(InstructionNotFound, match=r"fma\.f32"):
        feed("H200", "fma.f23", ilp=1, waves=1)
    with pytest.raises(NotKnown, match=r"latency of v_wmma.* is not public; give latency="):
        feed("RX 7900 XTX", "v_wmma_f32_16x16x16_f16", ilp=1, waves=1)
    with pytest.raises(NotKnown, match="issued by 4 waves together"):
        feed("H200", "wgmma.m64n256k16.bf16", ilp=1, waves=1)
    with pytest.raises(Refused, match="latency must be positive"):
        feed("H200", MMA, ilp=1, waves=1, latency=-3)


def test_a_given_latency_stands_for_an_unknown_one():
    answer = feed("RX 7900 XTX", "v_wmma_f32_16x16x16_f16", ilp=1, waves=1, latency=64)
    assert (answer.needed_in_flight, answer.utilisation) == (2, pytest.approx(0.5, abs=0.01))


# Curves


def test_curves_have_a_reason_where_waves_do_not_fit():
    one, eight = feed_curves("H200", MMA, ilps=(1, 8), instructions=512)
    assert [point.waves for point in one.points] == list(range(1, 17))
    assert all(point.flops for point in one.points)
    assert eight.points[-1].flops is None
    assert "fit 12 waves a SIMD, not 16" in str(eight.points[-1].why)
    assert one.points[3].utilisation == feed("H200", MMA, ilp=1, waves=4, instructions=512).utilisation


def test_both_chips_of_a_loop_differ_by_their_compilers():
    assert timing("H200", MMA).loop(4).length == 64  # ptxas: sixteen times up to four instructions
    assert timing("H200", MMA).loop(5).length == 20
    assert timing("MI355X", F8F6F4).loop(5).length == 5  # clang leaves it
