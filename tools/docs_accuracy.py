"""The accuracy page, and every figure of agreement or error that another page quotes: all from one file.

`make accuracy` writes `docs/accuracy.json` and the page in both languages. A page quotes a figure as
`{{ accuracy:KEY }}`; a figure that is not in the file ends the build.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tools.docs_words import plain, table, word

from wavefit.toml import loads

ROOT = Path(__file__).parent.parent
DATA = ROOT / "docs/accuracy.json"
TEMPLATES = ROOT / "docs/templates"
Json = dict[str, Any]
PLACE = re.compile(r"\{\{ ([a-z-]+)(?::([^{}]*))? \}\}")


def save(rooms: Iterable[tuple[str, Sequence[Sequence[object]]]], *, date: str, version: str) -> None:
    """Write the data of one run (rows of name, found, of or wanted, note by room), and the pages."""
    rows = {room: [[_cell(cell) for cell in row] for row in found] for room, found in rooms}
    data = {"date": date, "version": version, "rooms": rows}
    DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for language in ("en", "zh"):
        (ROOT / f"docs/{language}/accuracy.md").write_text(page(data, language), encoding="utf-8")


def _cell(cell: object) -> str:
    """As text; where the checkout lies is nobody's business."""
    return str(cell).replace(str(ROOT.parent), "..")


def load() -> Json:
    """The data of the last run."""
    found: Json = json.loads(DATA.read_text(encoding="utf-8"))
    return found


def page(data: Json, language: str) -> str:
    """The page of a language: its template, filled."""
    text = (TEMPLATES / f"accuracy.{language}.md").read_text(encoding="utf-8")
    return expanded(text, lambda kind, which: _filled(data, kind, which, language))


def expanded(text: str, fill: Callable[[str, str], str]) -> str:
    """A text with each `{{ kind:which }}` replaced by what `fill` makes of it."""
    return PLACE.sub(lambda place: fill(place[1], place[2] or ""), text)


def _filled(data: Json, kind: str, which: str, language: str) -> str:
    if kind == "accuracy-table":
        return rows_table(data, which, language)
    if kind == "accuracy":
        return quoted(data, which, language)
    return str(data[kind])


def rows_table(data: Json, room: str, language: str) -> str:
    """A room's rows as a table; where a limit was set before, it stands beside."""
    counts = room in ("exact", "matrix", "profiles", "isa")
    heads = ["what was compared", *(("equal", "of") if counts else ("found", "wanted")), "note"]
    rows = []
    for name, found, of, *note in data["rooms"][room]:
        rows.append([plain(in_words(name, language)), _number(found), _number(of),
                     plain(in_words("".join(note), language))])  # fmt: skip
    return table([word(head, language) for head in heads], rows, right=(1, 2))


def quoted(data: Json, key: str, language: str) -> str:
    """A figure by its key: `2.1 %`, `18,000 of 18,000`, several beside what was measured. Raises KeyError."""
    room, _, _ = key.partition(".")
    names = keys()[key]
    rows = {row[0]: row for row in data["rooms"][room]}
    if isinstance(names, list):
        return ("; " if language == "en" else "；").join(_beside(rows[name], language) for name in names)
    _, found, of, *_ = rows[names]
    if of.isdigit() and found.isdigit():
        return f"{_number(found)}{' of ' if language == 'en' else ' / '}{_number(of)}"
    return _number(found)


def _beside(row: list[str], language: str) -> str:
    """An estimate with what was measured."""
    found, measured = _number(row[1]), _number(row[2])
    return f"est. {found}, measured {measured}" if language == "en" else f"估算 {found}，实测 {measured}"


def _number(text: str) -> str:
    if text.isdigit():
        return f"{int(text):,}"
    return re.sub(r"(?<=\d)%", " %", text)


@cache
def keys() -> dict[str, str | list[str]]:
    """The rows that pages may quote: short key to name."""
    found = loads((TEMPLATES / "accuracy.toml").read_text(encoding="utf-8"))["keys"]
    return {f"{room}.{key}": name for room, names in found.items() for key, name in names.items()}


@cache
def _chinese() -> list[tuple[re.Pattern[str], str]]:
    """Patterns of English names and notes, the longest first, and their Chinese."""
    told = loads((TEMPLATES / "accuracy.toml").read_text(encoding="utf-8"))["zh"]
    longest = sorted(told, key=len, reverse=True)
    return [(_pattern(each), told[each]) for each in longest]


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(template)))


def in_words(text: str, language: str) -> str:
    """A row's name or note in a language; of several sentences each by itself."""
    if language == "en" or not text:
        return text
    for pattern, chinese in _chinese():
        if match := pattern.fullmatch(text):
            inner = {key: in_words(value, language) for key, value in match.groupdict().items()}
            return chinese.format(**inner)
    for between in ("; ", ", "):
        if between in text:
            joint = "；" if between == "; " else "，"
            return joint.join(in_words(part, language) for part in text.split(between))
    return text
