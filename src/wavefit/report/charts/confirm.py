"""Theory beside measurement: the ceiling of each kernel, the ceiling of its grid, and what was achieved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wavefit.profiles.confirmation import Confirmation, Confirmations
from wavefit.report.charts.parts import UNDASHED, tips
from wavefit.report.charts.style import SCHEMA, Spec, axis, titled
from wavefit.report.names import printable

MOST = 24
"""Kernels that are drawn, those that took the most time."""
_NAME = 44
_ROW = 26
_SERIES = ("what fits (ceiling)", "what this grid allows", "achieved")


def confirmed(found: Confirmations | Sequence[Confirmation]) -> Spec:
    """Occupancy per kernel, the most time first: a bar up to the ceiling, and on it what was measured.

    Kernels for which more was measured than fits are named so: one of the two numbers is wrong there.
    """
    known = [item for item in found if item.ceiling is not None or item.achieved is not None]
    shown = known[:MOST]
    rows = [_row(number, item) for number, item in enumerate(shown, 1)]
    points = [
        {"kernel": row["kernel"], "series": series, "occupancy": row[key]}
        for row in rows
        for series, key in zip(_SERIES, ("ceiling", "grid", "achieved"), strict=True)
        if row[key] is not None
    ]
    notes = ["from the circle to the end of the bar: what fits and the kernel does not hold"]
    if len(known) > MOST:
        notes.append(f"the {MOST} of {len(known)} kernels that took the most time")
    y = {
        "field": "kernel", "type": "nominal", "title": None, "sort": [row["kernel"] for row in rows],
        "axis": {"labelLimit": 340, "grid": False, "ticks": False, "domain": False},
    }  # fmt: skip
    x = axis(
        "occupancy",
        "occupancy",
        axis={"format": ".0%", "grid": True},
        scale={"domain": [0, 1], "clamp": True},
    )
    bars = {
        "data": {"values": rows},
        "mark": {"type": "bar", "style": "quiet", "height": 14, "opacity": 0.3},
        "encoding": {"y": y, "x": {**x, "field": "ceiling"}, "tooltip": tips(rows)},
    }
    above = [row for row in rows if row["above"]]
    layers = [bars, _marks(points, x, y)]
    if above:
        notes.append("red: more was measured than fits")
        layers.append(
            {
                "data": {"values": above},
                "mark": {
                    "type": "text",
                    "style": "limit",
                    "text": "above the ceiling",
                    "align": "left",
                    "dx": 9,
                },
                "encoding": {"y": y, "x": {**x, "field": "achieved"}},
            }
        )
    return {
        "$schema": SCHEMA, "title": titled("Theory beside measurement", notes), "width": 420,
        "height": {"step": _ROW}, "layer": layers, **UNDASHED,
    }  # fmt: skip


def _row(number: int, item: Confirmation) -> dict[str, Any]:
    return {
        "kernel": f"{number}. {printable(item.kernel, _NAME)}",
        "ceiling": item.ceiling,
        "grid": item.grid_ceiling,
        "achieved": item.achieved,
        "seconds": item.seconds,
        "decision": printable(item.decision),
        "above": item.wrong,
    }


def _marks(points: list[dict[str, Any]], x: Spec, y: Spec) -> Spec:
    """A square, a triangle, a circle: told apart without colour."""
    named = {"field": "series", "type": "nominal", "sort": list(_SERIES)}
    legend = {"title": None, "orient": "bottom"}
    return {
        "data": {"values": points},
        "mark": {"type": "point", "size": 80, "strokeWidth": 2, "opacity": 1},
        "encoding": {
            "y": y, "x": x, "tooltip": tips(points),
            "color": {
                **named, "legend": legend, "scale": {"domain": list(_SERIES), "range": "category"},
            },
            "shape": {
                **named, "legend": legend,
                "scale": {"domain": list(_SERIES), "range": ["square", "triangle-down", "circle"]},
            },
        },
    }  # fmt: skip
