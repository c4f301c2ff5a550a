"""Two builds side by side: which kernel is which, what is worse, and where the cliffs are."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wavefit as wf
from tests.gate_run import EXAMPLES, STORY, row, run
from wavefit.gate.diff import cliffs, diff
from wavefit.gate.pairs import pair, plain
from wavefit.gate.rows import BadDocument, Row, parse

QUICK = settings(max_examples=100, deadline=None)


def at(of: Row, file: str, member: str | None = None) -> Row:
    return msgspec.structs.replace(of, file=file, member=member)


def test_kernels_are_known_by_their_symbol_wherever_they_lie() -> None:
    before = [at(row("a"), "x/1.co"), at(row("b"), "x/2.co")]
    after = [at(row("b"), "y/9.co"), at(row("c"), "y/8.co")]
    found = pair(before, after)
    assert [(each.before.name, each.after.name, each.how) for each in found.pairs] == [("b", "b", "symbol")]
    assert [each.name for each in found.added] == ["c"]
    assert [each.name for each in found.removed] == ["a"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("_ZN4gemm17h0123456789abcdefE", "_ZN4gemm17hfedcba9876543210E"),  # Rust
        ("reduce.llvm.1234567", "reduce.llvm.7654321"),  # LLVM's promotion of local symbols
        ("kernel_9f86d081884c7d65", "kernel_2c26b46b68ffc68f"),
    ],
)
def test_hashes_in_a_name_do_not_part_a_kernel_from_itself(old: str, new: str) -> None:
    assert plain(old) == plain(new)
    (only,) = pair([row(old)], [row(new)]).pairs
    assert only.how == "name"


def test_words_that_look_like_hashes_are_left_alone() -> None:
    assert plain("deadbeef_decade") == "deadbeef_decade"
    assert plain("gemm_128x128x64") == "gemm_128x128x64"


def test_one_name_for_several_targets_is_several_kernels() -> None:
    before = [row("k", chip="gfx950"), row("k", chip="gfx942", lds=1024)]
    after = [row("k", chip="gfx942", lds=2048), row("k", chip="gfx950")]
    assert {(each.before.target, each.after.target) for each in pair(before, after).pairs} == {
        ("gfx950", "gfx950"),
        ("gfx942", "gfx942"),
    }


def test_a_build_for_another_target_is_held_against_this_one() -> None:
    (only,) = diff([row("k", chip="gfx942")], [row("k", chip="gfx950")]).changed
    assert ("target", "gfx942", "gfx950") in [(m.field, m.before, m.after) for m in only.moved]


def cache(prefix: str, vgprs: tuple[int, ...]) -> list[Row]:
    """A Triton cache: one kernel in several configurations, each in a folder named by a hash."""
    shapes = ((64, 0), (128, 8192), (128, 16384), (256, 16384))
    rows = (row("k", vgprs=v, threads=t, lds_dynamic=s) for (t, s), v in zip(shapes, vgprs, strict=True))
    return [at(each, f"/cache/{prefix}{index}/k.hsaco") for index, each in enumerate(rows)]


def test_configurations_in_a_triton_cache_are_told_apart_by_their_launch() -> None:
    before, after = cache("a", (32, 64, 96, 128)), cache("b", (32, 72, 96, 128))[::-1]
    found = diff(before, after)
    assert found.unchanged == 3
    (only,) = found.changed
    assert (only.how, only.before.total_vgprs, only.after.total_vgprs) == ("launch", 64, 72)
    assert not found.added
    assert not found.removed


def test_where_even_the_launch_is_the_same_the_order_counts() -> None:
    before = [at(row("k", vgprs=v), f"/a/{v}/k.hsaco") for v in (96, 32, 64)]
    after = [at(row("k", vgprs=v), f"/b/{v}/k.hsaco") for v in (65, 33, 97)]
    pairs = {(each.before.vgprs, each.after.vgprs, each.how) for each in pair(before, after).pairs}
    assert pairs == {(32, 33, "position"), (64, 65, "position"), (96, 97, "position")}


@QUICK
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(("gfx942", "gfx950"))), max_size=6),
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(("gfx942", "gfx950"))), max_size=6),
)
def test_every_kernel_is_somewhere_and_only_once(
    old: list[tuple[str, str]], new: list[tuple[str, str]]
) -> None:
    before, after = ([row(name, chip=chip) for name, chip in side] for side in (old, new))
    found = pair(before, after)
    ours = [id(each.before) for each in found.pairs] + [id(each) for each in found.removed]
    theirs = [id(each.after) for each in found.pairs] + [id(each) for each in found.added]
    assert sorted(ours) == sorted(map(id, before))
    assert sorted(theirs) == sorted(map(id, after))


def test_a_build_against_itself_is_unchanged() -> None:
    document = run("diff", EXAMPLES, EXAMPLES, "--json").document
    assert document["unchanged"] == 12
    assert not document["changed"] + document["added"] + document["removed"]


VERDICTS = [
    ("worse", {"vgprs": 96}, {"vgprs": 105}),
    ("better", {"vgprs": 105}, {"vgprs": 96}),
    ("worse", {"vgprs": 64}, {"vgprs": 64, "vgpr_spills": 3}),
    ("worse", {"vgprs": 64}, {"vgprs": 64, "scratch": 16}),
    ("costlier", {"vgprs": 65}, {"vgprs": 70}),
    ("cheaper", {"vgprs": 70}, {"vgprs": 65}),
    ("broken", {"lds": 1024}, {"lds": 200 << 10}),
    ("changed", {"vgpr_spills": None}, {"vgpr_spills": 0}),
]


@pytest.mark.parametrize(("verdict", "before", "after"), VERDICTS, ids=lambda value: str(value)[:30])
def test_what_is_worse(verdict: str, before: dict[str, int], after: dict[str, int]) -> None:
    (only,) = diff([row("k", **before)], [row("k", **after)]).changed
    assert only.verdict == verdict


def test_the_most_harm_comes_first() -> None:
    before = [row(str(index), **old) for index, (_, old, _) in enumerate(VERDICTS)]
    after = [row(str(index), **new) for index, (_, _, new) in enumerate(VERDICTS)]
    verdicts = [each.verdict for each in diff(before, after).changed]
    order = ["broken", "worse", "costlier", "changed", "cheaper", "better"]
    assert verdicts == sorted(verdicts, key=order.index)
    assert {"broken", "worse", "costlier", "cheaper", "better"} <= set(verdicts)


@QUICK
@given(st.integers(1, 256), st.integers(1, 256), st.sampled_from(("gfx906", "gfx942", "gfx950", "gfx1100")))
def test_at_an_edge_the_waves_really_change(old: int, new: int, chip: str) -> None:
    """The edge is asked of `wf.fit` again, one register below it and on it."""
    before, after = (row("k", chip=chip, vgprs=v, total_vgprs=None, agprs=None) for v in (old, new))
    for cliff in cliffs(before, after):
        assert cliff.resource == "vgpr"
        assert cliff.waves_per_simd[0] != cliff.waves_per_simd[1]
        if cliff.edge is not None:
            below = cliff.edge - 1 if new > old else cliff.edge
            low, high = (wf.fit(chip, vgprs=v, sgprs=32, threads=256) for v in (below, below + 1))
            assert isinstance(low, wf.Fit)
            assert isinstance(high, wf.Fit)
            assert low.waves_per_simd > high.waves_per_simd


def test_spills_that_llvm_counted_are_worse() -> None:
    """examples/README.md holds the compiler's own counts: 136 spilled VGPRs in the largest tile."""
    one = EXAMPLES / "gemm_mxfp8_gfx950_128x256x128_w8.hsaco"
    other = EXAMPLES / "gemm_mxfp8_gfx950_256x256x128_w8.hsaco"
    (only,) = run("diff", one, other, "--json").document["changed"]
    assert only["verdict"] == "worse"
    assert {"field": "vgpr_spills", "before": 0, "after": 136} in only["moved"]
    assert run("diff", one, other).out.startswith("1 kernel changed (1 for the worse)\n")


def test_a_saved_report_stands_for_its_build(tmp_path: Path) -> None:
    saved = tmp_path / "main.json"
    saved.write_text(run("report", STORY / "main", "--json").out)
    live = run("diff", STORY / "main", STORY / "change", "--json").document
    kept = run("diff", saved, STORY / "change", "--json").document
    assert kept["changed"] == live["changed"]


BROKEN = {
    "nothing": b"",
    "not JSON": b"{",
    "another document": json.dumps({"schema": "wavefit.fit/1", "kernels": []}).encode(),
    "no schema": b'{"kernels": []}',
    "a word for a number": json.dumps(
        {"schema": "wavefit.report/1", "kernels": [{"name": "k", "target": "x", "vgprs": "many"}]}
    ).encode(),
    "a fit of another kind": json.dumps(
        {"schema": "wavefit.report/1", "kernels": [{"name": "k", "target": "x", "fit": {"schema": "y"}}]}
    ).encode(),
    "not UTF-8": b'{"schema": "wavefit.report/1", "kernels": [{"name": "\xff"}]}',
    "too deep": b'{"schema": "wavefit.report/1", "kernels": ' + b"[" * 100_000,
    "no kernels": b'{"schema": "wavefit.report/1", "kernels": []}',
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_file_that_is_no_report_is_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "main.json"
    path.write_bytes(content)
    done = run("diff", path, STORY / "change")
    assert done.code == 2
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    assert str(path) in done.err


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 2000), st.integers(0, 60))
def test_any_bytes_are_rows_or_a_bad_document(junk: bytes, start: int, drop: int) -> None:
    whole = run_once()
    for content in (junk, whole[:start] + junk + whole[start + drop :]):
        try:
            parse(content, "f.json")
        except BadDocument as why:
            said = str(why)
            assert "f.json" in said


def run_once(kept: list[bytes] = []) -> bytes:  # noqa: B006
    """A report's bytes, made once."""
    if not kept:
        kept.append(run("report", STORY / "main", "--json").out.encode())
    return kept[0]


def test_unknown_keys_of_a_later_version_are_passed_over() -> None:
    found = json.loads(run_once())
    found["later"] = found["kernels"][0]["later"] = found["kernels"][0]["fit"]["later"] = {"x": 1}
    assert parse(json.dumps(found).encode(), "f").kernels[0].total_vgprs == 96


def test_an_option_that_could_not_matter_is_refused(tmp_path: Path) -> None:
    saved = tmp_path / "main.json"
    saved.write_bytes(run_once())
    done = run("diff", saved, saved, "--chip", "MI355X")
    assert done.code == 2
    assert "keeps the chip" in done.err


def test_over_a_range_the_fewest_waves_count() -> None:
    document = run("diff", STORY / "main", STORY / "change", "--threads", "64:256", "--json").document
    assert document["changed"][0]["verdict"] == "worse"


def test_what_cannot_be_read_is_said_and_the_rest_goes_on(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "k.o").write_bytes((STORY / "main/tile_sum.o").read_bytes())
    (tmp_path / "b/broken.o").write_bytes((STORY / "main/tile_sum.o").read_bytes()[:900])
    done = run("diff", tmp_path / "a", tmp_path / "b")
    assert done.code == 0
    assert "broken.o" in done.err
    assert run("diff", tmp_path / "a", tmp_path / "b", "--strict").code == 1
