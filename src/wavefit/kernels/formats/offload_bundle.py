"""Plain clang offload bundles: a table of entries, each the code for one target.

Layout: clang's offload bundler documentation. Linkers lay many, one after the other, into one section.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from wavefit.kernels.blobs import blobs
from wavefit.kernels.registry import reader
from wavefit.kernels.source import BadFile, Source

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
HEADER = len(MAGIC) + 8
LONGEST_ID = 4096
_ENTRY = struct.Struct("<QQQ")
_ID = re.compile(rb"[a-z0-9]+-[!-~]+")
"""A kind (`host`, `hip`, `hipv4`, `openmp`), then a target: `hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the table; `offset` counts from the magic."""

    offset: int
    size: int
    id: str

    @property
    def end(self) -> int:
        return self.offset + self.size


def _extent(source: Source, at: int) -> int | None:
    """A bundle's size as its table says it; None where the text of the magic is all there is."""
    found = []
    try:
        for entry in _entries(source, at):
            found.append(entry.end)
    except BadFile:
        if not found:
            return None
    return max(HEADER, *found)


@reader("offload bundle", magic=MAGIC, forward=True, extent=_extent, container=True)
def bundle(source: Source) -> Iterator[Source | BadFile]:
    """The entries that hold device code, in file order, and then whatever blobs follow the bundle."""
    entries, damage = [], None
    try:
        for entry in _entries(source, 0):
            entries.append(entry)
    except BadFile as bad:
        damage = bad
    end = HEADER
    for entry in sorted(entries, key=lambda entry: entry.offset):
        if entry.end > source.size:
            yield source.bad(
                entry.offset, f"{entry.id} has {entry.size} bytes here, {source.size - entry.offset} are left"
            )
            continue
        end = max(end, entry.end)
        if entry.size and not entry.id.startswith("host"):
            member = source.sub(entry.offset, entry.size, entry.id)
            member.hint = entry.id.split("-", 1)[1]
            yield member
    if damage:
        yield damage
    yield from blobs(source, end)


def _entries(source: Source, at: int) -> Iterator[Entry]:
    """The table's rows as far as they can be read; BadFile where they cannot."""
    count = source.u64(at + len(MAGIC))
    place = at + HEADER
    if count == 0:
        raise source.bad(at, "an offload bundle without entries")
    if count > min((source.size - place) // _ENTRY.size, source.reading.bounds.members):
        raise source.bad(at + len(MAGIC), f"{count} bundle entries declared, which do not fit here")
    for number in range(1, count + 1):
        offset, size, length = _ENTRY.unpack(source.read(place, _ENTRY.size))
        if length > LONGEST_ID:
            raise source.bad(place, f"bundle entry {number} of {count} has an id of {length} bytes")
        name = source.read(place + _ENTRY.size, length)
        if not _ID.fullmatch(name):
            raise source.bad(place, f"bundle entry {number} of {count} has no id that names a target")
        yield Entry(offset, size, name.decode("ascii"))
        place += _ENTRY.size + length
