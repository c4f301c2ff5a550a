"""The catalogues: the same places in both languages, everything translated, hostile values left alone."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from tests.terminal_run import COMMANDS, Here, here, loop
from wavefit.chips.model import STATUSES
from wavefit.gate.diff import Verdict
from wavefit.gate.pairs import How
from wavefit.matrix import WAITS
from wavefit.occupancy.views import VIEWS
from wavefit.profiles.reasons import CODES
from wavefit.report import code, confirm, feed, rosetta, text, tiles
from wavefit.report.language import (
    catalogue,
    counted,
    language,
    placed,
    preferred,
    retold,
    say,
    speaking,
)

__all__ = ["here", "loop"]

PLACE = re.compile(r"\{\w+\}")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
SOURCES = Path(text.__file__).parent.parent
FACES = sorted([*(SOURCES / "report").glob("*.py"), *(SOURCES / "cli").glob("*.py")])
SAYS = {"say": "{}", "counted": "{{amount}} {}", "labelled": "{}", "_under": "{}"}
"""Functions whose first argument is a template, and how its key is made of it."""
WORDS = [
    *text.NAMES.values(), *text.HEADS[1:], *text.STOPS, *text.ABOUT, *feed.TRAP, *code.CLASSES.values(),
    *code.SPECIAL, *tiles.HEADS, *tiles.ORDER_HEADS, *confirm.OVER.values(), *CODES, *STATUSES,
    *get_args(Verdict), *get_args(How), *WAITS.values(), *(word.what for word in rosetta.ROSETTA),
    *(word for words in rosetta.BESIDE.values() for pair in words.items() for word in pair),
    *(view.authority for view in VIEWS.values()),
    *(rule for view in VIEWS.values() for rule in view.differs.values()),
]  # fmt: skip
"""Words that faces say by a variable."""
BELOW = {
    "occupancy": ("assumptions.py", "fit.py", "limits.py", "question.py", "sweep.py", "views.py"),
    "feed": ("loop.py", "matrix.py", "memory.py", "timing.py", "trap.py", "roofline.py"),
    "advise": ("case.py", "rules.py"),
    "profiles": (
        "reasons.py", "explain.py", "confirmation.py", "confirm.py", "join.py", "meaning.py", "theory.py",
    ),
    "tiles": ("footprint.py", "lds.py", "order.py", "orders.py", "rank.py", "shape.py", "time.py"),
    "kernels/amd": ("join.py", "limits.py"),
    "kernels/formats": ("cubin.py", "cubin_text.py", "ptx.py", "ptxas_text.py", "remarks.py"),
    "kernels/nvidia": ("arch.py",),
    "kernels": ("open.py", "other.py"),
    "matrix": ("errors.py", "model.py", "packed.py"),
}  # fmt: skip
"""Rooms below whose sentences a terminal shows."""
NOT_SHOWN = ("the memory latency", "bytes cumulative stack size")
"""What is looked for in a text, not said."""
THREE = re.compile(r"\b[A-Za-z]['a-z]+ [A-Za-z]['a-z]+ [A-Za-z]['a-z]+(?![\w/.])")


def templates(file: Path) -> Iterator[str]:
    """The keys of every literal that a face says."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if name not in SAYS:
            continue
        assert isinstance(node, ast.Call)
        for said in node.args[1 if name == "counted" else 0 : 2 if name == "counted" else 1]:
            ways = [said.body, said.orelse] if isinstance(said, ast.IfExp) else [said]
            for each in ways:
                if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value:
                    yield SAYS[name].format(each.value)


def sentences(file: Path) -> Iterator[str]:
    """Literals of three words and more that are no docstring; an f-string with a value in each place."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            passed |= {id(inner) for inner in ast.walk(node) if inner is not node}
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(_piece(part, number) for number, part in enumerate(node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _piece(part: ast.expr, number: int) -> str:
    """The text, or a value that might stand there: `s * (n > 1)` and the like may be nothing."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    assert isinstance(part, ast.FormattedValue)
    plural = isinstance(part.value, ast.BinOp) and isinstance(part.value.left, ast.Constant)
    return "" if plural else f"X{number}"


def test_a_translation_has_the_places_of_its_template() -> None:
    both = catalogue("zh").items()
    assert [key for key, told in both if sorted(PLACE.findall(told)) != sorted(PLACE.findall(key))] == []


@pytest.mark.parametrize("file", FACES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_every_template_that_a_face_says_is_translated(file: Path) -> None:
    assert [template for template in templates(file) if template not in catalogue("zh")] == []


def test_the_faces_have_templates() -> None:
    assert sum(1 for file in FACES for _ in templates(file)) > 150


def test_every_word_that_a_face_says_by_a_variable_is_translated() -> None:
    assert [word for word in dict.fromkeys(WORDS) if word and retold_in_chinese(word) is None] == []


def retold_in_chinese(sentence: str) -> str | None:
    """The sentence in Chinese; None where no catalogue has it."""
    with speaking("zh"):
        told = placed(sentence)
    return told if told != sentence or sentence in catalogue("zh") else None


@pytest.mark.parametrize("room", BELOW)
def test_every_sentence_from_below_is_translated(room: str) -> None:
    found = [each for name in BELOW[room] for each in sentences(SOURCES / room / name) if THREE.search(each)]
    found = [each for each in found if each not in NOT_SHOWN]
    assert found
    known = "\n".join(catalogue("zh"))
    assert [each for each in found if retold_in_chinese(each) is None and not _in_parts(each, known)] == []


def _in_parts(sentence: str, known: str) -> bool:
    """Whether it is put together with others before it is shown: its fixed parts stand in templates."""
    return all(part.strip(" ;.,") in known for part in re.split(r"X\d+", sentence) if THREE.search(part))


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in COMMANDS
        if not name.startswith(("chip", "matrix-", "fit-explain", "report", "schema", "views-guide"))
    ],
)
def test_no_english_sentence_is_left_in_chinese(name: str, here: Here) -> None:
    """But for the brackets of sources, paths and code; commands that cite are left out."""
    found = " ".join(here.shown(name, "zh").out.split())
    found = re.sub(r"[（(].*?[)）]|为二手：.*?(?= 依据|$)|\[[^\]]*\] [^\u4e00-\u9fff]*", "", found)
    assert THREE.findall(found) == []


def test_english_is_the_template() -> None:
    assert language() == "en"
    assert say("bound by {what}", what="VGPR") == "bound by VGPR"


def test_chinese_inside_its_block_only() -> None:
    with speaking("zh"):
        assert CHINESE.search(say("bound by {what}", what="VGPR"))
        assert "VGPR" in say("bound by {what}", what="VGPR")
        assert counted(2, "workgroup") == "2 个工作组"
    assert say("bound by {what}", what="VGPR") == "bound by VGPR"
    assert (counted(1, "workgroup"), counted(2, "workgroup")) == ("1 workgroup", "2 workgroups")


def test_a_ready_sentence_is_recognised() -> None:
    with speaking("zh"):
        assert retold("bound by LDS") == say("bound by {what}", what="LDS")
        assert retold("nobody translated this") == "nobody translated this"


def test_a_sentence_inside_a_sentence_is_retold_and_a_lone_word_is_a_name() -> None:
    with speaking("zh"):
        told = retold("cannot launch: 600 vector registers; a wave can have 512")
        assert told == "无法启动：600 个向量寄存器；每个 wave 至多 512 个"
        assert "tail" in retold("no kernel's name contains tail")


def test_an_error_keeps_its_place() -> None:
    with speaking("zh"):
        assert placed("a: b/c.so[.text+0x3]: no files in this folder").startswith("a: b/c.so[.text+0x3]: 此")
        assert placed("x: y: z") == "x: y: z"


def test_a_value_that_holds_braces_stays_as_it_is() -> None:
    assert say("bound by {what}", what="{what} {why}") == "bound by {what} {why}"
    with speaking("zh"):
        assert retold("bound by {why} {what}").endswith("{why} {what}")


def test_a_name_that_imitates_the_templates_costs_no_more_than_another() -> None:
    names = [": , ; () = / " * 160, "waves/SIMD, or " * 130]
    with speaking("zh"):
        before = time.process_time()
        for name in names:
            retold(name[:2000])
        # A thousand templates, each once along the sentence: far from the hours of backtracking.
        assert time.process_time() - before < 30


@pytest.mark.parametrize(
    ("environment", "terminal", "language"),
    [
        ({}, True, "en"),
        ({"LANG": "zh_CN.UTF-8"}, True, "zh"),
        ({"LANG": "zh_CN.UTF-8"}, False, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, True, "en"),
        ({"LANG": "zh_TW.UTF-8"}, True, "en"),
        ({"WAVEFIT_LANG": "zh"}, False, "zh"),
        ({"WAVEFIT_LANG": "en", "LANG": "zh_CN"}, True, "en"),
        ({"WAVEFIT_LANG": "fr", "LANG": "zh_CN"}, True, "zh"),
    ],
)
def test_what_is_preferred(environment: dict[str, str], terminal: bool, language: str) -> None:
    assert preferred(environment, terminal=terminal) == language
