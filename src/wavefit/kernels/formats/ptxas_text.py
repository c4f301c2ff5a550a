"""Text: what ptxas prints with `-v` (nvcc: `-Xptxas -v`) of each kernel that it compiles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wavefit.kernels.nvidia.arch import LANES, Arch, from_text
from wavefit.kernels.registry import reader
from wavefit.kernels.source import Source
from wavefit.kernels.text import text_of, text_with
from wavefit.model import Kernel

NEEDLE = b"ptxas info"
_LINE = re.compile(
    rb"Compiling entry function '(?P<name>[^'\n]+)' for '(?P<target>sm_\d{1,4}[af]?)'"
    rb"|Function properties for (?P<about>[^\s]+)"
    rb"|(?P<frame>\d{1,10}) bytes stack frame, (?P<stores>\d{1,10}) bytes spill stores,"
    rb" (?P<loads>\d{1,10}) bytes spill loads"
    rb"|Used (?P<used>\d{1,10} registers[^\n]{0,4096})"
)
_AMOUNT = re.compile(
    rb"(\d{1,10})(?:\+\d{1,10})? (registers|barriers|bytes smem|bytes cumulative stack size)"
)
NOTES = ("read from ptxas -v: the workgroup sizes it was compiled for are not known",)


@reader("ptxas -v", when=lambda source: text_with(source, (NEEDLE,)), forward=True)
def ptxas(source: Source) -> Iterator[Kernel]:
    """The kernels in the order in which they were compiled."""
    name, arch, about = "", None, ""
    frame = stores = loads = 0
    for line in _LINE.finditer(text_of(source)):
        if line["name"]:
            name, arch, about = _text(line["name"]), from_text(line["target"].decode()), ""
            frame = stores = loads = 0
        elif line["about"]:
            about = _text(line["about"])
        elif line["frame"] and about == name:  # functions that it calls follow after it
            frame, stores, loads = (int(line[part]) for part in ("frame", "stores", "loads"))
        elif line["used"] and name and arch:
            yield _kernel(source, name, arch, _amounts(line["used"]), frame, (stores, loads))
            name = ""


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")


def _amounts(text: bytes) -> dict[str, int]:
    return {amount[2].decode(): int(amount[1]) for amount in _AMOUNT.finditer(text)}


def _kernel(
    source: Source, name: str, arch: Arch, used: dict[str, int], frame: int, spills: tuple[int, int]
) -> Kernel:
    said = (f"spills: {spills[0]} bytes stored and {spills[1]} loaded a thread",) if any(spills) else ()
    return Kernel(
        target=arch.name,
        features=arch.features,
        name=name,
        symbol=name,
        file=source.file,
        member=source.place,
        vgprs=used["registers"],
        total_vgprs=used["registers"],
        allocated_vgprs=used["registers"],
        lds=used.get("bytes smem", 0),
        scratch=used.get("bytes cumulative stack size", frame),
        barriers=used.get("barriers"),
        wave=LANES,
        notes=(*NOTES, *arch.notes, *said),
    )
