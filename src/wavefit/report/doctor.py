"""What is installed beside us, as text and as one document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from wavefit.environment import Part
from wavefit.report.names import printable


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
        what = (part.version or "here") if part.present else "-"
        path = f" {printable(part.where)}" if part.where else ""
        name = printable(part.name, longest=40)
        lines.append(f"{name:<14} {printable(what, longest=40):<12} {part.purpose}{path}")
    return "\n".join(lines)
