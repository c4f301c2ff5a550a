"""The page *Published, checked* takes up every statement, with the verdict that the library bears out."""

from __future__ import annotations

import csv
import re

import pytest

from tests import blocks
from tests.published import DATA, HOLDS, NOT, PARTLY, UNKNOWN
from tests.published_chinese import CHECKED

VERDICTS = {
    "en": {"holds": HOLDS, "partly": PARTLY, "does not hold": NOT, "unknown": UNKNOWN},
    "zh": {"成立": HOLDS, "部分成立": PARTLY, "不成立": NOT, "未知": UNKNOWN},
}
WHERE = {"en": "Reproduces ", "zh": "复现 "}
IDENTIFIER = re.compile(r"\bG\d-\d\d\b")

with (DATA / "published" / "ids.csv").open(encoding="utf-8", newline="") as _file:
    IDS = [row["id"] for row in csv.DictReader(_file)]


def text(language: str) -> str:
    return (blocks.ROOT / "docs" / language / "published.md").read_text(encoding="utf-8")


def rows(language: str) -> dict[str, list[str]]:
    """The cells of each statement's row, by its id."""
    lines = [line for line in text(language).splitlines() if re.match(r"\| G\d-\d\d \|", line)]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert len({row[0] for row in cells}) == len(cells), "an id stands twice"
    return {row[0]: row for row in cells}


@pytest.mark.parametrize("identifier", IDS)
def test_the_library_bears_the_verdict_out(identifier: str) -> None:
    CHECKED[identifier][1]()


@pytest.mark.parametrize("language", VERDICTS)
def test_every_statement_is_on_the_page_with_its_verdict(language: str) -> None:
    found = rows(language)
    assert sorted(found) == sorted(IDS) == sorted(CHECKED)
    for identifier, cells in found.items():
        assert len(cells) == 4, identifier
        assert all(cells), identifier
        assert VERDICTS[language][cells[2].strip("*")] == CHECKED[identifier][0], identifier


@pytest.mark.parametrize("language", VERDICTS)
def test_every_statement_names_a_command_that_shows_it(language: str) -> None:
    """A line `Reproduces G1-01, G1-02:` stands right before a console block."""
    shown = set[str]()
    for paragraph, after in zip(paragraphs := text(language).split("\n\n"), paragraphs[1:], strict=False):
        if paragraph.startswith(WHERE[language]):
            assert after.startswith("```console\n$ wavefit "), paragraph
            shown |= set(IDENTIFIER.findall(paragraph))
    assert shown == set(IDS)


def test_both_languages_show_the_same_commands() -> None:
    english, chinese = (commands(language) for language in VERDICTS)
    assert english == chinese


def commands(language: str) -> list[str]:
    page = blocks.ROOT / "docs" / language / "published.md"
    lines = [line for block in blocks.blocks(page) for line in block.text.splitlines()]
    return [line.replace(" --lang zh", "") for line in lines if line.startswith("$ ")]
