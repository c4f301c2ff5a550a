"""What assembly, and LLVM's dumps of a code object, say about its kernels.

Directives: LLVM AMDGPU user guide, "AMDHSA Kernel Assembler Directives". The disassembler writes the same
ones, with the numbers that the descriptor encodes; llvm-readelf writes the metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from wavefit.chips.model import Target
from wavefit.kernels.amd.descriptor import Descriptor
from wavefit.kernels.amd.metadata import Spend, metadata_text

Directives = dict[str, int | None]
"""Values by name without `.amdhsa_`; None for an expression that an assembler has to work out."""

NEEDLES = (b".amdhsa_kernel", b".amdgpu_metadata", b"AMDGPU Metadata:", b"AMD HSA Metadata:")
"""One of them stands in every text that holds a kernel."""
_MARK = re.compile(
    rb"^[ \t]*(?:"
    rb"\.amdhsa_(?P<directive>\w{1,99})[ \t]+(?P<value>[^\n;]*)"
    rb"|\.(?P<end>end_amdhsa_kernel)\b"
    rb"|\.amdgcn_target[ \t]+\"(?P<target>[^\"\n]*)\""
    rb"|AMD HSA ISA Name:[ \t]*\n[ \t]*(?P<isa>\S{1,99})"
    rb"|\.(?P<metadata>amdgpu_metadata)[ \t]*$"
    rb"|(?P<dump>AMDGPU Metadata|AMD HSA Metadata):[ \t]*$"
    rb"|File: (?P<file>[^\n]*)"
    rb"|(?P<objdump>\S[^\n]*):[ \t]+file format elf64-amdgpu[ \t]*$)",
    re.MULTILINE,
)
_ENDS = {"metadata": b".end_amdgpu_metadata", "dump": b"\n..."}
_PLAIN = ("group_segment_fixed_size", "private_segment_fixed_size", "accum_offset", "wavefront_size32")
_NUMBER = re.compile(rb"(?:(0[xX][0-9a-fA-F]{1,8})|(0[0-7]{0,11})|([1-9][0-9]{0,9}))[ \t\r]*", re.ASCII)
_BASES = (16, 8, 10)


@dataclass
class Part:
    """The text of one code object. `troubles` are offsets and causes of what cannot be used."""

    name: str | None = None
    target: str | None = None
    version: int | None = None
    entries: list[Spend] = field(default_factory=list)
    blocks: dict[str, Directives] = field(default_factory=dict)
    troubles: list[tuple[int, str]] = field(default_factory=list)


def parts(text: bytes) -> Iterator[Part]:
    """The code objects of a text, in order; one that says nothing is left out."""
    part, block, at = Part(), None, 0
    while mark := _MARK.search(text, at):
        at, kind = mark.end(), mark.lastgroup
        said = _decoded(mark[kind]) if kind else ""
        if kind in ("file", "objdump") or (kind == "target" and (part.entries or part.blocks)):
            yield from _spoken(part)
            part, block = Part(name=said if kind != "target" else None), None
        if kind in ("target", "isa"):
            part.target = said
        elif kind == "end":
            block = None
        elif kind == "value":
            block = _directive(part, block, _decoded(mark["directive"]), mark["value"])
        elif kind in _ENDS:
            at = _document(part, text, at + 1, _ENDS[kind])
    yield from _spoken(part)


def _spoken(part: Part) -> Iterator[Part]:
    if part.entries or part.blocks or part.troubles:
        yield part


def _directive(part: Part, block: Directives | None, name: str, value: bytes) -> Directives | None:
    """Takes a directive in, and gives the block that the next one belongs to."""
    if name == "kernel":
        return part.blocks.setdefault(_decoded(value.strip()), {})
    found = _NUMBER.fullmatch(value)
    number = int(found[found.lastindex], _BASES[found.lastindex - 1]) if found and found.lastindex else None
    if block is not None:
        block[name] = number
    elif name == "code_object_version":
        part.version = number
    return block


def _document(part: Part, text: bytes, start: int, end_mark: bytes) -> int:
    """Takes in the metadata that begin here, and gives the offset where they end."""
    end = text.find(end_mark, start)
    if end < 0:
        part.troubles.append((start, "kernel metadata that do not end"))
        return len(text)
    try:
        said = metadata_text(text[start:end].decode().rstrip())
        part.entries += said.kernels
        part.target = said.target or part.target
    except (ValueError, RecursionError) as error:
        part.troubles.append((start, f"kernel metadata: {error}"))
    return end + 1


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace").strip("\r")


def descriptor_of(block: Directives, target: Target | None, named: str = "") -> Descriptor | None:
    """The descriptor that an assembler makes of a block; None where that is not known.

    `named` is the target as the text names it, with its features (`gfx90a:xnack-`).
    """
    wave = _wave(block, target)
    rsrc1 = _registers(block, target, wave, ":xnack-" in named) if target else 0
    offset = block.get("accum_offset")
    if rsrc1 is None or None in (block.get(name, 0) for name in _PLAIN):
        return None
    if block.get("workgroup_processor_mode", 1):
        rsrc1 |= 1 << 29
    return Descriptor(
        lds=block.get("group_segment_fixed_size") or 0,
        scratch=block.get("private_segment_fixed_size") or 0,
        rsrc1=rsrc1,
        rsrc3=_granules(offset, target.vgpr.accumulator_granule) if offset and target else None,
        wave=wave,
        dynamic_stack=bool(block.get("uses_dynamic_stack")),
    )


def _wave(block: Directives, target: Target | None) -> int:
    told = block.get("wavefront_size32")
    if told is None:
        return target.default_wave if target else 64
    return 32 if told else 64


def _registers(block: Directives, target: Target, wave: int, xnack_off: bool) -> int | None:
    """The two fields of register counts, None where they cannot be worked out."""
    vgprs, sgprs, file = block.get("next_free_vgpr"), block.get("next_free_sgpr"), target.vgpr.files.get(wave)
    if vgprs is None or sgprs is None or file is None or file.encode_granule is None:
        return None
    scalar = target.sgpr.fixed or sgprs + _extra(block, target, xnack_off)
    return _granules(vgprs, file.encode_granule) & 0x3F | (_granules(scalar, 8) & 0xF) << 6


def _granules(count: int, granule: int) -> int:
    """The field that stands for this count: granules less one."""
    return max(0, -(-count // granule) - 1)


def _extra(block: Directives, target: Target, xnack_off: bool) -> int:
    """SGPRs on top: FLAT_SCRATCH takes the target's most, XNACK 4, VCC 2.

    Each is reserved if not said otherwise; XNACK where the target can have it and it is not off.
    """
    most = target.sgpr.extra or 0
    if block.get("reserve_flat_scratch", 1) != 0:
        return most
    able = target.facts.get("features.xnack")
    if block.get("reserve_xnack_mask", int(able is not None and able.value is True and not xnack_off)) != 0:
        return min(4, most)
    return 2 if block.get("reserve_vcc", 1) != 0 else 0
