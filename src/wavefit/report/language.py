"""English and Simplified Chinese: the English text is the key, a catalogue holds the Chinese.

A face writes `say("bound by {what}", what=...)`. Sentences that come ready from below (why a kernel cannot
launch, what an answer rests on) are recognised by the same templates: `retold(sentence)`. Names, sources and
code stay as they are. What a catalogue lacks is said in English; a test counts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache

LANGUAGES = ("en", "zh")
_spoken: ContextVar[str] = ContextVar("language", default="en")
_PLACES = 4
"""How often `FILE: MEMBER: cause` is cut to find its cause."""
LONGEST = 2000
"""Sentences beyond this hold hostile names; they are not matched."""
_TELLING, _BEGINNING = 5, 4
"""Characters that a template must have for a sentence to be known by it: in all, or at its beginning."""
_PLACE = re.compile(r"\{(\w+)\}")
_SIMPLIFIED = re.compile(r"zh(?:$|[_-](?:CN|SG|Hans))")


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


def preferred(environment: Mapping[str, str], *, terminal: bool) -> str:
    """WAVEFIT_LANG; on a terminal, the locale too: what is piped is English unless Chinese is asked for."""
    asked = environment.get("WAVEFIT_LANG", "")
    if asked in LANGUAGES or not terminal:
        return asked if asked in LANGUAGES else "en"
    names = (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return "zh" if _SIMPLIFIED.match(next(filter(None, names), "")) else "en"


def say(template: str, /, **values: object) -> str:
    """The text in the language in use, its {places} filled. One pass: a value may hold braces."""
    if _spoken.get() != "en":
        template = catalogue(_spoken.get()).get(template, template)
    return _PLACE.sub(lambda place: str(values.get(place[1], place[0])), template) if values else template


def counted(amount: int, word: str) -> str:
    """1 workgroup, 2 workgroups; the catalogue's keys are "{amount} workgroup"."""
    if _spoken.get() == "en":
        return f"{amount} {word}{'s' * (amount != 1)}"
    return say(f"{{amount}} {word}", amount=amount)


def retold(sentence: str) -> str:
    """An English sentence from below, in the language in use where a template of the catalogue fits it."""
    if _spoken.get() == "en" or len(sentence) > LONGEST:
        return sentence
    return _retold(sentence, _spoken.get())


def placed(sentence: str) -> str:
    """The same of an error: the sentence stands behind the places it speaks of, `FILE[MEMBER]: cause`."""
    told, at = retold(sentence), 0
    for _ in range(_PLACES):
        at = sentence.find(": ", at) + 2
        if told != sentence or at < 2:
            break
        told = sentence[:at] + retold(sentence[at:])
    return told


@lru_cache(maxsize=1024)
def _retold(sentence: str, chosen: str) -> str:
    known = catalogue(chosen)
    if sentence in known:
        return known[sentence]
    for pattern in _patterns(chosen):
        if values := pattern.match(sentence):
            # A lone word is a name: only sentences inside a sentence are retold in their turn.
            inner = {key: placed(text) if " " in text else text for key, text in values.items()}
            return say(pattern.template, **inner)
    return sentence


@lru_cache
def catalogue(chosen: str) -> dict[str, str]:
    """English template to translation, of every file in texts/LANGUAGE."""
    from importlib.resources import files

    from wavefit.toml import loads

    found: dict[str, str] = {}
    folder = files("wavefit.report") / "texts" / chosen
    for page in sorted(folder.iterdir(), key=lambda page: page.name):
        if page.name.endswith(".toml"):
            found.update(loads(page.read_text(encoding="utf-8")))
    return found


@dataclass(frozen=True, slots=True)
class Pattern:
    """A template with places: its fixed `texts` around the places called `names`."""

    template: str
    texts: tuple[str, ...]
    names: tuple[str, ...]

    def match(self, sentence: str) -> dict[str, str] | None:
        """What stands in the places, each of at least one character; None where it does not fit.

        The first fit from the left, in time proportional to the sentence: names in it are foreign.
        """
        at, values = len(self.texts[0]), dict[str, str]()
        end = len(sentence) - len(self.texts[-1])
        if not (sentence.startswith(self.texts[0]) and sentence.endswith(self.texts[-1])):
            return None
        for name, after in zip(self.names[:-1], self.texts[1:-1], strict=True):
            until = sentence.find(after, at + 1, end)
            if until < 0 or values.setdefault(name, sentence[at:until]) != sentence[at:until]:
                return None
            at = until + len(after)
        last = sentence[at:end]
        return values if last and values.setdefault(self.names[-1], last) == last else None


@lru_cache
def _patterns(chosen: str) -> tuple[Pattern, ...]:
    """Templates with places, the most particular first; those of a few letters would fit anything."""
    found = [_pattern(text) for text in catalogue(chosen) if "{" in text]
    weight = {each: len("".join("".join(each.texts).split())) for each in found}
    telling = (each for each in found if weight[each] >= _TELLING or len(each.texts[0]) >= _BEGINNING)
    return tuple(sorted(telling, key=lambda each: -weight[each]))


def _pattern(template: str) -> Pattern:
    parts = _PLACE.split(template)
    return Pattern(template, tuple(parts[0::2]), tuple(parts[1::2]))
