"""Lines and tables for a terminal of 80 columns, measured in columns: a Chinese character takes two."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from wavefit.names import width
from wavefit.report.language import say

WIDTH = 80
FIXED = "\xa0"
"""A blank at which no line is broken. Names never hold one unescaped where `printable` was asked."""
_WIDE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_GLUE = "\u2060"
_UNIT = rf"[（《「]*(?:[^{_WIDE}{FIXED}{_GLUE}]+|[{_WIDE}])[，。；：、）》」！？]*"
_ATOM = re.compile(rf"{_UNIT}(?:[{FIXED}{_GLUE}]+{_UNIT})*")
_EDGE = re.compile(rf"(?<=[{_WIDE}])(?=.)|(?<=.)(?=[{_WIDE}])")


def hung(head: str, text: str, *, hang: int | None = None) -> list[str]:
    """The text behind its head, later lines indented by `hang` columns (default: as deep as the head).

    Lines break at blanks and between Chinese characters, before no closing mark. What cannot be broken
    (a path, a symbol) stays whole, and its line may be longer.
    """
    indent = " " * (width(head) if hang is None else hang)
    lines, line, fresh = [], head, True
    for blank, atom in _atoms(text):
        if not fresh and width(line) + len(blank) + width(atom) > WIDTH:
            lines.append(line)
            line, blank = indent, ""
        line += ("" if fresh else blank) + atom
        fresh = False
    return [each.replace(FIXED, " ").replace(_GLUE, "").rstrip() for each in (*lines, line)]


def beside(line: str, text: str, *, hang: int = 6) -> list[str]:
    """The text behind the line where it fits, else below it."""
    if width(line) + 2 + width(text) <= WIDTH:
        return [f"{line}  {text}".rstrip()]
    return [line.rstrip(), *hung(" " * hang, text)]


def _atoms(text: str) -> Iterator[tuple[str, str]]:
    """Pieces that stay whole, each with the blank before it."""
    for word in re.split(" +", text.strip(" ")):
        blank = " "
        for atom in _ATOM.findall(word):
            yield blank, atom
            blank = ""


def whole(text: str) -> str:
    """The text as one piece that no line break divides, where a line holds it."""
    return text if width(text) > WIDTH - 8 else _EDGE.sub(_GLUE, text.replace(" ", FIXED))


def table(rows: Sequence[Sequence[str]], sides: str, *, indent: int = 2, gap: int = 3) -> list[str]:
    """Rows in columns: `sides` says `<` or `>` for each. The gap shrinks where 80 columns ask for it."""
    if not rows:
        return []
    widths = [max(width(row[at]) for row in rows) for at in range(len(sides))]
    while gap > 1 and indent + sum(widths) + gap * (len(widths) - 1) > WIDTH:
        gap -= 1
    lines = []
    for row in rows:
        cells = (pad(cell, most, side) for cell, most, side in zip(row, widths, sides, strict=True))
        lines.append((" " * indent + (" " * gap).join(cells)).rstrip())
    return lines


def pad(text: str, columns: int, side: str = "<") -> str:
    """The text filled up to so many columns: on the left (`<`) or on the right (`>`) of them."""
    blanks = " " * (columns - width(text))
    return text + blanks if side == "<" else blanks + text


def listed(parts: Iterable[str]) -> str:
    """Parts after one another, none of them broken in itself."""
    return say(", ").join(map(whole, parts))
