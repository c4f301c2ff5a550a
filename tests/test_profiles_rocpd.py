"""rocpd databases, built by our own writer from the published schema: no real one is public."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.profiles_builder import RUN, rocpd
from wavefit.profiles import measurements
from wavefit.profiles import rocpd as reader


def errors(path: Path) -> list[str]:
    found = measurements(path)
    assert not list(found)
    return [problem.cause for problem in found.errors]


def test_dispatches_symbols_agents_and_counters_join(tmp_path: Path) -> None:
    rocpd(str(tmp_path / "1_results.db"), dispatches=4, instances=2)
    found = list(measurements(tmp_path))
    assert [one.dispatch for one in found] == [1, 2, 3, 4]
    first = found[0]
    assert (first.kernel, first.reported.symbol) == ("gemm(float*)", "_Z4gemmPf.kd")
    assert (first.vgprs, first.agprs, first.sgprs) == (40, 8, 32)
    assert (first.lds, first.reported.lds_static, first.threads, first.workgroups) == (4096, 1024, 256, 4096)
    assert first.seconds == 8e-6
    assert first.counters == {"SQ_WAVES": 2000, "SQ_WAVE_CYCLES": 4000, "SQ_BUSY_CU_CYCLES": 6000}
    assert first.device is not None
    assert (first.chip, first.device.name, first.device.units) == ("gfx942", "AMD Instinct MI300X", 304)
    assert (first.device.dies, first.device.engines, first.device.clock) == (8, 32, 2100)


def test_runs_of_two_processes_in_one_file_and_events_out_of_order(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    rocpd(str(path), dispatches=2, views=False)
    rocpd(str(path), dispatches=3, run="_second", views=False)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute('UPDATE "rocpd_kernel_dispatch_second" SET event_id = 4 - event_id')
        base.execute('UPDATE "rocpd_pmc_event_second" SET value = event_id')
        base.execute('DELETE FROM "rocpd_pmc_event_second" WHERE event_id = 2')
    found = list(measurements(path))
    assert [one.dispatch for one in found] == [1, 2, 3, 2, 1]  # by event, one run after the other
    assert [one.counters.get("SQ_WAVES") for one in found] == [1000, 1000, 1, None, 3]


def test_a_view_answers_where_a_table_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    rocpd(str(path), dispatches=1)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(f'ALTER TABLE "rocpd_info_kernel_symbol{RUN}" RENAME TO "elsewhere"')
    (one,) = measurements(path)
    assert one.kernel == "gemm(float*)"
    with closing(sqlite3.connect(path)) as base, base:
        base.execute('DROP VIEW "rocpd_info_kernel_symbol"')
    assert errors(path) == ["table rocpd_info_kernel_symbol is missing"]


def test_the_file_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    rocpd(str(path))
    before = path.read_bytes()
    assert len(list(measurements(path))) == 3
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.db"]


def test_other_databases_are_refused_by_name(tmp_path: Path) -> None:
    for tables, says in (
        (("HIP", "OPS", "COPY", "KERN"), "results.db of rocprof v1"),
        (("rocpd_op", "rocpd_api", "rocpd_string"), "RocmProfileData"),
        (("anything",), "not rocpd (tables: anything)"),
    ):
        path = tmp_path / f"{tables[0]}.db"
        with closing(sqlite3.connect(path)) as base, base:
            for table in tables:
                base.execute(f'CREATE TABLE "{table}" (x)')
        assert says in errors(path)[0]


def test_a_schema_that_calls_functions_or_never_ends_is_stopped(tmp_path: Path) -> None:
    """Views are somebody else's SQL: no functions, no recursion, no writing."""
    for number, sql in enumerate(
        (
            "SELECT load_extension('x') AS id",
            "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n",
            "SELECT hex(randomblob(1000000000)) AS id",
        )
    ):
        path = tmp_path / f"{number}.db"
        rocpd(str(path), dispatches=1)
        with closing(sqlite3.connect(path)) as base, base:
            base.execute(f'DROP TABLE "rocpd_info_kernel_symbol{RUN}"')
            base.execute('DROP VIEW "rocpd_info_kernel_symbol"')
            columns = (
                "kernel_name display_name group_segment_size sgpr_count arch_vgpr_count accum_vgpr_count"
            )
            more = ", ".join(f"1 AS {column}" for column in columns.split())
            base.execute(f'CREATE VIEW "rocpd_info_kernel_symbol" AS SELECT id, {more} FROM ({sql})')
        (cause,) = errors(path)
        assert "not authorized" in cause or "damaged database" in cause, cause


def test_a_query_longer_than_the_file_explains_is_stopped(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "a.db"
    rocpd(str(path), dispatches=1)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(f'DROP TABLE "rocpd_info_kernel_symbol{RUN}"')
        base.execute('DROP VIEW "rocpd_info_kernel_symbol"')
        base.execute('CREATE TABLE "n" (id)')
        base.executemany('INSERT INTO "n" VALUES (?)', ((n,) for n in range(200)))
        columns = "kernel_name display_name group_segment_size sgpr_count arch_vgpr_count accum_vgpr_count"
        more = ", ".join(f"a.id AS {column}" for column in columns.split())
        base.execute(
            f'CREATE VIEW "rocpd_info_kernel_symbol" AS SELECT a.id AS id, {more} FROM n a, n b, n c, n d'
        )
    monkeypatch.setattr(reader, "STEPS", 1_000_000)
    assert errors(path) == ["a query that does not end was stopped"]


def test_damage_ends_in_an_error_line_and_keeps_what_was_read(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    rocpd(str(path), dispatches=20_000)
    content = bytearray(path.read_bytes())
    content[len(content) * 3 // 4 :] = b"\xff" * (len(content) - len(content) * 3 // 4)
    path.write_bytes(bytes(content))
    found = measurements(path)
    kept = list(found)
    assert len(kept) <= 20_000
    assert any("damaged database" in problem.cause for problem in found.errors)
    path.write_bytes(path.read_bytes()[:1000])
    assert "damaged database" in errors(path)[0]


def test_fields_of_the_wrong_type_are_problems(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    rocpd(str(path), dispatches=3)
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(f"""UPDATE "rocpd_kernel_dispatch{RUN}" SET workgroup_size_x = 'many' WHERE id = 2""")
        base.execute(
            f"""UPDATE "rocpd_kernel_dispatch{RUN}" SET grid_size_y = 0, workgroup_size_y = 0 WHERE id = 3"""
        )
    found = measurements(path)
    assert [one.dispatch for one in found] == [1]
    assert [problem.row for problem in found.errors] == [2, 3]
