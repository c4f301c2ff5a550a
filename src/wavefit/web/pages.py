"""The pages. Each is a form and its answer: whole for a browser, the answer alone for the page's script."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from wavefit.chips import chip as find_chip
from wavefit.matrix import instruction as find_instruction
from wavefit.matrix import layout
from wavefit.names import printable
from wavefit.occupancy import Fit, FitRange
from wavefit.report.language import LANGUAGES, counted, retold, say, speaking
from wavefit.report.matrix import layout_svg
from wavefit.web import answers, shown
from wavefit.web.api import from_files
from wavefit.web.ask import (
    VIEW_NAMES,
    Asked,
    BadForm,
    CompareAsked,
    DropAsked,
    FeedAsked,
    FitAsked,
    LayoutAsked,
    MatrixAsked,
    TilesAsked,
    typed,
)
from wavefit.web.drawing import feed_chart, stairs_charts
from wavefit.web.uploads import Refused
from wavefit.web.worker import Failed

router = APIRouter()
A = TypeVar("A", bound=Asked)
Values = dict[str, Any]

PAGES = (
    ("/", "Calculator"), ("/compare", "Two chips"), ("/drop", "Report of files"),
    ("/matrix", "Matrix instructions"), ("/feed", "Feed"), ("/tiles", "Tiles"),
)  # fmt: skip
START = {"chip": "MI355X", "vgprs": "128", "sgprs": "50", "lds": "32K", "threads": "256"}
"""What the calculator shows first."""
FEW = 5
"""So many dropped kernels are shown in full at once."""
MOST_SHOWN = 500
"""Kernels of a dropped file that are shown; the JSON route has them all."""


@router.get("/")
def calculator(request: Request) -> Response:
    """One what-if with its curves."""

    def answer(asked: FitAsked) -> Values:
        found = answers.fit_of(asked)
        return {
            "found": shown.answer(found),
            "charts": stairs_charts([("", answers.stairs_of(found))], _slots(found)),
            "command": shown.command(asked),
        }

    return _answered(request, "calculator", FitAsked, START, answer)


@router.get("/compare")
def compare(request: Request) -> Response:
    """The same kernel on two chips."""

    def answer(asked: CompareAsked) -> Values:
        fits = {name: answers.fit_of(asked.model_copy(update={"chip": name}))
                for name in (asked.chip, asked.other)}  # fmt: skip
        charts = [(name, answers.stairs_of(each)) for name, each in fits.items()]
        return {
            "found": [shown.answer(each) for each in fits.values()],
            "charts": stairs_charts(charts, max(map(_slots, fits.values()))),
        }

    return _answered(request, "compare", CompareAsked, {**START, "chip": "MI300X", "other": "MI355X"}, answer)


@router.get("/matrix")
def matrix(request: Request) -> Response:
    """The matrix instructions of a chip, and where their operands' elements are."""

    def answer(asked: MatrixAsked) -> Values:
        operand = request.query_params.get("operand", "A")
        found: Values = {"found": answers.matrix_of(asked), "operand": operand}
        if asked.instruction:
            of = LayoutAsked(chip=asked.chip, instruction=asked.instruction, operand=_operand(operand))
            found |= _layout(of)
        return found

    return _answered(request, "matrix", MatrixAsked, {"chip": "MI355X"}, answer)


@router.get("/feed")
def feed(request: Request) -> Response:
    """Is the matrix unit kept busy."""
    given = dict(request.query_params)
    names = answers.instructions_of(_chip(given.get("chip", "MI355X")))
    if names and given.get("instruction", "").strip() not in names:  # as when another chip was chosen
        given["instruction"] = next((name for name in names if "bf16" in name), names[0])
    start = {"chip": "MI355X", "instruction": "none", "ilp": "1", "waves": "1"}

    def answer(asked: FeedAsked) -> Values:
        found = answers.feed_of(asked)
        curves = answers.swept(asked.chip, asked.instruction).curves
        here = asked.waves, found["utilisation"]
        return {"found": found, "chart": feed_chart(curves, here, asked.ilp)}

    return _answered(request, "feed", FeedAsked, start, answer, given={**start, **given}, names=names)


@router.get("/tiles")
def tiles(request: Request) -> Response:
    """Which GEMM tile instead."""

    def answer(asked: TilesAsked) -> Values:
        ranking = answers.ranking_of(asked)
        return {"found": shown.ranked(ranking, asked.top)}

    start = {"chip": "MI355X", "m": "4096", "n": "4096", "k": "4096", "dtype": "bf16"}
    return _answered(request, "tiles", TilesAsked, start, answer)


@router.get("/drop")
def drop(request: Request) -> Response:
    """Where files are dropped."""
    given, largest = dict(request.query_params), request.app.state.bounds.upload
    return _page(request, "drop", {"given": given, "wrong": (), "largest": largest})


@router.post("/drop")
async def dropped(request: Request) -> Response:
    """The report of dropped files, for the page's script."""
    language, _ = spoken(request)
    try:
        asked = typed(DropAsked, request.query_params, {})
        found = await from_files(request, "both", asked, language)
    except (BadForm, Refused, Failed) as error:
        status = error.status if isinstance(error, Refused) else 422
        with speaking(language):
            values = {"why": retold(str(error)), "found": None}
        return _page(request, "drop", values, part=True, status=status)
    told: Values = {"found": found, "why": None, "most": MOST_SHOWN, "few": FEW}
    return _page(request, "drop", told, part=True)


def _answered(
    request: Request,
    name: str,
    kind: type[A],
    start: Mapping[str, str],
    answer: Callable[[A], Values],
    given: Mapping[str, str] | None = None,
    **more: Any,
) -> Response:
    """A page whose form was filled in, or its answer alone; what cannot be asked is said in its place."""
    given = dict(request.query_params if given is None else given)
    values: Values = {"given": given, "wrong": (), "why": None, "found": None, **more}
    language, _ = spoken(request)
    with speaking(language):
        if not any(given.get(field, "").strip() for field in kind.model_fields):
            values["given"] = {**start, **given}
        try:
            values |= answer(typed(kind, given, start))
        except BadForm as error:
            values |= {"why": str(error), "wrong": error.fields}
        except answers.MISTAKES as error:
            values["why"] = retold(str(error))
    return _page(request, name, values, part="x-part" in request.headers)


def _page(request: Request, name: str, values: Values, *, part: bool = False, status: int = 200) -> Response:
    language, chosen = spoken(request)
    path = request.url.path
    asked = [(key, text) for key, text in request.query_params.items() if key != "lang" and text]
    frame: Values = {
        "language": language, "chosen": language if chosen else None, "path": path, "pages": PAGES,
        "asked": asked, "views": VIEW_NAMES, "groups": answers.chip_groups(),
    }  # fmt: skip
    with speaking(language):
        page = _templates().get_template(f"{name}_answer.html" if part else f"{name}.html")
        return HTMLResponse(page.render({**frame, **values}), status)


def spoken(request: Request) -> tuple[str, bool]:
    """The language of an answer, and whether the address names it: else the browser's preference."""
    named = request.query_params.get("lang")
    if named in LANGUAGES:
        return named, True
    wishes = []
    for at, wish in enumerate(request.headers.get("accept-language", "")[:500].split(",")):
        name, _, quality = wish.strip().partition(";q=")
        weight = float(quality) if quality.replace(".", "", 1).isdecimal() else 1.0
        wishes.append((-weight, at, name.lower()))
    for _, _, name in sorted(wishes):
        if name.partition("-")[0] == "en":
            return "en", False
        if name in ("zh", "zh-cn", "zh-sg") or name.startswith("zh-hans"):
            return "zh", False
    return "en", False


@lru_cache(maxsize=1)
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("wavefit.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    made.globals.update(say=say, counted=counted, names=shown.NAMES, row=shown.row, bounds=shown.BOUNDS)
    made.filters.update(
        printable=printable, retold=retold, percent=shown.percent, amount=shown.amount, value=shown.value,
        what_if=shown.what_if,
    )  # fmt: skip
    return made


def _layout(of: LayoutAsked) -> Values:
    try:
        found = layout(find_instruction(find_chip(of.chip), of.instruction), of.operand)
    except answers.MISTAKES as error:
        return {"picture": None, "no_picture": retold(str(error))}
    return {"picture": Markup(layout_svg(found)), "no_picture": None}  # it escapes what it writes


def _operand(given: str) -> Any:
    return given if given in ("A", "B", "C", "D") else "A"


def _chip(name: str) -> Any:
    try:
        return find_chip(name.strip() or "MI355X")
    except answers.MISTAKES:
        return find_chip("MI355X")


def _slots(found: Fit | FitRange) -> int:
    one = found.high if isinstance(found, FitRange) else found
    return one.of.unit(one.mode).wave_slots or 1
