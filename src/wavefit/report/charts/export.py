"""Charts as SVG, PNG or one HTML file that needs nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wavefit.report.charts.style import DARK, LIGHT, THEMES, Spec, Theme, themed

VERSION = "5.20"
"""Of Vega-Lite."""

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
body {{ margin: 2rem; background: {light}; }}
@media (prefers-color-scheme: dark) {{ body {{ background: {dark}; }} }}
#chart {{ overflow-x: auto; }}
</style></head>
<body><main id="chart"></main>
<script type="application/json" id="spec">{spec}</script>
<script type="application/json" id="configs">{configs}</script>
<script type="module">{script}</script>
</body></html>
"""
_SCRIPT = """
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const config = () => read("configs")[dark.matches ? "dark" : "light"];
const draw = () => vegaEmbed("#chart", {...read("spec"), config: config()},
  {renderer: "svg", actions: {export: true, source: false, compiled: false, editor: false}});
dark.addEventListener("change", draw);
draw();
"""


class NoCharts(LookupError):
    """The charting library is not installed; the line says how to."""

    def __init__(self) -> None:
        super().__init__("charts need vl-convert-python: pip install 'wavefit[charts]'")


class BadPlot(ValueError):
    """A file name or theme that charts do not have."""


def svg(spec: Spec, theme: Theme = LIGHT) -> str:
    """The chart as SVG, on the background of its theme. Raises NoCharts."""
    return str(_library().vegalite_to_svg(themed(spec, theme), vl_version=VERSION))


def png(spec: Spec, theme: Theme = LIGHT, *, scale: float = 2.0) -> bytes:
    """The chart as PNG, `scale` pixels a point. Raises NoCharts."""
    return bytes(_library().vegalite_to_png(themed(spec, theme), vl_version=VERSION, scale=scale))


def html(spec: Spec, *, title: str = "wavefit") -> str:
    """The chart as one page: no network, light or dark as the viewer has it. Raises NoCharts."""
    from html import escape

    configs = {theme.name: themed({}, theme)["config"] for theme in THEMES.values()}
    return _PAGE.format(
        title=escape(title), light=LIGHT.background, dark=DARK.background,
        spec=_embedded(spec), configs=_embedded(configs),
        script=_library().javascript_bundle(_SCRIPT, vl_version=VERSION).replace("</script", "<\\/script"),
    )  # fmt: skip


def save(spec: Spec, path: str | Path, *, theme: str = "light") -> None:
    """Write the chart to a file, as its name ends: .svg, .png or .html. Raises NoCharts, BadPlot, OSError."""
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".svg", ".png", ".html"):
        raise BadPlot(f"{path}: a chart is written as .svg, .png or .html")
    if theme not in THEMES:
        raise BadPlot(f"unknown theme {theme!r}; there are {', '.join(THEMES)}")
    if kind == ".png":
        path.write_bytes(png(spec, THEMES[theme]))
        return
    path.write_text(html(spec) if kind == ".html" else svg(spec, THEMES[theme]), encoding="utf-8")


def _embedded(value: Any) -> str:
    """JSON that cannot end its script element."""
    return json.dumps(value).replace("<", "\\u003c")


def _library() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise NoCharts from error
    return vl_convert
