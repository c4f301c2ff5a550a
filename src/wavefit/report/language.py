"""English and Simplified Chinese: the English text is the key, a catalogue holds the Chinese.

A face writes `say("bound by {what}", what=...)`. Sentences that come ready from below (why a kernel cannot
launch, what an answer rests on) are recognised by the same templates: `retold(sentence)`. Names, sources and
code stay as they are. What a catalogue lacks is said in English; a test counts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from importlib.resources import files

LANGUAGES = ("en", "zh")
_spoken: ContextVar[str] = ContextVar("language", default="en")
LONGEST = 2000
"""Sentences beyond this hold hostile names; they are not matched."""
_PLACE = re.compile(r"\{(\w+)\}")


def language() -> str:
    """The language in use: "en" or "zh"."""
    return _spoken.get()


@contextmanager
def speaking(chosen: str) -> Iterator[None]:
    """Texts inside the block are in this language."""
    token = _spoken.set(chosen)
    try:
        yield
    finally:
        _spoken.reset(token)


def say(template: str, /, **values: object) -> str:
    """The text in the language in use, its {places} filled. One pass: a value may hold braces."""
    if _spoken.get() != "en":
        template = catalogue(_spoken.get()).get(template, template)
    return _PLACE.sub(lambda place: str(values.get(place[1], place[0])), template) if values else template


def retold(sentence: str) -> str:
    """An English sentence from below, in the language in use where a template of the catalogue fits it."""
    if _spoken.get() == "en" or len(sentence) > LONGEST:
        return sentence
    known = catalogue(_spoken.get())
    if sentence in known:
        return known[sentence]
    for pattern, template in _patterns(_spoken.get()):
        if match := pattern.fullmatch(sentence):
            return say(template, **{name: retold(value) for name, value in match.groupdict().items()})
    return sentence


@lru_cache
def catalogue(chosen: str) -> dict[str, str]:
    """English template to translation, of every file in texts/LANGUAGE."""
    from wavefit.toml import loads

    found: dict[str, str] = {}
    folder = files("wavefit.report") / "texts" / chosen
    for page in sorted(folder.iterdir(), key=lambda page: page.name):
        if page.name.endswith(".toml"):
            found.update(loads(page.read_text(encoding="utf-8")))
    return found


@lru_cache
def _patterns(chosen: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Templates with places as patterns, the most particular first."""
    literal = {text: len(_PLACE.sub("", text)) for text in catalogue(chosen) if "{" in text}
    templates = sorted((text for text in literal if literal[text] > 3), key=lambda text: -literal[text])
    return tuple((re.compile(_pattern(template), re.DOTALL), template) for template in templates)


def _pattern(template: str) -> str:
    parts, seen = _PLACE.split(template), set[str]()
    text = re.escape(parts[0])
    for name, after in zip(parts[1::2], parts[2::2], strict=True):
        text += (f"(?P={name})" if name in seen else f"(?P<{name}>.+?)") + re.escape(after)
        seen.add(name)
    return text
