"""What the files in the root say is so: CONTRIBUTING's steps, SECURITY's bounds, READMEs, the glossary."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml

from tests import blocks
from wavefit.chips.check import check
from wavefit.chips.pages import DATA, stems
from wavefit.isa import child
from wavefit.kernels.bounds import Bounds, size_text
from wavefit.toml import loads

ROOT = blocks.ROOT
LANGUAGES = ("", ".zh-CN")
TOML = re.compile(r"```toml\n# src/wavefit/chips/data/(\S+)\n(.*?)```", re.DOTALL)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the chips' pages with the two examples of CONTRIBUTING.md in it."""
    folder = tmp_path_factory.mktemp("chips") / "data"
    shutil.copytree(str(DATA), folder)
    for name, page in TOML.findall(text("CONTRIBUTING.md")):
        assert not (folder / name).exists()
        (folder / name).write_text(page, encoding="utf-8")
    return folder


def test_the_chips_of_contributing_pass_the_check(pages: Path) -> None:
    assert {"mi399x"} == set(stems("products", pages)) - set(stems("products", DATA))
    assert {"gfx959"} == set(stems("targets", pages)) - set(stems("targets", DATA))
    assert check(pages) == []


@pytest.mark.parametrize(
    "wrong", ["unknown_key = 1", 'cus = { value = 128, unit = "CUs", status = "documented" }']
)
def test_the_check_finds_what_contributing_says_it_finds(pages: Path, wrong: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(pages, folder)
    page = folder / "products/mi399x.toml"
    told = page.read_text(encoding="utf-8")
    page.write_text(re.sub(r"^cus +=.*$", wrong, told, flags=re.MULTILINE), encoding="utf-8")
    assert any("mi399x" in problem for problem in check(folder))


def test_both_languages_of_contributing_hold_the_same_code() -> None:
    english, chinese = (
        re.findall(r"```.*?```|^    \S+", text(f"CONTRIBUTING{each}.md"), re.DOTALL | re.MULTILINE)
        for each in LANGUAGES
    )
    assert english == chinese


def test_what_contributing_names_is_there() -> None:
    for each in LANGUAGES:
        told = text(f"CONTRIBUTING{each}.md")
        for name in re.findall(r"`((?:src|tests|tools|docs)/[\w./-]+)`", told):
            if "mi399x" not in name and "gfx959" not in name:
                assert (ROOT / name).exists(), name
        for name in re.findall(r"make ([a-z-]+)", told):
            assert re.search(rf"^{name}:", text("Makefile"), re.MULTILINE), name


def test_security_says_the_bounds_that_hold() -> None:
    rows = dict(re.findall(r"^\| (.+?) \| (.+?) \|$", text("SECURITY.md"), re.MULTILINE))
    bounds = Bounds()
    said = {
        "one packed stream, unpacked": size_text(bounds.unpacked),
        "all packed streams of a file together": size_text(bounds.altogether),
        f"unpacked bytes for each packed byte, above {size_text(bounds.unquestioned)}": str(bounds.ratio),
        "held in memory at once for a packed member": size_text(bounds.held),
        "a text file": size_text(bounds.text),
        "members of one container": f"{bounds.members:,}",
        "members within members": str(bounds.depth),
        "a disassembler's address space and processor time": f"{size_text(child.MEMORY)}, {child.SECONDS} s",
    }
    for what, limit in said.items():
        assert rows[what].partition(" (")[0] == limit, what


def commands(name: str) -> list[str]:
    found = [line for block in blocks.blocks(ROOT / name) for line in block.text.splitlines()]
    return [line.replace(" --lang zh", "") for line in found if line.startswith("$ ")]


def test_both_readmes_show_the_same_commands() -> None:
    assert commands("README.md") == commands("README.zh-CN.md")


def test_both_readmes_run_the_same_python() -> None:
    english, chinese = (
        [re.sub(r" *#.*", "", block.text) for block in blocks.blocks(ROOT / f"README{each}.md")
         if block.kind == "python"]
        for each in LANGUAGES
    )  # fmt: skip
    assert english == chinese


def test_the_citation_is_of_this_project() -> None:
    citation, project = yaml.safe_load(text("CITATION.cff")), loads(text("pyproject.toml"))["project"]
    required = {"cff-version", "message", "title", "authors"}  # by the Citation File Format 1.2.0
    assert required <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    for key in ("version", "license", "keywords"):
        assert citation[key] == project[key], key
    assert citation["title"] == project["name"]


PAIR = re.compile(r"^\| ([^|]+?) \| ([^|]+?) \|", re.MULTILINE)
HEADS = {"English", "Chinese", "英文", "中文", "---"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_glossary_goes_both_ways(language: str) -> None:
    there, _, back = text(f"docs/{language}/glossary.md").rpartition("\n## ")
    pairs = [pair for pair in PAIR.findall(there) if pair[0] not in HEADS]
    reverse = [(english, chinese) for chinese, english in PAIR.findall(back) if english not in HEADS]
    assert len(pairs) >= 50
    assert sorted(pairs) == sorted(reverse)
    assert len({chinese for _, chinese in pairs}) == len(pairs)


def test_the_statuses_of_the_glossary_are_what_the_terminal_says() -> None:
    said = loads(text("src/wavefit/report/texts/zh/terminal.toml"))
    glossary = dict(PAIR.findall(text("docs/en/glossary.md")))
    for status in (
        "measured",
        "runtime",
        "compiler",
        "documented",
        "derived",
        "secondary",
        "assumed",
        "contradicted",
    ):
        assert said[status] == glossary[status], status
