"""Charts: pure functions from a result to a Vega-Lite specification, and its export without a network.

The library is vl-convert, which holds Vega, Vega-Lite and a JavaScript engine in one file (the extra
`wavefit[charts]`). The specifications are written as Vega-Lite's own JSON, which Vega-Altair spells in
Python (`altair.Chart.from_dict(spec)` takes them). What was measured, on one machine, x86-64 Linux:

| | vl-convert 1.9 | with Altair 6.3 | Plotly 7.1 with Kaleido 1.5 |
| --- | --- | --- | --- |
| installed | 84 MB, 1 package | 104 MB, 12 packages | 73 MB, 8 packages, and a Chromium |
| import | 4 ms | 400 ms | 50 to 110 ms |
| first SVG, further ones | 0.8 s, 0.07 s | the same | 4.1 s, by way of the browser |
| HTML that needs no network | 0.9 MB | 0.9 MB | 4.8 MB |
| licence | BSD-3-Clause | BSD-3-Clause | MIT |

Plotly's page alone breaks the 2 MB that a report may have, and its pictures need a browser, which a login
node does not have. Altair checks a specification against the schema, at 0.4 s an import; the tests do that
by rendering. Both are left out for that.
"""

from wavefit.report.charts.bounds import roofline, trap
from wavefit.report.charts.confirm import confirmed
from wavefit.report.charts.export import NoCharts, html, png, save, svg
from wavefit.report.charts.feed import bandwidth, feed_chart, measured, throughput
from wavefit.report.charts.occupancy import occupancy
from wavefit.report.charts.order import tile_order
from wavefit.report.charts.style import DARK, LIGHT, Spec, Theme
from wavefit.report.charts.survey import Distributions, distributions

__all__ = [
    "DARK", "LIGHT", "Distributions", "NoCharts", "Spec", "Theme", "bandwidth", "confirmed", "distributions",
    "feed_chart", "html", "measured", "occupancy", "png", "roofline", "save", "svg", "throughput",
    "tile_order", "trap",
]  # fmt: skip
