"""What an output hides (accumulators) or shows twice (dispatches): said, and nothing counts double."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.profiles_builder import counter_rows
from tests.test_profiles_confirm import DATA, SYSINFO, codes, only
from wavefit.profiles import confirm, measurements

MI300X = SYSINFO.replace("gfx90a,104,4,8,32,1700,1", "gfx942,304,4,32,32,2100,8")


def test_without_accumulators_the_ceiling_is_at_most_and_nothing_is_blamed_on_launch(tmp_path: Path) -> None:
    """rocprofv3 before 6.4 leaves them out: 64 + 64 registers are 4 waves a SIMD, 64 alone would be 8."""
    (tmp_path / "sysinfo.csv").write_text(MI300X)
    counters = {"SQ_WAVE_CYCLES": 1e6 * 15 / 4, "SQ_BUSY_CU_CYCLES": 1e6}
    shape = {"VGPR_Count": 64, "Accum_VGPR_Count": 64, "Grid_Size": 304 * 16 * 256}
    items = {}
    for release in ("6.3", "6.4"):
        text = counter_rows(release, counters, nanoseconds=500_000, **shape)
        (tmp_path / "a_counter_collection.csv").write_text(text)
        items[release] = only(confirm(tmp_path))
    old, new = items["6.3"], items["6.4"]
    assert (old.ceiling, old.at_most, new.ceiling, new.at_most) == (1.0, True, 0.5, False)
    assert (codes(old), old.with_tail) == (["registers unknown"], None)
    assert "launch and drain" not in old.decision
    assert old.achieved == new.achieved
    assert codes(new) == ["launch and drain"]


def test_where_no_accumulators_exist_or_the_code_object_is_given_the_ceiling_is_exact(tmp_path: Path) -> None:
    from wavefit.kernels import kernels
    from wavefit.model import Kernel

    (tmp_path / "a.csv").write_text(counter_rows("6.3", {"SQ_WAVES": 1}, VGPR_Count=96))
    assert not only(confirm(tmp_path / "a.csv", chip="RX 7900 XTX")).at_most
    path = next(
        path for path in DATA.rglob("*gfx90a*.co") if any(isinstance(k, Kernel) for k in kernels(path))
    )
    compiled = next(k for k in kernels(path) if isinstance(k, Kernel))
    text = counter_rows("6.3", {"SQ_WAVES": 1}, Kernel_Name=compiled.name, Workgroup_Size=64)
    (tmp_path / "a.csv").write_text(text)
    assert only(confirm(tmp_path / "a.csv", chip="MI250")).at_most
    joined = only(confirm(tmp_path / "a.csv", chip="MI250", kernels=path))
    assert (joined.joined, joined.at_most) == ("symbol", False)


def dispatched(tmp_path: Path, text: str) -> tuple[int, float | None, tuple[str, ...]]:
    """Dispatches, their time, and what is noted of repetitions."""
    (tmp_path / "a.csv").write_text(text)
    item = only(confirm(tmp_path / "a.csv", chip="MI250"))
    return item.dispatches, item.seconds, tuple(note for note in item.notes if "twice" in note)


def test_the_same_number_in_one_file_is_one_dispatch_unless_another_process_wrote_it(tmp_path: Path) -> None:
    """Dispatch ids are a process's own; rows that say the same are the same, those of a pass add to it."""
    text = counter_rows("6.4", {"SQ_WAVES": 16384, "GRBM_GUI_ACTIVE": 9e6}, dispatches=3)
    header, *rows = text.splitlines(keepends=True)
    once = dispatched(tmp_path, text)
    assert (once[0], once[2]) == (3, ())
    assert once[1] == pytest.approx(0.015)
    note = ("rows of 3 dispatches stand twice in a file: counted once",)
    assert dispatched(tmp_path, text + "".join(rows)) == (*once[:2], note)
    by_counter = header + "".join(rows[::2]) + "".join(rows[1::2])
    assert dispatched(tmp_path, by_counter) == once
    other_pass = counter_rows("6.4", {"SQ_BUSY_CYCLES": 5}, dispatches=3, nanoseconds=5_000_001)
    assert dispatched(tmp_path, text + other_pass.partition("\n")[2])[0] == 3
    later = counter_rows(
        "6.4", {"SQ_WAVES": 16384, "GRBM_GUI_ACTIVE": 9e6}, dispatches=3, nanoseconds=5_000_002
    )
    assert dispatched(tmp_path, text + later.partition("\n")[2])[0] == 6


def test_rows_written_twice_in_a_row_do_not_double_a_counter(tmp_path: Path) -> None:
    header, *rows = counter_rows(
        "6.4", {"SQ_WAVES": 16384, "GRBM_GUI_ACTIVE": 9e6}, dispatches=2
    ).splitlines()
    (tmp_path / "a.csv").write_text("\n".join([header, *(row for row in rows for _ in "ab")]))
    found = measurements(tmp_path / "a.csv")
    assert [one.counters for one in found] == [{"SQ_WAVES": 16384, "GRBM_GUI_ACTIVE": 9e6}] * 2
    assert [(problem.row, problem.more) for problem in found.errors] == [(3, 3)]


def test_json_shows_a_dispatch_twice_and_it_ran_once(tmp_path: Path) -> None:
    """One record with its counters, one with its times."""
    info = {
        "agent_id": {"handle": 1}, "kernel_id": 1, "dispatch_id": 1, "private_segment_size": 0,
        "group_segment_size": 0, "workgroup_size": {"x": 64, "y": 1, "z": 1},
        "grid_size": {"x": 64, "y": 1, "z": 1},
    }  # fmt: skip
    record = {"dispatch_info": info, "start_timestamp": 5, "end_timestamp": 9}
    counted = {"dispatch_data": record, "records": [{"counter_id": {"handle": 5}, "value": 1}]}
    process = {
        "callback_records": {"counter_collection": [counted]}, "buffer_records": {"kernel_dispatch": [record]}
    }  # fmt: skip
    (tmp_path / "a.json").write_text(json.dumps({"rocprofiler-sdk-tool": [process]}))
    assert only(confirm(tmp_path / "a.json", chip="MI250")).dispatches == 1
