"""Reading measurements: every known header, and one clear line for what is not a measurement."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.accuracy_feed import DATA
from wavefit.experiments.run import COLUMNS
from wavefit.feed import compare, null_model, read_measured
from wavefit.occupancy import BadQuestion

BENCH = ",".join(COLUMNS) + "\n"


def _bench(**cells: object) -> str:
    return ",".join(str(cells.get(name, 0)) for name in COLUMNS) + "\n"


@pytest.mark.parametrize(
    ("name", "rows", "first"),
    [
        ("mma_fma_ilp_sweep.csv", 72, (1, 1, 156.001e12)),
        ("mfma_ilp_sweep.csv", 15, (1, 1, 3.466e15)),
        ("hbm_read_bytes_in_flight.csv", 50, (0, 1, 178.5e9)),
        ("hbm_read_by_workgroups.csv", 11, (0, 1, 41.6e9)),
    ],
)
def test_the_shipped_files_are_read(name: str, rows: int, first: tuple[int, int, float]):
    found = read_measured(DATA / name)
    assert len(found) == rows
    assert (found[0].ilp, found[0].waves, found[0].amount) == (first[0], first[1], pytest.approx(first[2]))


def test_a_file_of_our_own_bench_is_laid_over_the_model(tmp_path: Path):
    file = tmp_path / "feed.csv"
    matrix = {"experiment": "matrix", "instruction": "mma.m16n8k16.bf16", "ilp": 2, "waves_per_simd": 3}
    read = {
        "experiment": "read",
        "waves_per_simd": 4,
        "vector_bytes": 16,
        "outstanding": 2,
        "cus_in_use": 132,
    }
    file.write_text(
        BENCH
        + _bench(**matrix, instructions=65536, flops=469.442e12)
        + _bench(**read, bytes_per_second=3680.4e9)
        + _bench(experiment="other")
    )
    matrix_row, read_row = compare("H200", read_measured(file))
    assert matrix_row.error == pytest.approx(0, abs=0.04)
    assert read_row.error == pytest.approx(0, abs=0.05)


def test_a_row_without_an_estimate_has_the_reason(tmp_path: Path):
    file = tmp_path / "feed.csv"
    file.write_text(
        BENCH
        + _bench(experiment="matrix", instruction="nothing", ilp=1, waves_per_simd=1, flops=1)
        + _bench(experiment="matrix", instruction="fma.f32", ilp=1, waves_per_simd=99999999, flops=1)
    )
    unknown, many = compare("H200", read_measured(file))
    assert (unknown.error, many.error) == (None, None)
    assert "has no matrix instruction 'nothing'" in str(unknown.why)
    assert "16 wave slots" in str(many.why)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no known columns in its header .it is empty"),
        ("a,b\n1,2\n", "no known columns in its header .a, b"),
        ("workgroups,gbytes_per_s\n1,fast\n", "feed.csv:2: not a row of this table"),
        ("# note\nworkgroups,gbytes_per_s\n1,nan\n", "feed.csv:3: .*a rate of nan"),
        ("workgroups,gbytes_per_s\n1\n", "feed.csv:2: not a row"),
        (BENCH + _bench(experiment="matrix", flops=5), "feed.csv:2: .*0 waves"),
    ],
)
def test_what_is_no_measurement_is_one_line(tmp_path: Path, text: str, says: str):
    file = tmp_path / "feed.csv"
    file.write_text(text)
    with pytest.raises(BadQuestion, match=says) as caught:
        read_measured(file)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_read_is_one_line(tmp_path: Path):
    with pytest.raises(BadQuestion, match="No such file"):
        read_measured(tmp_path / "none.csv")
    with pytest.raises(BadQuestion, match="directory"):
        read_measured(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00\x00")
    with pytest.raises(BadQuestion, match="not UTF-8 text"):
        read_measured(tmp_path / "binary")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(("workgroups,gbytes_per_s\n", BENCH, "")), st.text(max_size=200))
def test_any_text_is_rows_or_one_error(tmp_path: Path, header: str, text: str):
    file = tmp_path / "any.csv"
    file.write_text(header + text, encoding="utf-8")
    try:
        rows = read_measured(file)
    except BadQuestion as error:
        assert str(file) in str(error)  # noqa: PT017
    else:
        compare("H200", rows)


def test_a_null_model_needs_rows():
    with pytest.raises(ValueError, match="rows to set"):
        null_model(read_measured(DATA / "mfma_ilp_sweep.csv"), lambda row: row.ilp == 3)
