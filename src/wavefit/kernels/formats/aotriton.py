"""AOTriton's kernel archives (`.aks2`), as PyTorch's wheels for ROCm carry them: many kernels, packed.

Layout, read off the archives of AOTriton 0.11: a header, then one xz stream; in it a directory, where each
row says what its kernel is launched with, then the code objects, offsets counting from the directory's end.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from wavefit.kernels.registry import reader
from wavefit.kernels.source import BadFile, Sibling, Source
from wavefit.kernels.unpack import Unpacked

MAGIC = b"AKS2"
LONGEST_NAME = 4096
_HEADER = struct.Struct("<4xIII")
_ROW = struct.Struct("<IIIII")


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the directory: LDS bytes and threads of a workgroup at launch, and where the code lies."""

    shared: int
    threads: int
    offset: int
    size: int
    name: str


@reader("AOTriton archive", magic=MAGIC, when=lambda source: source.starts(b"\xfd7zXZ\0", 16), container=True)
def archive(source: Source) -> Iterator[Source | BadFile]:
    """The code objects in the order in which they lie."""
    unpacked, count, directory = _HEADER.unpack(source.read(0, _HEADER.size))
    if count * _ROW.size > directory or directory > unpacked:
        raise source.bad(8, f"{count} kernels in a directory of {directory} bytes of {unpacked}")
    packed = source.sub(_HEADER.size, source.size - _HEADER.size)
    content = source.stream(Unpacked(packed, "xz", declared=unpacked), unpacked)
    if unpacked <= source.reading.bounds.small:
        content = content.held()
    rows = content.sub(0, directory)
    table = rows.inner(rows.read(0, directory))
    for row in sorted(_rows(table, count), key=lambda row: row.offset):
        try:
            member = content.sub(directory + row.offset, row.size, row.name)
        except BadFile as bad:
            yield bad
            continue
        member.sibling = _launch(row)
        yield member


def _rows(table: Source, count: int) -> Iterator[Row]:
    at = 0
    for _ in range(count):
        shared, threads, offset, size, length = _ROW.unpack(table.read(at, _ROW.size))
        if length > LONGEST_NAME:
            raise table.bad(at, f"a name of {length} bytes in the directory")
        name = table.read(at + _ROW.size, length).rstrip(b"\0").decode("utf-8", "backslashreplace")
        yield Row(shared, threads, offset, size, name)
        at += _ROW.size + length


def _launch(row: Row) -> Sibling:
    """What the row says, in the words of the side file that Triton wrote before the kernel came here."""
    said = json.dumps({"shared": row.shared, "num_warps": row.threads, "warp_size": 1}).encode()
    return lambda suffix: said if suffix == ".json" else None
