"""Numbers that cannot be meant are named and refused, and localised ones are read, by every reader."""

from __future__ import annotations

import csv
import io
import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profiles_builder import AGENT_INFO, RUN, counter_rows, rocpd, table
from wavefit.profiles import Measurement, measurements
from wavefit.profiles.numerals import BadNumber, count, decimal_mark, number, quantity, time, whole

COUNTERS = {"SQ_WAVE_CYCLES": 3750000.0, "SQ_BUSY_CU_CYCLES": 1000000.0, "SQ_WAVES": 16384.0}
GOOD = counter_rows("6.4", COUNTERS, dispatches=3)


def both(path: Path) -> tuple[list[Measurement], list[str]]:
    """What was read, and the error lines without the folder."""
    found = measurements(path)
    items = list(found)
    return items, [str(problem).removeprefix(f"{path.parent}/") for problem in found.errors]


def changed(text: str, row: int, column: str, cell: str) -> str:
    """The same CSV with one cell replaced; rows count from 1, the header's."""
    rows = list(csv.reader(io.StringIO(text)))
    rows[row - 1][rows[0].index(column)] = cell
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


BAD = [("nan", "is not finite"), ("-inf", "is not finite"), ("-4", "is negative"), ("1e99", "is more than")]


@pytest.mark.parametrize(("cell", "why"), BAD)
def test_a_counter_that_cannot_be_meant_is_named_and_the_others_stay(
    tmp_path: Path, cell: str, why: str
) -> None:
    (tmp_path / "a.csv").write_text(changed(GOOD, 4, "Counter_Value", cell))
    items, errors = both(tmp_path / "a.csv")
    assert [sorted(item.counters) for item in items] == [
        ["SQ_BUSY_CU_CYCLES", "SQ_WAVE_CYCLES"], sorted(COUNTERS), sorted(COUNTERS)
    ]  # fmt: skip
    (error,) = errors
    assert error.startswith(f"a.csv:4: Counter_Value (SQ_WAVES): '{cell}' {why}")


@pytest.mark.parametrize("column", ["VGPR_Count", "SGPR_Count", "Grid_Size", "Workgroup_Size", "Dispatch_Id"])
@pytest.mark.parametrize(("cell", "why"), [*BAD, ("many", "is no number"), ("3.5", "is no whole number")])
def test_a_row_whose_launch_cannot_be_meant_is_named_and_the_dispatch_goes_on(
    tmp_path: Path, column: str, cell: str, why: str
) -> None:
    (tmp_path / "a.csv").write_text(changed(GOOD, 3, column, cell))
    items, errors = both(tmp_path / "a.csv")
    assert [(item.dispatch, len(item.counters)) for item in items] == [(1, 2), (2, 3), (3, 3)]
    (error,) = errors
    assert error.startswith(f"a.csv:3: {column}: '{cell}' {why}")


WIDE = table(
    """Dispatch_ID GPU_ID Grid_Size Workgroup_Size LDS_Per_Workgroup Scratch_Per_Workitem Arch_VGPR
    Accum_VGPR SGPR Wave_Size Kernel_Name Start_Timestamp End_Timestamp SQ_WAVES SQ_WAVE_CYCLES""",
    *(f"{n},2,1024,256,0,0,4,4,16,64,k,1000,3000,16,700" for n in range(3)),
)


@pytest.mark.parametrize(("cell", "why"), BAD)
def test_wide_tables_name_the_column(tmp_path: Path, cell: str, why: str) -> None:
    (tmp_path / "a.csv").write_text(changed(WIDE, 3, "SQ_WAVES", cell))
    items, errors = both(tmp_path / "a.csv")
    assert [item.counters.get("SQ_WAVES") for item in items] == [16, None, 16]
    assert errors[0].startswith(f"a.csv:3: SQ_WAVES: '{cell}' {why}")
    (tmp_path / "a.csv").write_text(changed(WIDE, 3, "Arch_VGPR", cell))
    items, errors = both(tmp_path / "a.csv")
    assert [item.dispatch for item in items] == [0, 2]
    assert errors[0].startswith(f"a.csv:3: Arch_VGPR: '{cell}' {why}")


def test_times_that_cannot_be_meant_lose_the_duration_and_nothing_else(tmp_path: Path) -> None:
    for text in (GOOD, WIDE):
        for cell, cause in (("-5", "End_Timestamp: '-5' is negative"), ("1", "ends before it starts")):
            bad = changed(text, 2, "End_Timestamp", cell)
            (tmp_path / "a.csv").write_text(bad)
            items, errors = both(tmp_path / "a.csv")
            assert items[0].seconds is None
            assert items[-1].seconds
            assert cause in errors[0]


def test_text_output_names_the_counter(tmp_path: Path) -> None:
    head = 'dispatch[0], gpu-id(8), grd(65536), wgr(256), lds(0), scr(0), arch_vgpr({}), kernel-name("k")\n'
    (tmp_path / "a.txt").write_text(head.format(24) + "  A (nan)\n  B (2.5e-01)\n")
    (item,), errors = both(tmp_path / "a.txt")
    assert (item.counters, errors) == ({"B": 0.25}, ["a.txt:2: A: 'nan' is not finite"])
    (tmp_path / "a.txt").write_text(head.format(-4) + head.format(24))
    items, errors = both(tmp_path / "a.txt")
    assert (len(items), errors) == (1, ["a.txt:1: arch_vgpr: '-4' is negative"])


def trace(**changes: Any) -> str:
    """A rocprofv3 JSON of one dispatch with one counter."""
    dispatch = {
        "agent_id": {"handle": 7}, "kernel_id": 3, "dispatch_id": 9, "private_segment_size": 0,
        "group_segment_size": 0, "workgroup_size": {"x": changes.get("x", 256), "y": 1, "z": 1},
        "grid_size": {"x": 1024, "y": 2, "z": 1},
    }  # fmt: skip
    symbol = {"kernel_id": 3, "kernel_name": "k.kd", "arch_vgpr_count": changes.get("vgprs", 24)}
    record = {
        "dispatch_data": {
            "dispatch_info": dispatch, "start_timestamp": changes.get("start", 1), "end_timestamp": 5,
        },
        "records": [
            {"counter_id": {"handle": 5}, "value": changes.get("value", 3)},
            {"counter_id": {"handle": 6}, "value": 2}
        ],
    }  # fmt: skip
    process = {
        "agents": [{"id": {"handle": 7}, "type": 2, "name": "gfx942", "cu_count": changes.get("cus", 304)}],
        "counters": [{"id": {"handle": 5}, "name": "SQ_WAVES"}, {"id": {"handle": 6}, "name": "B"}],
        "kernel_symbols": [symbol],
        "callback_records": {"counter_collection": [record]},
    }
    return json.dumps({"rocprofiler-sdk-tool": [process]})


@pytest.mark.parametrize(
    ("changes", "kept", "cause"),
    [
        ({"value": float("nan")}, {"B": 2}, "a.json:1: SQ_WAVES: 'nan' is not finite"),
        ({"value": "3"}, {"B": 2}, "a.json:1: SQ_WAVES: '3' is no number"),
        ({"start": -1}, {"SQ_WAVES": 3, "B": 2}, "a.json:1: start_timestamp: '-1' is negative"),
        ({"x": -64}, None, "a.json:1: x: '-64' is negative"),
        ({"vgprs": -4}, None, "a.json:1: arch_vgpr_count: '-4' is negative"),
        ({"cus": -1}, {"SQ_WAVES": 3, "B": 2}, "a.json:1: agents: cucount: '-1' is negative"),
    ],
)
def test_json_names_the_field(
    tmp_path: Path, changes: dict[str, Any], kept: dict[str, float] | None, cause: str
) -> None:
    (tmp_path / "a.json").write_text(trace(**changes))
    items, errors = both(tmp_path / "a.json")
    assert [item.counters for item in items] == ([] if kept is None else [kept])
    assert errors == [cause]


@pytest.mark.parametrize(
    ("change", "dispatches", "cause"),
    [
        (
            "rocpd_pmc_event SET value = 9e999 WHERE event_id = 2 AND pmc_id = 1",
            3,
            "event 2: SQ_WAVES: 'inf'",
        ),
        (
            "rocpd_pmc_event SET value = -1 WHERE event_id = 2 AND pmc_id = 1",
            3,
            "SQ_WAVES: '-1.0' is negative",
        ),
        ("rocpd_info_kernel_symbol SET arch_vgpr_count = -4 WHERE id = 1", 2, "arch_vgpr_count: '-4' is neg"),
        ("rocpd_kernel_dispatch SET start = -4 WHERE id = 1", 3, "start: '-4' is negative"),
        ("rocpd_kernel_dispatch SET grid_size_x = -4 WHERE id = 1", 2, "grid_size_x: '-4' is negative"),
        (
            "rocpd_kernel_dispatch SET dispatch_id = 'x' WHERE id = 1",
            2,
            "dispatch_id: 'x' is no whole number",
        ),
    ],
)
def test_rocpd_names_the_column(tmp_path: Path, change: str, dispatches: int, cause: str) -> None:
    path = tmp_path / "a.db"
    rocpd(str(path), dispatches=3)
    name, rest = change.split(" ", 1)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(f'UPDATE "{name}{RUN}" {rest}')
    items, errors = both(path)
    assert len(items) == dispatches
    assert len(errors) == 1
    assert cause in errors[0]


def test_a_machine_that_cannot_be_meant_is_named(tmp_path: Path) -> None:
    (tmp_path / "x_agent_info.csv").write_text(AGENT_INFO.replace(",256,32,1,4,", ",-256,32,1,4,"))
    (tmp_path / "x_counter_collection.csv").write_text(GOOD)
    items, errors = both(tmp_path)
    assert len(items) == 3
    assert errors == [f"{tmp_path}/x_agent_info.csv:4: cucount: '-256' is negative"] or "-256" in errors[0]


# --- localised numbers and other orders ------------------------------------------------------------------


def passes(text: str, tmp_path: Path) -> list[tuple[Any, ...]]:
    """What a table says, without its place."""
    (tmp_path / "a.csv").write_text(text)
    items, errors = both(tmp_path / "a.csv")
    assert errors == []
    return [(item.reported, item.dispatch, item.start, item.end, item.counters) for item in items]


@pytest.mark.parametrize("seed", range(8))
def test_columns_in_any_order_say_the_same(tmp_path: Path, seed: int) -> None:
    rows = list(csv.reader(io.StringIO(GOOD)))
    order = random.Random(seed).sample(range(len(rows[0])), len(rows[0]))
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([row[at] for at in order] for row in rows)
    assert passes(out.getvalue(), tmp_path) == passes(GOOD, tmp_path)


@pytest.mark.parametrize(
    "shown",
    [lambda v: f"{v:,.2f}", lambda v: f"{v:.1f}".replace(".", ","), lambda v: f"{v:,.2f}".replace(",", "’")],
)
def test_quoted_localised_numbers_say_the_same(tmp_path: Path, shown: Any) -> None:
    text = GOOD
    for row, value in enumerate(list(COUNTERS.values()) * 3, 2):
        text = changed(text, row, "Counter_Value", shown(value))
    assert passes(text, tmp_path) == passes(GOOD, tmp_path)


def test_a_grouped_number_of_a_decimal_comma_is_not_taken_for_a_fraction(tmp_path: Path) -> None:
    text = GOOD.replace(",3750000.0,", ',"3.750.000,5",').replace(",1000000.0,", ',"1.000.000,0",')
    text = text.replace(",16384.0,", ",16.384,")
    (tmp_path / "a.csv").write_text(text)
    items, _ = both(tmp_path / "a.csv")
    assert [item.counters["SQ_WAVES"] for item in items] == [16384.0] * 3


@pytest.mark.parametrize("mark", ["'", "\u2019", " ", "\u00a0", "\u2007", "\u2009", "\u202f"])
def test_every_mark_between_thousands_is_read(mark: str) -> None:
    assert number(f"3{mark}135{mark}802.5") == 3135802.5
    assert number(f"3{mark}135{mark}802,5", ",") == 3135802.5
    assert whole(f"1{mark}024") == 1024
    assert decimal_mark([f"1{mark}024,5"]) == ","


def test_ncu_names_a_metric_it_uses_and_cannot_read(tmp_path: Path) -> None:
    metrics = [
        ("Duration", "us", "1_500"), ("Registers Per Thread", "", "-4"), ("Achieved Occupancy", "%", "nan"),
        ("Theoretical Occupancy", "%", "50"), ("Some Text", "", "fast"), ("Some Slope", "", "-2"),
    ]  # fmt: skip
    text = table(
        "ID Kernel_Name Block_Size Grid_Size CC Metric_Name Metric_Unit Metric_Value",
        *(
            f'"0","k","(64, 1, 1)","(8, 1, 1)","9.0","{name}","{unit}","{value}"'
            for name, unit, value in metrics
        ),
    ).replace("_", " ")
    (tmp_path / "a.csv").write_text(text.replace("1 500", "1_500"))
    (item,), errors = both(tmp_path / "a.csv")
    assert item.counters["sm__maximum_warps_per_active_cycle_pct"] == 50
    assert item.counters["Some Slope"] == -2
    assert errors == [
        "a.csv:2: Duration: '1_500' is no number",
        "a.csv:3: Registers Per Thread: '-4' is negative",
        "a.csv:4: Achieved Occupancy: 'nan' is not finite",
    ]
    (tmp_path / "a.csv").write_text(text.replace("(8, 1, 1)", f"({'9' * 5000}, 1, 1)"))
    items, errors = both(tmp_path / "a.csv")
    assert items == []
    assert "Grid Size: " in errors[-1]


@given(
    st.text(alphabet="0123456789+-.,eE'_ infna%\u2019\u202f", max_size=12)
    | st.text("9", min_size=4400, max_size=4500)
)
def test_any_text_is_a_number_in_range_or_none_or_refused(text: str) -> None:
    for read, largest in ((whole, 2**32), (quantity, 2.0**64), (time, 2**63), (count, 2**63)):
        try:
            value = read(text)
        except BadNumber as error:
            value = None if error.why else -1
        assert value is None or 0 <= value <= largest
