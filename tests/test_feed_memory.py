"""Bytes in flight: an H200's and a BW1000's reads, the set points, and reasons for what does not fit."""

from __future__ import annotations

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wavefit.feed
from tests.accuracy_feed import SWEEPS, errors, null_errors
from wavefit.feed import Level, feed_memory, memory_curves
from wavefit.matrix.errors import NotKnown, Refused
from wavefit.occupancy import BadQuestion


def test_h200_reads_within_8_percent_and_25_at_worst():
    found = errors(SWEEPS["read"])
    assert len(found) == 50
    assert median(found) < 0.08
    assert max(found) < 0.25
    assert (
        max(null_errors(SWEEPS["read"])) > 1
    )  # a plain min(bytes / latency, peak) misses by 100 % at the knee


def test_bw1000_reads_within_8_percent_up_to_16_workgroups_and_12_above():
    few, many = (
        errors(SWEEPS["groups"], lambda row, most=most: (row.cus <= 16) == most) for most in (True, False)
    )
    assert (len(few), len(many)) == (6, 5)
    assert max(few) < 0.08
    assert max(many) < 0.12


def test_the_points_that_set_the_h200s_constants_are_met():
    sweep = SWEEPS["read"]
    used = errors(sweep, sweep.set_on)
    assert len(used) == 5
    assert max(used) < 0.003


def test_the_point_that_set_the_bw1000s_bandwidth_is_met():
    assert errors(SWEEPS["groups"], SWEEPS["groups"].set_on) == [pytest.approx(0, abs=0.001)]


def test_the_same_bytes_in_flight_give_different_bandwidths():
    """Measured with 8 KB a SM: 2.58 to 1.97 TB/s as waves give way to loads, and 2.01 with 16 bytes x 4."""
    shapes = [(16, 4, 1), (8, 4, 2), (4, 4, 4), (2, 4, 8), (1, 16, 4)]
    found = [feed_memory("H200", waves=w, vector_bytes=v, outstanding=o) for w, v, o in shapes]
    assert {each.bytes_per_cu for each in found} == {8192}
    measured = [2581.1, 2313.0, 2153.3, 1968.6, 2011.5]
    assert [each.bytes_per_second / 1e9 for each in found] == pytest.approx(measured, rel=0.06)


def test_one_workgroup_of_a_bw1000_holds_16_kib():  # hygon.md 2.1
    one = feed_memory("BW1000", waves=1, vector_bytes=16, outstanding=4, cus=1)
    assert one.bytes_in_flight == 16384
    assert one.bound == pytest.approx(16384 / 384.7e-9)


def test_the_contracts_call():
    answer = wavefit.feed.feed_memory("H200", waves=4, vector_bytes=16, outstanding=2)
    assert answer.bytes_in_flight == 132 * 4 * 4 * 32 * 16 * 2
    assert answer.bytes_per_second == pytest.approx(3680.4e9, rel=0.08)
    assert answer.to_dict()["schema"] == "wavefit.feed-memory/1"


def test_a_wider_load_does_what_more_waves_do():  # G1-18: the lever is width x loads, not waves
    narrow = feed_memory("H200", waves=8, vector_bytes=4, outstanding=1)
    wide = feed_memory("H200", waves=2, vector_bytes=16, outstanding=1)
    assert wide.bytes_per_second == pytest.approx(narrow.bytes_per_second, rel=0.1)


@given(
    st.floats(1, 1e9), st.floats(1, 2000), st.floats(1e9, 1e14), st.floats(0, 200),
)  # fmt: skip
def test_the_rate_is_the_root_of_littles_law(in_flight: float, batch: float, bandwidth: float, queue: float):
    level = Level("memory", latency_ns=batch, bandwidth=bandwidth, queue_ns=queue)
    rate = level.rate(in_flight, batch)
    assert 0 < rate <= bandwidth * (1 + 1e-9)
    assert rate <= in_flight / batch * 1e9 * (1 + 1e-9)
    busy = rate / bandwidth
    if queue and busy < 0.999:
        waits = batch + queue * busy / (1 - busy)
        assert rate * waits / 1e9 == pytest.approx(in_flight, rel=1e-6)


def test_levels_that_are_known_answer():
    l2 = feed_memory("BW1000", waves=10, vector_bytes=16, outstanding=4, level="l2")
    assert l2.bytes_per_second == 6.1e12
    assert any("upper bound" in line for line in l2.assumptions)
    assert feed_memory("BW1000", waves=1, vector_bytes=4, outstanding=1, level="lds").bound < 15.24e12


@pytest.mark.parametrize(
    ("chip", "more", "says"),
    [
        ("H200", {"waves": 17}, "17 waves a SIMD, and it has 16 wave slots"),
        (
            "H200",
            {"waves": 16, "outstanding": 10},
            "take 40 registers a lane, which fit 12 waves a SIMD, not 16",
        ),
        ("H200", {"vector_bytes": 12}, "vector_bytes must be one of 1, 2, 4, 8, 16, not 12"),
        ("H200", {"outstanding": 0}, "outstanding must be a whole number of at least 1"),
        ("H200", {"cus": 133}, "has 132 CUs, not 133"),
        ("H200", {"level": "l3"}, "unknown level 'l3'; there are memory, l2, lds"),
    ],
)
def test_what_does_not_fit_gets_the_reason(chip: str, more: dict[str, int], says: str):
    with pytest.raises(BadQuestion, match=says):
        feed_memory(chip, **{"waves": 1, "vector_bytes": 16, "outstanding": 1, **more})


def test_what_nobody_published_is_not_guessed():
    with pytest.raises(NotKnown, match="latency of its memory is not public; give latency_ns="):
        feed_memory("MI355X", waves=1, vector_bytes=16, outstanding=1)
    with pytest.raises(NotKnown, match="bandwidth of its l2 is not public"):
        feed_memory("H200", waves=1, vector_bytes=16, outstanding=1, level="l2")
    with pytest.raises(NotKnown, match="number of its CUs"):
        feed_memory("sm_90", waves=1, vector_bytes=16, outstanding=1)
    with pytest.raises(Refused, match="latency_ns must be positive"):
        feed_memory("MI355X", waves=1, vector_bytes=16, outstanding=1, latency_ns=-1)


def test_a_given_latency_answers_for_the_mi355x():
    """A few MB for the chip, tens of KB a CU (G1-18), at any latency between 500 and 1000 ns."""
    for latency in (500, 1000):
        answer = feed_memory("MI355X", waves=8, vector_bytes=16, outstanding=1, latency_ns=latency)
        assert 2e6 < answer.needed_bytes < 10e6
        assert 10e3 < answer.needed_bytes / 256 < 100e3


def test_memory_curves_end_where_registers_do():
    wide = memory_curves("H200", shapes=((16, 10),))[0]
    assert [point.waves for point in wide.points] == list(range(1, 13))
    assert all(
        a.bytes_per_second < b.bytes_per_second for a, b in zip(wide.points, wide.points[1:], strict=False)
    )
