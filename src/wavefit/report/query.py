"""The answer to a question over a survey's rows: a table of 80 columns, and a document."""

from __future__ import annotations

from typing import Any

from wavefit.report.language import say
from wavefit.report.names import printable
from wavefit.report.wrap import WIDTH, hung, table
from wavefit.survey.query import QUESTIONS, Found

_PLACES = ("name", "file", "member")
_SHORTEST = 24


def query_text(found: Found) -> str:
    """The rows that there is room for: numbers in columns, the kernel's name and place below them."""
    title = f"{say(QUESTIONS[found.question].about)}: {found.total}"
    if not found.rows:
        return title
    shown = [at for at, name in enumerate(found.columns) if name not in _PLACES]
    cells = [[_cell(row[at]) for at in shown] for row in found.rows]
    heads = [found.columns[at].replace("_", " ") for at in shown]
    words = [isinstance(found.rows[0][at], str) for at in shown]
    lines = _fitted(heads, cells, "".join("<" if word else ">" for word in words))
    text = [title, "", lines[0]]
    for line, row in zip(lines[1:], found.rows, strict=True):
        text.append(line)
        text += _below(dict(zip(found.columns, row, strict=True)))
    if found.total > len(found.rows):
        text += ["", "  " + say("{number} more (--limit)", number=found.total - len(found.rows))]
    return "\n".join(text)


def _fitted(heads: list[str], cells: list[list[str]], sides: str) -> list[str]:
    """The columns; where they are wider than a terminal, what says the same before and after once."""
    lines = table([heads, *cells], sides, gap=2)
    if max(map(len, lines)) <= WIDTH:
        return lines
    pairs = [at for at in range(len(heads) - 1) if heads[at] == f"{heads[at + 1]} before"]
    merged = [[_merged(row, at, pairs) for at in range(len(row)) if at - 1 not in pairs] for row in cells]
    kept = [heads[at].removesuffix(" before") for at in range(len(heads)) if at - 1 not in pairs]
    return table([kept, *merged], "".join(s for at, s in enumerate(sides) if at - 1 not in pairs), gap=2)


def _merged(row: list[str], at: int, pairs: list[int]) -> str:
    if at not in pairs or row[at] == row[at + 1]:
        return row[at]
    return f"{row[at]}>{row[at + 1]}"


def _below(row: dict[str, Any]) -> list[str]:
    lines = []
    if name := row.get("name"):
        lines += hung("      ", printable(name, longest=2 * WIDTH))
    if file := row.get("file"):
        place = f"{file}[{row['member']}]" if row.get("member") else file
        lines += hung("      ", printable(place, longest=2 * WIDTH))
    return lines


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else printable(str(value), longest=_SHORTEST)


def query_document(found: Found) -> dict[str, Any]:
    """The document `wavefit.survey-query/1`: rows under the columns' names."""
    keys = [column.replace(" ", "_") for column in found.columns]
    return {
        "schema": "wavefit.survey-query/1",
        "question": found.question,
        "total": found.total,
        "rows": [dict(zip(keys, row, strict=True)) for row in found.rows],
    }
