"""Parts of a file that can be read apart from it, by another process: found here, not decoded.

A Leaf is plain data: where its bytes lie in the file, packed or not, or the bytes themselves where the file
has them only inside something packed. Reading every Leaf gives what reading the file gives, in its order.
"""

from __future__ import annotations

from typing import NamedTuple

from wavefit.kernels.backing import File, Memory, Stream
from wavefit.kernels.source import Sibling, Source
from wavefit.kernels.unpack import Unpacked

LARGEST_SENT = 64 << 20
"""Bytes of a Leaf that has to be sent itself; a larger one is read where it was found."""
_MUCH = 4
"""A member that is more than one in so many bytes of a file is much of it."""


class Packing(NamedTuple):
    """How the bytes of a Leaf are packed: what Unpacked is told, and what comes out."""

    method: str
    size: int
    declared: int | None
    crc: int | None


class Leaf(NamedTuple):
    """A code object, a packed bundle, or a small packed member: `size` bytes at `at` in the file, or `data`.

    `member`, `origin`, `hint` and `depth` are those of its Source; `beside` is its side file, if it has one;
    `packed` says that what it holds has to be unpacked. Thousands are sent: a tuple goes the quickest.
    """

    member: str | None
    origin: int
    size: int
    depth: int
    hint: str | None
    at: int | None
    data: bytes | None = None
    packing: Packing | None = None
    beside: bytes | None = None
    packed: bool = False

    @property
    def cost(self) -> int:
        """About how long it takes to read, in bytes that have to be looked at."""
        if self.packed:
            return 8 * self.size
        return self.size if self.packing else self.size // 8


def packed_member(source: Source, depth: int) -> Leaf | None:
    """The Leaf of a member that is packed by itself in the file: found without unpacking it.

    Not one that is large and much of the file: its own parts are looked for, so that several may read them.
    """
    stream = source.backing
    if not isinstance(stream, Stream):
        return None
    unpacked = stream.source
    if not isinstance(unpacked, Unpacked) or unpacked.again:
        return None
    packed, whole = unpacked.packed, unpacked.packed.backing
    if not isinstance(whole, File) or packed.place != source.member or source.origin:
        return None
    if source.size > source.reading.bounds.small and packed.size * _MUCH > whole.size:
        return None
    return Leaf(
        packed.member,
        packed.origin,
        packed.size,
        depth,
        source.hint,
        packed.start,
        packing=Packing(unpacked.method, source.size, unpacked.declared, unpacked.crc),
        beside=_beside(source, depth),
    )


def leaf_of(source: Source, depth: int, packed: bool) -> Leaf | None:
    """The Leaf of a Source that is no container; None for what is quicker read than sent."""
    at = source.start if isinstance(source.backing, File) else None
    sent = at is None and packed and not source.forward and source.size <= LARGEST_SENT
    if at is None and not sent:
        return None
    return Leaf(
        source.member,
        source.origin,
        source.size,
        depth,
        source.hint,
        at,
        data=source.read(0, source.size) if sent else None,
        beside=_beside(source, depth),
        packed=packed,
    )


def _beside(source: Source, depth: int) -> bytes | None:
    """The side file of a member; that of a whole file is read where the Leaf is."""
    return source.sibling(".json") if depth and source.sibling else None


def source_of(leaf: Leaf, whole: Source) -> Source:
    """The Source that a Leaf of this file was made from."""
    if leaf.data is not None:
        source = whole.at_place(Memory(leaf.data), 0, leaf.size, leaf.member, leaf.origin)
    else:
        source = whole.at_place(whole.backing, leaf.at or 0, leaf.size, leaf.member, leaf.origin)
    if packing := leaf.packing:
        unpacked = Unpacked(source, packing.method, declared=packing.declared, crc=packing.crc)
        source = source.stream(unpacked, packing.size)
    source.hint = leaf.hint
    source.sibling = _told(leaf.beside) if leaf.depth else whole.sibling
    return source


def _told(content: bytes | None) -> Sibling | None:
    return None if content is None else lambda suffix: content if suffix == ".json" else None
