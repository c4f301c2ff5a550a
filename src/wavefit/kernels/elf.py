"""The parts of an ELF64 little-endian file that hold kernels: sections, notes, symbols.

Read here with `struct` and not with pyelftools, as measured: on an object with 2,500 kernels
pyelftools took 1,417 ms over the symbols and this way 18 ms, on a Triton object 4.3 ms against 0.04 ms
(there are 1,215 objects in one library), it takes 75 ms to import, and its errors name no offset. The
tests hold the two against each other, `bench/read_kernels.py` prints the times.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from wavefit.kernels.source import BadFile, Source

SHT_SYMTAB, SHT_NOTE, SHT_NOBITS, SHT_DYNSYM = 2, 7, 8, 11
SHF_ALLOC, SHF_EXECINSTR = 2, 4
PT_NOTE = 4
ET_REL = 1
SHN_LORESERVE = 0xFF00
"""Section numbers from here on are no sections (absolute and common symbols)."""

LARGEST_STRINGS = 1 << 28

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_NOTE = struct.Struct("<III")


class Section(NamedTuple):
    """One section header; `name_at` counts in the table of section names."""

    name_at: int
    type: int
    address: int
    offset: int
    size: int
    link: int
    flags: int
    name: str = ""


class Note(NamedTuple):
    """One note: its owner's name, type, and content where it stands."""

    owner: bytes
    type: int
    content: Source


class Symbol(NamedTuple):
    """One symbol of a section of the file."""

    name: bytes
    type: int
    section: int
    value: int


class Elf:
    """An ELF64 little-endian file. Raises BadFile for another class or order and for what passes the end."""

    def __init__(self, source: Source) -> None:
        self.source = source
        head = source.read(0, 64)
        if head[:4] != b"\x7fELF" or head[4:6] != b"\x02\x01":
            raise source.bad(0, "not a 64-bit little-endian ELF file")
        self.os_abi, self.abi_version = head[7], head[8]
        self.type, self.machine, self.flags = *struct.unpack_from("<HH", head, 16), source.u32(48)
        self._segments_at, sections_at = struct.unpack_from("<QQ", head, 32)
        self._segments, section_size, count, self._names = struct.unpack_from("<HHHH", head, 56)
        self.sections = self._read_sections(sections_at, section_size, count)

    def _read_sections(self, at: int, size: int, count: int) -> tuple[Section, ...]:
        if at == 0:
            return ()
        if size != _SECTION.size:
            raise self.source.bad(58, f"section headers of {size} bytes, {_SECTION.size} expected")
        if count == 0:  # more than fit in the header: the first section's size holds the number
            count = self.source.u64(at + 32)
        table = self.source.read(at, count * size)
        return tuple(
            Section(name_at, kind, address, offset, length, link, flags)
            for name_at, kind, flags, address, offset, length, link, _, _, _ in _SECTION.iter_unpack(table)
        )

    def named(self) -> Iterator[Section]:
        """The sections with their names."""
        strings = self._strings(self._names) if self.sections else None
        for s in self.sections:
            name = strings.at(s.name_at).decode("utf-8", "backslashreplace") if strings else ""
            yield s._replace(name=name)

    def content(self, section: Section) -> Source:
        """The bytes of a section; none for one that takes no room in the file."""
        return self.source.sub(section.offset, 0 if section.type == SHT_NOBITS else section.size)

    def notes(self) -> Iterator[Note]:
        """Every note, of sections or, where there are none, of segments."""
        left = self.source.size
        for part in self._note_parts():
            left -= part.size
            if left < 0:  # each byte of the file belongs to one note at most
                raise part.bad(0, "note sections overlap")
            yield from _notes(part)

    def symbols(self, kind: int) -> Iterator[Symbol]:
        """The symbols of sections in the first table of this type, SHT_DYNSYM or SHT_SYMTAB."""
        table = next((s for s in self.sections if s.type == kind), None)
        if table is None:
            return
        content = self.content(table)
        strings = self._strings(table.link)
        data = content.read(0, content.size // _SYMBOL.size * _SYMBOL.size)
        for name_at, info, _, section, value, _ in _SYMBOL.iter_unpack(data):
            if 0 < section < SHN_LORESERVE:
                yield Symbol(strings.at(name_at), info & 15, section, value)

    def tables(self, kind: int) -> tuple[bytes, bytes] | None:
        """The entries and the names of the first symbol table of this type, as they lie in the file."""
        table = next((s for s in self.sections if s.type == kind), None)
        if table is None:
            return None
        content, strings = self.content(table), self._strings(table.link)
        return content.read(0, content.size // _SYMBOL.size * _SYMBOL.size), strings.data

    def at(self, symbol: Symbol, count: int) -> bytes:
        """The `count` bytes that the symbol names."""
        if symbol.section >= len(self.sections):
            raise self._astray(symbol, f"is in section {symbol.section} of {len(self.sections)}")
        section = self.sections[symbol.section]
        offset = symbol.value if self.type == ET_REL else symbol.value - section.address
        size = 0 if section.type == SHT_NOBITS else section.size
        if not 0 <= offset <= size - count:
            raise self._astray(symbol, f"at {symbol.value:#x} does not lie inside its section")
        return self.source.read(section.offset + offset, count)

    def _astray(self, symbol: Symbol, how: str) -> BadFile:
        return self.source.bad(None, f"symbol {symbol.name.decode('utf-8', 'backslashreplace')} {how}")

    def _note_parts(self) -> Iterator[Source]:
        sections = [s for s in self.sections if s.type == SHT_NOTE]
        if sections:
            yield from map(self.content, sections)
            return
        table = self.source.read(self._segments_at, self._segments * _SEGMENT.size)
        for kind, _, offset, _, _, size, _, _ in _SEGMENT.iter_unpack(table):
            if kind == PT_NOTE:
                yield self.source.sub(offset, size)

    def _strings(self, number: int) -> _Strings:
        if number >= len(self.sections):
            raise self.source.bad(None, f"string table in section {number} of {len(self.sections)}")
        return _Strings(self.content(self.sections[number]))


class _Strings:
    """A string table. Names may share ends, but not so much that reading them all takes long."""

    def __init__(self, content: Source) -> None:
        if content.size > LARGEST_STRINGS:
            raise content.bad(
                0, f"a string table of {content.size} bytes; {LARGEST_STRINGS} are read at most"
            )
        self._content, self.data = content, content.read(0, content.size)
        self._left = 16 * content.size + (1 << 20)

    def at(self, offset: int) -> bytes:
        end = self.data.find(b"\0", offset)
        self._left -= max(0, end - offset)
        if end < 0 or self._left < 0:
            raise self._content.bad(
                offset, "a name that does not end" if end < 0 else "names overlap without end"
            )
        return self.data[offset:end]


def extent(source: Source, at: int, machine: int, file_version: int | None = 1) -> int | None:
    """The size of an ELF file for this machine inside other data, None where its magic stands by chance.

    By its header alone: linkers put the section headers last, and a stream cannot be read to there and back.
    `file_version` is what its e_version must say, None for anything: NVIDIA's compilers keep their own there.
    """
    head = source.some(at, 64)
    if len(head) < 64 or head[4:7] != b"\x02\x01\x01":
        return None
    kind, told, version = struct.unpack_from("<HHI", head, 16)
    segments, sections = struct.unpack_from("<QQ", head, 32)
    header, segment_size, segment_count, section_size, section_count = struct.unpack_from("<HHHHH", head, 52)
    if told != machine or version != (file_version or version) or header != 64 or not 0 < kind < 5:
        return None
    ends = segments + segment_size * segment_count, sections + section_size * section_count
    return int(max(64, *ends))


def _notes(part: Source) -> Iterator[Note]:
    at = 0
    while at + _NOTE.size <= part.size:
        name_size, size, kind = _NOTE.unpack(part.read(at, _NOTE.size))
        name_at = at + _NOTE.size
        content_at = name_at + _aligned(name_size)
        owner = part.read(name_at, name_size).rstrip(b"\0")
        yield Note(owner, kind, part.sub(content_at, size))
        at = content_at + _aligned(size)


def _aligned(size: int) -> int:
    return -(-size // 4) * 4
