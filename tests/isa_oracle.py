# ruff: noqa: E501  (tables of instructions)
"""What LLVM's own tables say that instructions read and write, and where wavefit says otherwise, with the reason."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wavefit.isa.form import form
from wavefit.isa.model import Form
from wavefit.isa.registers import NAMED, names, span

DATA = Path(__file__).parent / "data" / "isa"
_FILES = {"VGPR": "v", "SGPR": "s", "AGPR": "a", "TTMP": "ttmp"}
_PAIRS = ("vcc", "exec")


@dataclass(frozen=True)
class Row:
    """One instruction as LLVM 22 decodes and describes it."""

    target: str
    features: str
    text: str
    writes: int
    reads: int


@dataclass(frozen=True)
class Differs:
    """A difference that is meant: where `text` matches, registers of `side` may differ. `why` is the reason.

    `side` is `reads+` (wavefit says more than LLVM), `reads-`, `writes+` or `writes-`; `only` limits it to
    these registers, None to those that the instruction writes.
    """

    side: str
    text: str
    why: str
    only: str | None = None


EXCEPTIONS = (
    Differs("reads+", r"\w*(_d16\w*|_i16\w*|_u16\w*) ", "a load or a result of 16 bits keeps the other half; LLVM ties it in some forms alone"),
    Differs("reads+", r".* dst_unused:UNUSED_PRESERVE", "SDWA that preserves keeps a part; LLVM says so only where it comes from its own selection"),
    Differs("reads+", r"\S+ [va]\d+\.[lh]\b", "half a register written: the other half stays"),
    Differs("reads+", r"s_(cmovk?|bitset[01])_", "conditional move and single bit: the rest of the destination stays"),
    Differs("reads+", r"v_pk_fmac_f16", "adds to its destination"),
    Differs("reads+", r"v_cvt_(scalef32_\w+|pk_\w+|sr_\w+)", "writes a byte or half that op_sel names: the rest stays"),
    Differs("reads-", r"\w+ .*(dpp8:|quad_perm:|row_|bound_ctrl:|wave_)", "DPP that every lane gets a value from writes all of it; LLVM ties the old value always"),
    Differs("reads-", r"v_dual_\w+ .*(fmac|dot2acc)", "LLVM names the register before the destination of an odd half", "*"),
    Differs("reads-", r"v_nop", "does nothing in any lane", "exec"),
    Differs("reads+", r"v_interp_p2_", "adds to its destination and takes the parameter's place from M0", "*"),
    Differs("reads-", r"ds_\w+", "LDS needs M0 only before gfx9 (its ISA manual); LLVM names it where it has no form without", "m0"),
    Differs("reads-", r"(exp|export) ", "the register of a channel that is off is not read, though it is encoded", "*"),
    Differs("reads+", r"scratch_\w+ .*lds$", "scratch is found through FLAT_SCRATCH by every form", "flat_scratch"),
    Differs("reads-", r"s_barrier_signal_isfirst", "writes SCC, reads nothing", "scc"),
    Differs("reads-", r"v_interp_\w+", "from gfx11 on parameters come in registers: M0 is not read", "m0"),
    Differs("writes+", r"[sv]_movrel", "writes a register that M0 names: LLVM lists it as read", "*"),
    Differs("writes+", r"s_subvector_loop_", "writes the loop's counter, says the ISA manual", "*"),
    Differs("writes+", r"s_cbranch_([gi]_fork|join)", "changes EXEC, says the ISA manual", "exec"),
    Differs("reads+", r"s_cbranch_([gi]_fork|join)", "changes EXEC by what it was", "exec"),
    Differs("writes-", r"image_atomic_", "without glc it gives nothing back; LLVM has one form for both", "*"),
    Differs("writes+", r"buffer_atomic_\w+ .*(CASCADE|TH_ATOMIC_0x)", "the text does not say whether it returns", "*"),
)  # fmt: skip


def rows() -> Iterator[Row]:
    """Every frozen row."""
    with gzip.open(DATA / "llvm22.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            yield Row(row["target"], row["features"], row["text"], mask(row["writes"]), mask(row["reads"]))


def mnemonics() -> list[str]:
    """Every mnemonic that LLVM 22's AMDGPU assembler knows."""
    return gzip.decompress((DATA / "mnemonics.txt.gz").read_bytes()).decode().split()


def mask(words: str) -> int:
    """The registers that LLVM names, as wavefit's set; what it has no bit for (MODE and the like) is left out."""
    found = 0
    for word in words.split():
        if match := re.fullmatch(r"(VGPR|SGPR|AGPR|TTMP)(\d+)(?:-(\d+))?", word):
            first = int(match[2])
            found |= span(_FILES[match[1]], first, int(match[3] or first) - first + 1)
        else:
            name = re.sub(r"_(vi|ci|gfx\w+)$", "", word.lower()).replace("flat_scr_", "flat_scratch_")
            found |= NAMED.get(name, 0)
    return whole(found)


def whole(registers: int) -> int:
    """VCC and EXEC as one register each: LLVM names both halves where a wave of 32 lanes uses one."""
    for pair in _PAIRS:
        if registers & NAMED[pair]:
            registers |= NAMED[pair]
    return registers


def differences(row: Row) -> list[str]:
    """What wavefit says otherwise of a row without a reason for it; empty if nothing."""
    said = form(row.text, row.target)
    if said.kind == "unknown":
        return [f"{row.target} {row.text}: not understood"]
    reads, writes = whole(said.reads), whole(said.writes)
    sides = {
        "reads+": reads & ~row.reads,
        "reads-": row.reads & ~reads,
        "writes+": writes & ~row.writes,
        "writes-": row.writes & ~writes,
    }
    return [
        f"{row.target} {row.text}: {side} {' '.join(names(left))}"
        for side, found in sides.items()
        if (left := _unexplained(side, found, row, said))
    ]


USED: set[int] = set()
"""Exceptions that explained something, by their number."""


def _unexplained(side: str, found: int, row: Row, said: Form) -> int:
    for number, each in enumerate(EXCEPTIONS):
        if found and each.side == side and re.match(each.text, row.text):
            allowed = said.writes if each.only is None else -1 if each.only == "*" else NAMED[each.only]
            if found & allowed:
                USED.add(number)
            found &= ~allowed
    return found
