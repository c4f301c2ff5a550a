"""Text: what `cuobjdump -res-usage` prints of cubins, fat binaries and host files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wavefit.kernels.nvidia.arch import LANES, RESERVE, Arch, from_text
from wavefit.kernels.registry import reader
from wavefit.kernels.source import Source
from wavefit.kernels.text import text_of, text_with
from wavefit.model import Kernel

NEEDLE = b" STACK:"
_LINE = re.compile(
    rb"arch = (?P<arch>sm_\d{1,4}[af]?)\b"
    rb"|^[ \t]?Function (?P<name>[^\n]+):\r?\n[ \t]+REG:(?P<registers>\d{1,10})"
    rb" STACK:(?P<stack>\d{1,10}|UNKNOWN) SHARED:(?P<shared>\d{1,10}) LOCAL:(?P<local>\d{1,10})",
    re.MULTILINE,
)
NOTES = ("read from cuobjdump -res-usage: the workgroup sizes it was compiled for are not known",)
_NO_TARGET = (
    "the text names no target",
    f"from sm_90 on, {RESERVE} bytes of its shared memory are the driver's: not known here",
)


@reader("cuobjdump -res-usage", when=lambda source: text_with(source, (NEEDLE,)), forward=True)
def res_usage(source: Source) -> Iterator[Kernel]:
    """The kernels in the order of the text, without the functions that they call: 0 registers.

    The text of a bare cubin does not name its target.
    """
    arch = None
    for line in _LINE.finditer(text_of(source)):
        if line["arch"]:
            arch = from_text(line["arch"].decode())
        elif registers := int(line["registers"]):
            yield _kernel(source, line, arch, registers)


def _kernel(source: Source, line: re.Match[bytes], arch: Arch | None, registers: int) -> Kernel:
    name = line["name"].decode("utf-8", "backslashreplace")
    unbounded = line["stack"] == b"UNKNOWN"
    return Kernel(
        target=arch.name if arch else "",
        features=arch.features if arch else (),
        name=name,
        symbol=name,
        file=source.file,
        member=source.place,
        vgprs=registers,
        total_vgprs=registers,
        allocated_vgprs=registers,
        lds=max(0, int(line["shared"]) - (arch.reserve if arch else 0)),
        scratch=int(line["local"]) + (0 if unbounded else int(line["stack"])),
        dynamic_stack=unbounded,
        wave=LANES,
        notes=(*NOTES, *(arch.notes if arch else _NO_TARGET)),
    )
