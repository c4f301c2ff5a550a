"""The hardware view and the compiler view against others' answers, every row."""

from __future__ import annotations

import pytest

import wavefit as wf
from tests import oracles


@pytest.mark.parametrize(
    ("table", "compare", "total"),
    [entry[1:] for entry in oracles.EXACT],
    ids=[entry[1] for entry in oracles.EXACT],
)
def test_every_row_equals(table: str, compare: oracles.Compare, total: int) -> None:
    checked, wrong = 0, []
    for row in oracles.rows(table):
        ours, theirs = compare(row)
        checked += 1
        if ours != pytest.approx(theirs, abs=1e-9):
            wrong.append((ours, theirs, row))
    assert not wrong[:5]
    assert checked == total


@pytest.mark.parametrize(
    "row", list(oracles.rows("oracles/occupancy_limiters_mi250.csv")), ids=lambda row: row["kernel"]
)
def test_measured_occupancy_of_an_mi250_is_just_under_the_ceiling(row: oracles.Row) -> None:
    fit = wf.fit(
        "MI250",
        vgprs=int(row["arch_vgpr"]),
        agprs=int(row["accum_vgpr"]),
        sgprs=int(row["sgpr_isa"] or row["sgpr_alloc"]),
        lds=int(row["lds_bytes"]),
        scratch=int(row["scratch_bytes"]),
        threads=int(row["wg"]),
    )
    assert isinstance(fit, wf.Fit)
    measured = float(row["measured_pct"]) / 100
    assert measured <= fit.occupancy <= measured + 0.012
    # the profiler's stall counters name what the chip waited for: the largest is among what binds
    counters = {"slots": "spi_waveslots_pct", "vgpr": "spi_vgpr_pct", "lds": "spi_lds_pct"}
    named = {resource for resource, column in counters.items() if float(row[column] or 0) > 90}
    assert named <= set(fit.binding)
