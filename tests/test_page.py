"""The report's page: what it holds is the report's document, and nothing in it is believed or fetched."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import wavefit as wf
from tests.page_world import EXAMPLES, HOSTILE, examples, hostile, many, unpacked
from wavefit.cli.report import command
from wavefit.report.charts.style import DARK, LIGHT
from wavefit.report.charts.survey import Distributions
from wavefit.report.document import Report
from wavefit.report.language import catalogue, speaking
from wavefit.report.page import Advised, advised, page
from wavefit.report.page.build import LARGEST
from wavefit.report.page.pack import Mixed, compressed
from wavefit.report.page.survey import overview
from wavefit.survey import Summary

ROOM = Path(wf.__file__).parent / "report" / "page"
SCRIPT = "\n".join(file.read_text() for file in sorted((ROOM / "script").glob("*.js")))
CHINESE = re.compile(r"[\u4e00-\u9fff]")


class Read(HTMLParser):
    """A page as a browser's parser sees it: elements with their attributes, and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, str] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_data(self, data: str) -> None:
        if self._open:
            self.inside[self._open[-1]] = self.inside.get(self._open[-1], "") + data


# What it holds


@pytest.mark.parametrize("report", [examples(), hostile()], ids=["examples", "hostile"])
def test_every_number_is_the_reports(report: Report) -> None:
    held, document = unpacked(page(report)), json.loads(json.dumps(report.to_dict()))
    assert len(held["kernels"]) == len(document["kernels"])
    for shown, told in zip(held["kernels"], document["kernels"], strict=True):
        fit = told.pop("fit")
        assert {key: shown[key] for key in told if not isinstance(told[key], str | list)} == {
            key: value for key, value in told.items() if not isinstance(value, str | list)
        }
        slack = {each["resource"]: each["spare"] for each in shown["fit"]["slack"]}
        assert {**{key: shown["fit"][key] for key in fit}, "slack": slack} == fit


def test_a_range_of_sizes_holds_both_ends() -> None:
    report = examples()
    ranged = Report(
        tuple((k, wf.fit(k, threads=(64, k.max_threads or 64))) for k, _ in report.kernels[:3]), ()
    )
    for shown, told in zip(unpacked(page(ranged))["kernels"], ranged.to_dict()["kernels"], strict=True):
        for end, key in (("low", "low"), ("high", "fit")):
            assert shown[key]["waves"] == told["fit"][end]["waves"]
            assert shown[key]["threads"] == told["fit"][end]["threads"]


def test_the_curves_of_the_page_are_what_fit_answers() -> None:
    for shown, (kernel, _) in zip(unpacked(page(examples()))["kernels"], examples().kernels, strict=True):
        (curve,) = [each for each in shown["fit"]["curves"] if each["resource"] == "threads"] or [None]
        if curve is None:
            continue
        lows, waves = curve["stairs"][::2], curve["stairs"][1::2]
        for low, expected in zip(lows, waves, strict=True):
            again = wf.fit(kernel, threads=low)
            assert isinstance(again, wf.Fit)
            assert again.waves_per_simd == expected


def test_deep_links_stay_the_same_and_are_all_different() -> None:
    first, second = (unpacked(page(report))["kernels"] for report in (examples(), hostile()))
    assert first == unpacked(page(examples()))["kernels"]
    for kernels in (first, second):
        assert len({each["key"] for each in kernels}) == len(kernels)


def test_kernels_that_are_alike_have_links_of_their_own() -> None:
    twice = Report(examples().kernels[:1] * 3, ())
    assert len({each["key"] for each in unpacked(page(twice))["kernels"]}) == 3


def test_advice_is_there_or_the_page_says_why_not() -> None:
    report = many(100)
    asked = advised(["nowhere"], len(report.kernels), pattern=None, chip=None, launch={})
    assert "wavefit advise" in (unpacked(page(report, advised=asked))["advice"] or "")
    place = (report.kernels[0][0].file, None, report.kernels[0][0].symbol, report.kernels[0][0].target)
    given_advice = {"utilisation": 0.5, "not_judged": None, "advice": []}
    held = unpacked(page(report, advised=Advised(found={place: given_advice})))
    assert held["kernels"][0]["advised"] == given_advice
    assert held["kernels"][1]["advised"] is None


# Nothing in it is believed


def test_hostile_names_are_text_and_in_no_attribute() -> None:
    text = page(hostile())
    assert 'onerror="document' not in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    read = Read(text)
    tags = {tag for tag, _ in read.elements}
    assert "img" not in tags
    assert [tag for tag, _ in read.elements].count("script") == 2
    assert not [each for _, attributes in read.elements for each in attributes if each.startswith("on")]


def test_every_hostile_name_is_shown() -> None:
    names = [each["name"] for each in unpacked(page(hostile()))["kernels"]]
    assert names[0] == HOSTILE["script"]
    assert names[1] == HOSTILE["ends"]
    assert names[3].startswith("LLLL")
    assert "more]" in names[3]
    assert names[4] == "safe\\u202egpj.exe\\u2066\\u200f"
    assert names[5] == "a\\x00b\\x1b[31m\\x0d\\x0a"
    assert names[7] == "\\ud800x"


def test_the_policy_allows_this_script_and_this_style_only() -> None:
    text = page(hostile())
    read = Read(text)
    (policy,) = [
        a["content"] or "" for _, a in read.elements if a.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        content = re.findall(rf"<{tag}(?: type=\"module\")?>(.*?)</{tag}>", text, re.DOTALL)[-1]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"


def test_nothing_is_fetched_from_anywhere() -> None:
    text = page(examples())
    for tag, attributes in Read(text).elements:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), (tag, attributes)
        assert "style" not in attributes
    assert not re.search(r"url\(|@import|\bfetch\(|XMLHttpRequest|innerHTML|document\.write|eval\(", SCRIPT)


def test_ten_thousand_kernels_stay_under_two_megabytes() -> None:
    text = page(many(10_000))
    assert len(text.encode()) < LARGEST
    assert len(unpacked(text)["kernels"]) == 10_000


def test_long_names_are_cut_until_the_page_is_small_enough() -> None:
    pick = random.Random(1)
    long = [
        wf.Kernel(
            "gfx950",
            name=pick.randbytes(1000).hex(),
            symbol=str(at),
            file="f",
            total_vgprs=96,
            max_threads=256,
        )
        for at in range(2000)
    ]
    answer = wf.fit(long[0])
    text = page(Report(tuple((kernel, answer) for kernel in long), ()))
    assert len(text.encode()) <= LARGEST
    assert "more]" in unpacked(text)["kernels"][0]["name"]


# Without script


def test_the_first_kernels_stand_in_the_markup() -> None:
    read = Read(page(examples()))
    links = [a["href"] for tag, a in read.elements if tag == "a" and a.get("class") == "name"]
    assert len(links) == len(examples().kernels)
    assert read.inside["noscript"] or read.inside["p"]
    assert sum(tag == "tr" for tag, _ in Read(page(many(500))).elements) == 101


# Two languages


def test_every_text_of_the_script_has_its_chinese() -> None:
    build = (ROOM / "build.py").read_text()
    keys = set(re.findall(r'say\("((?:[^"\\])*)"', SCRIPT))
    keys |= set(re.findall(r'\["([^"]+)"(?:, 1)?\]', SCRIPT)) | set(
        re.findall(r'\["([^"]+)", (?:kernel|size)', SCRIPT)
    )
    for block in re.findall(r"(?:NAMES|CURVES) = \{(.*?)\};", SCRIPT, re.DOTALL):
        keys |= set(re.findall(r'"([^"]+)"', block))
    keys |= set(re.findall(r'told\(\s*"\w+", "([^"]+)"', build + (ROOM / "survey.py").read_text()))
    for block in re.findall(r"(?:_ONLY|_HEADS) = \{(.*?)\}", build, re.DOTALL):
        keys |= set(re.findall(r': "([^"]+)"', block))
    assert len(keys) > 90
    assert sorted(key for key in keys if key not in catalogue("zh")) == []


def test_a_page_can_be_made_in_chinese() -> None:
    text = page(examples(), chosen="zh")
    assert '<html lang="zh-Hans" data-language="zh">' in text
    assert CHINESE.search(Read(text).inside["h1"])
    assert "data-language" not in page(examples()).split(">")[1]


def test_the_callers_language_is_not_the_pages() -> None:
    plain = page(examples())
    with speaking("zh"):
        assert page(examples()) == plain


def test_sentences_of_the_results_come_with_their_chinese() -> None:
    said = {each["en"]: each["zh"] for each in unpacked(page(examples()))["said"]}
    for kernel in unpacked(page(examples()))["kernels"]:
        verdict = said[kernel["fit"]["verdict"]]
        assert CHINESE.search(verdict)
        assert " and " not in verdict


# Packing


plain = (
    st.none()
    | st.booleans()
    | st.integers(-(2**40), 2**40)
    | st.floats(allow_nan=False, allow_infinity=False)
)
leaves = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
inner = st.builds(lambda x, names: {"x": x, "names": names}, st.none() | st.integers(0, 2), st.lists(leaves))
rows = st.lists(
    st.fixed_dictionaries(
        {
            "n": st.none() | st.integers(-5, 5), "t": st.none() | leaves,
            "list": st.lists(st.integers(0, 3), max_size=4), "of": st.none() | inner,
        }
    ),
    max_size=12,
).map(lambda found: [dict(sorted(row.items())) for row in found])  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(rows, plain)
def test_what_is_packed_comes_out_again(found: Any, single: Any) -> None:
    document = {"rows": found, "single": single, "same": found}
    assert unpacked(compressed(document)) == document


def test_one_key_holds_one_kind() -> None:
    with pytest.raises(Mixed, match="x"):
        compressed({"rows": [{"x": "text"}, {"x": 1}]})


# The command, the look, the survey


def test_report_writes_the_page_and_still_prints_json(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    kernel = str(EXAMPLES / "softmax_gfx1100_32768_w16.hsaco")
    done = CliRunner().invoke(command, [kernel, "--html", str(file), "--json"])
    assert done.exit_code == 0, done.output
    assert (
        json.loads(done.stdout)["kernels"][0]["fit"]["waves"]
        == unpacked(file.read_text())["kernels"][0]["fit"]["waves"]
    )
    alone = CliRunner().invoke(command, [kernel, "--html", str(file)])
    assert alone.stdout == ""


@pytest.mark.parametrize(("asked", "fixed"), [((), False), (("--lang", "zh"), True)])
@pytest.mark.parametrize("name", ["report", "survey"])
def test_a_page_speaks_the_language_that_was_asked_for(
    tmp_path: Path, name: str, asked: tuple[str, ...], fixed: bool
) -> None:
    file = tmp_path / "page.html"
    kernel = str(EXAMPLES / "softmax_gfx1100_32768_w16.hsaco")
    command_line = [sys.executable, "-m", "wavefit", name, kernel, "--html", str(file), *asked]
    subprocess.run(command_line, check=True, capture_output=True)
    assert ('<html lang="zh-Hans"' in file.read_text("utf-8")) is fixed


def test_the_pages_colours_are_those_of_the_charts() -> None:
    style = (ROOM / "style.css").read_text()
    light, dark = style.split("prefers-color-scheme: dark", 1)
    for theme, part in ((LIGHT, light), (DARK, dark)):
        for name in ("background", "text", "quiet", "grid", "axis", "line", "limit", "good"):
            assert f"--{name}: {getattr(theme, name)};" in part


def row(**known: Any) -> dict[str, Any]:
    fields = dict.fromkeys(
        (
            "name",
            "file",
            "member",
            "target",
            "vgprs",
            "waves_per_simd",
            "binding",
            "vgpr_spills",
            "vgprs_to_gain",
        )
    )
    return {**fields, "name": "k", "file": "f", "target": "gfx950", **known}


def test_a_surveys_overview_counts_its_rows() -> None:
    found, summary = Distributions(), Summary()
    cases = ((2, "vgpr", 0, 3), (2, "vgpr", 9, 17), (4, "vgpr+lds", 0, None), (None, None, 300, 3))
    names = ("waves_per_simd", "binding", "vgpr_spills", "vgprs_to_gain")
    found.count(row(**dict(zip(names, case, strict=True)), name=HOSTILE["script"]) for case in cases)
    assert found.waves == {(2, "vgpr"): 2, (4, "vgpr+lds"): 1}
    assert found.near == {3: 2}
    assert [found.spills[at] for at in range(5)] == [0, 1, 0, 0, 1]
    assert [each["amount"] for each in found.spilling] == [300, 9]
    summary.by_binding.update({"vgpr": 2, "vgpr+lds": 1})
    text = overview(summary, found)
    read = Read(text)
    assert "document.title" not in read.inside["script"]
    assert [tag for tag, _ in read.elements].count("script") == 2
    assert HOSTILE["script"] in read.inside["span"]
    assert len(text.encode()) < LARGEST
