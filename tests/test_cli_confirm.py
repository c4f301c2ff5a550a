"""`wavefit confirm` as a user types it, on the Nsight Compute captures that are our own."""

from __future__ import annotations

import json
from pathlib import Path

from tests.test_cli import run

CAPTURE = str(Path(__file__).parent / "data" / "profiles" / "ncu-h200" / "ncu_details.csv.gz")


def test_confirm_prints_one_document() -> None:
    done = run("confirm", CAPTURE, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == "wavefit.confirm/1"
    assert len(found["kernels"]) == 45  # launches in the capture


def test_confirm_names_the_reason() -> None:
    done = run("confirm", CAPTURE)
    assert "ceiling" in done.stdout
    assert "tail" in done.stdout


def test_a_path_that_is_not_there() -> None:
    done = run("confirm", "no-such-trace")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "wavefit: no-such-trace: no such file or folder\n"
