"""Charts of what bounds a tile: the roofline, and the trap of more waves with smaller tiles."""

from __future__ import annotations

from wavefit.feed import Roofline, Trap
from wavefit.report.charts.parts import WIDTH, lines, marks, panel, texts, tips
from wavefit.report.charts.style import SCHEMA, TERA, Spec, axis, decades, titled


def roofline(found: Roofline) -> Spec:
    """The roofs of every level of memory under the peak of a type, and tiles under them."""
    low, high = found.span
    corners = [(roof.level, *corner) for roof in found.roofs for corner in roof.corners(low, high)]
    slopes = [{"series": level, "intensity": at, "flops": flops} for level, at, flops in corners]
    ridges = [
        {"text": f"{roof.balance:,.0f}", "intensity": roof.balance, "flops": roof.peak}
        for roof in found.roofs
    ]
    tiles = [
        {"text": f"{tile.m} x {tile.n}", "intensity": tile.intensity, "flops": tile.flops, "under": tile.by}
        for tile in found.tiles
    ]
    x = axis(
        "intensity", "FLOP a byte", scale={"type": "log", "domain": [low, high], "nice": False},
        axis={"labelExpr": "format(datum.value, ',')", "values": decades(low, high), "grid": True},
    )  # fmt: skip
    top = max(roof.peak for roof in found.roofs)
    least, most = min(flops for _, _, flops in corners), 1.6 * top
    look = {"labelExpr": TERA, "values": decades(least, most)}
    y = axis("flops", "TFLOP/s", scale={"type": "log", "domain": [least, most], "nice": False}, axis=look)
    clock = found.roofs[0].clock_mhz
    notes = [f"{top / 1e12:,.1f} TFLOP/s at {clock:g} MHz; numbers: FLOP a byte in balance"]
    names = [roof.level for roof in found.roofs]
    layers = lines(slopes, names, x, y, title="bytes come from", width=2.8, dotted=False)
    layers.append(texts(ridges, x, y, style="note", dy=-10))
    if tiles:
        notes.append("marked: tiles under their least roof, every byte once from each level; est.")
        layers += [marks(tiles, x, y), texts(tiles, x, y, dx=12, dy=4, align="left")]
    return {**panel(titled(f"{found.chip}: {found.type}", notes), layers), "resolve": {}}


def trap(found: Trap) -> Spec:
    """From many waves with small tiles to few with large ones: what limits, and where it peaks. All est."""
    limits = [
        {"series": name, "waves": point.waves, "flops": flops}
        for point in found.points
        for name, flops in point.limits
    ]
    points = [
        {
            "waves": point.waves, "flops": point.flops, "intensity": point.intensity, "by": point.by,
            "registers": point.registers, "tile": f"{point.wave_tile[0]} x {point.wave_tile[1]}",
        }
        for point in found.points
    ]  # fmt: skip
    best = [{"waves": found.best.waves, "flops": found.best.flops, "text": f"peak: {found.best.by} bound"}]
    x = axis(
        "waves", "waves per SIMD", axis={"values": [point.waves for point in found.points], "format": "d"},
        scale={"nice": False, "padding": 34},
    )  # fmt: skip
    y = axis("flops", "TFLOP/s", axis={"labelExpr": TERA, "tickCount": 5})
    est = {
        "data": {"values": points},
        "mark": {"type": "line", "style": "limit", "strokeWidth": 3.4},
        "encoding": {"x": x, "y": y, "tooltip": tips(points)},
    }
    above = [
        *lines(limits, [name for name, _ in found.best.limits], x, y, title="what it would allow", width=1.5),
        est,
        marks(best, x, y),
        texts(best, x, y, dx=14, dy=-6, align="left"),
    ]
    height = axis("intensity", "FLOP a byte", axis={"tickCount": 4})
    bars = {
        "data": {"values": points},
        "mark": {"type": "bar", "style": "bar", "size": 26},
        "encoding": {"x": x, "y": height, "tooltip": tips(points)},
    }
    named = [{**point, "text": point["tile"]} for point in points]
    below = [bars, texts(named, x, height, dy=-8, fontSize=11)]
    notes = ["thick: est. throughput, the least of its limits", *found.assumptions[-2:]]
    return {
        "$schema": SCHEMA,
        "title": titled(f"{found.chip}: {found.instruction}, more waves or larger tiles", notes),
        "spacing": 26,
        "vconcat": [
            panel(None, above, height=250),
            {
                "width": WIDTH, "height": 130, "layer": below,
                "title": {"text": "largest tile of a wave; FLOP a byte of the CU's tile", "fontSize": 12},
            },
        ],
    }  # fmt: skip
