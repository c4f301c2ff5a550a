"""The catalogues: the same places in both languages, Chinese that is Chinese, hostile values left alone."""

import re

import pytest

from wavefit.report.language import catalogue, language, retold, say, speaking

PLACE = re.compile(r"\{\w+\}")
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize("template", sorted(catalogue("zh")))
def test_a_translation_has_the_places_of_its_template(template: str) -> None:
    assert sorted(PLACE.findall(catalogue("zh")[template])) == sorted(PLACE.findall(template))


def test_english_is_the_template() -> None:
    assert language() == "en"
    assert say("bound by {what}", what="VGPR") == "bound by VGPR"


def test_chinese_inside_its_block_only() -> None:
    with speaking("zh"):
        assert CHINESE.search(say("bound by {what}", what="VGPR"))
        assert "VGPR" in say("bound by {what}", what="VGPR")
    assert say("bound by {what}", what="VGPR") == "bound by VGPR"


def test_a_ready_sentence_is_recognised() -> None:
    with speaking("zh"):
        assert retold("bound by LDS") == say("bound by {what}", what="LDS")
        assert retold("nobody translated this") == "nobody translated this"


def test_a_value_that_holds_braces_stays_as_it_is() -> None:
    assert say("bound by {what}", what="{what} {why}") == "bound by {what} {why}"
