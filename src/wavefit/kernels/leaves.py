"""Parts of a file that can be read apart from it, by another process: found here, not decoded.

A Leaf is plain data: where its bytes lie in the file, packed or not, or the bytes themselves where the file
has them only inside something packed. Reading every Leaf gives what reading the file gives, in its order.
"""

from __future__ import annotations

from dataclasses import dataclass

from wavefit.kernels.backing import File, Memory, Stream
from wavefit.kernels.source import Sibling, Source
from wavefit.kernels.unpack import Unpacked

LARGEST_SENT = 64 << 20
"""Bytes of a Leaf that has to be sent itself; a larger one is read where it was found."""


@dataclass(frozen=True, slots=True)
class Packing:
    """How the bytes of a Leaf are packed: what Unpacked is told, and what comes out."""

    method: str
    size: int
    declared: int | None
    crc: int | None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A code object, a packed bundle, or a small packed member: `size` bytes at `at` in the file, or `data`.

    `member`, `origin`, `hint` and `depth` are those of its Source; `beside` is its side file, if it has one.
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

    @property
    def cost(self) -> int:
        """About how long it takes to read, in bytes that have to be looked at."""
        if self.data is not None:
            return 4 * self.size
        return self.size if self.packing else self.size // 8


def packed_member(source: Source, depth: int) -> Leaf | None:
    """The Leaf of a member that is packed by itself in the file and small: found without unpacking it."""
    stream = source.backing
    if not isinstance(stream, Stream) or source.size > source.reading.bounds.small:
        return None
    unpacked = stream.source
    if not isinstance(unpacked, Unpacked) or unpacked.again or not isinstance(unpacked.packed.backing, File):
        return None
    packed = unpacked.packed
    if packed.place != source.member or source.origin:
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
