"""Curves as SVG: where on the paper each number stands. The templates write it out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import log10

from wavefit.feed import Curve
from wavefit.report.charts.steps import Stair, Stairs
from wavefit.report.language import say

WIDTH, HEIGHT, WIDE = 360, 200, 640
LEFT, RIGHT, TOP, BOTTOM = 34, 12, 10, 24
"""The margins, in which the axes' numbers stand."""
_STEPS = (1, 2, 2.5, 4, 5, 8, 10)
_SERIES = 6
_HEADS = {
    "vgpr": "VGPRs a lane", "sgpr": "SGPRs a wave", "lds": "LDS a workgroup, KiB",
    "threads": "threads a workgroup",
}  # fmt: skip

Scale = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis and what is written there."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: its path, how it looks, what it is called."""

    path: str
    look: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """One point: `here`, `gain` or `loss`."""

    x: float
    y: float
    look: str


@dataclass(frozen=True)
class Chart:
    """Everything of one picture, in its own units; `words` say the same as the picture."""

    title: str
    words: tuple[str, ...]
    x: tuple[Tick, ...]
    y: tuple[Tick, ...]
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()
    slack: tuple[tuple[float, float, float], ...] = ()
    limits: bool = False
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM
    base: float = field(default=HEIGHT - BOTTOM + 15)
    """Where the x axis' numbers stand."""


def stairs_charts(found: Sequence[tuple[str, Sequence[Stairs]]], slots: int) -> list[Chart]:
    """A chart a resource, one curve for each (name, stairs); `slots` is the height of the y axis."""
    by: dict[str, list[tuple[str, Stairs]]] = {}
    for name, several in found:
        for each in several:
            by.setdefault(each.resource, []).append((name, each))
    return [_stairs(resource, each, [name for name, _ in found], slots) for resource, each in by.items()]


def _stairs(resource: str, found: Sequence[tuple[str, Stairs]], names: Sequence[str], slots: int) -> Chart:
    most = max(each.stairs[-1].high for _, each in found)
    cap = max((stair.high for _, each in found for stair in each.stairs if stair.waves), default=most)
    x, y = _scale(0, most, LEFT, WIDTH - RIGHT), _scale(0, slots, HEIGHT - BOTTOM, TOP)
    several = len(names) > 1
    unit = 1024 if resource == "lds" else 1
    head = say(_HEADS[resource])
    who = [name for name, each in found if each.limits]
    limits = say("{what}: limits on {who}", what=head, who=", ".join(who)) if several else None
    title = (limits or say("{what}: limits", what=head)) if who else head
    return Chart(
        title=title,
        words=tuple(_words(name if several else "", each) for name, each in found),
        x=tuple(Tick(x(at * unit), f"{at:g}") for at in ticks(cap / unit, 6)),
        y=tuple(Tick(y(at), f"{at:g}") for at in ticks(slots, 4)),
        lines=tuple(
            Line(_path(each.stairs, x, y), _look(names.index(name), each, several), name)
            for name, each in found
        ),
        marks=tuple(mark for _, each in found for mark in _marks(each, x, y)),
        slack=tuple(
            (round(x(stair.low), 1), round(x(stair.high), 1), round(y(stair.waves), 1))
            for _, each in found
            for stair in each.stairs
            if stair.low <= each.here <= stair.high
        ),
        limits=bool(who),
    )


def _look(at: int, found: Stairs, several: bool) -> str:
    """Of one curve red where it limits, of several in their colours and dashes."""
    if several:
        return f"s{at * 2 % _SERIES + 1}"
    return "limits" if found.limits else ""


def _marks(found: Stairs, x: Scale, y: Scale) -> Iterable[Mark]:
    """Where the kernel stands, and the nearest cliffs."""
    if found.fewer:
        yield _mark(x(found.fewer.high), y(found.fewer.waves), "gain")
    if found.more:
        yield _mark(x(found.more.low), y(found.more.waves), "loss")
    yield _mark(x(min(found.here, found.stairs[-1].high)), y(found.waves), "here")


def _mark(x: float, y: float, look: str) -> Mark:
    return Mark(round(x, 1), round(y, 1), look)


def _path(stairs: Sequence[Stair], x: Scale, y: Scale) -> str:
    """Each stair's height up to its end, then down at once."""
    steps = (f"V{y(stair.waves):.1f}H{x(stair.high):.1f}" for stair in stairs)
    return f"M{x(stairs[0].low):.1f} {y(stairs[0].waves):.1f}" + "".join(steps)


def _words(name: str, found: Stairs) -> str:
    parts = [say("here {amount}", amount=f"{found.here:,}")]
    if found.fewer:
        to, waves = f"{found.fewer.high:,}", f"{found.fewer.waves:g}"
        parts.append(say("up to {amount}: {waves} waves", amount=to, waves=waves))
    elif found.limits and found.waves:
        parts.append(say("less alone gains nothing"))
    if found.more:
        parts.append(
            say("from {amount}: {waves}", amount=f"{found.more.low:,}", waves=f"{found.more.waves:g}")
        )
    return (f"{name}: " if name else "") + "; ".join(parts)


def feed_chart(curves: Sequence[Curve], here: tuple[int, float] | None, ilp: int) -> Chart:
    """Share of the matrix unit against waves a SIMD, one line an ILP; est. `here` is (waves, share)."""
    most = max(point.waves for curve in curves for point in curve.points)
    x, y = _scale(1, max(2, most), LEFT, WIDE - RIGHT), _scale(0, 1, HEIGHT - BOTTOM, TOP)
    lines = []
    for at, curve in enumerate(curves):
        points = [(x(p.waves), y(p.utilisation)) for p in curve.points if p.utilisation is not None]
        path = "M" + "L".join(f"{across:.1f} {up:.1f}" for across, up in points)
        if points:
            lines.append(Line(path, f"s{at % _SERIES + 1}", f"ILP {curve.ilp}"))
    words = () if here is None else (say("here: ILP {ilp}, {waves} waves, est. {share}", ilp=ilp,
                                         waves=here[0], share=f"{here[1]:.0%}"),)  # fmt: skip
    return Chart(
        title=say("share of the matrix unit, est., against waves a SIMD"),
        words=words,
        x=tuple(Tick(x(at), f"{at:g}") for at in range(1, most + 1) if most <= 16 or at % 4 == 0),
        y=tuple(Tick(y(at / 4), f"{at / 4:.0%}") for at in range(5)),
        lines=tuple(lines),
        marks=() if here is None else (_mark(x(here[0]), y(here[1]), "here"),),
        width=WIDE,
        right=WIDE - RIGHT,
    )


def ticks(most: float, about: int) -> list[float]:
    """From 0 on, some `about` round numbers up to `most`."""
    if most <= 0:
        return [0]
    rough = most / about
    power = 10.0 ** int(log10(rough) // 1)
    step = next(each * power for each in _STEPS if each * power >= rough)
    if most >= 8 and power >= 1 and most % 8 == 0:  # numbers of a machine: halves of halves
        step = next(float(1 << bits) for bits in range(32) if 1 << bits >= rough)
    return [step * at for at in range(int(most / step) + 1)]


def _scale(low: float, high: float, start: float, end: float) -> Scale:
    span = high - low or 1
    return lambda value: start + (value - low) / span * (end - start)
