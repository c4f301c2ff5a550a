"""Packed bytes made into bytes again: piece by piece, counted against the bounds of the file."""

from __future__ import annotations

import bz2
import lzma
import sys
import zlib
from collections.abc import Callable
from typing import Protocol

from wavefit.kernels.bounds import Bounds, size_text
from wavefit.kernels.source import BadFile, Source

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CHUNK = 1 << 16
"""Packed bytes that are read at a time."""
PIECE = 1 << 18
"""Unpacked bytes that are made at a time: what fits a processor's cache is made fastest."""
DAMAGE = (zlib.error, lzma.LZMAError, zstd.ZstdError, OSError, EOFError, ValueError)


class Decompressor(Protocol):
    """What lzma, bz2 and zstd have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Inflate:
    """zlib's decompressor in the shape of the others."""

    def __init__(self, wbits: int) -> None:
        self._zlib = zlib.decompressobj(wbits)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)


def _zstd(bounds: Bounds) -> Decompressor:
    largest = min(31, bounds.held.bit_length() - 1)
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: largest})


METHODS: dict[str, Callable[[Bounds], Decompressor]] = {
    "deflate": lambda bounds: _Inflate(-15),
    "zlib": lambda bounds: _Inflate(15),
    "gzip": lambda bounds: _Inflate(31),
    "bzip2": lambda bounds: bz2.BZ2Decompressor(),
    "xz": lambda bounds: lzma.LZMADecompressor(memlimit=bounds.held),
    "zstd": _zstd,
}


class Unpacked:
    """The bytes that a packed Source stands for; call it for the next ones, b"" at the end.

    `declared` and `crc` are the size and checksum that its container promises. `again` says that packed
    streams may follow one another and are one (gzip, xz and zstd files). After the end, `end` is the
    offset in the packed Source of what follows the stream. Raises BadFile for damage and broken bounds.
    """

    def __init__(
        self,
        packed: Source,
        method: str,
        *,
        declared: int | None = None,
        crc: int | None = None,
        again: bool = False,
    ) -> None:
        self.packed, self.method, self.again = packed, method, again
        self.declared, self.crc, self._summed = declared, crc, 0
        self._read = self._made = 0
        self._fed = b""
        self._stream = METHODS[method](packed.reading.bounds)
        if declared is not None:
            self._allow(declared, "declares")

    @property
    def end(self) -> int:
        return self._read - len(self._stream.unused_data)

    def __call__(self, count: int) -> bytes:
        while not self._stream.eof or self._follows():
            if piece := self._piece(min(count, PIECE)):
                self.count(piece)
                return piece
        if self.declared is not None and self._made < self.declared:
            raise self._bad(f"unpacks to {self._made} bytes and declares {self.declared}")
        return b""

    def count(self, piece: bytes) -> None:
        """Counts what was made of the stream, here or for it, against the bounds."""
        self._made += len(piece)
        self.packed.reading.unpacked += len(piece)
        self._allow(self._made, "unpacks to")
        if self.crc is not None:
            self._summed = zlib.crc32(piece, self._summed)
            if self._made == self.declared and self._summed != self.crc:
                raise self._bad("unpacks to something else than was packed: the checksum differs")

    def uncount(self) -> None:
        """Forgets what was counted: it is to be made again."""
        self.packed.reading.unpacked -= self._made
        self._made = self._summed = 0

    def rest(self) -> None:
        """Unpacks what is left, for nothing but its errors and `end`."""
        while self(PIECE):
            pass

    def _piece(self, count: int) -> bytes:
        hungry = self._stream.needs_input
        if hungry and not self._fed:
            self._feed()
        fed, self._fed = self._fed, b""
        try:
            piece = self._stream.decompress(fed, count)
        except DAMAGE as error:
            raise self._bad(f"damaged {self.method} data: {error}") from None
        if hungry and not (piece or fed or self._stream.eof):
            raise self._bad(f"{self.method} data end early")
        return piece

    def _feed(self) -> None:
        self._fed = self.packed.some(self._read, CHUNK)
        self._read += len(self._fed)

    def _follows(self) -> bool:
        """Whether another stream follows the one that has ended; zeros between them are padding."""
        self._fed = self._stream.unused_data.lstrip(b"\0")
        while self.again and not self._fed:
            self._feed()
            if not self._fed:
                return False
            self._fed = self._fed.lstrip(b"\0")
        if self.again:
            self._stream = METHODS[self.method](self.packed.reading.bounds)
        return self.again

    def _allow(self, count: int, how: str) -> None:
        bounds, size = self.packed.reading.bounds, self.packed.size
        if self.declared is not None and count > self.declared:
            raise self._bad(f"unpacks to more than the {self.declared} bytes it declares")
        if count > bounds.unpacked:
            raise self._bad(f"{how} {size_text(count)}; limit {size_text(bounds.unpacked)}")
        if count > max(bounds.unquestioned, bounds.ratio * size):
            raise self._bad(f"{how} {size_text(count)} from {size_text(size)}; limit {bounds.ratio} times")
        if self.packed.reading.unpacked > bounds.altogether:
            raise self._bad(f"the file unpacks to more than {size_text(bounds.altogether)} altogether")

    def _bad(self, cause: str) -> BadFile:
        return self.packed.bad(self._read, cause)
