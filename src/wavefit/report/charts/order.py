"""The order of tiles as two maps: when each runs, and on which die."""

from __future__ import annotations

from typing import Any

from wavefit.report.charts.parts import tips
from wavefit.report.charts.style import SCHEMA, Spec, titled
from wavefit.tiles.order import Walk

MOST = 64
"""Rows and columns that are drawn; of a larger grid the upper left corner."""
_NAMED = 24
"""Rows and columns of the map of dies, whose cells hold a number."""
_SIDE = 360


def tile_order(found: Walk, *, title: str = "Tile order") -> Spec:
    """When each tile of a Walk runs (stronger is earlier) and which die runs it (its number in the cell).

    Draws the upper left MOST x MOST tiles and says so where there are more.
    """
    rounds, dies = int(found.round.max()) + 1, int(found.die.max()) + 1
    notes = [
        f"{found.tiles_m} x {found.tiles_n} tiles in {_counted(rounds, 'round')} on {_counted(dies, 'die')}"
    ]
    panels = [_when(_cells(found, MOST))]
    shown = [MOST]
    if dies > 1:
        panels.append(_where(_cells(found, _NAMED)))
        shown.append(_NAMED)
    if max(found.tiles_m, found.tiles_n) > min(shown):
        corners = " and ".join(
            f"{min(most, found.tiles_m)} x {min(most, found.tiles_n)}" for most in dict.fromkeys(shown)
        )
        notes.append(f"drawn: the upper left {corners}")
    return {
        "$schema": SCHEMA, "title": titled(title, notes), "hconcat": panels, "spacing": 40,
        "resolve": {"scale": {"color": "independent", "x": "independent", "y": "independent"}},
    }  # fmt: skip


def _counted(amount: int, word: str) -> str:
    return f"{amount} {word}{'s' * (amount != 1)}"


def _cells(found: Walk, most: int) -> list[dict[str, Any]]:
    shown = (found.row < most) & (found.column < most)
    columns = (found.row[shown], found.column[shown], found.die[shown], found.round[shown])
    names = ("row", "column", "die", "round")
    rows = zip(*(part.tolist() for part in columns), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]


def _when(rows: list[dict[str, Any]]) -> Spec:
    color = {
        "field": "round", "type": "quantitative",
        "scale": {"range": "ramp"},
        "legend": {
            "title": "round", "orient": "bottom", "format": "d", "gradientLength": 160, "tickMinStep": 1,
        },
    }  # fmt: skip
    return {
        **_map("when each runs"),
        "data": {"values": rows},
        "mark": {"type": "rect"},
        "encoding": {**_place(rows), "color": color, "tooltip": tips(rows)},
    }


def _where(rows: list[dict[str, Any]]) -> Spec:
    """A colour a die, and its number: the colours repeat, and not everyone sees them."""
    dies = sorted({row["die"] for row in rows})
    color = {
        "field": "die", "type": "nominal", "legend": None, "scale": {"domain": dies, "range": "category"},
    }  # fmt: skip
    most = max(1, *(row["column"] for row in rows), *(row["row"] for row in rows))
    text = {"type": "text", "style": "label", "fontSize": max(7, min(12, _SIDE // (most + 1) - 4))}
    return {
        **_map("the die that runs it"),
        "data": {"values": rows},
        "encoding": _place(rows),
        "layer": [
            {
                "mark": {"type": "rect", "fillOpacity": 0.3},
                "encoding": {"color": color, "tooltip": tips(rows)},
            },
            {"mark": text, "encoding": {"text": {"field": "die"}}},
        ],
    }


def _map(title: str) -> Spec:
    return {"title": {"text": title, "fontSize": 12}, "width": _SIDE, "height": _SIDE}


def _place(rows: list[dict[str, Any]]) -> Spec:
    """Rows from the top, columns from the left, a number now and then."""
    places: Spec = {}
    for channel, field in (("x", "column"), ("y", "row")):
        last = max(row[field] for row in rows)
        look = {
            "grid": False, "ticks": False, "domain": False, "labelAngle": 0,
            "values": list(range(0, last + 1, max(1, (last + 1) // 8))),
        }  # fmt: skip
        title = "column of C, in tiles" if channel == "x" else "row of C, in tiles"
        places[channel] = {"field": field, "type": "ordinal", "title": title, "axis": look}
    return places
