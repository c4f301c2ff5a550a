"""zip archives and wheels, read without unpacking them to disk; the directory is decoded by `zipfile`.

Stored members are read where they lie, packed ones while they are unpacked.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
from collections.abc import Iterator

from wavefit.kernels.registry import reader
from wavefit.kernels.source import BadFile, Sibling, Source
from wavefit.kernels.triton import SIDE_FILE_LIMIT, is_copy
from wavefit.kernels.unpack import Unpacked

METHODS = {zipfile.ZIP_DEFLATED: "deflate", zipfile.ZIP_BZIP2: "bzip2", 93: "zstd"}
LOCAL = b"PK\x03\x04"
LOCAL_HEADER = 30
ENCRYPTED = 1
TROUBLE = (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error)
"""What `zipfile` raises for a directory that it cannot read."""


class _AsFile(io.RawIOBase):
    """A Source as a file object."""

    def __init__(self, source: Source) -> None:
        self._source, self._at = source, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._source.size}[whence]
        if base + offset < 0:
            raise ValueError("a place before the beginning")
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, count: int | None = -1) -> bytes:
        data = self._source.some(self._at, self._source.size if count is None or count < 0 else count)
        self._at += len(data)
        return data


@reader("zip archive or wheel", magic=LOCAL, container=True)
def archive(source: Source) -> Iterator[Source | BadFile]:
    """The members in the order in which they lie in the archive."""
    try:
        opened = zipfile.ZipFile(_AsFile(source))
    except TROUBLE as error:
        raise source.bad(None, f"zip archive: {error}") from None
    end = 0
    for info in sorted(opened.infolist(), key=lambda info: info.header_offset):
        try:
            at = _content_at(source, info)
            if info.header_offset < end:
                raise source.bad(info.header_offset, f"{info.filename} overlaps the member before it")
            end = at + info.compress_size
            if not info.filename.endswith("/") and not is_copy(info.filename, opened.NameToInfo.__contains__):
                member = _member(source, info, at)
                member.sibling = _beside(source, opened, info.filename)
                yield member
        except BadFile as bad:
            yield bad


def _content_at(source: Source, info: zipfile.ZipInfo) -> int:
    """Where a member's bytes begin: its own header repeats the name and may hold more than the directory."""
    at = info.header_offset
    if not source.starts(LOCAL, at):
        raise source.bad(at, f"{info.filename}: no zip member begins here")
    return at + LOCAL_HEADER + source.u16(at + 26) + source.u16(at + 28)


def _member(source: Source, info: zipfile.ZipInfo, at: int) -> Source:
    if info.flag_bits & ENCRYPTED:
        raise source.bad(info.header_offset, f"{info.filename} is encrypted")
    packed = source.sub(at, info.compress_size, info.filename)
    if info.compress_type == zipfile.ZIP_STORED:
        return packed
    method = METHODS.get(info.compress_type)
    if method is None:
        raise source.bad(
            info.header_offset, f"{info.filename} is packed by method {info.compress_type}: not read"
        )
    return packed.stream(Unpacked(packed, method, declared=info.file_size, crc=info.CRC), info.file_size)


def _beside(source: Source, opened: zipfile.ZipFile, name: str) -> Sibling:
    """What stands beside a member in the archive."""
    stem = os.path.splitext(name)[0]

    def content(suffix: str) -> bytes | None:
        info = opened.NameToInfo.get(stem + suffix)
        if info is None:
            return None
        beside = _member(source, info, _content_at(source, info))
        return beside.some(0, SIDE_FILE_LIMIT + 1)

    return content
