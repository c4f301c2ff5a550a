"""Files of clang's offload packager, also laid one after the other into `.llvm.offloading` sections.

Layout: LLVM's offloading documents and `llvm/Object/OffloadBinary.h`: a header, an entry that names
strings and one image.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from wavefit.kernels.blobs import blobs
from wavefit.kernels.registry import reader
from wavefit.kernels.source import BadFile, Source

MAGIC = b"\x10\xff\x10\xad"
HEADER = 32
KNOWN = 1
LONGEST = 4096
_ENTRY = struct.Struct("<HHIQQQQ")
_STRING = struct.Struct("<QQ")


def _extent(source: Source, at: int) -> int | None:
    """The file's size, where the header is one: all of it and its entry lie inside."""
    try:
        version, size, entry = source.u32(at + 4), source.u64(at + 8), source.u64(at + 16)
    except BadFile:
        return None
    inside = HEADER <= entry <= size - _ENTRY.size and size <= source.size - at
    return size if 0 < version < 256 and inside else None


@reader("offload packager file", magic=MAGIC, forward=True, extent=_extent)
def packager(source: Source) -> Iterator[Source | BadFile]:
    """The image, and then whatever blobs follow. Of another version the images are searched for."""
    version, size, at = source.u32(4), source.u64(8), source.u64(16)
    if not HEADER <= size <= source.size:
        raise source.bad(8, f"an offload packager file of {size} bytes, {source.size} are here")
    if version == KNOWN:
        try:
            yield _image(source.sub(0, size), at)
        except BadFile as bad:
            yield bad
    yield from blobs(source, size if version == KNOWN else HEADER)


def _image(source: Source, at: int) -> Source:
    _, _, _, strings, count, image, size = _ENTRY.unpack(source.read(at, _ENTRY.size))
    said = dict(_strings(source, strings, count))
    arch, triple = said.get("arch", ""), said.get("triple", "")
    member = source.sub(image, size, "-".join(filter(None, (said.get("producer"), triple, arch))) or "image")
    if triple and arch:
        member.hint = f"{triple}--{arch}"
    return member


def _strings(source: Source, at: int, count: int) -> Iterator[tuple[str, str]]:
    """The pairs of names and values that describe the image."""
    if count > 64:
        raise source.bad(at, f"{count} strings describe one image")
    for number in range(count):
        key, value = _STRING.unpack(source.read(at + number * _STRING.size, _STRING.size))
        yield _text(source, key), _text(source, value)


def _text(source: Source, at: int) -> str:
    found = source.some(at, LONGEST) if 0 <= at < source.size else b""
    if b"\0" not in found:
        raise source.bad(at, "a string that does not end")
    return found[: found.index(b"\0")].decode("utf-8", "backslashreplace")
