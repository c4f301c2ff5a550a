"""Names from binaries are hostile text: what is not plainly printable is shown escaped."""

from __future__ import annotations

import unicodedata

_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
LONGEST = 200


def printable(name: str, longest: int = LONGEST) -> str:
    """The name with control, format and direction characters escaped, cut in the middle when very long."""
    if not name.isascii() or not name.isprintable():
        name = "".join(_escaped(char) if unicodedata.category(char) in _HIDDEN else char for char in name)
    if len(name) <= longest:
        return name
    head = longest * 2 // 3
    return f"{name[:head]}...[{len(name) - longest} more]...{name[head - longest :]}"


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def counted(amount: int, word: str) -> str:
    """1 workgroup, 2 workgroups."""
    return f"{amount} {word}{'s' * (amount != 1)}"
