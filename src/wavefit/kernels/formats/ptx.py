"""PTX: NVIDIA's assembly before it is compiled, so that nobody knows registers or shared memory yet.

Directives: NVIDIA's PTX ISA, "Performance-Tuning Directives".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wavefit.kernels.nvidia.arch import LANES, from_text
from wavefit.kernels.registry import reader
from wavefit.kernels.source import BadFile, Source
from wavefit.kernels.text import HEAD, is_text, text_of
from wavefit.model import Kernel

_VERSION = re.compile(rb"^[ \t]*\.version[ \t]+\d+\.\d+", re.MULTILINE)
_TARGET = re.compile(rb"^[ \t]*\.target[ \t]+(sm_\d{1,4}[af]?)\b", re.MULTILINE)
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_NAME = re.compile(rb"\s+([A-Za-z_$%][\w$]*)")
_SIZE = re.compile(rb"\.(maxntid|reqntid)\s+(\d{1,10})(?:\s*,\s*(\d{1,10}))?(?:\s*,\s*(\d{1,10}))?")
_AT_MOST = re.compile(rb"\.maxnreg\s+(\d{1,4})")
NOTES = ("PTX, not compiled: registers and static shared memory are not known",)


def _is_ptx(source: Source) -> bool:
    head = source.head(HEAD)
    return is_text(head) and bool(_VERSION.search(head) and _TARGET.search(head))


@reader("PTX", when=_is_ptx, forward=True)
def ptx(source: Source) -> Iterator[Kernel | BadFile]:
    """The entries in the order of the text; the target is the oldest that they can be compiled for."""
    text = _COMMENT.sub(b" ", text_of(source))
    target = _TARGET.search(text)
    arch = from_text(target[1].decode()) if target else None
    if arch is None:
        raise source.bad(0, "PTX without a .target")
    for name, directives in _entries(text):
        sizes = {size[1]: _shape(size) for size in _SIZE.finditer(directives)}
        most = sizes.get(b"maxntid")
        yield Kernel(
            target=arch.name,
            features=arch.features,
            name=name,
            symbol=name,
            file=source.file,
            member=source.place,
            max_threads=most[0] * most[1] * most[2] if most else None,
            required_size=sizes.get(b"reqntid"),
            wave=LANES,
            notes=(*NOTES, *arch.notes, *_cap(directives)),
        )


def _entries(text: bytes) -> Iterator[tuple[str, bytes]]:
    """The name of each entry that has a body, and what stands between its parameters and the body."""
    for part in text.split(b".entry")[1:]:
        head, brace, _ = part.partition(b"{")
        name = _NAME.match(head)
        if brace and name and b";" not in head:
            yield name[1].decode(), head.rpartition(b")")[2]


def _shape(size: re.Match[bytes]) -> tuple[int, int, int]:
    return int(size[2]), int(size[3] or 1), int(size[4] or 1)


def _cap(directives: bytes) -> Iterator[str]:
    if cap := _AT_MOST.search(directives):
        yield f"at most {int(cap[1])} registers a thread (.maxnreg)"
