"""Charts of the feed room: throughput against occupancy, bandwidth against bytes in flight, and measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wavefit.feed import (
    Compared,
    Curve,
    Errors,
    Feed,
    MemoryCurve,
    MemoryFeed,
    Roofline,
    Trap,
    feed_curves,
    memory_curves,
)
from wavefit.report.charts.bounds import roofline, trap
from wavefit.report.charts.parts import Rows, against, lines, marks, panel
from wavefit.report.charts.style import BYTES, SCHEMA, TERA, Spec, axis, decades, titled
from wavefit.report.feed import Answer, MemorySweep, Overlay, Sweep

_TOGETHER = 4
"""So many series share a panel of measured points; more get one each."""
_ILPS = frozenset((1, 2, 4, 8))


def feed_chart(found: Answer) -> Spec:
    """The chart that goes with an answer of the feed room."""
    if isinstance(found, Sweep):
        return throughput(found.curves)
    if isinstance(found, MemorySweep):
        return bandwidth(found.curves)
    if isinstance(found, Overlay):
        return measured(found)
    if isinstance(found, Trap):
        return trap(found)
    if isinstance(found, Roofline):
        return roofline(found)
    if isinstance(found, MemoryFeed):
        return bandwidth(_beside(found), found)
    return throughput(_around(found), found)


def throughput(curves: Sequence[Curve], here: Feed | None = None) -> Spec:
    """Throughput against occupancy, one line an ILP; of a bare target the share of the unit. All est."""
    flops = any(point.flops for curve in curves for point in curve.points)
    rows = [
        {
            "series": f"ILP {curve.ilp}", "waves": point.waves, "occupancy": point.occupancy,
            "est": point.flops if flops else point.utilisation,
        }
        for curve in curves for point in curve.points if point.utilisation is not None
    ]  # fmt: skip
    notes = ["throughput against occupancy, est."]
    x, y = _waves((each["waves"], each["occupancy"]) for each in rows), _throughput("est", flops=flops)
    layers = lines(rows, [f"ILP {curve.ilp}" for curve in curves], x, y)
    if here is not None:
        at = {"waves": here.waves, "est": here.flops if flops else here.utilisation}
        layers.append(marks([at], x, y))
        notes.append(f"marked: ILP {here.ilp}, {here.waves} waves, est. {here.utilisation:.0%} of the unit")
    return panel(titled(f"{curves[0].chip or 'target'}: {curves[0].instruction}", notes), layers)


def bandwidth(curves: Sequence[MemoryCurve], here: MemoryFeed | None = None) -> Spec:
    """Bandwidth against bytes in flight, one line a load shape, beside Little's law alone. All est."""
    points = [point for curve in curves for point in curve.points]
    rows = [
        {
            "series": _shape(point), "bytes": point.bytes_in_flight, "waves": point.waves,
            "est": point.bytes_per_second,
        }
        for point in points
    ]  # fmt: skip
    law = sorted((point.bytes_in_flight, point.bound) for point in points)
    x, level = _in_flight(point.bytes_in_flight for point in points), points[0].level
    notes = [
        "est., one point a wave count; thin: Little's law alone, "
        f"{level.latency_ns:.4g} ns and {level.bandwidth / 1e12:.2f} TB/s"
    ]
    layers: list[Spec] = [
        {
            "data": {"values": [{"bytes": at, "law": rate} for at, rate in law]},
            "mark": {"type": "line", "style": "quiet", "strokeWidth": 1.2},
            "encoding": {"x": x, "y": _rate("law")},
        },
        *lines(rows, list(dict.fromkeys(str(row["series"]) for row in rows)), x, _rate("est")),
    ]
    if here is not None:
        layers.append(marks([{"bytes": here.bytes_in_flight, "est": here.bytes_per_second}], x, _rate("est")))
        notes.append(f"marked: {_shape(here)}, {here.waves} waves, est. {here.share:.0%} of the bandwidth")
    return panel(titled(f"{points[0].chip}: {level.name}", notes), layers)


def measured(found: Overlay) -> Spec:
    """A measured file over the model: points measured, lines est.; a panel an instruction, one for reads."""
    panels: list[Spec] = []
    for errors in found.errors:
        rows = [row for row in found.rows if row.subject == errors.subject and row.estimate is not None]
        if rows:
            draw = _instruction if rows[0].row.ilp else _reads
            panels.append({"title": _errors_title(found.chip, errors), **draw(rows)})
    apart = dict.fromkeys(("color", "strokeDash", "shape"), "independent")
    return {
        "$schema": SCHEMA, "vconcat": panels, "spacing": 44, "resolve": {"scale": apart, "legend": apart},
    }  # fmt: skip


def _instruction(found: Sequence[Compared]) -> Spec:
    rows = [
        {
            "series": f"ILP {each.row.ilp}", "waves": each.row.waves, "occupancy": each.occupancy,
            "measured": each.row.amount, "est": each.estimate, "error": each.error,
        }
        for each in found
    ]  # fmt: skip
    order = list(dict.fromkeys(str(row["series"]) for row in rows))
    x = _waves((each["waves"], each["occupancy"]) for each in rows)
    if len(order) > _TOGETHER:
        bare = axis("waves", "waves per SIMD", axis={"tickCount": 4, "format": "d"})
        return _small(rows, "series", order, against(bare, _throughput("est"), _throughput("measured")))
    return {**panel(None, against(x, _throughput("est"), _throughput("measured"), order)), **_values(rows)}


def _reads(found: Sequence[Compared]) -> Spec:
    rows = [
        {
            "series": f"{each.row.vector_bytes} bytes a lane", "loads": _loads(each.row.outstanding),
            "bytes": each.in_flight, "waves": each.row.waves, "cus": each.row.cus,
            "measured": each.row.amount, "est": each.estimate, "error": each.error,
        }
        for each in sorted(found, key=lambda each: (each.row.outstanding, each.row.vector_bytes))
    ]  # fmt: skip
    order = list(dict.fromkeys(str(row["series"]) for row in rows))
    by = list(dict.fromkeys(str(row["loads"]) for row in rows))
    at = [each.in_flight for each in found]
    if len(by) > 1:
        small = against(_in_flight(at, (1,)), _rate("est"), _rate("measured"), order)
        return _small(rows, "loads", by, small)
    return {**panel(None, against(_in_flight(at), _rate("est"), _rate("measured"), order)), **_values(rows)}


def _small(rows: Rows, field: str, order: Sequence[str], layers: Sequence[Spec]) -> Spec:
    """A small panel for each value of a field, on the same axes."""
    return {
        **_values(rows),
        "facet": {"field": field, "type": "nominal", "sort": list(order), "title": None},
        "columns": 4 if len(order) > 6 else 3,
        "spacing": 22,
        "spec": panel(None, layers, width=180, height=130),
    }


def _values(rows: Rows) -> Spec:
    return {"data": {"values": list(rows)}}


def _errors_title(chip: str, errors: Errors) -> Spec:
    reads = "" if errors.subject not in ("memory", "l2", "lds") else ", read"
    note = "points measured, lines est."
    if errors.mean is not None:
        note += f": mean error {errors.mean:.1%}, worst {errors.worst:.1%}, {errors.estimated} points"
    return titled(f"{chip}: {errors.subject}{reads}", [note])


def _around(found: Feed) -> tuple[Curve, ...]:
    """Curves of the same timing as an answer's, its own ILP among them."""
    known = found.timing
    return feed_curves(
        known.chip or known.target, known.instruction, ilps=sorted(_ILPS | {found.ilp}),
        interval=known.interval if known.interval == known.held else None,
        latency=known.latency, clock_mhz=known.clock_mhz,
    )  # fmt: skip


def _beside(found: MemoryFeed) -> tuple[MemoryCurve, ...]:
    """Curves of the same level as an answer's."""
    level = found.level
    return memory_curves(found.chip, level=level.name, latency_ns=level.latency_ns, bandwidth=level.bandwidth)


def _waves(at: Iterable[tuple[object, object]]) -> Spec:
    """Waves a SIMD, with the occupancy below each."""
    shown: Mapping[object, object] = dict(at)
    labels = ", ".join(f"{waves}: '{share:.0%}'" for waves, share in shown.items() if share is not None)
    names = f"{{{labels}}}[datum.value]"
    return axis(
        "waves", "waves per SIMD, and occupancy",
        axis={
            "values": sorted(shown), "labelExpr": f"[datum.label, {names} || '']", "labelOverlap": "parity",
            "labelLineHeight": 13,
        },
        scale={"nice": False, "padding": 12},
    )  # fmt: skip


def _throughput(field: str, *, flops: bool = True) -> Spec:
    if flops:
        return axis(field, "TFLOP/s", axis={"labelExpr": TERA, "tickCount": 5})
    return axis(field, "of the matrix unit", axis={"format": ".0%"}, scale={"domain": [0, 1]})


def _in_flight(at: Iterable[float | None], digits: Sequence[int] = (1, 2, 5)) -> Spec:
    known = [each for each in at if each]
    return axis(
        "bytes", "bytes in flight, whole chip", scale={"type": "log", "nice": False, "padding": 8},
        axis={"labelExpr": BYTES, "values": decades(min(known), max(known), digits), "labelOverlap": True},
    )  # fmt: skip


def _rate(field: str) -> Spec:
    return axis(field, "TB/s", axis={"labelExpr": TERA, "tickCount": 5})


def _shape(point: MemoryFeed) -> str:
    return f"{point.vector_bytes} B x {_loads(point.outstanding)}"


def _loads(count: int) -> str:
    return f"{count} load{'s' * (count != 1)}"
