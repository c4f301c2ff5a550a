"""Agreement counts of the `isa` room: recomputed from the frozen oracles and the compiled fixtures."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests import isa_data, isa_oracle, isa_rounds
from wavefit.feed.loop import feed_loop
from wavefit.isa.rules import UNKNOWN, bare, rule
from wavefit.matrix import instruction

PUBLISHED = {1: 0.70, 8: 0.97}
"""MfmaUtil at one wave a SIMD, by ILP: "Occupancy Math on the AMD MI355X (CDNA4)"."""


def rows() -> list[tuple[str, int | str, int | str, str]]:
    """Name, how many are equal, of how many, and what to know."""
    words = isa_oracle.mnemonics()
    known = sum(rule(bare(word), "gfx1250") is not UNKNOWN for word in words)
    table = list(isa_oracle.rows())
    same = sum(not isa_oracle.differences(row) for row in table)
    reasons = len(isa_oracle.EXCEPTIONS)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        return [
            ("LLVM 22's mnemonics classified", known, len(words), ""),
            (
                "reads and writes as LLVM 22's tables",
                same,
                len(table),
                f"{reasons} differences with a reason",
            ),
            _chains("feed", place),
            _chains("triton", place),
            _waits(place),
            *(_utilisation(ilp, place) for ilp in PUBLISHED),
        ]


def _chains(folder: str, place: Path) -> tuple[str, int, int, str]:
    equal = total = 0
    for name in isa_data.FEED if folder == "feed" else isa_data.TRITON:
        code = isa_data.from_text(folder, name, place)
        tile = isa_data.tile(name)
        if code.main is None or (folder == "triton" and tile is None):
            continue
        if tile is None:
            wanted = int(name.rpartition("ilp")[2])
        else:
            of = instruction(code.target, next(iter(code.main.counts.matrix)))
            wanted = tile[0] * tile[1] // tile[2] // (of.m * of.n)
        total += 1
        equal += len(code.main.chains) == wanted
    what = "chains = ILP of the microbenchmark" if folder == "feed" else "chains = tile fragments of a wave"
    return what, equal, total, ""


def _waits(place: Path) -> tuple[str, int, int, str]:
    found = [isa_rounds.waits(isa_data.from_text("triton", name, place)) for name in isa_data.TRITON]
    needed, sync, other = (sum(getattr(each, key) for each in found) for key in ("needed", "sync", "other"))
    early = sum(len(each.early) for each in found)
    note = f"{early} registers read too early; {sync} more waits stand before barriers and branches"
    return "LLVM's waits that a register of ours explains", needed, needed + other, note


def _utilisation(ilp: int, place: Path) -> tuple[str, str, str, str]:
    loop = isa_data.from_text("feed", f"gfx950_ilp{ilp}", place).main
    assert loop is not None
    found = feed_loop(loop, "MI355X", waves=1).utilisation
    return (
        f"MfmaUtil of ILP {ilp} at one wave",
        f"{found:.1%}",
        f"{PUBLISHED[ilp]:.0%}",
        "est. beside published",
    )
