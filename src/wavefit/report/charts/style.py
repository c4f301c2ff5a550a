"""How charts look: two themes, and the few pieces that every specification is made of.

Specifications name roles (`"style": "limit"`, the range `category`), a theme gives them colours. Series
differ in dash and shape too, so that a grey print can be read. Text has a contrast of at least 4.5:1 and
marks of at least 3:1 against the background; the six series colours stay apart for the three kinds of
colour blindness (the tests compute both).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

Spec = dict[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
FONT = "Inter, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', 'DejaVu Sans', sans-serif"
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 2, 1, 2])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


@dataclass(frozen=True, slots=True)
class Theme:
    """Colours of one background. `series` come in the order in which lines are drawn."""

    name: str
    background: str
    text: str
    quiet: str
    """Of axis labels and notes: text as well."""
    grid: str
    axis: str
    line: str
    """Of a curve that limits nothing."""
    limit: str
    """Of what limits."""
    good: str
    series: tuple[str, ...]


LIGHT = Theme(
    "light", "#ffffff", "#1b1f24", "#57606a", "#e4e8ec", "#8c959f", "#2b62d4", "#b3261e", "#0a7a4b",
    ("#151d52", "#94203a", "#2b62d4", "#a04fb0", "#0a9a86", "#d96a00"),
)  # fmt: skip
DARK = Theme(
    "dark", "#0d1117", "#e6edf3", "#9aa4ae", "#262c34", "#6e7681", "#4ea0ef", "#ff8a75", "#56d39b",
    ("#8a5cf5", "#d4553f", "#4ea0ef", "#b8ab3a", "#f2a3d0", "#c9f5e4"),
)  # fmt: skip
THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def config(theme: Theme) -> Spec:
    """The theme as Vega-Lite's `config`."""
    return {
        "background": theme.background,
        "font": FONT,
        "view": {"stroke": None},
        "title": {
            "color": theme.text, "subtitleColor": theme.quiet, "anchor": "start", "frame": "group",
            "fontSize": 15, "fontWeight": 600, "subtitleFontSize": 12, "subtitlePadding": 4, "offset": 12,
        },
        "axis": {
            "labelColor": theme.quiet, "titleColor": theme.text, "gridColor": theme.grid,
            "domainColor": theme.axis, "tickColor": theme.axis, "labelFontSize": 11, "titleFontSize": 12,
            "titleFontWeight": 500, "labelPadding": 4, "titlePadding": 8,
        },
        "axisX": {"grid": False},
        "axisY": {"domain": False, "ticks": False},
        "legend": {
            "labelColor": theme.text, "titleColor": theme.text, "labelFontSize": 12, "titleFontSize": 12,
            "titleFontWeight": 500, "symbolStrokeWidth": 2.5, "symbolSize": 90, "labelLimit": 320,
        },
        "header": {"labelColor": theme.text, "titleColor": theme.text, "labelFontSize": 12},
        "line": {"strokeWidth": 2.2},
        "range": {"category": list(theme.series), "ramp": [theme.line, theme.grid]},
        "text": {"color": theme.text},
        "style": {
            "line": {"color": theme.line},
            "limit": {"color": theme.limit},
            "limit-title": {"fill": theme.limit, "font": FONT, "fontWeight": 700},
            "good": {"color": theme.good},
            "here": {"color": theme.text, "stroke": theme.background},
            "ring": {"color": theme.text},
            "bar": {"color": theme.axis},
            "quiet": {"color": theme.axis},
            "whole": {"color": theme.line},
            "note": {"color": theme.quiet, "fontSize": 11},
            "label": {"color": theme.text, "fontSize": 12},
        },
    }  # fmt: skip


def themed(spec: Spec, theme: Theme) -> Spec:
    """The specification in the colours of a theme."""
    return {**spec, "config": config(theme)}


def titled(text: str, notes: Sequence[str] = ()) -> Spec:
    """A title with its notes below."""
    return {"text": text, **({"subtitle": list(notes)} if notes else {})}


def series(field: str, order: Sequence[str], title: str | None = None) -> Spec:
    """Colour, dash and shape of a series, under one legend."""
    many = range(len(order))
    ranges: dict[str, Any] = {
        "color": "category",
        "strokeDash": [DASHES[at % len(DASHES)] for at in many],
        "shape": [SHAPES[at % len(SHAPES)] for at in many],
    }
    named = {
        "field": field, "type": "nominal", "sort": list(order),
        "legend": {"title": title, "orient": "right"} if len(order) > 1 else None,
    }  # fmt: skip
    return {
        channel: {**named, "scale": {"domain": list(order), "range": ranges[channel]}} for channel in ranges
    }


def axis(field: str, title: str, **more: Any) -> Spec:
    """A quantitative axis. `more` are channel properties; `axis` and `scale` go through."""
    return {"field": field, "type": "quantitative", "title": title, **more}


TERA = "format(datum.value / 1e12, '~g')"
"""Axis labels of FLOP/s or bytes/s in tera."""
BYTES = "replace(format(datum.value, '~s'), 'k', 'K') + 'B'"
"""Axis labels of bytes."""


def decades(low: float, high: float, digits: Sequence[int] = (1, 2, 5)) -> list[float]:
    """1, 2, 5, 10, 20, 50 ... between two positive numbers: the ticks of a logarithmic axis."""
    return [
        digit * 10.0**power
        for power in range(floor(log10(low)), ceil(log10(high)) + 1)
        for digit in digits
        if low <= digit * 10.0**power <= high
    ]
