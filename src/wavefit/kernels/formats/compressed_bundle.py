"""Compressed clang offload bundles (`CCOB`), versions 1 to 3: a header and a packed plain bundle.

Layout: clang's offload bundler documentation. The hash of the header is not checked, since clang has
changed what it hashes with; a damaged stream is found while it is unpacked.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from wavefit.kernels.blobs import blobs
from wavefit.kernels.registry import reader
from wavefit.kernels.source import BadFile, Source
from wavefit.kernels.unpack import Unpacked

MAGIC = b"CCOB"
METHODS = ("zlib", "zstd")
STREAMS = {"zlib": b"\x78", "zstd": b"\x28\xb5\x2f\xfd"}
"""How a packed stream of each method begins."""
_HEADERS = {1: struct.Struct("<8xIQ"), 2: struct.Struct("<8xIIQ"), 3: struct.Struct("<8xQQQ")}


@dataclass(frozen=True, slots=True)
class Header:
    """`total` includes the header; None in version 1, where the stream itself says where it ends."""

    version: int
    method: str
    size: int
    total: int | None
    unpacked: int


def _header(source: Source, at: int = 0) -> Header:
    version, method = source.u16(at + 4), source.u16(at + 6)
    layout = _HEADERS.get(version)
    if layout is None:
        raise source.bad(at + 4, f"compressed bundle version {version}; known are 1 to {max(_HEADERS)}")
    if method >= len(METHODS):
        raise source.bad(at + 6, f"compressed bundle packed by method {method}; known are 0 (zlib), 1 (zstd)")
    *total, unpacked, _ = layout.unpack(source.read(at, layout.size))
    return Header(version, METHODS[method], layout.size, total[0] if total else None, unpacked)


def _extent(source: Source, at: int) -> int | None:
    """All that is left for version 1, whose reader goes on to what follows."""
    try:
        header = _header(source, at)
    except BadFile:
        return None
    if not source.starts(STREAMS[header.method], at + header.size):
        return None
    return source.size - at if header.total is None else max(header.total, header.size)


@reader("compressed offload bundle", magic=MAGIC, forward=True, extent=_extent, packed=True)
def compressed(source: Source) -> Iterator[Source | BadFile]:
    """The bundle inside, unpacked while it is read, and then whatever blobs follow."""
    header = _header(source)
    end = source.size if header.total is None else header.total
    if not header.size <= end <= source.size:
        yield source.bad(8, f"a compressed bundle of {end} bytes, {source.size} are here")
        end = source.size
    packed = source.sub(header.size, end - header.size)
    try:
        unpack = Unpacked(packed, header.method, declared=header.unpacked)
        yield source.stream(unpack, header.unpacked)
        unpack.rest()
        end = header.size + unpack.end if header.total is None else end
    except BadFile as bad:
        yield bad
        end = header.size if header.total is None else end
    yield from blobs(source, end)
