"""Windows libraries and executables (PE) that carry device code: in `.hip_fat` and `.hipFatB`, or in data.

Layout: Microsoft's PE format specification.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from wavefit.kernels.blobs import blobs_of
from wavefit.kernels.registry import reader
from wavefit.kernels.source import BadFile, Source

CODE, EXECUTABLE = 0x20, 0x20000000
_SECTION = struct.Struct("<8sIIII12xI")


def _is_pe(source: Source) -> bool:
    at = source.some(0x3C, 4)
    return len(at) == 4 and source.starts(b"PE\0\0", int.from_bytes(at, "little"))


@reader("Windows executable or library", magic=b"MZ", when=_is_pe, forward=True, container=True)
def host(source: Source) -> Iterator[Source | BadFile]:
    """The blobs of its sections of data, in file order."""
    at = source.u32(0x3C)
    count, optional = source.u16(at + 6), source.u16(at + 20)
    table = source.read(at + 24 + optional, count * _SECTION.size)
    yield from blobs_of(
        source,
        [
            (start, size, name.rstrip(b"\0").decode("ascii", "backslashreplace"))
            for name, _, _, size, start, flags in _SECTION.iter_unpack(table)
            if size and not flags & (CODE | EXECUTABLE)
        ],
    )
