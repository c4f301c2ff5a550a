"""What a report's page holds: the report document, and beside each Fit its curves, arithmetic and views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from typing import Any

from wavefit.chips import Chip
from wavefit.model import Kernel
from wavefit.occupancy import BadQuestion, Fit, FitRange
from wavefit.occupancy.derive import Line, derivation, plain_division
from wavefit.occupancy.question import as_chip
from wavefit.report import views
from wavefit.report.charts.steps import Stair, Stairs, stairs
from wavefit.report.document import Report, error_row, kernel_row
from wavefit.report.language import speaking
from wavefit.report.names import printable
from wavefit.report.page.advice import Advised
from wavefit.report.rosetta import BESIDE
from wavefit.report.text import verdict

Json = dict[str, Any]
NAMED = ("name", "symbol", "file", "member")
"""Fields that come from foreign files as they are; shown escaped, and cut in the middle when long."""


def page_data(report: Report, made: Details, advised: Advised, *, longest: int) -> Json:
    """The document of a page. Names keep at most `longest` characters."""
    rows = [_row(kernel, answer, made, advised, longest) for kernel, answer in report.kernels]
    for row, key in zip(rows, _keys(report), strict=True):
        row["key"] = key
    return {
        "version": version("wavefit"),
        "kernels": rows,
        "errors": [
            {**_shown(error_row(error), longest), "cause": printable(error.cause, 1000)}
            for error in report.errors
        ],
        "advice": advised.note,
    }


def sentences(document: Json) -> set[str]:
    """Every sentence of the document that may have to be said in another language."""
    return set(_sentences(document, "", set()))


def _sentences(value: Any, under: str, met: set[int]) -> Iterator[str]:
    """Those of a value; objects that were `met` are not walked again: kernels share them."""
    if isinstance(value, Mapping):
        if id(value) not in met:
            met.add(id(value))
            for key, each in value.items():
                yield from _sentences(each, key, met)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _sentences(each, under, met)
    elif isinstance(value, str) and under in _SENTENCES:
        yield from _parts(under, value)


def _parts(key: str, sentence: str) -> Sequence[str]:
    """The reasons of a `why` and the lines of a derivation are sentences each."""
    return sentence.split("; ") if key in ("why", "text") else (sentence,)


_SENTENCES = frozenset(
    ("why", "assumptions", "notes", "cause", "authority", "differs", "what", "evidence", "price", "gain",
     "not_judged", "advice", "text", "unit")
)  # fmt: skip


def _row(kernel: Kernel, answer: Any, made: Details, advised: Advised, longest: int) -> Json:
    row = _shown(kernel_row(kernel, BadQuestion("")), longest)
    row["notes"] = [printable(note, longest) for note in kernel.notes]
    row["refused"] = None
    row["fit"], row["low"] = None, None
    if isinstance(answer, BadQuestion):
        row["refused"] = {"why": printable(str(answer), longest)}
    elif isinstance(answer, FitRange):
        row["fit"], row["low"] = made.of(kernel, answer.high), made.of(kernel, answer.low)
    else:
        row["fit"] = made.of(kernel, answer)
    row["advised"] = advised.of(kernel)
    return row


def _shown(row: Json, longest: int) -> Json:
    names = {key: printable(row[key], longest) for key in NAMED if row.get(key) is not None}
    return {**row, **names}


def _keys(report: Report) -> Iterator[str]:
    """A short name of each kernel that stays the same in the next build: of its file, place and symbol."""
    seen: dict[str, int] = {}
    for kernel, _ in report.kernels:
        told = "\0".join((kernel.file, kernel.member or "", kernel.symbol or kernel.name, kernel.target))
        key = sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        seen[key] = seen.get(key, 0) + 1
        yield key if seen[key] == 1 else f"{key}-{seen[key]}"


class Details:
    """A Fit as its section shows it; kernels that spend the same share one. `launch`: the options of all."""

    def __init__(self, launch: Mapping[str, Any]) -> None:
        self._launch = launch
        self._known: dict[Any, Json] = {}
        self.chinese: dict[str, str] = {}
        """The verdicts, which are composed and not only retold."""

    def of(self, kernel: Kernel, fit: Fit) -> Json:
        """The Fit's document with what is drawn and told beside it."""
        bare = replace(
            fit.kernel, name="", symbol="", file="-" if kernel.file else "", member=None, notes=(),
            vgpr_spills=None, sgpr_spills=None,
        )  # fmt: skip
        question = (bare, fit.launch, fit.chip, fit.target, fit.view, fit.assumptions)
        if question not in self._known:
            self._known[question] = self._made(fit)
        return self._known[question]

    def _made(self, fit: Fit) -> Json:
        on, told = as_chip(fit.chip or fit.target), verdict(fit)
        with speaking("zh"):
            self.chinese[told] = verdict(fit)
        return {
            **fit.to_dict(),
            "slack": [{"resource": resource, "spare": spare} for resource, spare in fit.slack.items()],
            "verdict": told,
            "resident": fit.launch.waves,
            "beside": [{"word": word, "other": own} for word, own in BESIDE.get(on.vendor, {}).items()],
            "carveouts": bool(fit.of.lds.carveouts),
            "unequal": bool(fit.kernel.wave_vgprs),
            "plain": [
                {"resource": limit.resource, "gives": plain}
                for limit in fit.limits
                if limit.resource in fit.binding and (plain := plain_division(limit)) is not None
            ],
            "slots": fit.of.unit(fit.mode).wave_slots,
            "curves": [_curve(each) for each in stairs(fit)] if fit.view == "hardware" else [],
            "derivation": [_line(line) for line in derivation(fit)],
            "views": list(self._views(fit, on)),
        }

    def _views(self, fit: Fit, on: Chip) -> Iterator[Json]:
        """What others say of the same question."""
        if fit.view != "hardware" or fit.kernel.wave_vgprs:
            return
        for seen in views.compared(fit.kernel, "", on, {**self._launch, "chip": on}).seen:
            yield {
                "view": seen.view,
                "authority": seen.authority,
                "waves_per_simd": seen.fit and seen.fit.waves_per_simd,
                "occupancy": seen.fit and seen.fit.occupancy,
                "workgroups": seen.fit and seen.fit.workgroups,
                "differs": list(seen.why),
            }


def _curve(found: Stairs) -> Json:
    return {
        "resource": found.resource,
        "here": found.here,
        "waves": found.waves,
        "limits": found.limits,
        "fewer": found.fewer and {"amount": found.fewer.high, "waves": found.fewer.waves},
        "more": found.more and {"amount": found.more.low, "waves": found.more.waves},
        "stairs": _flat(found.stairs),
    }


def _flat(found: Iterable[Stair]) -> list[int | float]:
    """low, waves of each stair, one after the other; the last is over the cap."""
    return [number for stair in found for number in (stair.low, stair.waves)]


def _line(line: Line) -> Json:
    return {
        "about": line.about,
        "text": line.text,
        "facts": [
            {
                "path": path, "value": f"{fact.value}", "unit": fact.unit, "status": fact.status,
                "source": fact.source,
            }
            for path, fact in line.facts
        ],
    }  # fmt: skip
