"""The page of a report: a table of all kernels that sorts, filters and pages, and a section a kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from wavefit.report.document import Report
from wavefit.report.language import catalogue, counted, retold, say, speaking
from wavefit.report.page.advice import Advised
from wavefit.report.page.data import Details, Json, page_data, sentences
from wavefit.report.page.frame import framed, told, top
from wavefit.report.page.pack import compressed
from wavefit.report.text import NAMES

ROWS = 100
"""Rows that stand in the table at once; the first ones are markup, so that they need no script."""
ERRORS = 200
"""Of what could not be read, so many are listed."""
LARGEST = 2_000_000
"""Bytes that a page should stay under: names are cut shorter until it does."""
_LENGTHS = (4000, 1000, 400, 160, 80)
_SCRIPTS = ("unpack", "words", "dom", "curves", "kernel", "main")
_ONLY = {
    "all": "all", "alone": "one change gains", "gains": "something gains", "spills": "spills",
    "launch": "cannot launch", "refused": "no answer",
}  # fmt: skip
_HEADS = {
    "name": "kernel", "on": "chip", "vgprs": "VGPRs", "sgprs": "SGPRs", "lds": "LDS", "spills": "spills",
    "threads": "threads", "waves": "waves a SIMD", "occupancy": "occupancy", "binds": "bound by",
}  # fmt: skip
_TEXTS = frozenset(("name", "on", "binds"))


def page(
    report: Report,
    *,
    launch: Mapping[str, Any] | None = None,
    advised: Advised | None = None,
    chosen: str | None = None,
) -> str:
    """The report as one HTML file that needs nothing else, in both languages.

    `launch` are the options that the report was built with (`threads`, `lds_dynamic`, `mode`, `wave`): other
    views are asked with them. `chosen` is "en" or "zh"; without it the browser's preference decides.
    Under LARGEST bytes for 10,000 kernels; names are cut in the middle where that is needed for it.
    """
    made, text = Details(launch or {}), ""
    for longest in _LENGTHS:
        with speaking("en"):  # the keys
            data = page_data(report, made, advised or Advised(), longest=longest)
        held = compressed({**data, "said": _said(data, made)})
        with speaking(chosen or "en"):
            text = framed(_count(data), _body(data), scripts=_SCRIPTS, data=held, fixed=chosen is not None)
        if len(text.encode()) <= LARGEST:
            break
    return text


def _said(data: Json, made: Details) -> list[Json]:
    """Every text of the page in English and in Chinese, where the two differ."""
    pairs = {**catalogue("zh"), **made.chinese}
    with speaking("zh"):
        for sentence in sorted(sentences(data)):
            pairs.setdefault(sentence, retold(sentence))
    return [{"en": english, "zh": chinese} for english, chinese in pairs.items() if english != chinese]


def _count(data: Json) -> str:
    return counted(len(data["kernels"]), "kernel")


def _body(data: Json) -> str:
    return "\n".join((*top(), *_overview(data), *_rest(), "</main>"))


def _overview(data: Json) -> Iterator[str]:
    kernels = data["kernels"]
    yield f'<section id="overview"><h1 id="count">{escape(_count(data))}</h1>'
    yield told(
        "p", "What each spends, how many waves fit, what stops the next one. Choose a kernel for the rest."
    )
    if data["advice"]:
        yield told("p", data["advice"], 'class="quiet"')
    yield from _filter(kernels)
    yield f'<p id="found" class="quiet" role="status">{escape(_count(data))}</p>'
    yield f'<div class="scroll" role="region" tabindex="0" {_label("Kernels")}>'
    yield '<table id="kernels"><thead><tr>'
    for key, head in _HEADS.items():
        button = told("button", head, f'class="sort" type="button" value="{key}" disabled')
        yield f'<th scope="col"{"" if key in _TEXTS else " class=n"}>{button}</th>'
    yield told("th", "next step", 'scope="col"') + '</tr></thead><tbody id="rows">'
    yield from map(_line, kernels[:ROWS])
    yield f'</tbody></table></div><nav id="pages" class="actions" hidden {_label("Pages")}>'
    yield told("button", "Previous page", 'id="back" type="button"') + '<span id="page"></span>'
    yield told("button", "Next page", 'id="on" type="button"') + "</nav>"
    yield from _errors(data["errors"])
    yield "</section>"


def _filter(kernels: list[Json]) -> Iterator[str]:
    """Needs the script, which shows it."""
    targets = sorted({kernel["target"] for kernel in kernels})
    binds = dict.fromkeys(each for k in kernels if k["fit"] for each in k["fit"]["binding"])
    yield f'<form id="filter" role="search" hidden {_label("Which kernels")}><div class="fields">'
    yield f'<div class="field">{told("label", "name or file holds", _FOR.format("search"))}'
    yield '<input id="search" type="search" autocomplete="off" spellcheck="false"></div>'
    yield from _choice("target", "target", {"": "all", **{each: each for each in targets}})
    yield from _choice(
        "binds", "bound by", {"": "all", **{each: NAMES.get(each, each) for each in sorted(binds)}}
    )
    yield from _choice("only", "show", _ONLY)
    yield "</div></form>"


_FOR = 'for="{}"'


def _choice(key: str, label: str, options: Mapping[str, str]) -> Iterator[str]:
    yield f'<div class="field">{told("label", label, _FOR.format(key))}<select id="{key}">'
    yield from (told("option", text, f'value="{escape(value)}"') for value, text in options.items())
    yield "</select></div>"


def _label(key: str) -> str:
    return f'data-label="{escape(key)}" aria-label="{escape(say(key))}"'


_NO_FIT: Json = {**dict.fromkeys(("chip", "threads", "waves_per_simd", "occupancy")), "binding": ()}


def _line(kernel: Json) -> str:
    """A row as it stands before the script runs, and without one."""
    fit = kernel["fit"] or _NO_FIT
    shares = None if fit["occupancy"] is None else f"{fit['occupancy'] * 100:.4g} %"
    numbers = (
        kernel["total_vgprs"], kernel["sgprs"], kernel["lds"], kernel["vgpr_spills"], fit["threads"],
        fit["waves_per_simd"], shares,
    )  # fmt: skip
    binds = " + ".join(say(NAMES[each]) for each in fit["binding"])
    cells = "".join(f'<td class="n">{"-" if each is None else each}</td>' for each in numbers)
    link = f'<a class="name" dir="ltr" href="#k-{kernel["key"]}">{escape(kernel["name"])}</a>'
    return (
        f'<tr><th scope="row">{link}</th><td>{escape(fit["chip"] or kernel["target"])}</td>{cells}'
        f"<td>{escape(binds or say('no answer'))}</td><td></td></tr>"
    )


def _errors(errors: list[Json]) -> Iterator[str]:
    if not errors:
        return
    yield told("h2", "Could not be read")
    yield "<ul>"
    for error in errors[:ERRORS]:
        where = error["file"] + (f"[{error['member']}]" if error["member"] else "")
        offset = "" if error["offset"] is None else f"+{error['offset']:#x}"
        cause = told("span", error["cause"])
        yield f'<li><span class="name" dir="ltr">{escape(where + offset)}</span>: {cause}</li>'
    if len(errors) > ERRORS:
        yield f"<li>{escape(say('and {amount} more', amount=len(errors) - ERRORS))}</li>"
    yield "</ul>"


def _rest() -> Iterator[str]:
    yield '<article id="kernel" hidden></article><div id="paper"></div><noscript>'
    yield told("p", "Without script: the first kernels only, without their sections.", 'class="note"')
    yield "</noscript>"
