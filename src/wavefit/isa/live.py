"""Which registers hold a value that is still needed, and where most of them do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from wavefit.isa.flow import Flow
from wavefit.isa.model import Op
from wavefit.isa.registers import accumulators, scalars, vectors


@dataclass(frozen=True, slots=True)
class Width:
    """The most registers of each kind live at one place, each kind at its own. Per lane, or per wave.

    What a function leaves in registers for its caller is not counted: a kernel has none.
    """

    vgprs: int
    agprs: int
    sgprs: int
    at: int | None
    """Where most vector registers and accumulators together are live."""


def live_out(of: Flow) -> list[int]:
    """By block: the registers that are needed after it."""
    uses, kills = [], []
    for block in of.blocks:
        use = kill = 0
        for op in block.ops:
            use |= op.form.reads & ~kill
            kill |= op.form.writes
        uses.append(use)
        kills.append(kill)
    out = [0] * len(of.blocks)
    into = list(uses)
    changed = True
    while changed:
        changed = False
        for number in reversed(of.order):
            after = 0
            for each in of.blocks[number].next:
                after |= into[each]
            out[number] = after
            before = uses[number] | (after & ~kills[number])
            if before != into[number]:
                into[number], changed = before, True
    return out


def width(of: Flow, blocks: Iterable[int], out: list[int]) -> Width:
    """The widest places of these blocks, given what each leaves live."""
    most = [0, 0, 0]
    both, place = -1, None
    for number in blocks:
        for op, live in _backwards(of.blocks[number].ops, out[number]):
            counts = (vectors(live), accumulators(live), scalars(live))
            most = [max(pair) for pair in zip(most, counts, strict=True)]
            if counts[0] + counts[1] > both:
                both, place = counts[0] + counts[1], op.at
    return Width(most[0], most[1], most[2], place)


def _backwards(ops: tuple[Op, ...], live: int) -> Iterator[tuple[Op, int]]:
    """Each instruction, the last first, with what is live right before or right after it."""
    for op in reversed(ops):
        after = live | op.form.writes
        live = (live & ~op.form.writes) | op.form.reads
        yield op, after if after.bit_count() > live.bit_count() else live
