"""Results in a notebook: a card of HTML that needs no script and no network, and rows for data frames.

The card brings its own colours, so that it can be read on the light and the dark page of a notebook alike.
Curves are drawn where vl-convert is installed (`wavefit[charts]`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import singledispatch
from html import escape
from typing import Any

from wavefit.advise.model import Advice
from wavefit.feed.curves import Curve, MemoryCurve
from wavefit.matrix.model import Instruction
from wavefit.occupancy import BadQuestion, Fit, FitRange
from wavefit.report import charts
from wavefit.report.charts.style import FONT, LIGHT
from wavefit.report.document import Report, kernel_row
from wavefit.report.language import counted, retold, say
from wavefit.report.matrix import instruction_json
from wavefit.report.names import printable
from wavefit.report.text import NAMES, chip_text, fit_text, size_text, verdict
from wavefit.shown import Listed, Shown

MOST = 100
"""Rows of a table that a notebook shows."""
Json = dict[str, Any]
_CARD = (
    f"font-family: {FONT}; color: {LIGHT.text}; background: {LIGHT.background}; padding: 0.75em 1em; "
    f"border: 1px solid {LIGHT.grid}; border-radius: 4px; overflow-x: auto; max-width: 62em"
)
_CELL = (
    "padding: 0.15em 1em 0.15em 0; text-align: {side}; white-space: nowrap; color: inherit; background: none"
)


class NoFrames(LookupError):
    """A library for data frames is not installed; the line says how to get it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"to_{name.removeprefix('py')} needs {name}: pip install {name}")


def html(found: Any) -> str:
    """The result as a card."""
    return f'<div style="{escape(_CARD)}">{"".join(_parts(found))}</div>'


def mimebundle(
    found: Any, include: Collection[str] | None = None, exclude: Collection[str] | None = None
) -> dict[str, str]:
    """The result as text and as HTML, those of them that are asked for."""
    makers = {"text/plain": text, "text/html": html}
    wanted = [kind for kind in makers if (not include or kind in include) and kind not in (exclude or ())]
    return {kind: makers[kind](found) for kind in wanted}


def text(found: Any) -> str:
    """The result as a terminal shows it."""
    if isinstance(found, Fit | FitRange):
        return fit_text(found)
    return repr(found) if not isinstance(found, Report) else counted(len(found.kernels), "kernel")


def to_pandas(found: Shown) -> Any:
    """A pandas DataFrame of the rows. Raises NoFrames."""
    return _library("pandas").DataFrame(_encodable(found))


def to_polars(found: Shown) -> Any:
    """A Polars DataFrame of the rows. Raises NoFrames."""
    return _library("polars").DataFrame(_encodable(found), infer_schema_length=None)


def to_arrow(found: Shown) -> Any:
    """A PyArrow Table of the rows. Raises NoFrames."""
    return _library("pyarrow").Table.from_pylist(_encodable(found))


def _encodable(found: Shown) -> list[Json]:
    """The rows with names as they are, but for halves of surrogate pairs, which no frame takes."""
    return [
        {key: _utf8(value) if isinstance(value, str) else value for key, value in row.items()}
        for row in rows(found)
    ]


def _utf8(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _library(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise NoFrames(name) from error


# Rows


@singledispatch
def rows(found: Any) -> Iterator[Json]:
    """One flat dictionary a row: of a Fit its numbers, of a Report its kernels, of curves their points."""
    raise TypeError(f"no rows of {type(found).__name__}")


@rows.register
def _(found: Listed) -> Iterator[Json]:  # type: ignore[type-arg]
    for each in found:
        yield from rows(each)


@rows.register
def _(found: Fit) -> Iterator[Json]:
    nested = ("schema", "limits", "next_steps", "losses", "slack", "assumptions", "binding")
    document = {key: value for key, value in found.to_dict().items() if key not in nested}
    yield {**document, "binding": "+".join(found.binding)}


@rows.register
def _(found: FitRange) -> Iterator[Json]:
    for each in (found.low, found.high):
        yield from rows(each)


@rows.register
def _(found: Report) -> Iterator[Json]:
    for kernel, answer in found.kernels:
        spent = kernel_row(kernel, BadQuestion(""))
        del spent["fit"]
        spent["notes"] = "; ".join(kernel.notes)
        answers = [None] if isinstance(answer, BadQuestion) else list(rows(answer))
        for each in answers:
            fitted = each or dict.fromkeys(_FITTED)
            yield {**spent, **{key: fitted[key] for key in _FITTED}}


_FITTED = (
    "chip", "mode", "wave", "unit", "threads", "workgroups", "waves", "max_waves", "waves_per_simd",
    "occupancy", "binding", "why",
)  # fmt: skip


@rows.register
def _(found: Advice) -> Iterator[Json]:
    yield {**found.to_dict(), "evidence": "; ".join(found.evidence)}


@rows.register
def _(found: Instruction) -> Iterator[Json]:
    document = instruction_json(found)
    del document["facts"], document["waits"]
    yield {**document, "notes": "; ".join(document["notes"])}


@rows.register(Curve)
@rows.register(MemoryCurve)
def _(found: Curve | MemoryCurve) -> Iterator[Json]:
    document = found.to_dict()
    points = document.pop("points")
    for point in points:
        yield {**document, **point}


# Cards


@singledispatch
def _parts(found: Any) -> Iterator[str]:
    """A card's content."""
    yield from _table(list(rows(found)))


@_parts.register
def _(found: Fit) -> Iterator[str]:
    yield f"<div>{escape(chip_text(found))}: {escape(size_text(found))}</div>"
    if found.view != "hardware":
        yield f"<div>{escape(found.view)}</div>"
        yield from _table(list(rows(found)))
        return
    yield f'<div style="font-size: 1.15em; font-weight: 600; margin: 0.2em 0">{escape(verdict(found))}</div>'
    yield _bar(found.occupancy)
    yield from _limits(found)
    for word, steps in (("next", found.next_steps), ("loses", found.losses)):
        for step in steps:
            changes = say(" and ").join(f"{say(NAMES[c.resource])} {c.from_} → {c.to}" for c in step.changes)
            groups = f"{counted(step.workgroups, 'workgroup')}, {step.occupancy * 100:.4g} %"
            after = groups if step.workgroups else say("cannot launch")
            yield f"<div><b>{escape(say(word))}</b> {escape(changes)}: {escape(after)}</div>"
    for line in found.assumptions:
        yield f'<div style="color: {LIGHT.quiet}">{escape(say("rests on"))} {escape(retold(line))}</div>'
    yield _drawn(lambda: charts.occupancy(found))


@_parts.register
def _(found: FitRange) -> Iterator[str]:
    for each in (found.low, found.high) if found.low.threads != found.high.threads else (found.high,):
        yield from _parts(each)


@_parts.register
def _(found: Report) -> Iterator[str]:
    yield f"<div><b>{escape(counted(len(found.kernels), 'kernel'))}</b></div>"
    shown = ("name", "target", "total_vgprs", "sgprs", "lds", "vgpr_spills", "threads", "waves_per_simd",
             "occupancy", "binding")  # fmt: skip
    yield from _table([{key: row[key] for key in shown} for row in rows(found)])
    for error in found.errors[:MOST]:
        yield f'<div style="color: {LIGHT.limit}">{escape(printable(str(error), 300))}</div>'


@_parts.register
def _(found: Advice) -> Iterator[str]:
    gain = f" · {say('gain: {gain}', gain=retold(found.gain))}" if found.gain else ""
    yield f"<div><b>{escape(retold(found.what))}</b> [{escape(say(found.confidence))}]{escape(gain)}</div>"
    for line in found.evidence:
        yield f"<div>{escape(say('because {why}', why=printable(retold(line), 500)))}</div>"
    yield f"<div>{escape(say('price: {price}', price=printable(retold(found.price), 500)))}</div>"


@_parts.register(Curve)
@_parts.register(MemoryCurve)
def _(found: Curve | MemoryCurve) -> Iterator[str]:
    yield from _parts(Listed((found,)))


@_parts.register
def _(found: Listed) -> Iterator[str]:  # type: ignore[type-arg]
    kinds = {type(each) for each in found}
    if kinds == {Curve}:
        yield _drawn(lambda: charts.throughput(found))
    elif kinds == {MemoryCurve}:
        yield _drawn(lambda: charts.bandwidth(found))
    elif kinds == {Advice}:
        for each in found:
            yield f'<div style="margin-bottom: 0.6em">{"".join(_parts(each))}</div>'
        return
    yield from _table([row for each in found for row in rows(each)])


def _limits(fit: Fit) -> Iterator[str]:
    heads = ("", "asks", "charged", "of", "alone", "workgroups", "spare")
    lines: list[Sequence[Any]] = []
    for limit in fit.limits:
        if limit.workgroups is not None:
            mark = " ◀" if limit.resource in fit.binding else ""
            lines.append(
                (say(NAMES[limit.resource]) + mark, limit.requested, limit.allocated, limit.budget,
                 limit.waves_per_simd, limit.workgroups, fit.slack.get(limit.resource))
            )  # fmt: skip
    yield _grid([say(head) if head else "" for head in heads], lines)


def _table(found: list[Json]) -> Iterator[str]:
    if not found:
        yield f"<div>{escape(say('none'))}</div>"
        return
    heads = list(dict.fromkeys(key for row in found for key in row))
    yield _grid(heads, [[row.get(head) for head in heads] for row in found[:MOST]])
    if len(found) > MOST:
        yield f"<div>… {len(found)}</div>"


def _grid(heads: Sequence[str], lines: Sequence[Sequence[Any]]) -> str:
    sides = ["right" if any(map(_is_number, column)) else "left" for column in zip(*lines, strict=True)]
    head = "".join(
        f'<th style="{_CELL.format(side=side)}">{escape(each)}</th>'
        for each, side in zip(heads, sides or ["left"] * len(heads), strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, line))}</tr>" for line in lines)
    return f'<table style="border: 0; margin: 0.5em 0; font-size: 0.92em"><tr>{head}</tr>{body}</table>'


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    number = value is None or _is_number(value)
    shown = (
        "-" if value is None else f"{value:.6g}" if isinstance(value, float) else printable(str(value), 80)
    )
    return f'<td style="{_CELL.format(side="right" if number else "left")}">{escape(shown)}</td>'


def _bar(share: float) -> str:
    return (
        f'<svg viewBox="0 0 1 1" preserveAspectRatio="none" width="320" height="8" role="img" '
        f'aria-label="{share * 100:.4g} %"><rect width="1" height="1" fill="{LIGHT.grid}"/>'
        f'<rect width="{share:.6g}" height="1" fill="{LIGHT.line}"/></svg> <b>{share * 100:.4g} %</b>'
    )


def _drawn(make: Callable[[], charts.Spec]) -> str:
    """The chart, or nothing where the library for charts is not installed."""
    try:
        return f'<div style="margin-top: 0.6em">{charts.svg(make())}</div>'
    except charts.NoCharts:
        return ""
