"""Sizes as people write them."""

from __future__ import annotations

import re

_SIZE = re.compile(r"(0x[0-9a-f]+|\d+)\s*([kmgt]i?b?|b)?", re.IGNORECASE)
_SCALE = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_LONGEST = 24


class BadSize(ValueError):
    """A text that is no size; one line that says what is."""


def size(text: str) -> int:
    """Bytes of 32768, 32K, 48KiB or 0x8000; K is 1024. Raises BadSize."""
    match = _SIZE.fullmatch(text.strip()) if len(text) < _LONGEST else None
    if match is None:
        raise BadSize(f"{text[:_LONGEST]!r} is not a size; write 32768, 32K, 48KiB or 0x8000")
    base = 16 if match[1][:2].lower() == "0x" else 10
    return int(match[1], base) * _SCALE[(match[2] or "")[:1].lower()]
