"""The commands as a user types them: documents, exit codes, one line for bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import wavefit as wf


def run(*args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as a user would start it."""
    return subprocess.run(
        [sys.executable, "-m", "wavefit", *args], capture_output=True, text=True, timeout=60, cwd=cwd
    )


def document(*args: str) -> Any:
    done = run(*args, "--json")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    return json.loads(done.stdout)


TILE = ("--chip", "MI355X", "--vgprs", "128", "--agprs", "0", "--sgprs", "50", "--threads", "256")


@pytest.mark.parametrize("size", ["32768", "32K", "32KiB", "32kb", "0x8000"])
def test_fit_prints_the_librarys_answer(size: str) -> None:
    found = wf.fit("MI355X", vgprs=128, agprs=0, sgprs=50, lds=32768, threads=256)
    assert document("fit", *TILE, "--lds", size) == found.to_dict()


def test_fit_over_a_range() -> None:
    found = document("fit", "--chip", "gfx90a", "--vgprs", "64", "--threads", "64:1024")
    assert found["schema"] == "wavefit.fit-range/1"
    assert found["low"]["waves"] <= found["high"]["waves"]


def test_fit_explains_itself_with_sources() -> None:
    text = run("fit", *TILE, "--lds", "32K", "--explain").stdout
    assert "floor(512 / roundup(128, 8)) = 4 waves/SIMD" in text
    assert "plain division: 5" in " ".join(text.split())
    assert "lds.granule" in text
    assert "[runtime]" in text


def test_views_disagree_for_a_reason() -> None:
    found = document("views", *TILE, "--lds", "32K")
    views = {view["view"]: view for view in found["questions"][0]["views"]}
    assert set(views) >= {"hardware", "llvm-22", "llvm-main", "hip", "hip-2024", "by-hand"}
    assert any("granule" in reason for reason in views["by-hand"]["differs"])
    published = views["mi355x-as-published-zh"]["differs"]
    for constant in ("wave_slots", "lds_pool", "sgpr.file"):
        assert any(constant in line for line in published), constant


def test_chips_says_who_says_so() -> None:
    found = document("chips", "MI355X")
    granule = found["target"]["facts"]["lds.granule"]
    assert granule["value"] == 1280
    assert granule["source"]
    assert run("chips", "--check").returncode == 0
    assert "MI355X" in run("chips").stdout


BAD = [
    (("fit", "--chip", "MI35X", "--vgprs", "1"), "MI355X"),
    (("fit", "--chip", "", "--vgprs", "1"), "unknown chip"),
    (("fit", "--chip", "MI355X", "--vgprs", "-1", "--threads", "64"), "negative"),
    (("fit", "--chip", "MI355X", "--vgprs", "x"), "integer"),
    (("fit", "--chip", "MI355X", "--lds", "12Q"), "not a size"),
    (("fit", "--chip", "MI355X", "--threads", "a:b"), "workgroup size"),
    (("fit", "--chip", "MI355X", "--view", "llvm-21", "--threads", "64"), "unknown view"),
    (("fit", "--chip", "MI355X", "--vgprs", str(10**12), "--threads", "64"), "no chip has so many"),
    (("fit", "--chip", "MI355X", "--lds", "010", "--threads", "9" * 400), "no chip has so many"),
    (("fit", "--chip", "MI355X", "--view", "hip", "--threads", "1:99999999999"), "no chip has so many"),
    (("report", "examples/compiled", "--threads", "0"), "at least 1"),
    (("views", "examples/compiled", "--vgprs", "5"), "brings its own vgprs"),
    (("fit",), "--chip"),
    (("fti", "--chip", "MI355X"), "did you mean fit"),
    (("report", "no-such-file.co"), "no-such-file.co"),
    (("report",), "PATH"),
    (("views",), "--chip"),
    (("chips", "MI999"), "unknown chip"),
]


@pytest.mark.parametrize(("args", "says"), BAD, ids=[" ".join(args) for args, _ in BAD])
def test_bad_usage_is_one_line_and_exit_2(args: tuple[str, ...], says: str) -> None:
    done = run(*args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("wavefit: ")
    assert len(done.stderr.splitlines()) == 1
    assert says in done.stderr


def test_version() -> None:
    assert run("--version").stdout.startswith("wavefit ")


def test_importing_a_room_does_not_hide_its_function() -> None:
    code = "import wavefit.kernels.open, wavefit as wf; print(list(wf.kernels('/nowhere')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("[BadFile"), done.stderr
