"""A grid on a whole chip: public cases, and a simulation that hands out workgroups one by one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavefit.chips import chip
from wavefit.profiles.grid import Array, Spread, partition_of, partitioned
from wavefit.profiles.theory import array_of


@pytest.mark.parametrize(
    ("tiles", "workers", "rounds", "whole", "efficiency"),
    [  # DEV-005: an 8192 x 8192 output on 200 and 248 persistent workers
        (1024, 200, 5.12, 6, 0.85),
        (4096, 200, 20.48, 21, 0.975),
        (1024, 248, 4.13, 5, 0.826),
        (4096, 248, 16.5, 17, 0.972),
    ],
)
def test_dev_005_tail_rounds(tiles: int, workers: int, rounds: float, whole: int, efficiency: float) -> None:
    spread = Spread(tiles, 1, Array(workers))
    assert float(spread.rounds) == pytest.approx(rounds, abs=0.02)
    assert spread.whole_rounds == whole
    assert float(spread.efficiency) == pytest.approx(efficiency, abs=0.004)


def test_dev_003_304_workers_do_not_fit_at_once_on_256_cus() -> None:
    spread = Spread(240 + 64, 1, Array(256, 8))
    assert spread.whole_rounds == 2
    assert Spread(240 + 8, 1, Array(256, 8)).whole_rounds == 1


def test_dev_001_mi308x_is_80_cus_on_4_dies_and_not_a_part_of_mi300x() -> None:
    mi308x, mi300x = array_of(None, chip("MI308X")), array_of(None, chip("MI300X"))
    assert mi308x == Array(80, 4)
    assert mi300x == Array(304, 8)
    assert mi308x is not None
    assert mi300x is not None
    assert partition_of(mi308x, mi300x) is None


@pytest.mark.parametrize(
    ("mode", "units", "dies"), [("SPX", 304, 8), ("DPX", 152, 4), ("QPX", 76, 2), ("CPX", 38, 1)]
)
def test_partitions_of_mi300x(mode: str, units: int, dies: int) -> None:
    whole = Array(304, 8)
    assert partitioned(whole, mode) == Array(units, dies)
    assert partition_of(Array(units, dies), whole) == mode


def test_mi300a_runs_in_three_but_not_in_four() -> None:
    whole = Array(228, 6)
    assert partitioned(whole, "TPX") == Array(76, 2)
    with pytest.raises(ValueError, match="6 dies cannot be run as QPX"):
        partitioned(whole, "QPX")


def test_a_grid_of_13_percent_of_the_slots_bounds_occupancy_at_13_percent() -> None:
    """104 CUs of 32 wave slots, 8 workgroups of 4 waves fit on each; the grid has 108 of them."""
    spread = Spread(108, 8, Array(104))
    assert float(spread.mean_resident * 4 / 32) == pytest.approx(0.13, abs=0.001)
    assert spread.most_resident == 2


def test_eight_workgroups_on_eight_dies_leave_the_other_cus_idle() -> None:
    spread = Spread(8, 2, Array(304, 8))
    assert (spread.busy_units, spread.whole_rounds) == (8, 1)
    assert float(spread.mean_resident) == pytest.approx(8 / 304)


def simulated(workgroups: int, resident: int, units: int, dies: int) -> tuple[int, Fraction, int]:
    """Lockstep: dies in turn, units of a die in turn, all workgroups equally long.

    Rounds of the fullest die, workgroups a unit over time, and the most on one unit at once.
    """
    waiting = [workgroups // dies + (die < workgroups % dies) for die in range(dies)]
    per_die = units // dies
    rounds = most = 0
    while any(waiting):
        rounds += 1
        for die in range(dies):
            now = min(waiting[die], resident * per_die)
            waiting[die] -= now
            most = max(most, -(-now // per_die))
    return rounds, Fraction(workgroups, units * rounds), most


@given(st.integers(1, 5000), st.integers(1, 32), st.integers(1, 40), st.integers(1, 8))
def test_the_formulas_are_what_handing_out_gives(
    workgroups: int, resident: int, per_die: int, dies: int
) -> None:
    units = per_die * dies
    spread = Spread(workgroups, resident, Array(units, dies))
    rounds, mean, most = simulated(workgroups, resident, units, dies)
    assert spread.whole_rounds == rounds
    assert spread.over_all_units() == mean
    assert spread.most_resident == most
    assert mean <= spread.mean_resident <= spread.most_resident <= resident
    assert spread.over_busy_units() <= resident
