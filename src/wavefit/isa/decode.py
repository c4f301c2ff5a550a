"""`code(path)`: every kernel of a file or folder, decoded."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from wavefit.isa.child import ChildError
from wavefit.isa.disassemble import disassemble
from wavefit.isa.far import resolved
from wavefit.isa.loops import Code
from wavefit.isa.model import Listing
from wavefit.isa.objects import AMD, NVIDIA, Program, machine, members
from wavefit.isa.scratch import private
from wavefit.isa.text import listings
from wavefit.isa.tools import INSTALL, NoDisassembler
from wavefit.kernels import BadFile
from wavefit.kernels.open import read
from wavefit.kernels.source import Source
from wavefit.model import Kernel

LONGEST_TEXT = 1 << 28


def code(path: str | os.PathLike[str], *, kernel: str | None = None) -> tuple[Code | BadFile, ...]:
    """Every kernel of a file, or of all files under a folder, with its decoded instructions and loops.

    `path` is whatever `kernels` reads, or a text of assembly; `kernel` keeps those whose name contains it.
    What cannot be read or decoded is a BadFile in its place. Raises NoDisassembler, with one line that says
    what to install, where machine code can be read but nothing here decodes it.
    """
    return tuple(decoded(path, kernel=kernel))


def decoded(path: str | os.PathLike[str], *, kernel: str | None = None) -> Iterator[Code | BadFile]:
    """The same, one code object after the other."""
    for member in members(path):
        if isinstance(member, BadFile):
            yield member
            continue
        try:
            yield from _decoded(member, kernel)
        except BadFile as bad:
            yield bad
        except ChildError as why:
            yield member.bad(None, str(why))


def _decoded(source: Source, wanted: str | None) -> Iterator[Code | BadFile]:
    kind = machine(source)
    if kind == NVIDIA:
        from wavefit.isa.nvidia import cubin

        yield from cubin(source, wanted)
        return
    found: list[Kernel] = []
    for item in read(source):
        if isinstance(item, Kernel):
            if wanted is None or wanted in item.name:
                found.append(item)
        elif isinstance(item, BadFile):
            yield item
    if found:
        yield from _objects(source, found) if kind == AMD else _texts(source, found)


def _texts(source: Source, found: list[Kernel]) -> Iterator[Code | BadFile]:
    text = _text(source)
    by_target: dict[str, dict[str, Listing]] = {}
    for kernel in found:
        if kernel.target not in by_target:
            by_target[kernel.target] = {each.name: each for each in listings(text, kernel.target)}
        match = by_target[kernel.target].get(_symbol(kernel))
        if match is None:
            yield source.bad(None, f"no instructions of kernel {kernel.name[:200]} in this text")
        else:
            yield _code(kernel, match)


def _objects(source: Source, found: list[Kernel]) -> Iterator[Code | BadFile]:
    program = Program(source)
    by_wave: dict[tuple[str, int], list[Kernel]] = {}
    for kernel in found:
        by_wave.setdefault((kernel.target, kernel.wave or 64), []).append(kernel)
    done: dict[int, Code | BadFile] = {}
    for (name, wave), group in by_wave.items():
        functions, known = [], []
        for kernel in group:
            try:
                functions.append(program.function(_symbol(kernel)))
                known.append(kernel)
            except BadFile as bad:
                done[id(kernel)] = bad
        try:
            made = disassemble(functions, name, wave, source.read(0, source.size)) if functions else []
        except NoDisassembler:
            made = _beside(source, known)
        done.update((id(kernel), _code(kernel, each)) for kernel, each in zip(known, made, strict=True))
    yield from (done[id(kernel)] for kernel in found)


def _code(kernel: Kernel, listing: Listing) -> Code:
    ops = resolved(listing.ops)
    if kernel.scratch or kernel.dynamic_stack:
        ops = private(ops)
    return Code(kernel, replace(listing, ops=ops))


def _beside(source: Source, kernels: Sequence[Kernel]) -> list[Listing]:
    """The Listings of the compiler's text beside the object. Raises NoDisassembler where there is none."""
    content = source.sibling(".amdgcn") if source.sibling else None
    if content is None:
        raise NoDisassembler(INSTALL)
    text = content.decode("utf-8", "replace")
    found = {each.name: each for each in listings(text, kernels[0].target)} if kernels else {}
    made = [found.get(_symbol(kernel)) for kernel in kernels]
    if None in made:
        raise NoDisassembler(INSTALL)
    note = "no disassembler here: read from the .amdgcn text beside it"
    return [replace(each, notes=(note, *each.notes)) for each in made if each is not None]


def _text(source: Source) -> str:
    if source.size > LONGEST_TEXT:
        raise source.bad(None, f"{source.size} bytes of text; {LONGEST_TEXT} are read at most")
    return source.read(0, source.size).decode("utf-8", "replace")


def _symbol(kernel: Kernel) -> str:
    """The name of the kernel's function."""
    return kernel.symbol.removesuffix(".kd") or kernel.name
