"""`ar` archives: static libraries and Debian packages.

Layout: System V / GNU and BSD variants as described in the ar(5) manual pages. Thin archives name files
that stand elsewhere and hold nothing themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from wavefit.kernels.registry import reader
from wavefit.kernels.source import BadFile, Source

MAGIC, THIN = b"!<arch>\n", b"!<thin>\n"
HEADER = 60
LONGEST_NAME = 1 << 16
TABLES = ("/", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED", "__.SYMDEF_64")
"""Members that are symbol tables."""


@reader("archive", magic=MAGIC, forward=True, container=True)
def archive(source: Source) -> Iterator[Source | BadFile]:
    """The members in file order."""
    names = b""
    at = len(MAGIC)
    while len(head := source.some(at, HEADER)) == HEADER:
        name, size = _header(source, at, head)
        at += HEADER
        if name == "//":
            names = source.read(at, min(size, source.reading.bounds.text))
        elif name not in TABLES:
            yield _member(source, at, size, name, names)
        at += size + size % 2
    if head.strip():
        yield source.bad(at, f"an archive member's header of {HEADER} bytes, {len(head)} are here")


@reader("thin archive", magic=THIN, container=True)
def thin(source: Source) -> Iterator[Source]:
    """Nothing: its members are files of their own."""
    raise source.nothing("thin archive: its members are other files, read those")


def _header(source: Source, at: int, head: bytes) -> tuple[str, int]:
    if head[58:] != b"`\n":
        raise source.bad(at, "no archive member begins here")
    digits = head[48:58].strip()
    if not digits.isdigit():
        raise source.bad(at + 48, "an archive member without a size")
    name = head[:16].decode("utf-8", "backslashreplace").rstrip(" ")
    return name, int(digits)


def _member(source: Source, at: int, size: int, name: str, names: bytes) -> Source:
    """A member under its full name: GNU keeps long ones in a table, BSD before the content."""
    skip = 0
    if name.startswith("/") and name[1:].isdigit():
        start = int(name[1:])
        name = names[start : start + LONGEST_NAME].split(b"\n", 1)[0].decode("utf-8", "backslashreplace")
    elif name.startswith("#1/") and name[3:].isdigit():
        skip = min(int(name[3:]), size, LONGEST_NAME)
        name = source.read(at, skip).rstrip(b"\0").decode("utf-8", "backslashreplace")
    return source.sub(at + skip, size - skip, name.rstrip("/") or f"+{at:#x}")
