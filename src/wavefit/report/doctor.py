"""What is installed beside us, as text and as one document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from wavefit.environment import Part
from wavefit.report.language import retold, say
from wavefit.report.names import printable
from wavefit.report.paint import paint
from wavefit.report.wrap import beside, pad


def doctor_document(about: Mapping[str, str], parts: Iterable[Part]) -> dict[str, Any]:
    """The document `wavefit.doctor/1`."""
    return {
        "schema": "wavefit.doctor/1",
        **about,
        "parts": [
            {
                "name": part.name,
                "kind": part.kind,
                "for": part.purpose,
                "present": part.present,
                "version": part.version,
                "where": part.where,
            }
            for part in parts
        ],
    }


def doctor_text(about: Mapping[str, str], parts: Iterable[Part]) -> str:
    """A line a part; all of them are optional."""
    lines = [f"wavefit {about['wavefit']}, Python {about['python']}, {about['platform']}", ""]
    for part in parts:
        what = (part.version or say("here")) if part.present else "-"
        head = f"{pad(printable(part.name, longest=40), 17)} {pad(printable(what, longest=40), 12)}"
        line = f"{head} {retold(part.purpose)}"
        path = printable(part.where, longest=500) if part.where else ""
        shown = beside(line, path) if path else [line]
        lines += shown if part.present else [paint(each, "quiet") for each in shown]
    return "\n".join(lines)
