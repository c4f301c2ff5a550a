"""A Fit as four curves: waves against VGPRs, SGPRs, LDS and workgroup size, with "you are here"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from wavefit.occupancy import Fit, FitRange
from wavefit.report.charts.parts import marks, tips
from wavefit.report.charts.steps import Stair, Stairs, stairs
from wavefit.report.charts.style import SCHEMA, Spec, axis, series, titled
from wavefit.report.text import NAMES

Named = Sequence[tuple[str, Stairs]]
_WIDTH, _HEIGHT = 330, 170
_TITLES = {
    "vgpr": "VGPRs a lane", "sgpr": "SGPRs a wave", "lds": "LDS a workgroup, KiB",
    "threads": "threads a workgroup",
}  # fmt: skip
_LOOKS: dict[str, Spec] = {
    "lds": {"labelExpr": "format(datum.value / 1024, '~g')", "values": [32768 * at for at in range(11)]},
    "threads": {"values": [256 * at for at in range(9)]},
}
_HEADS = {**NAMES, "threads": "workgroup size"}


def occupancy(*found: Fit | FitRange) -> Spec:
    """Waves a SIMD against each resource, all others as they are; several Fits lie over each other.

    Each panel says where the kernel stands, the nearest cliff each way, and whether this resource limits.
    Of a range the size with the most waves is drawn. Raises BadQuestion for another view than the hardware's.
    """
    fits = [each.high if isinstance(each, FitRange) else each for each in found]
    names = [_name(fit, fits) for fit in fits]
    panels: dict[str, list[tuple[str, Stairs]]] = {}
    for name, fit in zip(names, fits, strict=True):
        for each in stairs(fit):
            panels.setdefault(each.resource, []).append((name, each))
    slots = max(fit.of.unit(fit.mode).wave_slots for fit in fits)
    notes = [_standing(name if len(fits) > 1 else "", fit) for name, fit in zip(names, fits, strict=True)]
    notes.append("diamond: here; grey: the same waves; triangles: the nearest cliffs, more waves and fewer")
    return {
        "$schema": SCHEMA,
        "title": titled(" and ".join(names), notes),
        "columns": 2,
        "spacing": 34,
        "concat": [_panel(found, names, slots) for found in panels.values()],
        "resolve": {"scale": {"x": "independent"}},
    }


def _panel(found: Named, names: Sequence[str], slots: int) -> Spec:
    resource, limiting = found[0][1].resource, [name for name, each in found if each.limits]
    x = axis(
        "amount",
        _TITLES[resource],
        axis={"labelOverlap": "parity", **_LOOKS.get(resource, {})},
        scale={"nice": False},
    )
    ticks = {"values": list(range(0, slots + 1, max(1, slots // 4)))}
    y = axis("waves", "waves a SIMD", axis=ticks, scale={"domain": [0, slots], "nice": False})
    here = [{"amount": each.here, "waves": each.waves, "chip": name} for name, each in found]
    layers = [_slack(found, x, y), _curve(found, names, x, y), *_cliffs(found, x, y), marks(here, x, y)]
    who = f" on {' and '.join(limiting)}" if len(names) > 1 else ""
    head = _HEADS[resource]
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "layer": layers,
        "title": {
            "text": f"{head} limits{who}" if limiting else head,
            "style": "limit-title" if limiting else "group-title",
            "fontSize": 13,
            "offset": 8,
            "subtitle": [_words(name if len(names) > 1 else "", each) for name, each in found],
        },
    }


def _curve(found: Named, names: Sequence[str], x: Spec, y: Spec) -> Spec:
    """The stairs; of one kernel red and thick where they limit, of several in their colours."""
    rows = [row for name, each in found for row in _corners(name, each)]
    mark: Spec = {"type": "line", "interpolate": "step-before", "strokeWidth": 2}
    encoding: Spec = {"x": x, "y": y, "tooltip": tips(rows)}
    if len(names) > 1:
        looks = series("chip", names)
        encoding |= {key: looks[key] for key in ("color", "strokeDash")}
    else:
        limits = found[0][1].limits
        mark |= {"style": "limit" if limits else "line", "strokeWidth": 3.2 if limits else 2}
    return {"data": {"values": rows}, "mark": mark, "encoding": encoding}


def _corners(name: str, found: Stairs) -> Iterator[dict[str, Any]]:
    """The right end of every stair, and the left end of the first."""
    yield {"chip": name, "amount": found.stairs[0].low, "waves": found.stairs[0].waves}
    for stair in found.stairs:
        yield {"chip": name, "amount": stair.high, "waves": stair.waves}


def _slack(found: Named, x: Spec, y: Spec) -> Spec:
    """The stair on which each kernel stands: what may be spent for nothing."""
    rows = [
        {"amount": stair.low, "to": stair.high, "waves": stair.waves}
        for _, each in found
        for stair in each.stairs
        if stair.low <= each.here <= stair.high
    ]
    mark = {"type": "rule", "style": "quiet", "strokeWidth": 11, "opacity": 0.3, "strokeCap": "round"}
    return {"data": {"values": rows}, "mark": mark, "encoding": {"x": x, "x2": {"field": "to"}, "y": y}}


def _cliffs(found: Named, x: Spec, y: Spec) -> Iterator[Spec]:
    """The nearest smaller amount with more waves, and the nearest larger one with fewer."""
    gains = [_at(each.fewer.high, each.fewer) for _, each in found if each.fewer]
    losses = [_at(each.more.low, each.more) for _, each in found if each.more]
    for rows, style, shape in ((gains, "good", "triangle-up"), (losses, "limit", "triangle-down")):
        mark = {"type": "point", "style": style, "shape": shape, "filled": True, "size": 110, "opacity": 1}
        yield {
            "data": {"values": rows},
            "mark": mark,
            "encoding": {"x": x, "y": y, "tooltip": tips(rows)},
        }


def _at(amount: int, stair: Stair) -> dict[str, Any]:
    return {"amount": amount, "waves": stair.waves}


def _words(name: str, found: Stairs) -> str:
    parts = [f"here {found.here:,}"]
    if found.fewer:
        parts.append(f"up to {found.fewer.high:,}: {found.fewer.waves:g} waves")
    elif found.limits and found.waves:
        parts.append("less alone gains nothing")
    if found.more:
        loss = f"{found.more.waves:g}" if found.more.waves else "none"
        parts.append(f"from {found.more.low:,}: {loss}")
    return (f"{name}: " if name else "") + ", ".join(parts)


def _standing(name: str, fit: Fit) -> str:
    bound = " and ".join(NAMES[resource] for resource in fit.binding)
    words = f"{fit.waves_per_simd:g} waves a SIMD, {fit.occupancy:.0%} occupancy, bound by {bound}"
    return f"{name}: {words}" if name else words


def _name(fit: Fit, among: Sequence[Fit]) -> str:
    """The chip, and what else is needed to tell it from the others."""
    name = fit.chip or fit.target
    alike = [other for other in among if (other.chip or other.target) == name]
    mode = f" {fit.mode.upper()} mode" if fit.mode else ""
    return f"{name}{mode}" if len(alike) == 1 else f"{name}{mode} ({among.index(fit) + 1})"
