"""What others read of a gate and a diff: SARIF, JUnit and Markdown, with names that attack them."""

from __future__ import annotations

import json
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from junitparser import Failure, JUnitXml, Skipped
from markdown_it import MarkdownIt

from tests.gate_run import EXAMPLES, HOSTILE, STORY, row, run, saved
from wavefit.gate.budget import plain
from wavefit.gate.check import gate
from wavefit.report.diff import code
from wavefit.report.junit import junit
from wavefit.report.names import printable
from wavefit.report.rows import Build
from wavefit.report.sarif import sarif

SCHEMA = json.loads((Path(__file__).parent / "data/gate/sarif-schema-2.1.0.json").read_text())
SARIF = jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
MARKDOWN = MarkdownIt("gfm-like", {"linkify": False}).enable("table")
CLEAN = row()
ALLOWED = {"table", "thead", "tbody", "tr", "th", "td", "p", "strong", "code", "br"}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("hostile") / "hostile.json")


def sarif_of(*args: str | Path, out: Path) -> Any:
    run("gate", *args, "--sarif", out)
    log = json.loads(out.read_text(encoding="utf-8"))
    assert not list(SARIF.iter_errors(log))
    return log


def test_sarif_is_valid_by_its_schema_and_points_at_the_file(tmp_path: Path) -> None:
    out = tmp_path / "out.sarif"
    log = sarif_of(STORY / "change", "waves_per_simd >= 5", "vgprs > 0", out=out)
    (only,) = log["runs"][0]["results"]
    assert only["ruleId"] == "waves_per_simd >= 5"
    assert log["runs"][0]["tool"]["driver"]["rules"][only["ruleIndex"]]["id"] == only["ruleId"]
    location = only["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"].endswith("story/change/tile_sum.o")
    assert location["logicalLocations"][0]["name"] == "tile_sum"
    assert "bound by vgpr" in only["message"]["text"]


def test_the_schema_can_refuse() -> None:
    assert list(SARIF.iter_errors({"version": "2.1.0", "runs": [{"results": [{"message": {}}]}]}))


def test_a_kept_gate_is_a_valid_log_without_results(tmp_path: Path) -> None:
    assert sarif_of(EXAMPLES, "vgprs > 0", out=tmp_path / "out.sarif")["runs"][0]["results"] == []


def test_a_file_is_a_relative_uri_below_here_and_an_absolute_one_elsewhere(tmp_path: Path) -> None:
    inside = tmp_path / "a folder/50%"
    inside.mkdir(parents=True)
    (inside / "k#1.o").write_bytes((STORY / "change/tile_sum.o").read_bytes())
    done = run("gate", "a folder", "vgprs < 0", "--sarif", "out.sarif", cwd=tmp_path)
    assert done.code == 1
    log = json.loads((tmp_path / "out.sarif").read_text())
    uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert urlsplit(uri).scheme == ""
    assert unquote(urlsplit(uri).path) == "a folder/50%/k#1.o"
    log = sarif_of(inside, "vgprs < 0", out=tmp_path / "out.sarif")
    uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert (urlsplit(uri).scheme, unquote(urlsplit(uri).path)) == ("file", str(inside / "k#1.o"))


def test_a_finding_keeps_its_fingerprint_when_the_folder_moves(tmp_path: Path) -> None:
    def prints(folder: Path) -> list[str]:
        log = sarif_of(folder, "vgprs < 0", out=tmp_path / "o.sarif")
        return [result["partialFingerprints"]["wavefit/v1"] for result in log["runs"][0]["results"]]

    moved = tmp_path / "moved"
    moved.mkdir()
    for file in EXAMPLES.iterdir():
        (moved / file.name).write_bytes(file.read_bytes())
    assert prints(EXAMPLES) == prints(moved)
    assert len(set(prints(EXAMPLES))) == 12


def test_hostile_names_in_sarif(hostile: Path, tmp_path: Path) -> None:
    log = sarif_of(hostile, "vgprs < 0", out=tmp_path / "out.sarif")
    results = log["runs"][0]["results"]
    assert len(results) == len(HOSTILE)
    for result in results:
        text = result["message"]["text"]
        assert text.isprintable()
        assert "](" not in text  # would be a link
        assert "{" not in text.replace("{{", "")  # would be a placeholder
        assert "}" not in text.replace("}}", "")


def test_junit_is_read_by_another_reader(hostile: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.xml"
    run("gate", hostile, "vgprs < 0", "vgprs > 0", "--junit", out)
    suites = JUnitXml.fromfile(str(out))
    cases = [case for suite in suites for case in suite]
    assert (suites.tests, suites.failures) == (2 * len(HOSTILE), len(HOSTILE))
    broken = [case for case in cases if any(isinstance(result, Failure) for result in case.result)]
    assert [case.name for case in broken] == [printable(f"{name}: vgprs < 0", 2000) for name in HOSTILE]
    assert {element.tag for element in ElementTree.parse(out).iter()} == {
        "testsuites", "testsuite", "testcase", "failure",
    }  # fmt: skip


def test_junit_counts_skips_and_files_that_could_not_be_read(tmp_path: Path) -> None:
    build, out = tmp_path / "build", tmp_path / "out.xml"
    build.mkdir()
    (build / "k.o").write_bytes((STORY / "change/tile_sum.o").read_bytes())
    (build / "broken.o").write_bytes((STORY / "change/tile_sum.o").read_bytes()[:900])
    run("gate", build, "vgprs <= baseline", "--baseline", EXAMPLES, "--junit", out)
    suites = JUnitXml.fromfile(str(out))
    assert (suites.tests, suites.failures, suites.errors, suites.skipped) == (2, 0, 1, 1)
    cases = [case for suite in suites for case in suite]
    assert any(isinstance(result, Skipped) for case in cases for result in case.result)


class Seen(HTMLParser):
    """Every element, and the text in `code`, of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.code: list[str] = []
        self.outside = ""
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        assert not attrs
        self._inside = tag == "code"
        if self._inside:
            self.code.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.code[-1] += data
        else:
            self.outside += data


def rendered(markdown: str) -> Seen:
    """The Markdown as a page: the renderer knows GitHub's tables, links and strikes."""
    seen = Seen()
    seen.feed(MARKDOWN.render(markdown))
    seen.close()
    return seen


def test_hostile_names_in_markdown_are_code_and_nothing_else(hostile: Path, tmp_path: Path) -> None:
    changed = json.loads(hostile.read_text())
    for kernel in changed["kernels"]:
        kernel["vgpr_spills"] = 7
    (tmp_path / "worse.json").write_text(json.dumps(changed))
    done = run("diff", hostile, tmp_path / "worse.json", "--markdown")
    seen = rendered(done.out)
    assert seen.tags <= ALLOWED
    assert {printable(name, 100) for name in HOSTILE} <= set(seen.code)
    assert "@" not in seen.outside
    assert done.out.count("\n| worse |") == len(HOSTILE)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_any_name_in_a_markdown_cell_is_itself(name: str) -> None:
    seen = rendered(f"| a | b |\n| --- | --- |\n| {code(name)} | end |")
    assert seen.tags <= ALLOWED
    assert seen.code == [printable(name, 100)]
    assert "end" in seen.outside


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=40), st.text(max_size=20))
def test_any_name_in_sarif_and_junit(name: str, member: str) -> None:
    """Halves of surrogate pairs too: both files are valid, and say as much as they should."""
    kernel = msgspec.structs.replace(CLEAN, name=name, symbol=name, file=f"build/{name}", member=member)
    found, build = gate(plain(["vgprs < 0", "vgprs > 0"]), (kernel,)), Build("build", (kernel,), (name,))
    log = json.loads(json.dumps(sarif(found, build)).encode())
    assert not list(SARIF.iter_errors(log))
    text = log["runs"][0]["results"][0]["message"]["text"]
    assert not {unicodedata.category(char) for char in text} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    root = ElementTree.fromstring(junit(found, build).encode())
    assert [root.get(key) for key in ("tests", "failures", "errors")] == ["3", "1", "1"]


def test_markdown_of_a_large_change_stays_below_the_size_of_a_comment(tmp_path: Path) -> None:
    for name, spills in (("a", 0), ("b", 9)):
        found = json.loads(saved(tmp_path / f"{name}.json", ("@" * 5000,)).read_text())
        (kernel,) = found["kernels"]
        kernel["vgpr_spills"] = spills
        many = [{**kernel, "name": f"{index}{kernel['name']}", "symbol": str(index)} for index in range(300)]
        (tmp_path / f"{name}.json").write_text(json.dumps({**found, "kernels": many}))
    done = run("diff", tmp_path / "a.json", tmp_path / "b.json", "--markdown")
    assert "and 250 more" in done.out
    assert len(done.out) < 65_536
