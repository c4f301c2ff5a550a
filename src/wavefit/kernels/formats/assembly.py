"""Text: AMD GPU assembly, and what llvm-readelf and llvm-objdump print of code objects."""

from __future__ import annotations

from collections.abc import Iterator

from wavefit.kernels.amd import isa
from wavefit.kernels.amd.assembly import NEEDLES, Part, descriptor_of, parts
from wavefit.kernels.amd.join import joined
from wavefit.kernels.amd.limits import limits_of
from wavefit.kernels.amd.metadata import Spend
from wavefit.kernels.registry import reader
from wavefit.kernels.rows import CodeObject
from wavefit.kernels.source import BadFile, Source
from wavefit.kernels.text import text_of, text_with
from wavefit.model import Kernel

OLDEST, USUAL = 2, 5
"""Code object versions: of metadata in V2's words, and of a text that says none."""


@reader("text about code objects", when=lambda source: text_with(source, NEEDLES), forward=True)
def assembly(source: Source) -> Iterator[Kernel | BadFile]:
    """The kernels of the metadata, then those that only have directives."""
    for part in parts(text_of(source)):
        for at, cause in part.troubles:
            yield source.bad(at, cause)
        yield from _kernels(source, part)


def _kernels(source: Source, part: Part) -> Iterator[Kernel | BadFile]:
    code, named = _code(source, part), part.target or source.hint or ""
    blocks = dict(part.blocks)
    spends = [(spend, blocks.pop(spend.symbol.removesuffix(".kd"), None)) for spend in part.entries]
    spends += [(Spend(name, f"{name}.kd"), block) for name, block in blocks.items()]
    for spend, block in spends:
        try:
            yield joined(code, spend, descriptor_of(block, code.limits, named) if block else None)
        except ValueError as error:
            yield source.bad(None, f"kernel {spend.name}: {error}")


def _code(source: Source, part: Part) -> CodeObject:
    written = isa.from_text(part.target or source.hint or "")
    limits, name, remarks = limits_of(written.name) if written else (None, "", ("the text names no target",))
    member = "/".join(filter(None, (source.place, part.name))) or None
    return CodeObject(
        file=source.file,
        member=member,
        target=name,
        features=written.features if written else (),
        version=part.version or USUAL,
        limits=limits,
        notes=("read from text", *remarks),
    )
