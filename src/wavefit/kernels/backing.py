"""Where the bytes of a Source lie: in memory, in a file, or in a stream that passes once."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import BinaryIO, Protocol

WINDOW = 1 << 20
"""Most bytes of a file or stream that are held for short reads."""
JUMP = 1 << 16
"""Bytes that are read where a file is entered at a new place, and that a stream keeps behind itself."""


class Backing(Protocol):
    """`read` gives fewer bytes than asked for only past the end; `forward` ones cannot go back."""

    forward: bool

    def read(self, at: int, count: int) -> bytes: ...


class Memory:
    """Bytes that are already here."""

    forward = False

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, at: int, count: int) -> bytes:
        return self._data[at : at + count]


class Pieces:
    """Bytes that are here in pieces: what is unpacked is large, and little of it is looked at."""

    forward = False

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces
        self._ends = list(accumulate(map(len, pieces)))

    def read(self, at: int, count: int) -> bytes:
        first = bisect_right(self._ends, at)
        last = bisect_left(self._ends, at + count, first)
        if first >= len(self._pieces):
            return b""
        skip = at - (self._ends[first - 1] if first else 0)
        if first == last:
            return self._pieces[first][skip : skip + count]
        begun = b"".join((self._pieces[first][skip:], *self._pieces[first + 1 : last + 1]))
        return begun[:count]


class File:
    """A file read by windows, not mapped: a mapped file that shrinks kills the process that reads it.

    A window is short where the file is entered anew and grows while reading goes on from there.
    """

    forward = False

    def __init__(self, handle: BinaryIO) -> None:
        self.size = handle.seek(0, 2)
        self._handle, self._at, self._window = handle, 0, b""

    def read(self, at: int, count: int) -> bytes:
        if count > WINDOW:
            return self._fresh(at, min(count, self.size))
        skip = at - self._at
        if skip < 0 or skip + count > len(self._window):
            onward = 0 <= skip <= len(self._window)
            length = min(WINDOW, max(JUMP, 2 * len(self._window))) if onward else JUMP
            self._at, self._window, skip = at, self._fresh(at, max(length, count)), 0
        return self._window[skip : skip + count]

    def _fresh(self, at: int, count: int) -> bytes:
        """Reads until `count` bytes are there or the file ends: a raw read may give fewer."""
        self._handle.seek(at)
        pieces = []
        while count > 0 and (piece := self._handle.read(count)):
            pieces.append(piece)
            count -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class Gone(Exception):
    """A stream was asked for bytes that it has passed."""


class Stream:
    """Bytes that come in order and once: JUMP are kept behind the last place that was read.

    `pull(n)` gives the next bytes, at least one and at most `n`, and none at the end; it stays as `source`.
    """

    forward = True

    def __init__(self, pull: Callable[[int], bytes]) -> None:
        self.source, self._pull, self._at, self._kept = pull, pull, 0, b""

    def read(self, at: int, count: int) -> bytes:
        if at < self._at:
            raise Gone
        if at + count > self._at + len(self._kept):
            if count > WINDOW:
                return b"".join(self.take(at, count))
            self._onward(at, count)
        skip = at - self._at
        return self._kept[skip : skip + count]

    def _onward(self, at: int, count: int) -> None:
        """Drops what lies far behind `at` and keeps the `count` bytes from there."""
        end = self._at + len(self._kept)
        behind = max(self._at, at - JUMP)
        while end < behind and (piece := self._pull(min(WINDOW, behind - end))):
            end, self._at, self._kept = end + len(piece), end, piece
        pieces = [self._kept[behind - self._at :]] if behind < end else []
        while end < at + count and (piece := self._pull(WINDOW)):
            pieces.append(piece)
            end += len(piece)
        self._kept = b"".join(pieces)
        self._at = end - len(self._kept)

    def take(self, at: int, count: int) -> list[bytes]:
        """What `read` gives, in the pieces in which it comes; before the last piece nothing is kept."""
        if at < self._at:
            raise Gone
        self._onward(at, 0)
        pieces = [self._kept[at - self._at :][:count]]
        left, end = count - len(pieces[0]), self._at + len(self._kept)
        while left > 0 and (piece := self._pull(min(WINDOW, left))):
            pieces.append(piece)
            left -= len(piece)
            self._kept, self._at, end = piece, end, end + len(piece)
        return pieces
