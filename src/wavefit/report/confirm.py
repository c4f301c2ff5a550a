"""Confirmations as text and as JSON: theory, measurement, and the reasons between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wavefit.profiles.confirmation import Confirmation, Confirmations
from wavefit.profiles.model import Problem, Reported
from wavefit.report.language import retold, say
from wavefit.report.names import printable
from wavefit.report.paint import paint
from wavefit.report.wrap import hung, listed

Json = dict[str, Any]
OVER = {"busy": "busy units", "all": "all units"}
"""What an occupancy is an average of."""


def confirm_document(found: Confirmations) -> Json:
    """The document `wavefit.confirm/1`. Occupancies are 0 to 1, times seconds, busy percent."""
    return {
        "schema": "wavefit.confirm/1",
        "kernels": [_entry(item) for item in found],
        "unjoined": list(found.unjoined),
        "unseen": list(found.unseen),
        "errors": [_problem(problem) for problem in found.errors],
    }


def _entry(item: Confirmation) -> Json:
    spread = item.spread
    return {
        "kernel": item.kernel,
        "source": item.source,
        "tools": list(item.tools),
        "chip": item.chip,
        "dispatches": item.dispatches,
        "seconds": item.seconds,
        "reported": _reported(item.reported),
        "total_vgprs": item.total_vgprs,
        "ceiling": item.ceiling,
        "ceiling_at_most": item.at_most,
        "grid_ceiling": item.grid_ceiling,
        "grid_ceiling_with_tail_est": item.with_tail,
        "tool_ceiling": item.tool_ceiling,
        "achieved": item.achieved,
        "achieved_most": item.achieved_most,
        "method": item.method,
        "over": item.over,
        "readings": [
            {"method": way.method, "over": way.over, "occupancy": way.occupancy} for way in item.ways
        ],
        "rounds": None if spread is None else float(spread.rounds),
        "units": None if spread is None else spread.array.units,
        "dies": None if spread is None else spread.array.dies,
        "busy_units": None if spread is None else spread.busy_units,
        "matrix_busy": item.matrix_busy,
        "valu_busy": item.valu_busy,
        "clock_mhz": item.clock,
        "joined": item.joined,
        "wrong": item.wrong,
        "decision": item.decision,
        "reasons": [
            {"code": r.code, "text": r.text, "share": r.share, "estimated": r.estimated} for r in item.reasons
        ],
        "why": item.why,
        "assumptions": list(item.assumptions),
        "notes": list(item.notes),
        "fit": item.fit.to_dict() if item.fit else None,
    }


def _reported(reported: Reported) -> Json:
    names = "threads", "workgroups", "vgprs", "agprs", "sgprs", "lds", "lds_means", "scratch", "wave"
    return {name: getattr(reported, name) for name in names}


def _problem(problem: Problem) -> Json:
    return {
        "file": problem.file,
        "row": problem.row,
        "cause": problem.cause,
        "kind": problem.kind,
        "more": problem.more,
    }


def confirm_lines(found: Confirmations) -> Iterator[str]:
    """A paragraph a kernel, the most time first; then what did not join, for a terminal."""
    for item in found:
        yield from _paragraph(item)
        yield ""
    if found.unjoined:
        yield say("without a compiled kernel: {number}", number=len(found.unjoined))
        yield from (f"  {printable(name)}" for name in found.unjoined)
    if found.unseen:
        yield say("compiled, but not in the trace: {number}", number=len(found.unseen))


def _paragraph(item: Confirmation) -> Iterator[str]:
    if item.wrong:
        yield paint(say("ERROR: more was measured than fits"), "broken")
    yield paint(printable(item.kernel), "strong")
    yield from _line(_launch(item))
    if item.ceiling is None:
        yield from _line(say("no ceiling: {why}", why=retold(item.why or "")))
    else:
        yield from _line(_numbers(item))
        if item.why:
            yield from _line(say("cannot launch: {why}", why=retold(item.why)))
    for way in item.ways[1:]:
        share = _percent(way.occupancy)
        text = "also {share} over {which} ({method})"
        yield from _line(say(text, share=share, which=say(OVER[way.over]), method=way.method))
    busy = (("matrix unit", item.matrix_busy), ("VALU", item.valu_busy))
    shown = [f"{say(name)} {percent:.1f} %" for name, percent in busy if percent is not None]
    if shown:
        yield from _line(say("busy: {what}", what=say(", ").join(shown)))
    for reason in item.reasons:
        share = ""
        if reason.share is not None:
            est = say(", est.") if reason.estimated else ""
            share = f" (-{_percent(reason.share)}{est})"
        yield from hung("  - ", f"{say(reason.code)}{share}: {retold(reason.text)}")
    yield from (paint(line, "broken" if item.wrong else "good") for line in _line(_decision(item)))
    for text in (*item.assumptions, *item.notes):
        yield from (paint(line, "quiet") for line in _line(say("note: {note}", note=retold(text))))


def _line(text: str) -> list[str]:
    return hung("  ", text, hang=4)


def _decision(item: Confirmation) -> str:
    """What to do, the codes of reasons in it in the language in use."""
    head, colon, codes = item.decision.partition("look at: ")
    if head or not colon:
        return retold(item.decision)
    return say("look at: {reasons}", reasons=say(", ").join(map(say, codes.split(", "))))


def _launch(item: Confirmation) -> str:
    reported = item.reported
    parts = [item.chip or say("unknown chip")]
    if reported.threads:
        launch = "{workgroups} x {threads} threads"
        parts.append(say(launch, workgroups=reported.workgroups, threads=reported.threads))
    one = item.dispatches == 1
    parts.append(say("{number} dispatch" if one else "{number} dispatches", number=item.dispatches))
    if item.seconds is not None:
        parts.append(f"{item.seconds * 1e3:.3f} ms")
    return f"{listed(parts)} ({', '.join(item.tools)}: {printable(item.source, longest=500)})"


def _numbers(item: Confirmation) -> str:
    share = _percent(item.ceiling)
    ceiling = (
        say("ceiling at most {share}", share=share) if item.at_most else say("ceiling {share}", share=share)
    )
    if item.fit is not None and item.fit.binding:
        ceiling += f" ({', '.join(item.fit.binding)})"
    parts = [ceiling]
    if item.grid_ceiling is not None:
        parts.append(say("for this grid {share}", share=_percent(item.grid_ceiling)))
    if item.achieved is None:
        parts.append(say("achieved unknown"))
    else:
        text = "achieved {share} over {which} ({method})"
        share = _percent(item.achieved)
        parts.append(say(text, share=share, which=say(OVER[item.over]), method=item.method))
    return say(", ").join(parts)


def _percent(share: float | None) -> str:
    return say("unknown") if share is None else f"{share * 100:.1f} %"
