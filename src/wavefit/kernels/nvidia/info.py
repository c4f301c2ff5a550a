"""The records of `.nv.info` and `.nv.compat`: one attribute each, its value in the record or after it.

NVIDIA does not publish the format. The numbers were read off cuobjdump's own names for them (`-elf`), and
what they say is compared with `cuobjdump -res-usage` in the tests.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from wavefit.kernels.source import Source

MAX_THREADS, REQUIRED_THREADS = 0x05, 0x10
FRAME, STACK = 0x11, 0x12
"""Stack of the function itself, and with all that it calls: UNBOUNDED where it calls itself."""
UNBOUNDED = 0xFFFFFFFF
REGISTERS, BARRIERS = 0x2F, 0x4C
EXACT_TARGET = 0x09
"""Of `.nv.compat`: 1 for `sm_90a` and the like."""
_BYTE, _HALF, _SIZED = 2, 3, 4
"""Formats of a record; one more, 1, has no value."""


@dataclass(frozen=True, slots=True)
class Record:
    """One attribute with its words (32 bits each), or the one value of a short record."""

    attribute: int
    words: tuple[int, ...]


def records(content: Source) -> Iterator[Record]:
    """Every record in file order. Raises BadFile for a format that is not known: its size is not, either."""
    data = content.read(0, content.size)
    at = 0
    while at + 4 <= len(data):
        form, attribute, value = struct.unpack_from("<BBH", data, at)
        if not 1 <= form <= _SIZED:
            raise content.bad(at, f"an attribute of format {form}; known are 1 to {_SIZED}")
        if form != _SIZED:
            yield Record(attribute, {_BYTE: (value & 0xFF,), _HALF: (value,)}.get(form, ()))
            at += 4
            continue
        if at + 4 + value > len(data):
            raise content.bad(at, f"an attribute of {value} bytes, {len(data) - at - 4} are left")
        yield Record(attribute, struct.unpack_from(f"<{value // 4}I", data, at + 4))
        at += 4 + value


def by_symbol(content: Source) -> dict[int, dict[int, int]]:
    """What `.nv.info` says of functions: attribute, then symbol number, then value."""
    said: dict[int, dict[int, int]] = {REGISTERS: {}, FRAME: {}, STACK: {}}
    for record in records(content):
        if record.attribute in said and len(record.words) == 2:
            said[record.attribute][record.words[0]] = record.words[1]
    return said
