"""AMD's and NVIDIA's words for the same things: AMD's lead, NVIDIA's stand beside them on its chips."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from wavefit.chips import ChipNotFound, target
from wavefit.report.language import say
from wavefit.report.wrap import table


@dataclass(frozen=True, slots=True)
class Word:
    """What AMD, NVIDIA, and nobody in particular call one thing."""

    amd: str
    nvidia: str
    what: str


ROSETTA = (
    Word("CU, compute unit", "SM", "its SIMDs share LDS"),
    Word("WGP, two CUs (RDNA)", "-", "shares LDS in WGP mode"),
    Word("SIMD", "sub-partition", "has registers of its own"),
    Word("work-item", "thread", "one lane of a wave"),
    Word("wavefront, wave (32, 64)", "warp (32)", "lanes that run as one"),
    Word("wave slot", "warp slot", "room for one resident wave"),
    Word("workgroup", "block, CTA", "waves with LDS and barriers"),
    Word("VGPR", "register", "32 bits a lane"),
    Word("AGPR, accumulator", "-", "32 bits a lane, for matrices"),
    Word("SGPR", "uniform register", "32 bits a wave"),
    Word("LDS", "shared memory", "bytes of one workgroup"),
    Word("scratch", "local memory, stack", "memory of one lane, spills"),
    Word("s_barrier", "__syncthreads", "waves of a workgroup meet"),
    Word("s_waitcnt", "scoreboard", "a wave waits for its loads"),
    Word("matrix core (MFMA, WMMA)", "tensor core (mma, wgmma)", "multiplies tiles"),
    Word("code object (.hsaco)", "cubin", "code of one target"),
    Word(".hip_fatbin", ".nv_fatbin", "code of several, embedded"),
)
"""What `wavefit chips --rosetta` prints, line by line."""

BESIDE = {
    "NVIDIA": {
        "VGPR": "register", "VGPRs": "registers", "LDS": "shared memory", "scratch": "stack",
        "wave slots": "warp slots", "workgroups": "blocks", "workgroup": "block",
        "waves": "warps", "wave": "warp", "SIMD": "sub-partition",
    },
}  # fmt: skip
"""By vendor: its word for one of those that reports are written in."""


def other(word: str, vendor: str) -> str | None:
    """The vendor's own word, None where it uses the same."""
    return BESIDE.get(vendor, {}).get(word)


def named(word: str, vendor: str) -> str:
    """The word, with the vendor's own beside it where that is another."""
    own = other(word, vendor)
    return f"{say(word)} ({say(own)})" if own else say(word)


@lru_cache(maxsize=256)
def vendor_of(name: str) -> str:
    """Who makes a target, "" where it has no page."""
    try:
        return target(name).vendor
    except ChipNotFound:
        return ""


def rosetta_document() -> dict[str, Any]:
    """The document `wavefit.rosetta/1`."""
    words = [{"amd": word.amd, "nvidia": word.nvidia, "what": word.what} for word in ROSETTA]
    return {"schema": "wavefit.rosetta/1", "words": words}


def rosetta_text() -> str:
    """The table."""
    rows = [("AMD", "NVIDIA", ""), *((word.amd, word.nvidia, say(word.what)) for word in ROSETTA)]
    return "\n".join(table(rows, "<<<", indent=0, gap=2))
