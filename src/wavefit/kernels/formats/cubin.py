"""NVIDIA cubins: ELF files with a section of code, of shared memory and of attributes for each kernel."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from wavefit.kernels.elf import ET_REL, SHT_SYMTAB, Elf, Section, extent
from wavefit.kernels.nvidia import info
from wavefit.kernels.nvidia.arch import LANES, OLD_ABI, Arch, from_flags
from wavefit.kernels.registry import reader
from wavefit.kernels.source import BadFile, Source
from wavefit.model import Kernel

MACHINE = 190
TEXT, SHARED, INFO, COMPAT = ".text.", ".nv.shared.", ".nv.info", ".nv.compat"
STT_FUNC, ENTRY = 2, 0x10
"""A symbol's type, and the bit of its `st_other` that tells kernels from the functions they call."""
OLD_BARRIERS = 20
"""Lowest bit of the barriers in the flags of `.text.KERNEL`, up to ABI 7."""
_SYMBOL = struct.Struct("<IBBHQQ")
_HEADERS, _HEADER, _TOP_OF_INFO = 40, 64, 47
"""Where the file header says where section headers are, the size of one, the last byte of its sh_info."""
_RELOCATABLE = "not linked yet: it may need more registers, shared memory and stack than counted here"


class Cubin(NamedTuple):
    """What all kernels of one file share: its sections, by name as well, and attributes by symbol number."""

    elf: Elf
    arch: Arch
    named: tuple[Section, ...]
    sections: dict[str, Section]
    said: dict[int, dict[int, int]]


@reader(
    "NVIDIA cubin",
    magic=b"\x7fELF",
    when=lambda source: source.starts(MACHINE.to_bytes(2, "little"), at=18),
    extent=lambda source, at: extent(source, at, MACHINE, None),
)
def cubin(source: Source) -> Iterator[Kernel | BadFile]:
    """The kernels in the order of the symbol table."""
    file = _cubin(Elf(source))
    seen = set()
    for number, place in _entries(file):
        name = file.named[place].name
        if name in seen:
            yield source.bad(None, f"two kernels in section {name}")
            continue
        seen.add(name)
        try:
            yield _kernel(file, number, place)
        except BadFile as bad:
            yield bad


def _cubin(elf: Elf) -> Cubin:
    named = tuple(elf.named())
    sections = {section.name: section for section in named}
    if sum(section.size for section in named if section.name.startswith(INFO)) > elf.source.size:
        raise elf.source.bad(None, f"its {INFO} sections overlap")
    said = info.by_symbol(elf.content(sections[INFO])) if INFO in sections else {}
    exact = COMPAT in sections and _is_exact(elf.content(sections[COMPAT]))
    return Cubin(elf, from_flags(elf.flags, elf.abi_version, exact), named, sections, said)


def _is_exact(compat: Source) -> bool:
    """Whether `.nv.compat` says that the code is for its target alone; what it cannot say loses no kernel."""
    try:
        return info.Record(info.EXACT_TARGET, (1,)) in info.records(compat)
    except BadFile:
        return False


def _entries(file: Cubin) -> Iterator[tuple[int, int]]:
    """The numbers of the symbols that are kernels, each with that of its section of code."""
    table = next((section for section in file.named if section.type == SHT_SYMTAB), None)
    content = file.elf.content(table).read(0, table.size // _SYMBOL.size * _SYMBOL.size) if table else b""
    for number, (_, kind, other, place, _, _) in enumerate(_SYMBOL.iter_unpack(content)):
        is_kernel = kind & 15 == STT_FUNC and other & ENTRY and place < len(file.named)
        if is_kernel and file.named[place].name.startswith(TEXT):
            yield number, place


def _kernel(file: Cubin, number: int, place: int) -> Kernel:
    elf = file.elf
    name = file.named[place].name.removeprefix(TEXT)
    own = _own(file, name)
    registers = _registers(file, number, place)
    stack, frame = _said(file, info.STACK, number), _said(file, info.FRAME, number)
    linked = elf.type != ET_REL
    return Kernel(
        target=file.arch.name,
        features=file.arch.features,
        name=name,
        symbol=name,
        file=elf.source.file,
        member=elf.source.place,
        vgprs=registers,
        total_vgprs=registers,
        allocated_vgprs=registers,
        lds=max(0, _shared(file, name) - file.arch.reserve * linked),
        scratch=frame if stack in (None, info.UNBOUNDED) else stack,
        dynamic_stack=stack == info.UNBOUNDED,
        max_threads=_product(own.get(info.MAX_THREADS)),
        required_size=_shape(own.get(info.REQUIRED_THREADS)),
        barriers=_barriers(file, own, place),
        wave=LANES,
        code_version=elf.abi_version,
        notes=(*file.arch.notes, *_notes(linked, registers)),
    )


def _notes(linked: bool, registers: int | None) -> Iterator[str]:
    if not linked:
        yield _RELOCATABLE
    if registers is None:
        yield "the file does not say how many registers it takes"


def _own(file: Cubin, name: str) -> dict[int, tuple[int, ...]]:
    """What the kernel's own `.nv.info.KERNEL` says."""
    section = file.sections.get(f"{INFO}.{name}")
    if section is None:
        return {}
    return {record.attribute: record.words for record in info.records(file.elf.content(section))}


def _said(file: Cubin, attribute: int, number: int) -> int | None:
    """What `.nv.info` says of one function."""
    return file.said.get(attribute, {}).get(number)


def _shared(file: Cubin, name: str) -> int:
    section = file.sections.get(SHARED + name)
    return section.size if section else 0


def _registers(file: Cubin, number: int, place: int) -> int | None:
    """Registers a thread; old compilers say them in the section header of the code alone (sh_info)."""
    said = _said(file, info.REGISTERS, number)
    if said is None and file.elf.abi_version <= OLD_ABI:
        source = file.elf.source
        return source.u8(source.u64(_HEADERS) + place * _HEADER + _TOP_OF_INFO) or None
    return said


def _barriers(file: Cubin, own: dict[int, tuple[int, ...]], place: int) -> int:
    """Barriers of one workgroup; up to ABI 7 in the flags of its code."""
    if file.elf.abi_version <= OLD_ABI:
        return file.named[place].flags >> OLD_BARRIERS & 0x7F
    return next(iter(own.get(info.BARRIERS, ())), 0)


def _shape(words: tuple[int, ...] | None) -> tuple[int, int, int] | None:
    return (words[0], words[1], words[2]) if words and len(words) == 3 and all(words) else None


def _product(words: tuple[int, ...] | None) -> int | None:
    shape = _shape(words)
    return shape[0] * shape[1] * shape[2] if shape else None
