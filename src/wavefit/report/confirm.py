"""Confirmations as text and as JSON: theory, measurement, and the reasons between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wavefit.profiles.confirmation import Confirmation, Confirmations
from wavefit.profiles.model import Problem, Reported
from wavefit.report.names import printable

Json = dict[str, Any]


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
    return {"file": problem.file, "row": problem.row, "cause": problem.cause, "kind": problem.kind}


def confirm_lines(found: Confirmations) -> Iterator[str]:
    """A paragraph a kernel, the most time first; then what did not join, for a terminal."""
    for item in found:
        yield from _paragraph(item)
        yield ""
    if found.unjoined:
        yield f"without a compiled kernel: {len(found.unjoined)}"
        yield from (f"  {printable(name)}" for name in found.unjoined)
    if found.unseen:
        yield f"compiled, but not in the trace: {len(found.unseen)}"


def _paragraph(item: Confirmation) -> Iterator[str]:
    if item.wrong:
        yield "ERROR: more was measured than fits"
    yield printable(item.kernel)
    yield f"  {_launch(item)}"
    if item.ceiling is None:
        yield f"  no ceiling: {item.why}"
    else:
        yield f"  {_numbers(item)}"
        if item.why:
            yield f"  cannot launch: {item.why}"
    for way in item.ways[1:]:
        yield f"  also {_percent(way.occupancy)} over {way.over} units ({way.method})"
    busy = (("matrix unit", item.matrix_busy), ("VALU", item.valu_busy))
    shown = ", ".join(f"{name} {percent:.1f} %" for name, percent in busy if percent is not None)
    if shown:
        yield f"  busy: {shown}"
    for reason in item.reasons:
        share = "" if reason.share is None else f" (-{_percent(reason.share)}{', est.' * reason.estimated})"
        yield f"  - {reason.code}{share}: {reason.text}"
    yield f"  {item.decision}"
    for text in (*item.assumptions, *item.notes):
        yield f"  note: {text}"


def _launch(item: Confirmation) -> str:
    reported = item.reported
    parts = [item.chip or "unknown chip"]
    if reported.threads:
        parts.append(f"{reported.workgroups} x {reported.threads} threads")
    parts.append(f"{item.dispatches} dispatch{'es' * (item.dispatches != 1)}")
    if item.seconds is not None:
        parts.append(f"{item.seconds * 1e3:.3f} ms")
    return f"{', '.join(parts)} ({', '.join(item.tools)}: {printable(item.source, longest=500)})"


def _numbers(item: Confirmation) -> str:
    parts = [f"ceiling {_percent(item.ceiling)}"]
    if item.fit is not None and item.fit.binding:
        parts[0] += f" ({', '.join(item.fit.binding)})"
    if item.grid_ceiling is not None:
        parts.append(f"for this grid {_percent(item.grid_ceiling)}")
    if item.achieved is None:
        parts.append("achieved unknown")
    else:
        parts.append(f"achieved {_percent(item.achieved)} over {item.over} units ({item.method})")
    return ", ".join(parts)


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{share * 100:.1f} %"
