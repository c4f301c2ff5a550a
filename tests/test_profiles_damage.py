"""Damaged, truncated, wrongly encoded and localised output: a clear line, and the rest is kept."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profiles_builder import counter_rows, table
from wavefit.profiles import Measurement, Measurements, ProfileError, measurements

GOOD = counter_rows("6.4", {"SQ_WAVES": 16384, "GRBM_GUI_ACTIVE": 90000}, dispatches=3)


def both(path: Path) -> tuple[list[Measurement], Measurements]:
    """What was read, and the reader that knows what was not."""
    found = measurements(path)
    return list(found), found


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_byte_order_marks_and_line_ends_change_nothing(tmp_path: Path, encoding: str, ends: str) -> None:
    text = GOOD.replace("\n", ends)
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    (tmp_path / "a.csv").write_bytes((mark + text).encode(encoding))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress((mark + text).encode(encoding)))
    for name in ("a.csv", "b.csv.gz"):
        items, found = both(tmp_path / name)
        assert [item.counters for item in items] == [{"SQ_WAVES": 16384, "GRBM_GUI_ACTIVE": 90000}] * 3
        assert [item.seconds for item in items] == [0.005] * 3
        assert not found.errors


def test_a_cut_row_is_named_and_what_came_before_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "cut.csv"
    path.write_text(GOOD[: GOOD.rindex("GRBM_GUI")])
    items, found = both(path)
    assert [sorted(item.counters) for item in items] == [["GRBM_GUI_ACTIVE", "SQ_WAVES"]] * 2 + [["SQ_WAVES"]]
    assert [str(problem) for problem in found.errors] == [f"{path}:7: not CSV: unexpected end of data"]


def test_a_row_of_another_width_is_named(tmp_path: Path) -> None:
    lines = GOOD.splitlines()
    lines[3] = lines[3].rsplit(",", 4)[0]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    items, found = both(tmp_path / "a.csv")
    assert [item.dispatch for item in items] == [1, 2, 3]
    assert [problem.cause for problem in found.errors] == ["15 of 19 columns: cut off"]


def test_a_counter_without_a_number_is_named_and_the_others_stay(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(GOOD.replace("16384", "n/a", 1))
    items, found = both(tmp_path / "a.csv")
    assert list(items[0].counters) == ["GRBM_GUI_ACTIVE"]
    assert len(items) == 3
    assert "a counter without a number: 'n/a'" in str(found.errors[0])


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (GOOD.splitlines()[0].encode() + b"\n", "empty"),
        (b"hello,world\n1,2\n", "refused"),
        (b"\x7fELF\x02\x01\x01", "refused"),
        (b"\x00\x01\x02\x03" * 50, "refused"),
        (b'{"traceEvents": []}', "refused"),
        (b'{"other": 1}', "refused"),
        (b"\x1f\x8b\x08\x00garbage", "damaged"),
        (b"a" * (5 << 20), "damaged"),
        (b"mode: profile\nformat_rocprof_output: csv\n", "refused"),
    ],
)
def test_what_holds_no_dispatch_is_one_problem_of_its_kind(tmp_path: Path, content: bytes, kind: str) -> None:
    path = tmp_path / ("file.yaml" if content.startswith(b"mode") else "file.csv")
    path.write_bytes(content)
    items, found = both(path)
    assert not items
    assert [problem.kind for problem in found.errors] == [kind]


def test_spreadsheet_times_are_lost_and_said_once(tmp_path: Path) -> None:
    text = table(
        """Dispatch_ID GPU_ID Grid_Size Workgroup_Size LDS_Per_Workgroup Scratch_Per_Workitem Arch_VGPR
        Accum_VGPR SGPR Wave_Size Kernel_Name Start_Timestamp End_Timestamp SQ_WAVES""",
        *("0,2,1024,256,0,0,4,4,16,64,k,8.1097E+14,8.1097E+14,16" for _ in range(3)),
    )
    (tmp_path / "a.csv").write_text(text)
    items, found = both(tmp_path / "a.csv")
    assert [(item.seconds, item.counters["SQ_WAVES"]) for item in items] == [(None, 16)] * 3
    assert [problem.row for problem in found.errors] == [2]
    assert "8.1097E+14" in found.errors[0].cause


def test_semicolons_and_decimal_commas(tmp_path: Path) -> None:
    text = counter_rows("6.4", {"OccupancyPercent": 49.92, "SQ_WAVES": 16384}, Kernel_Name="k")
    (tmp_path / "a.csv").write_text(text.replace(",", ";").replace("49.92", "49,92"))
    (item,), found = both(tmp_path / "a.csv")
    assert item.counters == {"OccupancyPercent": 49.92, "SQ_WAVES": 16384}
    assert (item.workgroups, found.errors) == (4096, [])


def test_names_that_are_not_utf_8_stay_legible(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(GOOD.encode().replace(b"gemm", b"ge\xffmm"))
    items, _ = both(tmp_path / "a.csv")
    assert {item.kernel for item in items} == {"void ge\\xffmm<float>(float*, int)"}


def test_cut_json_keeps_the_records_before_the_cut(tmp_path: Path) -> None:
    info = {
        "agent_id": {"handle": 1}, "kernel_id": 1, "private_segment_size": 0, "group_segment_size": 0,
        "workgroup_size": {"x": 64, "y": 1, "z": 1}, "grid_size": {"x": 64, "y": 1, "z": 1},
    }  # fmt: skip
    records = [
        {"dispatch_info": {**info, "dispatch_id": n}, "start_timestamp": n, "end_timestamp": n + 5}
        for n in range(3)
    ]
    records[1]["dispatch_info"] = {**info, "dispatch_id": "one"}
    whole = json.dumps({"rocprofiler-sdk-tool": [{"buffer_records": {"kernel_dispatch": records}}]})
    (tmp_path / "a.json").write_text(whole[: whole.rindex("end_timestamp")])
    items, found = both(tmp_path / "a.json")
    assert [item.dispatch for item in items] == [0]
    assert [(problem.row, "cut off" in problem.cause) for problem in found.errors] == [
        (2, False),
        (None, True),
    ]


def test_json_too_deep_is_an_error_line(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"rocprofiler-sdk-tool": [{"agents": [' + "[" * 100_000)
    items, found = both(tmp_path / "a.json")
    assert not items
    assert len(found.errors) == 1


def test_yaml_that_expands_is_stopped(tmp_path: Path) -> None:
    lines = ["a: &a [x, x]"] + [
        f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]" for n in range(20)
    ]
    more = "\n".join(f"k{n}: *a" for n in range(100))
    (tmp_path / "profiling_config.yaml").write_text("\n".join(lines) + "\n" + more)
    _, found = both(tmp_path / "profiling_config.yaml")
    assert "more than 64 aliases" in found.errors[0].cause


def test_yaml_runs_nothing(tmp_path: Path) -> None:
    made = tmp_path / "made"
    (tmp_path / "c.yaml").write_text(f"mode: !!python/object/apply:os.mkdir ['{made}']\n")
    _, found = both(tmp_path / "c.yaml")
    assert found.errors[0].kind == "damaged"
    assert not made.exists()


def test_a_path_that_is_not_there_and_a_pipe(tmp_path: Path) -> None:
    import os

    with pytest.raises(ProfileError, match="no such file"):
        measurements(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    items, found = both(tmp_path)
    assert (items, found.errors[0].cause) == ([], "not a regular file")


def test_the_same_damage_of_many_rows_is_one_line_with_a_count(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(GOOD + "x,y\n" * 1000)
    items, found = both(tmp_path / "a.csv")
    assert len(items) == 3
    assert [(problem.row, problem.more) for problem in found.errors] == [(8, 999)]
    assert str(found.errors[0]).endswith("2 of 19 columns: cut off (and 999 more)")


def test_kinds_of_damage_in_one_file_are_counted_not_collected(tmp_path: Path) -> None:
    rows = "".join(
        GOOD.splitlines()[1]
        .replace("SQ_WAVES", f"C{chr(65 + n // 26)}{chr(65 + n % 26)}")
        .replace("16384", "nan")
        + "\n"
        for n in range(150)
    )
    (tmp_path / "a.csv").write_text(GOOD + rows)
    _, found = both(tmp_path / "a.csv")
    assert len(found.errors) == 101
    assert found.errors[-1].cause == "50 more such rows"


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_byte_string_makes_a_reader_raise(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Any damage to good output gives Measurements, Problems or both, never an exception."""
    folder = tmp_path_factory.mktemp("damaged")
    content = bytearray(GOOD, "utf-8")
    for _ in range(data.draw(st.integers(0, 6))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=20))
    (folder / "a.csv").write_bytes(bytes(content))
    items, found = both(folder / "a.csv")
    assert items or found.errors


def test_a_database_whose_schema_is_no_text_is_one_problem(tmp_path: Path) -> None:
    """SQLite quotes the damage in its message, which is then no UTF-8."""
    path = tmp_path / "results.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE rocpd_kernel_dispatch (id INTEGER)")
        connection.commit()
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE rocpd_k", b"CREATE TABLX \x81ocpd_k"))
    _, found = both(path)
    assert [problem.kind for problem in found.errors] == ["damaged"]
