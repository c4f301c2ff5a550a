"""`wavefit gate`: budgets, baselines, exit codes, and one line a breach."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gate_run import EXAMPLES, HOSTILE, STORY, row, run, saved
from wavefit.gate.budget import BadBudget, plain, read
from wavefit.gate.check import gate

CHANGE = STORY / "change"


def test_a_kept_rule_is_exit_0_and_a_broken_one_exit_1_with_its_line() -> None:
    done = run("gate", CHANGE, "vgpr_spills == 0", "total_vgprs <= 105")
    assert (done.code, done.out, done.err) == (0, "1 kernel, 2 checks: all kept\n", "")
    done = run("gate", CHANGE, "vgpr_spills == 0", "total_vgprs <= 104")
    assert done.code == 1
    breach, summary = done.out.splitlines()
    assert breach.endswith("tile_sum.o: tile_sum: total_vgprs <= 104: total_vgprs is 105")
    assert summary == "1 kernel, 2 checks: 1 broken"


def test_a_breach_of_waves_says_what_took_them_and_what_gives_them_back() -> None:
    done = run("gate", CHANGE, "waves_per_simd >= baseline", "--baseline", STORY / "main")
    assert done.code == 1
    line = done.out.splitlines()[0]
    for part in ("waves_per_simd is 4", "baseline.waves_per_simd is 5", "bound by vgpr",
                 "total_vgprs 96 -> 105", "past 97", "next: vgpr 112 -> 96"):  # fmt: skip
        assert part in line, part


def test_what_the_report_does_not_know_is_a_breach_that_says_so() -> None:
    done = run("gate", CHANGE, "lds + lds_dynamic <= 64K")
    assert done.code == 1
    assert "cannot be decided; lds is 0; lds_dynamic is unknown" in done.out
    assert run("gate", CHANGE, "lds_dynamic == unknown or lds_dynamic <= 64K").code == 0


def test_a_kernel_that_the_baseline_does_not_have_is_skipped_and_counted(tmp_path: Path) -> None:
    baseline = tmp_path / "main.json"
    baseline.write_text(run("report", EXAMPLES, "--kernel", "softmax", "--json").out)
    done = run("gate", EXAMPLES, "total_vgprs <= baseline", "--baseline", baseline)
    assert done.code == 0
    assert done.out == "12 kernels, 12 checks: all kept, 8 skipped: not in the baseline\n"


BUDGET = """
[rules]
"*" = ["vgpr_spills == 0 or name == 'gemm_mxfp8'"]
"softmax*" = ["lds + lds_dynamic <= 64", "total_vgprs <= 104"]
"no_such_*" = ["vgprs < 0"]
"""


def test_budgets_by_pattern(tmp_path: Path) -> None:
    budget = tmp_path / "wavefit.toml"
    budget.write_text(BUDGET)
    done = run("gate", EXAMPLES, "--budget", budget)
    assert done.code == 0
    assert done.out == "12 kernels, 20 checks: all kept\n"
    assert done.err == "wavefit: no kernel matches the budget's pattern 'no_such_*'\n"
    # Eight waves of 64 lanes and sixteen of 32 are 512 work-items: the names say `w8` and `w16`.
    document = run("gate", EXAMPLES, "max_threads <= 256", "--budget", budget, "--json").document
    assert [rule["covers_none"] for rule in document["rules"]] == [False, False, False, False, True]
    assert {breach["name"] for breach in document["breaches"]} == {"gemm_mxfp8", "softmax"}


BAD_BUDGETS = {
    "not TOML": b"[rules",
    "not UTF-8": b'[rules]\n"\xff" = []',
    "no table": b"",
    "another table": b'[rules]\n"*" = ["vgprs > 0"]\n[more]\n',
    "not a list": b'[rules]\n"*" = "vgprs > 0"',
    "not text": b'[rules]\n"*" = [1]',
    "a bad rule": b'[rules]\n"*" = ["vgprz > 0"]',
    "deep": b"a = " + b"[" * 5000,
}


@pytest.mark.parametrize("content", BAD_BUDGETS.values(), ids=BAD_BUDGETS)
def test_a_bad_budget_is_one_line(content: bytes, tmp_path: Path) -> None:
    budget = tmp_path / "wavefit.toml"
    budget.write_bytes(content)
    done = run("gate", CHANGE, "--budget", budget)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert "wavefit.toml" in done.err


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=80))
def test_any_bytes_are_budgets_or_a_bad_budget(content: bytes) -> None:
    try:
        read(content, "f.toml")
    except BadBudget as why:
        said = str(why)
        assert "f.toml" in said


BAD_USE = [
    (("gate", CHANGE), "give a rule"),
    (("gate", CHANGE, "vgprs"), "not a condition"),
    (("gate", CHANGE, "vgprs <= baseline"), "needs a baseline"),
    (("gate", CHANGE, "vgprs > 0", "--baseline", "no-such.json"), "no-such.json"),
    (("gate", CHANGE, "vgprs > 0", "--budget", "no-such.toml"), "no-such.toml"),
    (("gate", "no-such", "vgprs > 0"), "no-such"),
    (("gate", CHANGE, "name =~ '('"), "pattern"),
    (("gate", CHANGE, "vgprs > 0", "--sarif", "/no/such/folder/x.sarif"), "/no/such/folder"),
]


@pytest.mark.parametrize(("args", "why"), BAD_USE, ids=[why for _, why in BAD_USE])
def test_bad_use_is_one_line_and_exit_2(args: tuple[str | Path, ...], why: str) -> None:
    done = run(*args)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert why in done.err


def test_hostile_names_stay_on_one_line_without_control_characters(tmp_path: Path) -> None:
    done = run("gate", saved(tmp_path / "hostile.json"), "vgprs < 0")
    assert done.code == 1
    lines = done.out.splitlines()
    assert len(lines) == len(HOSTILE) + 1
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) < 1500


def test_a_pattern_matches_part_of_a_hostile_name(tmp_path: Path) -> None:
    done = run("gate", saved(tmp_path / "hostile.json"), r"name =~ '^x{5000}$' -> vgprs < 0", "--json")
    (breach,) = done.document["breaches"]
    assert breach["name"] == "x" * 5000


def test_a_kernel_without_an_answer_breaks_what_asks_for_one() -> None:
    """An MI300X is no gfx950: the kernel is there, its Fit is not."""
    done = run("gate", CHANGE, "occupancy > 0", "total_vgprs > 0", "--chip", "MI300X")
    assert done.code == 1
    assert "occupancy > 0: cannot be decided; occupancy is unknown" in done.out
    assert "1 kernel, 2 checks: 1 broken" in done.out
    assert "is compiled for gfx950" in done.err


def test_every_check_is_there_once() -> None:
    rows = [row("a"), row("b"), row("b", vgprs=32)]
    found = gate(plain(["vgprs > 0", "sgprs > 0"]), rows)
    assert len(found.checks) == 6
    assert not found.breaches
    assert not found.idle


def test_the_document_is_the_same_with_a_saved_build(tmp_path: Path) -> None:
    kept = tmp_path / "change.json"
    kept.write_text(run("report", CHANGE, "--json").out)
    rule = "waves_per_simd >= 5"
    live, again = (run("gate", path, rule, "--json").document for path in (CHANGE, kept))
    assert live["breaches"] == again["breaches"]
    assert json.dumps(live["breaches"][0]["values"]) == '{"waves_per_simd": 4}'
