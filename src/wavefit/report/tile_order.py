"""A picture of a tile order: the grid of tiles, coloured by die, paler the later they run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from wavefit.report.charts.style import LIGHT, Theme
from wavefit.tiles.order import Walk

DIES = ("#2b62d4", "#d96a00", "#0a9a86", "#a04fb0", "#94203a", "#6b7f1e", "#151d52", "#b08a2e")
MOST = 96
"""Rows and columns that are drawn; of a larger grid the upper left corner."""
_CELL, _MARGIN, _TOP = 8, 16, 52


def order_svg(path: Walk, *, title: str = "", theme: Theme = LIGHT, animate: bool = False) -> str:
    """The grid of tiles as SVG text, one cell a tile; `animate` lets the tiles appear round by round.

    Draws the upper left MOST x MOST tiles and says so where there are more.
    """
    rows, columns = min(path.tiles_m, MOST), min(path.tiles_n, MOST)
    width = max(columns * _CELL + 2 * _MARGIN, 420)
    height = rows * _CELL + _TOP + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{_escape(title) or "tile order"}">',
        f'<rect width="100%" height="100%" fill="{theme.background}"/>',
        _text(_MARGIN, 20, title, theme.text, bold=True),
        _text(_MARGIN, 38, _caption(path, rows, columns), theme.quiet),
        *(_style(path) if animate else ()),
        *_cells(path, rows, columns, animate),
        *_legend(path, height, theme),
        "</svg>",
    ]
    return "\n".join(part for part in parts if part)


def _caption(path: Walk, rows: int, columns: int) -> str:
    rounds = int(path.round[-1]) + 1
    whole = f"{path.tiles_m} x {path.tiles_n} tiles in {rounds} rounds; a colour a die, paler is later"
    cut = (rows, columns) != (path.tiles_m, path.tiles_n)
    return f"{whole}; rows 0 to {rows - 1}, columns 0 to {columns - 1}" if cut else whole


def _cells(path: Walk, rows: int, columns: int, animate: bool) -> Iterator[str]:
    """One rectangle for each run of equal tiles in a row."""
    shown = (path.row < rows) & (path.column < columns)
    grid: list[list[tuple[int, int]]] = [[(0, 0)] * columns for _ in range(rows)]
    listed = (path.row[shown], path.column[shown], path.die[shown], path.round[shown])
    for row, column, die, at in zip(*(part.tolist() for part in listed), strict=True):
        grid[row][column] = (die, at)
    last = max(1, int(path.round[-1]))
    for row, line in enumerate(grid):
        column = 0
        for (die, at), run in groupby(line):
            wide = len(list(run))
            looks = f' class="r{at}"' if animate else ""
            yield (
                f'<rect{looks} x="{_MARGIN + column * _CELL}" y="{_TOP + row * _CELL}" '
                f'width="{wide * _CELL - 1}" height="{_CELL - 1}" fill="{DIES[die % len(DIES)]}" '
                f'fill-opacity="{1 - 0.75 * at / last:.2f}"><title>row {row}, column {column}, die {die}, '
                f"round {at}</title></rect>"
            )
            column += wide


def _style(path: Walk) -> Iterator[str]:
    """Tiles of a round appear together; where a person asked for less motion they are simply there."""
    rounds = int(path.round[-1]) + 1
    yield "<style>@media (prefers-reduced-motion: no-preference) {"
    yield "@keyframes run { from { opacity: 0 } to { opacity: 1 } }"
    yield from (f".r{at} {{ animation: run .2s {at * 6 / rounds:.2f}s both }}" for at in range(rounds))
    yield "}</style>"


def _legend(path: Walk, height: int, theme: Theme) -> Iterator[str]:
    dies = int(path.die.max()) + 1
    if dies == 1:
        return
    yield _text(_MARGIN, height - 14, "die", theme.quiet)
    for die in range(min(dies, 16)):
        x = _MARGIN + 28 + die * 36
        yield f'<rect x="{x}" y="{height - 23}" width="10" height="10" fill="{DIES[die % len(DIES)]}"/>'
        yield _text(x + 14, height - 14, str(die), theme.quiet)


def _text(x: int, y: int, text: str, fill: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x}" y="{y}" font-family="sans-serif" font-size="12"{weight} fill="{fill}">'
        f"{_escape(text)}</text>"
    )


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
