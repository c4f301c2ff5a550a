"""Names from foreign files are hostile text: shown escaped; and how many columns a text takes."""

from __future__ import annotations

import unicodedata

LONGEST = 200


def printable(name: str, longest: int | None = LONGEST) -> str:
    """The name with everything escaped that could move a cursor, hide or not be encoded.

    Control, format and direction characters, surrogates, odd blanks. Cut in the middle beyond `longest`.
    """
    if not name.isprintable():
        name = "".join(char if char.isprintable() else _escaped(char) for char in name)
    if longest is None or len(name) <= longest:
        return name
    head = longest * 2 // 3
    return f"{name[:head]}...[{len(name) - longest} more]...{name[head - longest :]}"


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def width(text: str) -> int:
    """Columns of a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
