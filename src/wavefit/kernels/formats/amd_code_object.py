"""AMD code objects, V2 to V6: an ELF file with a metadata note and a descriptor for each kernel."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace

from wavefit.kernels.amd import isa
from wavefit.kernels.amd.descriptor import SIZE, V2_SIZE, descriptor, descriptor_v2
from wavefit.kernels.amd.join import joined
from wavefit.kernels.amd.limits import limits_of
from wavefit.kernels.amd.metadata import Metadata, Spend, metadata, metadata_v2
from wavefit.kernels.elf import SHT_DYNSYM, SHT_SYMTAB, Elf, Symbol, extent
from wavefit.kernels.registry import reader
from wavefit.kernels.rows import CodeObject, Rows
from wavefit.kernels.source import BadFile, Source
from wavefit.model import Kernel

MACHINE, OS_ABI_HSA = 224, 64
NEWEST = 6
MANY = 16
"""Kernels of one object from which on columns are quicker than one after the other."""
STT_AMDGPU_HSA_KERNEL = 10
METADATA, V2_METADATA, V2_ISA = (b"AMDGPU", 32), (b"AMD", 10), (b"AMD", 3)


@reader(
    "AMD code object",
    magic=b"\x7fELF",
    when=lambda source: source.starts(b"\xe0\x00", at=18),
    extent=lambda source, at: extent(source, at, MACHINE),
    rows=lambda source: rows(source),
)
def code_object(source: Source) -> Iterator[Kernel | BadFile]:
    """The kernels of a code object in the order of its metadata, then any that only have a descriptor.

    Damaged metadata are one error, and the descriptors are then read alone.
    """
    elf = _elf(source)
    said, bad = _said(elf)
    if bad:
        yield bad
    yield from _kernels(elf, _code(elf, said.target), said)


def rows(source: Source) -> Iterator[Rows | Kernel | BadFile]:
    """The same by column where the object holds many kernels and nothing out of the ordinary, or nothing."""
    from wavefit.kernels.amd.columns import columns

    elf = _elf(source)
    said, bad = _said(elf)
    if bad:
        yield bad
    code = _code(elf, said.target)
    many = code.version > 2 and len(said.kernels) >= MANY
    if many and (found := columns(elf, code, said.kernels)):
        yield found
        return
    empty = True
    for kernel in _kernels(elf, code, said):
        empty = False
        yield kernel
    if empty and not bad:
        yield Rows(code, [], [], [], {})


def _elf(source: Source) -> Elf:
    elf = Elf(source)
    if elf.os_abi != OS_ABI_HSA:
        raise source.bad(7, f"AMD GPU object for OS ABI {elf.os_abi}; only HSA's, {OS_ABI_HSA}, is read")
    return elf


def _said(elf: Elf) -> tuple[Metadata, BadFile | None]:
    """The metadata, and what is wrong with them."""
    try:
        return _metadata(elf, elf.abi_version + 2), None
    except BadFile as bad:
        return Metadata(), bad


def _kernels(elf: Elf, code: CodeObject, said: Metadata) -> Iterator[Kernel | BadFile]:
    named = [spend.symbol.encode() for spend in said.kernels]
    known = set(named)
    found = _descriptors(elf, code.version, known)
    for name, spend in zip(named, said.kernels, strict=True):
        yield _kernel(elf, code, spend, found.get(name))
    for name, symbol in found.items():
        if name not in known:
            yield _alone(elf, code, symbol)


def _metadata(elf: Elf, version: int) -> Metadata:
    """Of the first metadata note. V2 keeps a target in a note of its own."""
    notes: dict[tuple[bytes, int], Source] = {}
    for note in elf.notes():
        if (note.owner, note.type) in (METADATA, V2_METADATA, V2_ISA):
            notes.setdefault((note.owner, note.type), note.content)
    if version > 2:
        return metadata(notes[METADATA]) if METADATA in notes else Metadata()
    kernels = metadata_v2(notes[V2_METADATA]) if V2_METADATA in notes else []
    return Metadata(kernels, _isa_note(notes[V2_ISA]) if V2_ISA in notes else None)


def _isa_note(note: Source) -> str:
    """The target of V2's ISA note: two name lengths, then major, minor and stepping."""
    major, minor, stepping = struct.unpack("<III", note.read(4, 12))
    return f"gfx{major}{minor}{stepping:x}"


def _code(elf: Elf, text: str | None) -> CodeObject:
    """What the kernels share. Metadata name the target from V4 on, and V2's note may name an older alias."""
    version = elf.abi_version + 2
    flagged = isa.from_flags(elf.flags, version)
    written = isa.from_text(text) if text else None
    chosen = flagged or written if version == 2 else written or flagged
    chosen = chosen or isa.from_text(elf.source.hint or "")
    if chosen is None:
        raise elf.source.bad(48, f"e_flags {elf.flags:#x} name no known target and neither do the metadata")
    notes = []
    if flagged and written and flagged.name != written.name:
        notes.append(f"e_flags name {flagged.name}, the notes {written.name}: read as {chosen.name}")
    if written is None and version >= 4:
        notes.append(f"the metadata name no target: {chosen.name} by e_flags")
    if generic := isa.generic_version(elf.flags, version):
        notes.append(f"generic target, version {generic}")
    if version > NEWEST:
        notes.append(f"code object V{version} is newer than this reader: read as V{NEWEST}")
    limits, name, remarks = limits_of(chosen.name)
    return CodeObject(
        file=elf.source.file,
        member=elf.source.place,
        target=name,
        features=chosen.features,
        version=version,
        limits=limits,
        notes=(*notes, *remarks),
    )


def _descriptors(elf: Elf, version: int, wanted: set[bytes]) -> dict[bytes, Symbol]:
    """The symbols of descriptors by name, from `.dynsym`, and from `.symtab` where some are not there."""
    found: dict[bytes, Symbol] = {}
    for table in (SHT_DYNSYM, SHT_SYMTAB):
        for symbol in elf.symbols(table):
            if symbol.type == STT_AMDGPU_HSA_KERNEL if version == 2 else symbol.name.endswith(b".kd"):
                found.setdefault(symbol.name, symbol)
        if wanted and wanted <= found.keys():
            break
    return found


def _kernel(elf: Elf, code: CodeObject, spend: Spend, symbol: Symbol | None) -> Kernel | BadFile:
    size, decode = (V2_SIZE, descriptor_v2) if code.version == 2 else (SIZE, descriptor)
    try:
        return joined(code, spend, decode(elf.at(symbol, size)) if symbol else None)
    except BadFile as bad:
        return bad
    except ValueError as error:
        return elf.source.bad(None, f"kernel {spend.name}: {error}")


def _alone(elf: Elf, code: CodeObject, symbol: Symbol) -> Kernel | BadFile:
    """The kernel of a descriptor that no metadata name."""
    code = replace(code, notes=(*code.notes, "the metadata do not name it: read from its descriptor alone"))
    name = symbol.name.decode("utf-8", "backslashreplace")
    return _kernel(elf, code, Spend(name.removesuffix(".kd"), name), symbol)
