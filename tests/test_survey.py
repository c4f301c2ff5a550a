"""Surveys: every row is the Fit of its kernel, in every format, however many jobs."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import wavefit as wf
from tests.kernels_builder import ENTRY, code_object, descriptor, metadata, note
from tests.test_cli import run
from wavefit.survey import COLUMNS, Options, Summary, Table, survey
from wavefit.survey.summary import Unique
from wavefit.survey.write import CannotWrite, Output

FIXTURES = Path(__file__).parent / "data" / "kernels"


AS_READ = (
    "file", "member", "name", "symbol", "target", "vgprs", "agprs", "total_vgprs", "allocated_vgprs", "sgprs",
    "allocated_sgprs", "lds", "scratch", "wave", "mode",
)  # fmt: skip


def tables(*paths: Path, **options: Any) -> list[Table]:
    return [
        each for each in survey([str(path) for path in paths], Options(**options)) if isinstance(each, Table)
    ]


def records(found: list[Table]) -> list[dict[str, Any]]:
    return [row for each in found for row in each.records()]


@pytest.fixture(scope="module")
def serial() -> list[dict[str, Any]]:
    return records(tables(FIXTURES))


def test_a_row_is_the_fit_of_its_kernel(serial: list[dict[str, Any]]) -> None:
    kernels = [kernel for kernel in wf.kernels(FIXTURES) if isinstance(kernel, wf.Kernel)]
    assert len(serial) == len(kernels) > 280
    fitted = 0
    for row, kernel in zip(serial, kernels, strict=True):
        for name in AS_READ:
            assert row[name] == getattr(kernel, name), (name, kernel)
        try:
            fit = wf.fit(kernel)
        except (wf.BadQuestion, wf.ChipNotFound):
            assert row["workgroups"] is None
            continue
        if isinstance(fit, wf.FitRange):
            assert row["workgroups"] is None
            continue
        fitted += 1
        assert (row["workgroups"], row["waves"], row["occupancy"]) == (
            fit.workgroups,
            fit.waves,
            fit.occupancy,
        )
        assert row["binding"] == "+".join(fit.binding)
        assert row["threads"] == fit.threads
        gain = [c for step in fit.next_steps for c in step.changes]
        alone = fit.binding == ("vgpr",) and len(gain) == 1
        assert row["vgprs_to_gain"] == (gain[0].from_ - gain[0].to if alone else None)
        if fit.workgroups and "vgpr" in fit.slack:
            assert row["vgprs_to_lose"] == fit.slack["vgpr"] + 1
    assert fitted > 250


def test_two_jobs_find_the_same(serial: list[dict[str, Any]]) -> None:
    assert records(tables(FIXTURES, jobs=2)) == serial


def test_every_format_holds_every_row(serial: list[dict[str, Any]], tmp_path: Path) -> None:
    found = tables(FIXTURES)
    for ending in (".csv", ".jsonl", ".parquet"):
        with Output(str(tmp_path / f"out{ending}")) as output:
            for each in found:
                output.write(each)
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == serial
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == serial
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    shown = ["" if row["workgroups"] is None else str(row["workgroups"]) for row in serial]
    assert [row["workgroups"] for row in rows] == shown
    assert list(tmp_path.glob("*.part")) == []


def test_a_name_that_a_spreadsheet_would_run_is_text(serial: list[dict[str, Any]], tmp_path: Path) -> None:
    found = tables(FIXTURES)[0]
    found.columns["name"][0] = "=cmd|' /C calc'!A0"
    with Output(str(tmp_path / "out.csv")) as output:
        output.write(found)
    with (tmp_path / "out.csv").open(newline="") as file:
        assert next(csv.DictReader(file))["name"].startswith("'=cmd")


def test_nothing_is_left_of_a_survey_that_broke(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), Output(str(tmp_path / "out.csv")):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_ending_names_the_known_ones() -> None:
    with pytest.raises(CannotWrite, match="parquet"):
        Output("rows.xlsx")


def test_the_same_kernel_counts_once() -> None:
    unique, summary = Unique(), Summary()
    for _ in range(2):
        for each in tables(FIXTURES / "triton"):
            summary.add(unique.first(each))
    once = sum(len(each) for each in tables(FIXTURES / "triton"))
    assert 0 < summary.kernels <= once


def test_a_damaged_file_is_an_error_and_the_rest_goes_on(tmp_path: Path) -> None:
    good = (FIXTURES / "k_gfx90a.co").read_bytes()
    (tmp_path / "a.co").write_bytes(good[:900])
    (tmp_path / "b.co").write_bytes(good)
    done = run("survey", str(tmp_path), "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["kernels"] == 3
    assert "a.co" in done.stderr
    assert run("survey", str(tmp_path), "--strict").returncode == 1


def test_nothing_to_survey_is_said(tmp_path: Path) -> None:
    done = run("survey", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "no files in this folder" in done.stderr
    assert run("survey", str(tmp_path / "nowhere")).returncode == 2


def test_amounts_that_no_chip_has_are_rows_without_a_fit(tmp_path: Path) -> None:
    """Of one damaged kernel; the others of its file keep theirs."""
    spent = {"damaged": (1 << 32) - 1, "sound": 0}
    entries = [
        {**ENTRY, ".name": name, ".symbol": f"{name}.kd", ".private_segment_fixed_size": scratch}
        for name, scratch in spent.items()
    ]
    descriptors = {f"{name}.kd": descriptor(scratch=scratch) for name, scratch in spent.items()}
    data = code_object(note(metadata(*entries)), descriptors)
    (tmp_path / "a.co").write_bytes(data)
    found = {row["name"]: row for row in records(tables(tmp_path / "a.co"))}
    assert found["damaged"]["scratch"] == spent["damaged"]
    assert found["damaged"]["waves"] is None
    assert found["sound"]["waves"] is not None
