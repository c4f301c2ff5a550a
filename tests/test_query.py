"""Questions over a survey's Parquet: the answer is what the rows say, counted here one by one."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.test_cli import run
from wavefit.gate.schema import schema
from wavefit.report.query import query_document
from wavefit.survey import Options, survey_parts
from wavefit.survey.query import QUESTIONS, BadQuery, query

duckdb = pytest.importorskip("duckdb", reason="needs DuckDB")
DATA = Path(__file__).parent / "data" / "kernels"


def parts(folder: Path, out: Path) -> str:
    for _ in survey_parts([str(folder)], Options(parts=f"{out}/")):
        pass
    return f"{out}/"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[dict[str, Any]]]:
    import pyarrow.dataset as ds

    out = tmp_path_factory.mktemp("query") / "it's [here]?"
    place = parts(DATA, out)
    found: list[dict[str, Any]] = (
        ds.dataset([str(p) for p in out.glob("[0-9a-f]*.parquet")]).to_table().to_pylist()
    )
    return place, found


def names(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return sorted((row["file"], row["name"]) for row in found)


def test_each_question_is_what_the_rows_say(rows: tuple[str, list[dict[str, Any]]]) -> None:
    place, every = rows
    expected = {
        "near": [row for row in every if row["vgprs_to_gain"] and row["vgprs_to_gain"] <= 40],
        "spills": [row for row in every if (row["vgpr_spills"] or 0) + (row["sgpr_spills"] or 0)],
        "cannot-launch": [row for row in every if row["workgroups"] == 0],
    }
    for name, among in expected.items():
        found = query(name, [place], near=40)
        said = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
        assert names(said) == names(among)
        assert len(among) > 1
    found = query("limiters", [place])
    counted = Counter((row["target"], row["binding"] or "no Fit") for row in every)
    assert {row[:2]: row[2] for row in found.rows} == counted
    assert query("spills", [place], limit=2).total == len(expected["spills"])


def test_what_changed_between_two_builds_is_found(tmp_path: Path) -> None:
    old, new = tmp_path / "nightly-20260101", tmp_path / "nightly-20260102"
    shutil.copytree(DATA / "triton", old)
    shutil.copytree(DATA / "triton", new)
    (new / "extra.co").write_bytes((DATA / "k_gfx90a.co").read_bytes())
    for file in new.glob("softmax_gfx942_4096_w8.*"):
        file.unlink()
    swapped = new / "matmul_gfx942_64x64x32_w4_s1_wpe2.hsaco"
    swapped.write_bytes((new / "matmul_gfx942_128x256x64_w4_s2_wpe4.hsaco").read_bytes())
    places = [parts(old, tmp_path / "a"), parts(new, tmp_path / "b")]
    found = query("changed", places)
    change = Counter(row[0] for row in found.rows)
    assert change == {"added": 3, "removed": 1, "changed": 1}
    assert query("changed", [places[0], places[0]]).total == 0


def test_names_are_never_sql(tmp_path: Path, rows: tuple[str, list[dict[str, Any]]]) -> None:
    folder = tmp_path / "x'); drop table a; --"
    folder.mkdir()
    shutil.copy(DATA / "k_gfx90a.co", folder / "'; select 1.co")
    place = parts(folder, folder / "out*")
    assert sum(row[2] for row in query("limiters", [place]).rows) == 3
    with pytest.raises(BadQuery, match="no question"):
        query("near; drop table a", [rows[0]])


def test_what_is_no_survey_is_one_line(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1" + bytes(40) + b"PAR1")
    (tmp_path / "empty").mkdir()
    for name in ("other.parquet", "damaged.parquet", "empty", "absent"):
        with pytest.raises(BadQuery, match=name):
            query("near", [str(tmp_path / name)])
        done = run("survey", "--query", "near", str(tmp_path / name))
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
    with pytest.raises(BadQuery, match="old one and the new one"):
        query("changed", ["one"])
    with pytest.raises(BadQuery, match="command line or Python"):
        query("near", ["memory://x/"])


@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_the_command_answers_in_80_columns_and_as_a_document(
    name: str, rows: tuple[str, list[dict[str, Any]]]
) -> None:
    places = [rows[0]] * QUESTIONS[name].files
    text = run("survey", "--query", name, *places, "--near", "40", "--limit", "5")
    assert text.returncode == 0
    assert all(len(line) <= 80 for line in text.stdout.splitlines() if "/" not in line)
    document = json.loads(run("survey", "--query", name, *places, "--json").stdout)
    assert document["schema"] == "wavefit.survey-query/1"
    assert document["total"] >= len(document["rows"])
    assert text.stdout.split(": ")[1].startswith(str(document["total"])) or name == "near"


@pytest.mark.parametrize("question", [name for name, each in QUESTIONS.items() if each.files == 1])
def test_the_document_is_what_its_schema_says(rows: tuple[str, list[dict[str, Any]]], question: str) -> None:
    jsonschema.validate(query_document(query(question, [rows[0]])), schema("survey-query"))
