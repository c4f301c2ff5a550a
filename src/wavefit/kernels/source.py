"""Bounded bytes: every reader reads through a Source, which cannot run past its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO, Protocol

WINDOW = 1 << 20
"""Bytes of a file that are held at once; longer reads go straight to the file."""


class BadFile(Exception):
    """A file, or a member of one, that could not be read: yielded beside kernels and raised by readers.

    `member` is the path inside the file (None for the file itself), `offset` counts from the start of
    the member and is None where no place can be named, `cause` is one sentence. The text escapes
    control and direction characters, since names come from foreign files.
    """

    def __init__(self, file: str, member: str | None, offset: int | None, cause: str) -> None:
        super().__init__(file, member, offset, cause)
        self.file, self.member, self.offset, self.cause = file, member, offset, cause

    def __str__(self) -> str:
        place = (self.member or "") + ("" if self.offset is None else f"+{self.offset:#x}")
        return printable(f"{self.file}[{place}]: {self.cause}" if place else f"{self.file}: {self.cause}")


class NoKernels(BadFile):
    """A sound file that holds no kernel: an error where it was named, passed over inside a folder."""


def printable(text: str) -> str:
    """The text with everything escaped that could move a cursor, hide, or not be encoded."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class Backing(Protocol):
    """Where a Source's bytes lie. `read` gives fewer bytes than asked for only past the end."""

    def read(self, at: int, count: int) -> bytes: ...


class Memory:
    """Bytes that are already here."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, at: int, count: int) -> bytes:
        return self._data[at : at + count]


class File:
    """A file read by windows, not mapped: a mapped file that shrinks kills the process that reads it."""

    def __init__(self, handle: BinaryIO) -> None:
        self.size = handle.seek(0, 2)
        self._handle, self._at, self._window = handle, 0, b""

    def read(self, at: int, count: int) -> bytes:
        if count > WINDOW:
            return self._fresh(at, min(count, self.size))
        skip = at - self._at
        if skip < 0 or skip + count > len(self._window):
            self._at, self._window, skip = at, self._fresh(at, min(WINDOW, self.size)), 0
        return self._window[skip : skip + count]

    def _fresh(self, at: int, count: int) -> bytes:
        """Reads until `count` bytes are there or the file ends: a raw read may give fewer."""
        self._handle.seek(at)
        pieces = []
        while count > 0 and (piece := self._handle.read(count)):
            pieces.append(piece)
            count -= len(piece)
        return b"".join(pieces)


class Source:
    """`size` bytes of a file, or of a member of one, with bounded little-endian reads.

    Every read takes an offset from the start of the Source and raises BadFile where it would pass the
    end or the file has shrunk. `file` and `member` name it, `origin` is where it starts in its member.
    `sibling` gives the content of the file that stands beside this one under another suffix
    (`sibling(".json")`), None where there is none; it is None itself where nothing can stand beside.
    """

    __slots__ = ("_backing", "_start", "file", "member", "origin", "sibling", "size")

    def __init__(
        self,
        backing: Backing,
        size: int,
        file: str,
        member: str | None = None,
        *,
        start: int = 0,
        origin: int = 0,
        sibling: Callable[[str], bytes | None] | None = None,
    ) -> None:
        self._backing, self._start, self.size = backing, start, size
        self.file, self.member, self.origin, self.sibling = file, member, origin, sibling

    def read(self, at: int, count: int) -> bytes:
        """Exactly `count` bytes."""
        if at < 0 or count < 0 or at + count > self.size:
            raise self._past_end(at, count)
        try:
            data = self._backing.read(self._start + at, count)
        except OSError as error:
            raise self.bad(at, f"cannot be read: {error.strerror}") from None
        if len(data) != count:
            raise self.bad(at, "the file became shorter while it was read")
        return data

    def u8(self, at: int) -> int:
        return self.read(at, 1)[0]

    def u16(self, at: int) -> int:
        return int.from_bytes(self.read(at, 2), "little")

    def u32(self, at: int) -> int:
        return int.from_bytes(self.read(at, 4), "little")

    def u64(self, at: int) -> int:
        return int.from_bytes(self.read(at, 8), "little")

    def i64(self, at: int) -> int:
        return int.from_bytes(self.read(at, 8), "little", signed=True)

    def head(self, count: int) -> bytes:
        """The first `count` bytes, or all where there are fewer."""
        return self.read(0, min(count, self.size))

    def starts(self, magic: bytes, at: int = 0) -> bool:
        """Whether these bytes stand here; False past the end."""
        return at + len(magic) <= self.size and self.read(at, len(magic)) == magic

    def find(self, pattern: bytes, at: int = 0) -> int:
        """Where the pattern next stands at or after `at`, or -1; holds one window of the file at a time."""
        while at + len(pattern) <= self.size:
            window = self.read(at, min(WINDOW, self.size - at))
            found = window.find(pattern)
            if found >= 0:
                return at + found
            at += max(1, len(window) - len(pattern) + 1)
        return -1

    def sub(self, at: int, count: int, member: str | None = None) -> Source:
        """A part of this one, without reading it: a member of its own if named, else a plain window."""
        if at < 0 or count < 0 or at + count > self.size:
            raise self._past_end(at, count)
        start = self._start + at
        if member is None:
            return Source(self._backing, count, self.file, self.member, start=start, origin=self.origin + at)
        return Source(self._backing, count, self.file, self._path(member), start=start)

    def inner(self, data: bytes, member: str) -> Source:
        """A member whose bytes had to be made first (unpacked)."""
        return Source(Memory(data), len(data), self.file, self._path(member))

    def bad(self, at: int | None, cause: str) -> BadFile:
        """The error that something is wrong at this offset."""
        return BadFile(self.file, self.member, None if at is None else self.origin + at, cause)

    def nothing(self, cause: str) -> NoKernels:
        """The answer that there is no kernel in this one, and what it is instead."""
        return NoKernels(self.file, self.member, None, cause)

    def _past_end(self, at: int, count: int) -> BadFile:
        if 0 <= at <= self.size:
            return self.bad(at, f"{count} bytes needed here, {self.size - at} left")
        return self.bad(at, f"past the end at {self.origin + self.size:#x}")

    def _path(self, member: str) -> str:
        return member if self.member is None else f"{self.member}/{member}"
