"""Text: what clang prints with `-Rpass-analysis=kernel-resource-usage`.

The remarks name no target and no descriptor: registers as counted, without what is allocated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from wavefit.kernels.registry import reader
from wavefit.kernels.source import Source
from wavefit.kernels.text import text_of, text_with
from wavefit.model import Kernel

NEEDLE = b"[-Rpass-analysis=kernel-resource-usage]"
_REMARK = re.compile(
    rb"remark:[ \t]+(?:<unknown>:0:0:[ \t]+)?([A-Za-z][^\n:]{0,60}):[ \t]+([^\n]*?)[ \t]*" + re.escape(NEEDLE)
)
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_NAME = "Function Name"
_COUNTS = {
    "TotalSGPRs": "sgprs",
    "SGPRs": "sgprs",
    "VGPRs": "vgprs",
    "AGPRs": "agprs",
    "ScratchSize [bytes/lane]": "scratch",
    "SGPRs Spill": "sgpr_spills",
    "VGPRs Spill": "vgpr_spills",
    "LDS Size [bytes/block]": "lds",
}
_KERNELS_ONLY = "lds"
"""Is not said of functions that kernels call."""
NOTES = ("read from compiler remarks, which do not name the target", "what is allocated is not known")


@reader("compiler remarks", when=lambda source: text_with(source, (NEEDLE,)), forward=True)
def remarks(source: Source) -> Iterator[Kernel]:
    """The kernels in the order in which the compiler speaks of them."""
    name, dynamic = "", False
    counts: dict[str, int] = {}
    for key, value in _said(text_of(source)):
        if key == _NAME:
            yield from _kernel(source, name, counts, dynamic)
            name, counts, dynamic = value, {}, False
        elif key == "Dynamic Stack":
            dynamic = value == "True"
        elif key in _COUNTS and value.isdecimal() and len(value) <= 10:
            counts[_COUNTS[key]] = int(value)
    yield from _kernel(source, name, counts, dynamic)


def _said(text: bytes) -> Iterator[tuple[str, str]]:
    for remark in _REMARK.finditer(_COLOUR.sub(b"", text)):
        key, value = (part.decode("utf-8", "backslashreplace").strip() for part in remark.groups())
        yield key, value


def _kernel(source: Source, name: str, counts: dict[str, Any], dynamic: bool) -> Iterator[Kernel]:
    if name and _KERNELS_ONLY in counts:
        if not counts.get("agprs"):  # else the target would have to be known
            counts = {**counts, "total_vgprs": counts.get("vgprs")}
        yield Kernel(
            target="",
            name=name,
            file=source.file,
            member=source.place,
            dynamic_stack=dynamic,
            notes=NOTES,
            **counts,
        )
