"""Colours and block characters, on a terminal that shows them; everywhere else plain text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO

_STYLES: dict[str, dict[str, Any]] = {
    "strong": {"bold": True},
    "quiet": {"dim": True},
    "good": {"fg": "green"},
    "fair": {"fg": "yellow"},
    "poor": {"fg": "red"},
    "binds": {"fg": "yellow", "bold": True},
    "broken": {"fg": "red", "bold": True},
}
_HALF, _QUARTER = 0.5, 0.25
_BAR = 24
_painting: ContextVar[bool] = ContextVar("painting", default=False)


@contextmanager
def painting(wanted: bool) -> Iterator[None]:
    """Texts made inside the block carry colours."""
    token = _painting.set(wanted)
    try:
        yield
    finally:
        _painting.reset(token)


def shows_colour(stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a stream is a terminal that may have colours: no NO_COLOR, not TERM=dumb, block characters."""
    plain = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
    return not plain and stream.isatty() and can_show(stream, "█░")


def can_show(stream: TextIO, text: str) -> bool:
    """Whether the stream's encoding has these characters."""
    try:
        text.encode(getattr(stream, "encoding", None) or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def on_terminal() -> bool:
    """Whether texts are made for a terminal, with colours."""
    return _painting.get()


def paint(text: str, role: str) -> str:
    """The text in the colour of its role, or as it is. For whole lines: escape codes have no columns."""
    if not on_terminal() or not text:
        return text
    from click import style

    return style(text, **_STYLES[role])


def unstyle(text: str) -> str:
    """The text without its colours."""
    if not on_terminal():
        return text
    import click

    return click.unstyle(text)


def bar(share: float) -> str:
    """A bar for a share of 0 to 1: green from a half on, red under a quarter."""
    filled = min(_BAR, round(share * _BAR))
    if not on_terminal():
        return f"[{'#' * filled}{'.' * (_BAR - filled)}]"
    role = "good" if share >= _HALF else "fair" if share >= _QUARTER else "poor"
    return paint("█" * filled, role) + paint("░" * (_BAR - filled), "quiet")
