"""LZ4 blocks: literals and copies of what came before, in turns. Format: LZ4's public block description.

In Python, since a fat binary is all that is read of LZ4 here: 13 MB/s of cubins come out.
"""

from __future__ import annotations

from wavefit.kernels.bounds import size_text
from wavefit.kernels.source import Source

MOST = 255
"""Bytes that one packed byte can stand for, at most."""
_MORE, _SHORTEST = 15, 4


def unpack(packed: Source, declared: int) -> bytes:
    """The `declared` bytes of one block. Raises BadFile for damage and for more than may be held."""
    bounds = packed.reading.bounds
    if declared > MOST * packed.size:
        cause = f"declares {size_text(declared)}, more than LZ4 can pack into {size_text(packed.size)}"
        raise packed.bad(0, cause)
    if declared > bounds.held:
        raise packed.bad(0, f"{size_text(declared)} would have to be held; limit {size_text(bounds.held)}")
    packed.reading.unpacked += declared
    if packed.reading.unpacked > bounds.altogether:
        raise packed.bad(0, f"the file unpacks to more than {size_text(bounds.altogether)} altogether")
    try:
        made = block(packed.read(0, packed.size), declared)
    except (IndexError, ValueError) as error:
        raise packed.bad(0, f"damaged LZ4 data: {error}") from None
    if len(made) != declared:
        raise packed.bad(0, f"unpacks to {len(made)} bytes and declares {declared}")
    return bytes(made)


def block(data: bytes, most: int) -> bytearray:
    """What one block stands for, `most` bytes at most. Raises ValueError or IndexError for damage."""
    made, at, end = bytearray(), 0, len(data)
    while at < end:
        token = data[at]
        count, at = _length(data, at + 1, token >> 4)
        made += data[at : at + count]
        at += count
        if at >= end:  # the last turn has no copy
            break
        back = data[at] | data[at + 1] << 8
        count, at = _length(data, at + 2, token & _MORE)
        count += _SHORTEST
        start = len(made) - back
        if back == 0 or start < 0 or len(made) + count > most:
            raise ValueError(f"a copy of {count} bytes from {back} before {len(made)}, {most} in all")
        if back >= count:
            made += made[start : start + count]
        else:  # it copies what it makes: a pattern
            made += (made[start:] * (count // back + 1))[:count]
    return made


def _length(data: bytes, at: int, count: int) -> tuple[int, int]:
    """A length that goes on while its bytes are full, and where it ends."""
    if count == _MORE:
        while data[at] == 0xFF:
            count += 0xFF
            at += 1
        count += data[at]
        at += 1
    return count, at
