"""The experiments' plan, runner and CSV, without a compiler or a GPU."""

from __future__ import annotations

import csv
import stat
import sys
from pathlib import Path

import pytest

from wavefit.experiments import build, join, plan, run, write_sources
from wavefit.experiments.build import SOURCES, Built
from wavefit.experiments.run import COLUMNS, bench, present
from wavefit.feed import read_measured
from wavefit.occupancy import fit


@pytest.mark.parametrize("target", ["gfx90a", "gfx942", "gfx950"])
def test_reserved_lds_admits_exactly_the_planned_waves(target: str):
    plans = plan(target)
    assert [each.waves for each in plans] == list(range(1, 9))
    for each in plans:
        answer = fit(target, lds=each.lds, vgprs=32, threads=256)
        assert (answer.workgroups, answer.waves_per_simd) == (each.waves, each.waves)


def test_a_plan_of_one_wave_count():
    (only,) = plan("gfx950", [4])
    assert (only.waves, only.lds) == (4, 40960)  # 32 granules of 1280


def test_the_sources_are_written_and_nothing_else(tmp_path: Path):
    written = write_sources(tmp_path / "new" / "folder")
    assert {path.name for path in written} == set(SOURCES)
    assert {path.name for path in (tmp_path / "new" / "folder").iterdir()} == set(SOURCES)


@pytest.mark.parametrize("name", ["feed.cu", "feed_host.cpp", "feed_gluon.py"])
def test_every_program_prints_the_same_columns(tmp_path: Path, name: str):
    write_sources(tmp_path)
    text = (tmp_path / name).read_text()
    words = "".join(part for part in text.split('"') if "," in part or part in COLUMNS)
    assert all(column in words or f'"{column}"' in text for column in COLUMNS)


def test_without_compilers_the_reasons_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setattr(sys.modules["wavefit.experiments.build"], "GLUON_TARGETS", ())
    found = build(tmp_path, ("sm_90", "gfx950", "gfx1100"))
    assert all(each.path is None for each in found)
    said = [each.line for each in found]
    assert any("nvcc is not on PATH" in line for line in said)
    assert any("clang" in line and "gfx950" in line for line in said)
    assert any("no kernels for it" in line and "gfx1100" in line for line in said)
    assert any("hipcc is not on PATH" in line for line in said)


def test_without_a_gpu_nothing_runs_and_the_outcome_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    outcome = bench(tmp_path, ("sm_90",))
    assert (outcome.csv, outcome.rows) == (None, 0)
    assert outcome.skipped == ("sm_90: no such GPU here",)


def _program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_program_that_is_here_is_run_and_its_rows_joined(tmp_path: Path):
    cells = {"experiment": "read", "waves_per_simd": 1, "bytes_per_second": 5e9, "vector_bytes": 4,
             "outstanding": 1, "cus_in_use": 132, "flops": 0}  # fmt: skip
    row = ",".join(str(cells.get(name, 0)) for name in COLUMNS)
    good = _program(
        tmp_path / "good", f'echo {",".join(COLUMNS)}; echo {row}; test "$1" = quick && echo {row}'
    )
    bad = _program(tmp_path / "bad", "echo no device >&2; exit 1")
    built = [Built("cuda", "sm_90", good), Built("cuda", "sm_80", bad), Built("cuda", "sm_75", good)]
    outputs, skipped = run(built, ("sm_90", "sm_80"), quick=True)
    assert skipped == ("sm_80: no device", "sm_75: no such GPU here")
    assert join(outputs, tmp_path / "feed.csv") == 2
    with (tmp_path / "feed.csv").open() as file:
        assert csv.DictReader(file).fieldnames == list(COLUMNS)
    assert [each.amount for each in read_measured(tmp_path / "feed.csv")] == [5e9, 5e9]


def test_a_compiler_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    _program(tmp_path / "nvcc", "echo 'feed.cu(3): error: no' >&2; exit 2")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (only,) = build(tmp_path / "out", ("sm_90",))
    assert (only.path, only.why) == (None, "feed.cu(3): error: no")


def test_the_targets_of_a_machine_are_known_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The tool lists the processor first, and may know a part that no page tells of."""
    _program(tmp_path / "rocm_agent_enumerator", r"printf 'gfx000\ngfx942\ngfx9999\ngfx942\n'")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert present() == ("gfx942",)
