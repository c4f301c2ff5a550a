"""The documentation: what pages show is what commands print, in both languages, and no figure is loose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tools import docs_accuracy

import wavefit as wf
from tests import blocks, oracles
from wavefit.chips.pages import stems
from wavefit.cli import COMMANDS
from wavefit.gate.schema import names

DOCS = blocks.ROOT / "docs"
PAGES = sorted([*(DOCS / "en").rglob("*.md"), *(DOCS / "zh").rglob("*.md")])
ENGLISH = [page for page in PAGES if page.is_relative_to(DOCS / "en")]
_CODE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_ABOUT = re.compile(r"error|accura|agree|disagree|median|mean of|误差|准确|精度|一致|吻合", re.IGNORECASE)
_FIGURE = re.compile(r"\d\s?%|\d (?:of|/) [\d,]+\d|\d,\d{3} (?:kernels|questions)")


def name(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def other(page: Path) -> Path:
    """The page in the other language."""
    return DOCS / "zh" / page.relative_to(DOCS / "en")


@cache
def shown(page: Path) -> tuple[blocks.Block, ...]:
    return tuple(blocks.blocks(page))


@pytest.mark.parametrize("page", [page for page in PAGES if shown(page)], ids=name)
def test_what_a_page_shows_is_what_its_commands_print(page: Path, tmp_path: Path) -> None:
    session = blocks.Session(tmp_path)
    for block in shown(page):
        if not (block.heavy or block.not_run):
            assert session.replay(block) == block.text, block.place


def test_left_out_lines_hide_nothing_that_is_shown() -> None:
    printed = ["head", "one", "two", "foot"]
    assert blocks.aligned(["head", "...", "foot"], printed) == ["head", "...", "foot"]
    assert blocks.aligned(["head", "...", "twa", "..."], printed) == ["head", "...", "two", "..."]
    assert blocks.aligned(["head", "foot"], printed) == printed


@pytest.mark.heavy
@pytest.mark.parametrize("page", [page for page in PAGES if any(b.heavy for b in shown(page))], ids=name)
def test_the_same_with_heavy_tools(page: Path, tmp_path: Path) -> None:
    session = blocks.Session(tmp_path)
    for block in shown(page):
        if not block.not_run:
            assert session.replay(block) == block.text, block.place


@pytest.mark.parametrize("page", ENGLISH, ids=name)
def test_the_chinese_page_has_the_same_sections_blocks_and_places(page: Path) -> None:
    english, chinese = (each.read_text(encoding="utf-8") for each in (page, other(page)))
    assert re.search("[\u4e00-\u9fff]", _CODE.sub("", chinese))
    assert _outline(english) == _outline(chinese)
    assert _commands(page) == _commands(other(page))
    assert sorted(docs_accuracy.PLACE.findall(english)) == sorted(docs_accuracy.PLACE.findall(chinese))


def test_no_chinese_page_is_left_over() -> None:
    assert {name(page)[3:] for page in PAGES if name(page).startswith("zh/")} == {
        name(page)[3:] for page in ENGLISH
    }


def _outline(text: str) -> list[int]:
    """The depth of each heading."""
    return [len(marks) for marks in re.findall(r"^(#+) ", _CODE.sub("", text), re.MULTILINE)]


def _commands(page: Path) -> list[str]:
    """What a page's blocks run, whatever language they ask for; without what they show."""
    lines = [line for block in shown(page) if block.kind == "console" for line in block.text.splitlines()]
    commands = (line.partition(" | ")[0] for line in lines if line.startswith("$ "))
    return [command.replace(" --lang zh", "") for command in commands]


def sentences(page: Path) -> Iterator[str]:
    """The sentences of a page, without code, tables and what the accuracy data fills in."""
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    text = "\n".join(line for line in text.splitlines() if not line.startswith("|"))
    yield from re.split(r"(?<=[.!?])\s|[。！？]|\n\n", docs_accuracy.PLACE.sub("", text))


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "accuracy.md"], ids=name)
def test_no_sentence_about_accuracy_brings_its_own_figure(page: Path) -> None:
    loose = [each for each in sentences(page) if _ABOUT.search(each) and _FIGURE.search(each)]
    assert loose == [], "quote it as {{ accuracy:KEY }}, see docs/templates/accuracy.toml"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_accuracy_page_is_what_its_data_say(language: str) -> None:
    written = (DOCS / language / "accuracy.md").read_text(encoding="utf-8")
    assert written == docs_accuracy.page(docs_accuracy.load(), language)


def test_every_row_of_the_accuracy_page_has_a_chinese_name() -> None:
    rows = [row for room in docs_accuracy.load()["rooms"].values() for row in room]
    told = {row[0]: docs_accuracy.in_words(row[0], "zh") for row in rows}
    same = {english for english, chinese in told.items() if english == chinese}
    assert same == set()


def test_the_data_tell_every_exact_oracle_whole() -> None:
    """Each row of them is held against the code by test_oracles.py."""
    counts = [(each, sum(1 for _ in oracles.rows(rows))) for each, rows, *_ in oracles.EXACT]
    wanted = [[each, str(count), str(count)] for each, count in counts]
    assert wanted == docs_accuracy.load()["rooms"]["exact"]


def test_the_readme_counts_what_the_accuracy_page_counts() -> None:
    """Its totals are sums of neighbouring rows of that page."""
    section = (blocks.ROOT / "README.md").read_text(encoding="utf-8").partition("## How far to trust it")[2]
    said = {int(each.replace(",", "")) for each in re.findall(r"\d{1,3}(?:,\d{3})+", section)}
    totals = [int(row[2]) for row in docs_accuracy.load()["rooms"]["exact"]]
    ends = range(len(totals) + 1)
    assert said <= {sum(totals[first:last]) for last in ends for first in range(last)}


@pytest.mark.heavy
def test_the_data_tell_every_figure_as_it_is_today() -> None:
    from tests.accuracy import rooms

    for room, rows in rooms():
        told = [[str(cell) for cell in row] for row in rows]
        if any("not there" in cell for row in told for cell in row):
            pytest.skip(f"{room}: needs data that is not part of the repository")
        assert told == docs_accuracy.load()["rooms"][room], f"{room}: run `make accuracy`"


@pytest.fixture(scope="module")
def references() -> dict[str, str]:
    pytest.importorskip("griffe", reason="the API reference needs griffe (wavefit[docs])")
    from tools import docs_api, docs_chips, docs_commands, docs_schemas

    chips = "".join(docs_chips.chips(which, "en") for which in docs_chips.PAGES)
    return {
        "api": docs_api.api("en"), "commands": docs_commands.commands("en"),
        "schemas": docs_schemas.schemas("en"), "chips": chips,
    }  # fmt: skip


def test_the_reference_has_every_public_name_with_a_docstring(references: dict[str, str]) -> None:
    for each in wf.__all__:
        section = re.search(rf"^## {each} \{{.*?(?=^## |\Z)", references["api"], re.MULTILINE | re.DOTALL)
        assert section is not None, each
        prose = _CODE.sub("", section[0]).splitlines()[1:]
        assert any(len(line.split()) >= 4 for line in prose), f"{each} says nothing of itself"


def test_the_reference_has_every_option_of_every_command(references: dict[str, str]) -> None:
    from importlib import import_module

    sections = dict(
        re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", references["commands"], re.MULTILINE | re.DOTALL)
    )
    for each in COMMANDS:
        for parameter in import_module(f"wavefit.cli.{each}").command.params:
            for option in parameter.opts:
                assert not option.startswith("-") or f"`{option}" in sections[each].replace(", ", "`"), option


def test_the_reference_has_every_document_and_every_chip(references: dict[str, str]) -> None:
    assert [line for line in names() if f"## {line} " not in references["schemas"]] == []
    assert [stem for stem in stems("targets") if f"## {stem}\n" not in references["chips"]] == []
    heads = re.findall(r"^### (.+)$", references["chips"], re.MULTILINE)
    assert len(heads) == len(stems("products"))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_everything_a_page_asks_to_be_filled_in_is_there(page: Path) -> None:
    pytest.importorskip("griffe", reason="the API reference needs griffe (wavefit[docs])")
    from tools import docs_figures, docs_hook

    text = page.read_text(encoding="utf-8")
    assert docs_accuracy.PLACE.search(docs_hook.filled(text, name(page)[:2])) is None
    for kind, which in docs_accuracy.PLACE.findall(text):
        assert kind != "figure" or which in docs_figures.FIGURES
