"""Layers that several charts are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wavefit.report.charts.style import SCHEMA, Spec, series

Rows = Sequence[Mapping[str, Any]]
WIDTH, HEIGHT = 560, 320
UNDASHED: Spec = {"resolve": {"legend": {"strokeDash": "independent"}}}
"""Keeps the dashes of lines out of the legend of their points."""


def panel(title: Spec | None, layers: Sequence[Spec], *, width: int = WIDTH, height: int = HEIGHT) -> Spec:
    """One chart of layers; without a title it is part of another."""
    head = {} if title is None else {"$schema": SCHEMA, "title": title}
    return {**head, "width": width, "height": height, "layer": list(layers), **UNDASHED}


def lines(
    rows: Rows,
    order: Sequence[str],
    x: Spec,
    y: Spec,
    *,
    title: str | None = None,
    width: float = 2.2,
    dotted: bool = True,
) -> list[Spec]:
    """Lines, and their points if `dotted`; one series a value of `series`."""
    looks, data = series("series", order, title), {"values": list(rows)}
    place = {"x": x, "y": y, "color": looks["color"]}
    mark = {"type": "line", "strokeWidth": width}
    dash = looks["strokeDash"]
    if not dotted:
        return [{"data": data, "mark": mark, "encoding": {**place, "strokeDash": dash}}]
    dots = {
        "data": data,
        "mark": {"type": "point", "size": 40, "filled": True, "opacity": 1},
        "encoding": {**place, "shape": looks["shape"], "tooltip": tips(rows)},
    }
    return [{"data": data, "mark": mark, "encoding": {**place, "strokeDash": {**dash, "legend": None}}}, dots]


def against(x: Spec, est: Spec, measured: Spec, order: Sequence[str] | None = None) -> list[Spec]:
    """Measured points over lines of the est., one series a value of `series`; the data are the parent's."""
    tip = [{"field": name} for name in ("series", "waves", "measured", "est", "error")]
    drawn: Spec = {"type": "line", "strokeWidth": 1.8}
    dots: Spec = {"type": "point", "size": 42, "strokeWidth": 1.5, "opacity": 1}
    line, points = {"x": x, "y": est}, {"x": x, "y": measured, "tooltip": tip}
    if order is None:
        return [
            {"mark": {**drawn, "style": "line"}, "encoding": line},
            {"mark": {**dots, "style": "ring"}, "encoding": points},
        ]
    looks = series("series", order)
    line["color"] = points["color"] = looks["color"]
    line["strokeDash"], points["shape"] = {**looks["strokeDash"], "legend": None}, looks["shape"]
    return [{"mark": drawn, "encoding": line}, {"mark": dots, "encoding": points}]


def marks(rows: Rows, x: Spec, y: Spec) -> Spec:
    """Single points that stand out."""
    mark = {"type": "point", "style": "here", "shape": "diamond", "size": 190, "filled": True, "opacity": 1}
    return {
        "data": {"values": list(rows)},
        "mark": {**mark, "strokeWidth": 1.5},
        "encoding": {"x": x, "y": y, "tooltip": tips(rows)},
    }


def texts(rows: Rows, x: Spec, y: Spec, *, style: str = "label", **mark: Any) -> Spec:
    """The `text` of each row at its place. `mark` are properties such as dx, dy, align."""
    return {
        "data": {"values": list(rows)},
        "mark": {"type": "text", "style": style, **mark},
        "encoding": {"x": x, "y": y, "text": {"field": "text"}},
    }


def tips(rows: Rows) -> list[Spec]:
    """A tooltip of every field of the rows."""
    return [{"field": name} for name in (rows[0] if rows else {})]
