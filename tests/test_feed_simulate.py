"""The simulated SIMD: against arithmetic that can be done by hand, and against what an H200 did."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wavefit.feed.matrix import bound
from wavefit.feed.model import Loop
from wavefit.feed.simulate import Run, simulate, sweep

MMA = {chains: Loop(chains, chains * (16 if chains <= 4 else 4), 6, 24, wait=31.6) for chains in range(1, 9)}
"""mma.m16n8k16 on sm_90 as ptxas schedules it: 6 cycles apart, 24 in a chain, 31.6 over a branch."""


@pytest.mark.parametrize(("chains", "period"), [(1, 24), (2, 24), (3, 24), (4, 24), (5, 30), (8, 48)])
def test_one_wave_takes_the_longer_of_latency_and_its_own_instructions(chains: int, period: int):
    run = simulate(Loop(chains, chains, 6, 24), 1, 1200 * chains)
    assert run.cycles == 1199 * period + (chains - 1) * 6 + 24  # the last round ends with its last result


def test_a_loop_end_costs_what_the_loop_says():
    plain, costly = (simulate(Loop(8, 8, 4, 8, cost=cost), 1, 800) for cost in (0, 3))
    assert costly.cycles - plain.cycles == 99 * 3  # the last iteration has no next


def test_five_chains_take_nearly_twice_as_long_as_four():
    """Measured on an H200: 1.735 ms against 0.945 ms, though only a quarter more work (mma rows, ilp 1)."""
    four, five = (simulate(MMA[1], waves).cycles for waves in (4, 5))
    assert five / four == pytest.approx(1.735168 / 0.944736, abs=0.12)
    turns = simulate(MMA[1], 5, arbitration="rotating").cycles  # what taking turns would have given
    assert turns / four == pytest.approx(1.25, abs=0.03)


def test_the_youngest_wave_ends_alone():
    run = simulate(MMA[1], 5)
    assert run.finished.index(max(run.finished)) == 4
    assert max(run.finished[:4]) < 0.6 * run.cycles


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 6), st.integers(1, 8), st.integers(1, 6), st.integers(1, 12), st.integers(0, 60),
    st.sampled_from(("oldest", "rotating")),
)  # fmt: skip
def test_skipping_repetitions_changes_nothing(
    chains: int, waves: int, times: int, interval: int, latency: int, arbitration: str
):
    loop = Loop(chains, chains * times, interval, interval + latency, cost=times % 3, wait=latency % 7)
    quick, full = (simulate(loop, waves, 600, arbitration, skip=skip) for skip in (True, False))
    assert quick.instructions == full.instructions
    assert quick.cycles == pytest.approx(full.cycles, rel=0.01)  # equal, unless an average stood for it


@pytest.mark.parametrize("chains", [1, 2, 4, 6, 8])
@pytest.mark.parametrize("waves", [1, 3, 5, 9])
def test_skipping_is_exact_enough_over_a_long_run(chains: int, waves: int):
    quick, full = (simulate(MMA[chains], waves, skip=skip) for skip in (True, False))
    assert quick.cycles == pytest.approx(full.cycles, rel=0.003)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 8), st.integers(1, 12), st.integers(1, 10), st.integers(0, 80))
def test_no_run_beats_littles_law(chains: int, waves: int, interval: int, latency: int):
    loop = Loop(chains, chains, interval, interval + latency)
    run = simulate(loop, waves, 400)
    # A round of start-up is not yet bound by latency: one in 400 / chains.
    assert run.busy(interval) <= bound(loop, waves) * (1 + chains / 400) + 1e-9


def test_a_sweep_is_a_table_of_runs():
    table = sweep([MMA[1], MMA[4]], [1, 4], 64)
    assert [len(row) for row in table] == [2, 2]
    assert all(isinstance(run, Run) for row in table for run in row)
    assert table[1][0] == simulate(MMA[4], 1, 64)


def test_an_unknown_arbitration_is_named():
    with pytest.raises(ValueError, match="'youngest'; there are oldest, rotating"):
        simulate(MMA[1], 2, arbitration="youngest")
