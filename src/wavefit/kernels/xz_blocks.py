"""Files of xz in several blocks, as `xz -T` and dpkg make them: unpacked by threads, ahead of need.

Format: The .xz File Format 1.2.1 (sections 2 to 4): a header, blocks, an index of their sizes, a footer.
A block with the header before it and an index of its own behind it is a whole file again, so that liblzma
checks each as it does the whole.
"""

from __future__ import annotations

import lzma
import struct
import zlib
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from wavefit.kernels.source import Source
from wavefit.kernels.unpack import DAMAGE, PIECE, Unpacked

EDGE = 12
"""Bytes of a stream's header, and of its footer."""
MAGIC, END = b"\xfd7zXZ\0", b"YZ"
LARGEST_INDEX = 1 << 20
LARGEST_BLOCK, MOST_THREADS = 64 << 20, 4
"""Bytes that a block may unpack to, or be, and the most threads: so much is in memory at once."""


@dataclass(frozen=True, slots=True)
class Block:
    """Where a block lies, and its sizes as the index has them: packed without padding, and unpacked."""

    at: int
    packed: int
    unpacked: int

    @property
    def padded(self) -> int:
        return self.packed + -self.packed % 4


def blocks(source: Source) -> list[Block]:
    """The blocks of a file that is one sound stream of several; none where it is anything else."""
    if source.forward or source.size < 3 * EDGE:
        return []
    head, foot = source.read(0, EDGE), source.read(source.size - EDGE, EDGE)
    checked, backward, flags, end = struct.unpack("<I4s2s2s", foot)
    size = 4 * (int.from_bytes(backward, "little") + 1)
    sound = head[:6] == MAGIC and end == END and flags == head[6:8] and checked == zlib.crc32(foot[4:10])
    start = source.size - EDGE - size
    if not sound or start < EDGE or size > LARGEST_INDEX:
        return []
    index = source.read(start, size)
    if zlib.crc32(index[:-4]) != int.from_bytes(index[-4:], "little"):
        return []
    found, at = [], EDGE
    for packed, unpacked in _records(index):
        found.append(Block(at, packed, unpacked))
        at += found[-1].padded
        if max(packed, unpacked) > LARGEST_BLOCK:
            return []
    return found if len(found) > 1 and at == start else []


def _records(index: bytes) -> Iterator[tuple[int, int]]:
    """Packed and unpacked sizes, as many as the index says or has."""
    at, numbers = 1, list[int]()
    while at < len(index) - 4 and len(numbers) < 1 + 2 * (numbers[0] if numbers else 1):
        end = next((e for e in range(at, min(at + 9, len(index) - 4)) if index[e] < 0x80), None)
        if end is None:
            return
        numbers.append(sum((index[e] & 0x7F) << 7 * (e - at) for e in range(at, end + 1)))
        at = end + 1
    yield from zip(numbers[1::2], numbers[2::2], strict=False)


class Ahead:
    """What `unpack` gives of a file of these blocks, made by `threads`; call it for the next bytes.

    Where a block is damaged `unpack` itself takes over: its error is the same, at most a PIECE later.
    """

    def __init__(self, unpack: Unpacked, of: list[Block], threads: int) -> None:
        self._unpack, self._waiting, self._threads = unpack, deque(of), min(threads, MOST_THREADS)
        self._pool = ThreadPoolExecutor(self._threads)
        self._made: deque[Future[bytes]] = deque()
        self._block, self._at, self._given = b"", 0, 0
        self._alone = False

    def __call__(self, count: int) -> bytes:
        if not self._alone:
            try:
                return self._next(count)
            except DAMAGE:
                self._fall_back()
        return self._unpack(count)

    def _next(self, count: int) -> bytes:
        while self._at == len(self._block):
            while self._waiting and len(self._made) <= self._threads:
                block = self._waiting.popleft()
                packed = self._unpack.packed
                head, data = packed.read(0, EDGE), packed.read(block.at, block.padded)
                limit = packed.reading.bounds.held
                self._made.append(self._pool.submit(_unpacked, head, data, block, limit))
            if not self._made:
                self._pool.shutdown(wait=False)
                return b""
            self._block, self._at = b"", 0
            self._block = self._made.popleft().result()
        piece = self._block[self._at : self._at + min(count, PIECE)]
        self._at += len(piece)
        self._given += len(piece)
        self._unpack.count(piece)
        return piece

    def _fall_back(self) -> None:
        self._alone = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._block, self._made = b"", deque()
        self._unpack.uncount()
        left = self._given
        while left > 0 and (piece := self._unpack(left)):
            left -= len(piece)


def _unpacked(head: bytes, data: bytes, block: Block, limit: int) -> bytes:
    """One block as a file of its own."""
    record = b"\0\1" + _number(block.packed) + _number(block.unpacked)
    index = record + bytes(-len(record) % 4)
    index += zlib.crc32(index).to_bytes(4, "little")
    foot = (len(index) // 4 - 1).to_bytes(4, "little") + head[6:8]
    foot = zlib.crc32(foot).to_bytes(4, "little") + foot + END
    stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=limit)
    made = stream.decompress(head + data + index + foot, block.unpacked + 1)
    if len(made) != block.unpacked or not stream.eof:
        raise lzma.LZMAError("a block of another size than its index says")
    return made


def _number(value: int) -> bytes:
    """A number in seven bits a byte, the lowest first."""
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
