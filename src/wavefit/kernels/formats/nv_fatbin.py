"""NVIDIA fat binaries: cubins and PTX for several targets, in `.nv_fatbin` of host files or alone.

NVIDIA does not publish the format. Read off what nvcc 11.8 to 13.0 write, and compared with what cuobjdump
lists. A packed entry is a plain LZ4 block or a zstd frame; the flags tell which.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from wavefit.kernels.nvidia import lz4
from wavefit.kernels.registry import reader
from wavefit.kernels.source import BadFile, Source
from wavefit.kernels.unpack import Unpacked

MAGIC = b"\x50\xed\x55\xba\x01\x00\x10\x00"
"""With version 1 and a header of 16 bytes: the only ones there are."""
PTX, CUBIN = 1, 2
KINDS = {PTX: "ptx", CUBIN: "cubin"}
OTHER = {8: "LTO IR"}
"""Entries that hold no code for a machine yet."""
LZ4, ZSTD = 0x2000, 0x8000
_HEADER = struct.Struct("<8xQ")
_ENTRY = struct.Struct("<HHIQI8xI8xQ8xQ")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: where its content stands, `packed` bytes of it to be unpacked (0 = stored as it is)."""

    kind: int
    at: int
    size: int
    packed: int
    arch: int
    flags: int
    unpacked: int


def _extent(source: Source, at: int) -> int | None:
    """The size of a fat binary, None where its magic stands by chance."""
    head = source.some(at, _HEADER.size + _ENTRY.size)
    if len(head) < _HEADER.size + _ENTRY.size:
        return None
    (size,) = _HEADER.unpack_from(head)
    kind, _, header, *_ = _ENTRY.unpack_from(head, _HEADER.size)
    plausible = header >= _ENTRY.size and kind < 256 and size >= header
    return _HEADER.size + size if plausible else None


@reader("NVIDIA fat binary", magic=MAGIC, forward=True, extent=_extent)
def fat_binary(source: Source) -> Iterator[Source | BadFile]:
    """The cubins and PTX in file order."""
    (size,) = _HEADER.unpack(source.read(0, _HEADER.size))
    at, end = _HEADER.size, _HEADER.size + size
    if end > source.size:
        yield source.bad(8, f"a fat binary of {end} bytes, {source.size} are here")
        end = source.size
    number, others = 0, set()
    while at < end:
        number += 1
        if number > source.reading.bounds.members:
            raise source.bad(at, f"more than {source.reading.bounds.members} entries")
        entry = _entry(source, at, end)
        at = entry.at + entry.size
        if entry.kind not in KINDS:
            others.add(f"{OTHER.get(entry.kind, f'content of kind {entry.kind}')} for sm_{entry.arch}")
            continue
        try:
            yield _content(source, entry, f"{number}.sm_{entry.arch}.{KINDS[entry.kind]}")
        except BadFile as bad:
            yield bad
    if others:
        raise source.nothing(f"fat binary with {', '.join(sorted(others))}: not compiled")


def _entry(source: Source, at: int, end: int) -> Entry:
    kind, _, header, size, packed, arch, flags, unpacked = _ENTRY.unpack(source.read(at, _ENTRY.size))
    if header < _ENTRY.size or at + header + size > end:
        raise source.bad(at, f"an entry of {header} + {size} bytes, {end - at} are left")
    if packed > size:
        raise source.bad(at + 16, f"{packed} packed bytes in an entry of {size}")
    return Entry(kind, at + header, size, packed, arch, flags, unpacked)


def _content(source: Source, entry: Entry, member: str) -> Source:
    if not entry.unpacked:
        plain = source.sub(entry.at, entry.size, member)
        return plain if entry.kind == CUBIN else _text(plain, plain)
    packed = source.sub(entry.at, entry.packed or entry.size, member)
    if entry.flags & LZ4:
        made = packed.inner(lz4.unpack(packed, entry.unpacked))
    elif entry.flags & ZSTD:
        made = packed.stream(Unpacked(packed, "zstd", declared=entry.unpacked), entry.unpacked)
    else:
        raise packed.bad(0, f"packed in a way that is not public (flags {entry.flags:#x})")
    return made if entry.kind == CUBIN else _text(packed, made.held())


def _text(member: Source, content: Source) -> Source:
    """PTX without the zeros that end it."""
    return member.inner(content.read(0, content.size).rstrip(b"\0"))
