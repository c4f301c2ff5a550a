"""Texts on a terminal and in a pipe: 80 columns in both languages, colours only where they are shown."""

from __future__ import annotations

import json
import re

import pytest

from tests.terminal_run import COMMANDS, Here, here, loop, on_terminal, without_codes
from wavefit.names import width
from wavefit.report.wrap import WIDTH, hung, pad, table, whole

__all__ = ["here", "loop"]

FIT = COMMANDS["fit"]
NUMBER = re.compile(r"\d+(?:\.\d+)?")
LANGUAGES = ("en", "zh")


def too_wide(text: str) -> list[str]:
    """Lines over 80 columns, but for those that one path or symbol makes so."""
    return [
        line
        for line in text.splitlines()
        if width(line) > WIDTH and not any(len(word) > 50 and word.isascii() for word in line.split())
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", COMMANDS)
def test_no_line_is_wider_than_80_columns(name: str, language: str, here: Here) -> None:
    ran = here.shown(name, language)
    assert ran.code == 0, ran.err
    assert ran.out.strip()
    assert too_wide(ran.out) == []


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("doctor", "schema")])
def test_both_languages_say_the_same_numbers(name: str, here: Here) -> None:
    english, chinese = (here.shown(name, language).out for language in LANGUAGES)
    assert sorted(NUMBER.findall(english)) == sorted(NUMBER.findall(chinese))


@pytest.mark.parametrize("name", ["fit", "report-all", "views", "advise", "gate", "confirm", "tiles", "diff"])
def test_a_document_is_the_same_in_every_language(name: str, here: Here) -> None:
    english, chinese = (here(*COMMANDS[name], "--json", "--lang", language) for language in LANGUAGES)
    assert json.loads(english.out)
    assert english == chinese


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_piped_is_plain(name: str, here: Here) -> None:
    text = here.shown(name).out
    assert "\x1b" not in text
    assert "█" not in text


def test_a_terminal_shows_colours_and_blocks_for_the_same_words(here: Here) -> None:
    shown, piped = on_terminal(*FIT), here(*FIT).out
    assert "\x1b[" in shown
    assert "█" in shown
    assert without_codes(shown).replace("████████████░░░░░░░░░░░░", "[############............]") == piped
    binding = next(line for line in shown.splitlines() if "VGPR" in line and "<" in line)
    assert binding.startswith("\x1b[")
    free = next(line for line in shown.splitlines() if "SGPR" in line and "waves/SIMD" in line)
    assert "\x1b" not in free


@pytest.mark.parametrize("setting", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"PYTHONIOENCODING": "ascii"}])
def test_a_terminal_that_wants_or_has_no_colours_gets_the_piped_text(
    setting: dict[str, str], here: Here
) -> None:
    assert on_terminal(*FIT, **setting) == here(*FIT).out


def test_the_bar_is_green_yellow_or_red() -> None:
    colours = {"64": "32", "160": "33", "400": "31"}  # registers; ANSI colours
    for registers, colour in colours.items():
        shown = on_terminal("fit", "--chip", "MI355X", "--total-vgprs", registers, "--threads", "64")
        line = next(line for line in shown.splitlines() if "█" in line)
        assert f"\x1b[{colour}m█" in line


def test_the_locale_speaks_on_a_terminal_and_not_in_a_pipe(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "工作组" in on_terminal(*FIT, LANG="zh_CN.UTF-8")
    assert "workgroup" in on_terminal(*FIT, LANG="zh_TW.UTF-8")  # Traditional: nothing is translated to it
    assert "workgroup" in on_terminal(*FIT, "--lang", "en", LANG="zh_CN.UTF-8")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert "工作组" not in here(*FIT).out
    monkeypatch.setenv("WAVEFIT_LANG", "zh")
    assert "工作组" in here(*FIT).out
    assert "workgroup" in here(*FIT, "--lang", "en").out


def test_the_option_stands_before_or_after_the_command(here: Here) -> None:
    ways = (["--lang", "zh", *FIT], [*FIT, "--lang", "zh"], [*FIT, "--lang=zh"])
    assert len({here(*way).out for way in ways}) == 1


def test_errors_speak_the_language_too(here: Here) -> None:
    ran = here("fit", "--chip", "MI35X", "--lang", "zh")
    assert (ran.code, ran.out) == (2, "")
    assert "未知芯片 'MI35X'" in ran.err
    assert ran.err.count("\n") == 1
    assert "unknown chip" in here("fit", "--chip", "MI35X", "--lang", "zh", "--json").err


def test_the_verdict_names_what_binds_and_stands_first(here: Here) -> None:
    lines = here(*FIT).out.splitlines()
    assert lines[1] == "  4 of 8 waves a SIMD: VGPR and LDS both stop the next workgroup"
    full = here("fit", "--chip", "MI355X", "--vgprs", "64", "--threads", "256").out.splitlines()
    assert full[1] == "  8 of 8 waves a SIMD: the hardware's maximum"
    refused = here(*COMMANDS["fit-not"]).out.splitlines()
    assert refused[1].startswith("  cannot launch: ")


def test_a_line_breaks_between_chinese_characters_and_before_no_closing_mark() -> None:
    lines = hung("依据 ", "甲" * 37 + "，" + "乙" * 40)
    assert all(width(line) <= WIDTH for line in lines)
    assert not any(line.strip().startswith("，") for line in lines)
    assert "".join(line.strip() for line in lines) == "依据 " + "甲" * 37 + "，" + "乙" * 40


def test_what_is_whole_is_not_broken_and_what_is_long_stays() -> None:
    part = whole("动态 102880 字节")
    (first, second) = hung("x" * 70 + " ", f"{part}，{part}")[:2]
    assert second.strip() == "动态 102880 字节"
    assert first.endswith("动态 102880 字节，")
    path = "/a" * 60
    assert hung("in ", f"{path} then") == [f"in {path}", "   then"]


def test_columns_are_as_wide_as_they_look() -> None:
    lines = table([("", "申请"), ("LDS", "12"), ("工作组", "3")], "<>")
    assert len({width(line) for line in lines}) == 1
    assert pad("工作组", 8) == "工作组  "
