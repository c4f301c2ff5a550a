"""Bytes of a text file as UTF-8 lines: byte order marks, UTF-16, gzip, and a bound on every line."""

from __future__ import annotations

import codecs
import gzip
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from wavefit.profiles.model import Problem, ProfileError

CHUNK = 1 << 20
LONGEST_LINE = 4 << 20
"""A merged workload of 2,000 counters has a header of 60 KB."""

Progress = Callable[[str, int, int], None]
"""Called with a file's name, bytes read of it, and its size; the bytes are those on disk."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def opened(path: str) -> BinaryIO:
    """A regular file, open for reading bytes. Raises ProfileError: a pipe would wait for a writer."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ProfileError(Problem(path, "not a regular file", "refused"))
        return cast(BinaryIO, open(path, "rb", buffering=0))
    except (OSError, ValueError) as error:  # ValueError: a name that holds a NUL
        if isinstance(error, ProfileError):
            raise
        raise ProfileError(Problem(path, getattr(error, "strerror", None) or str(error))) from None


def head(path: str, size: int = 1 << 16) -> bytes:
    """The first bytes of a file, unpacked if it is gzip. Raises ProfileError."""
    with opened(path) as file:
        start = file.read(size)
        if not start.startswith(b"\x1f\x8b"):
            return start
        file.seek(0)
        try:
            with gzip.open(file) as unpacked:
                return unpacked.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise ProfileError(Problem(path, f"damaged gzip: {error}")) from None


def chunks(path: str, progress: Progress | None = None) -> Iterator[bytes]:
    """The content of a file in pieces of at most CHUNK bytes, unpacked if it is gzip."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        source = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if packed else file
        while True:
            try:
                piece = source.read(CHUNK)
            except (OSError, EOFError, zlib.error) as error:
                raise ProfileError(Problem(path, f"the rest cannot be read: {error}")) from None
            if progress is not None:
                progress(path, file.tell(), size)
            if not piece:
                return
            yield piece


def text_chunks(path: str, progress: Progress | None = None) -> Iterator[bytes]:
    """The content as UTF-8, whatever its byte order mark says; without a mark it is passed on as it is."""
    decoder: codecs.IncrementalDecoder | None = None
    first = True
    for piece in chunks(path, progress):
        if first:
            first = False
            mark, encoding = next((m for m in _MARKS if piece.startswith(m[0])), (b"", "utf-8"))
            piece = piece[len(mark) :]
            if encoding != "utf-8":
                decoder = codecs.getincrementaldecoder(encoding)("replace")
        yield decoder.decode(piece).encode() if decoder else piece


def line_lists(path: str, progress: Progress | None = None) -> Iterator[list[bytes]]:
    """UTF-8 lines without their ends, a list a chunk; the last one too if the file is cut inside it.

    Raises ProfileError for a line longer than LONGEST_LINE.
    """
    rest = b""
    for piece in text_chunks(path, progress):
        parts = (rest + piece).split(b"\n") if rest else piece.split(b"\n")
        rest = parts.pop()
        if len(rest) > LONGEST_LINE:
            raise ProfileError(Problem(path, f"a line longer than {LONGEST_LINE >> 20} MiB"))
        if parts and parts[0].endswith(b"\r"):
            parts = [part[:-1] if part.endswith(b"\r") else part for part in parts]
        yield parts
    if rest:
        yield [rest]


def decoded(line: bytes) -> str:
    """A line as text; bytes that are not UTF-8 stay visible as escapes."""
    return line.decode("utf-8", "backslashreplace")
