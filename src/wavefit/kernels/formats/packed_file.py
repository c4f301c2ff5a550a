"""Files packed as one stream: gzip, bzip2, xz, zstd; what is inside is read as if it lay there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from wavefit.kernels.bounds import OPEN
from wavefit.kernels.registry import reader
from wavefit.kernels.source import Source
from wavefit.kernels.unpack import Unpacked
from wavefit.kernels.xz_blocks import Ahead, blocks


def _content(source: Source, method: str) -> Iterator[Source]:
    """What was packed: held if it is small, else read while it is unpacked; nothing says how much it is."""
    whole = Unpacked(source, method, again=True)
    threads = source.reading.threads
    found = blocks(source) if method == "xz" and threads > 1 else []
    unpack: Callable[[int], bytes] = Ahead(whole, found, threads) if found else whole
    begun: deque[bytes] = deque()
    left = source.reading.bounds.small
    while left >= 0 and (piece := unpack(left + 1)):
        begun.append(piece)
        left -= len(piece)
    if left >= 0:
        yield source.inner(b"".join(begun))
    else:
        yield source.stream(lambda count: _next(begun, count) or unpack(count), OPEN)


def _next(begun: deque[bytes], count: int) -> bytes:
    piece = begun.popleft() if begun else b""
    if len(piece) > count:
        begun.appendleft(piece[count:])
    return piece[:count]


@reader("gzip data", magic=b"\x1f\x8b\x08", forward=True, container=True)
def gzip(source: Source) -> Iterator[Source]:
    """What was packed with gzip."""
    return _content(source, "gzip")


@reader("bzip2 data", magic=b"BZh", forward=True, container=True)
def bzip2(source: Source) -> Iterator[Source]:
    """The same for bzip2."""
    return _content(source, "bzip2")


@reader("xz data", magic=b"\xfd7zXZ\x00", forward=True, container=True)
def xz(source: Source) -> Iterator[Source]:
    """The same for xz."""
    return _content(source, "xz")


@reader("zstd data", magic=b"\x28\xb5\x2f\xfd", forward=True, container=True)
def zstd(source: Source) -> Iterator[Source]:
    """The same for zstd."""
    return _content(source, "zstd")
