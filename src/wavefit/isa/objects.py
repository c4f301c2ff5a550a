"""The code objects and assembly texts in a file, with the Kernels that `wavefit.kernels` reads from each."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wavefit.isa.disassemble import Function
from wavefit.kernels import BadFile
from wavefit.kernels.backing import File
from wavefit.kernels.bounds import Reading
from wavefit.kernels.elf import ET_REL, SHF_EXECINSTR, SHT_DYNSYM, SHT_NOBITS, SHT_SYMTAB, Elf
from wavefit.kernels.open import walk
from wavefit.kernels.other import described
from wavefit.kernels.registry import reader_of
from wavefit.kernels.source import Source
from wavefit.kernels.triton import SIDE_FILE_LIMIT

AMD, NVIDIA = 224, 190
"""Machines of ELF files whose code can be read."""
TEXT = "text about code objects"

LARGEST = 1 << 30
"""Bytes of one function that are decoded."""
_FUNCTION, _V2_KERNEL = 2, 10
_V2_HEADER = 256
_SYMBOL = struct.Struct("<IBBHQQ")


@dataclass(frozen=True, slots=True)
class Code:
    """Where the code of one symbol lies: address, bytes to the end of it, and its section's end."""

    at: int
    size: int
    section: int


class Program:
    """The functions of one ELF file by name. Raises BadFile where its tables are damaged."""

    def __init__(self, source: Source) -> None:
        self.source, self.elf = source, Elf(source)
        self.places: dict[str, Code] = {}
        for table in (SHT_SYMTAB, SHT_DYNSYM):
            self._read(table)
        self.starts = sorted({(place.section, place.at) for place in self.places.values()})

    def _read(self, kind: int) -> None:
        found = self.elf.tables(kind)
        if found is None:
            return
        data, names = found
        for name_at, info, _, section, value, size in _SYMBOL.iter_unpack(data):
            if info & 15 not in (_FUNCTION, _V2_KERNEL) or not 0 < section < len(self.elf.sections):
                continue
            if not self.elf.sections[section].flags & SHF_EXECINSTR:
                continue
            name = names[name_at : names.find(b"\0", name_at)].decode("utf-8", "backslashreplace")
            skip = _V2_HEADER if info & 15 == _V2_KERNEL else 0
            self.places.setdefault(name, Code(value + skip, max(0, size - skip), section))

    def function(self, name: str) -> Function:
        """The bytes of a function. Raises BadFile where there are none."""
        place = self.places.get(name)
        if place is None:
            raise self.source.bad(None, f"no code for kernel {name[:200]}")
        section = self.elf.sections[place.section]
        start = place.at - section.address if self.elf.type != ET_REL else place.at
        size = place.size or self._until_next(place, section.size - start)
        if section.type == SHT_NOBITS or start < 0 or start + size > section.size or size > LARGEST:
            raise self.source.bad(None, f"the code of {name[:200]} does not lie inside its section")
        return Function(name, place.at, self.source.read(section.offset + start, size))

    def _until_next(self, place: Code, most: int) -> int:
        """Bytes up to the next function, for a symbol that says no size."""
        later = [at for section, at in self.starts if section == place.section and at > place.at]
        return min([most, *(at - place.at for at in later)])


def members(path: str | os.PathLike[str]) -> Iterator[Source | BadFile]:
    """The code objects and texts in a file or folder, however deep in containers, and what broke on the way.

    Each is to be used before the next is asked for.
    """
    root = os.fsdecode(path)
    for name in walk(root) if os.path.isdir(root) else (root,):
        if isinstance(name, BadFile):
            yield name
            continue
        try:
            with open(name, "rb", buffering=0) as handle:
                data = File(handle)
                yield from _inside(Source(data, data.size, name, sibling=_beside(name), reading=Reading()), 0)
        except (OSError, ValueError) as error:
            yield BadFile(name, None, None, getattr(error, "strerror", None) or str(error))
        except BadFile as bad:
            yield bad


def _inside(source: Source, depth: int) -> Iterator[Source | BadFile]:
    if depth > source.reading.bounds.depth:
        raise source.bad(None, f"members nested more than {source.reading.bounds.depth} deep")
    if source.forward:
        source = source.held()
    reader = reader_of(source)
    if machine(source) in (AMD, NVIDIA) or (reader and reader.what == TEXT):
        yield source
        return
    if reader is None:
        raise described(source)
    for item in reader.read(source):
        try:
            if isinstance(item, Source):
                yield from _inside(item, depth + 1)
            elif isinstance(item, BadFile):
                yield item
        except BadFile as bad:
            yield bad


def machine(source: Source) -> int | None:
    """The machine that an ELF file is for, None where it is none."""
    return source.u16(18) if source.size >= 64 and source.starts(b"\x7fELF") else None


def _beside(name: str) -> Callable[[str], bytes | None]:
    stem = os.path.splitext(name)[0]

    def content(suffix: str) -> bytes | None:
        try:
            with open(stem + suffix, "rb") as handle:
                return handle.read(SIDE_FILE_LIMIT + 1)
        except FileNotFoundError:
            return None

    return content
