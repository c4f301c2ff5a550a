"""Triton's `matrix_instr_nonkdim` and `kpack`, as the instruction and the LDS read that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from wavefit.chips import Fact
from wavefit.matrix.errors import Refused
from wavefit.matrix.model import Instruction
from wavefit.matrix.read import fact, rows
from wavefit.matrix.table import Of, table_of, target_of
from wavefit.matrix.tile import tile

READ_BITS = 128
"""The widest LDS read of one lane: ds_read_b128."""


@dataclass(frozen=True, slots=True)
class TritonOptions:
    """What a pair of options means on a target for one dot.

    `k_width`: elements of K that a lane loads with one LDS read, over `reads_feed` instructions.
    """

    instruction: Instruction
    nonkdim: int
    kpack: int
    k_width: int
    reads_feed: int
    fact: Fact


def triton_options(
    of: Of,
    a: str,
    b: str | None = None,
    *,
    block_m: int,
    block_n: int,
    block_k: int,
    nonkdim: int = 0,
    kpack: int = 1,
    warps: int = 4,
    scaled: bool = False,
) -> TritonOptions:
    """The instruction that Triton takes for a dot of these types and block, and how operands are read.

    `nonkdim` 0 leaves the choice to Triton: 32 where both block_m and block_n reach it and the type has such
    an instruction, else 16. Raises Refused where an option does not apply (RDNA, NVIDIA, 32 on Hygon, kpack 2
    on gfx950) and where Triton would not use a scaled instruction.
    """
    target = target_of(of)
    allowed = _allowed().get(table_of(target))
    if allowed is None:
        raise Refused(f"{target.name}: matrix_instr_nonkdim and kpack are options of Triton's AMD backend")
    _check("matrix_instr_nonkdim", nonkdim, 0, allowed["nonkdim"], target.name)
    _check("kpack", kpack, 1, allowed["kpack"], target.name)
    least = int(allowed["scaled_warps"] or 1)
    if scaled and warps < least:
        raise Refused(
            f"Triton on {target.name} upcasts a scaled dot of {warps} warps to BF16; {least} or more"
        )
    choices = [
        each.instruction
        for each in tile(
            target, a, b, block_m=block_m, block_n=block_n, block_k=block_k, warps=1, scaled=scaled
        )
        if block_k % each.instruction.k == 0
    ]
    reach = nonkdim or max((each.m for each in choices if each.m <= min(block_m, block_n)), default=0)
    whole = [each for each in choices if each.m == each.n == (reach or each.m)]
    if not whole:
        size = f"{nonkdim}x{nonkdim} " if nonkdim else ""
        raise Refused(
            f"{target.name}: block_k {block_k} is no multiple of the K of any {size}{a} instruction"
        )
    chosen = max(whole, key=lambda each: each.k)
    lane_groups = chosen.wave // chosen.m
    held = chosen.k // lane_groups
    width = min(held * kpack, READ_BITS // chosen.a.type.bits, block_k // lane_groups)
    return TritonOptions(
        chosen, chosen.m, kpack, width, max(1, width // held), fact(chosen.m, allowed["from"])
    )


def _check(option: str, value: int, unset: int, allowed: str, target: str) -> None:
    if value == unset or str(value) in allowed.split():
        return
    what = f"only {' or '.join(allowed.split())}" if allowed else "the option does not apply"
    raise Refused(f"{option}={value} on {target}: {what}")


@lru_cache(maxsize=1)
def _allowed() -> Mapping[str, Mapping[str, str]]:
    return {row["table"]: row for row in rows("triton")}
