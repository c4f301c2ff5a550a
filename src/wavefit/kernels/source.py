"""Bounded bytes: every reader reads through a Source, which cannot run past its end."""

from __future__ import annotations

from collections.abc import Callable

from wavefit.kernels.backing import WINDOW, Backing, Gone, Memory, Pieces, Stream
from wavefit.kernels.bounds import OPEN, Reading, size_text
from wavefit.names import printable

OVERLAP = "lies before what was already unpacked: parts overlap"

Sibling = Callable[[str], bytes | None]


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
        where = f"{self.file}[{place}]" if place else self.file
        return printable(f"{where}: {self.cause}", longest=None)


class NoKernels(BadFile):
    """A sound file that holds no kernel: an error where it was named, passed over inside a folder."""


class Source:
    """`size` bytes of a file, or of a member of one, with bounded little-endian reads.

    Every read takes an offset from the start of the Source and raises BadFile where it would pass the
    end or the file has shrunk. `file` and `member` name it, `origin` is where it starts in its member.
    `forward` says that it can be read in ascending order only (bytes that are unpacked as they come).
    `sibling` gives the content of the file that stands beside this one under another suffix
    (`sibling(".json")`), None where there is none; it is None itself where nothing can stand beside.
    `hint` is the target that its container names. `reading` holds the bounds of the whole file. The bytes lie
    in `backing` from `start` on.
    """

    __slots__ = (
        "backing", "file", "hint", "member", "origin", "reading", "sibling", "size", "start",
    )  # fmt: skip

    def __init__(
        self,
        backing: Backing,
        size: int,
        file: str,
        member: str | None = None,
        *,
        start: int = 0,
        origin: int = 0,
        sibling: Sibling | None = None,
        hint: str | None = None,
        reading: Reading | None = None,
    ) -> None:
        self.backing, self.start, self.size = backing, start, size
        self.file, self.member, self.origin = file, member, origin
        self.sibling, self.hint = sibling, hint
        self.reading = reading or Reading()

    @property
    def forward(self) -> bool:
        return self.backing.forward

    @property
    def place(self) -> str | None:
        """Where it is in the file: its member, and its offset there if it is a part of one."""
        return f"{self.member or ''}+{self.origin:#x}" if self.origin else self.member

    def read(self, at: int, count: int) -> bytes:
        """Exactly `count` bytes."""
        if at < 0 or count < 0 or at + count > self.size:
            raise self._past_end(at, count)
        data = self.some(at, count)
        if len(data) != count:
            raise self.bad(at + len(data), f"ends here, {count - len(data)} bytes are missing")
        return data

    def some(self, at: int, count: int) -> bytes:
        """Up to `count` bytes: fewer at the end, which for a stream may come before its `size`."""
        count = max(0, min(count, self.size - at))
        try:
            data = self.backing.read(self.start + at, count)
        except OSError as error:
            raise self.bad(at, f"cannot be read: {error.strerror}") from None
        except Gone:
            raise self.bad(at, OVERLAP) from None
        if len(data) < count and not self.backing.forward:
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
        return self.some(0, count)

    def starts(self, magic: bytes, at: int = 0) -> bool:
        """Whether these bytes stand here; False past the end."""
        return self.some(at, len(magic)) == magic

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
        if member is None:
            return self.at_place(self.backing, self.start + at, count, self.member, self.origin + at)
        return self.at_place(self.backing, self.start + at, count, self._path(member), 0)

    def inner(self, data: bytes, member: str | None = None) -> Source:
        """A member whose bytes had to be made first (unpacked); unnamed, it goes by this one's place."""
        return self.at_place(Memory(data), 0, len(data), self._path(member), 0)

    def stream(self, pull: Callable[[int], bytes], size: int, member: str | None = None) -> Source:
        """The same for bytes that are made while they are read, forward only; `pull` as for Stream."""
        return self.at_place(Stream(pull), 0, size, self._path(member), 0)

    def held(self) -> Source:
        """The same with all bytes of a stream in memory, so that they can be read in any order."""
        limit, stream = self.reading.bounds.held, self.backing
        if not isinstance(stream, Stream):
            return self
        too_large = "{} would have to be held in memory; limit " + size_text(limit)
        if limit < self.size < OPEN:
            raise self.bad(None, too_large.format(size_text(self.size)))
        try:
            pieces = stream.take(self.start, min(self.size, limit + 1))
        except Gone:
            raise self.bad(0, OVERLAP) from None
        size = sum(map(len, pieces))
        if size > limit:
            raise self.bad(None, too_large.format("more"))
        if self.size not in (size, OPEN):
            raise self.bad(size, f"ends here, {self.size - size} bytes are missing")
        held = self.at_place(Pieces(pieces), 0, size, self.place, 0)
        held.sibling, held.hint = self.sibling, self.hint
        return held

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

    def _path(self, member: str | None) -> str | None:
        return "/".join(filter(None, (self.place, member))) or None

    def at_place(self, backing: Backing, start: int, size: int, member: str | None, origin: int) -> Source:
        """A part of the file under this name, wherever its bytes are."""
        return Source(backing, size, self.file, member, start=start, origin=origin, reading=self.reading)
