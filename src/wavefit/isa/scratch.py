"""Accesses to scratch: found where the mnemonic does not say it, and the slot that each names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from wavefit.isa.model import Form, Op
from wavefit.isa.registers import SCALAR, registers, span

_OFFSET = re.compile(r"\boffset:(-?(?:0x)?[0-9a-fA-F]+)")
_MOVES = frozenset(("s_mov_b32", "s_mov_b64"))
_MOVES_ON = frozenset(("s_add_u32", "s_addc_u32", "s_add_i32"))
_BUFFER = span("s", 0, 4)
"""Where a kernel finds the descriptor of its scratch, where it is given one (LLVM AMDGPU user guide)."""


def private(ops: Sequence[Op]) -> tuple[Op, ...]:
    """The same instructions, buffer accesses through the scratch descriptor marked as scratch.

    For a kernel that has scratch. Older targets reach it with ordinary buffer instructions, whose
    descriptor the kernel is given in its first four scalar registers and copies at its start.
    """
    known = _descriptors(ops)
    if not known:
        return tuple(ops)
    return tuple(replace(op, form=_scratch(op.form)) if _through(op, known) else op for op in ops)


def slot(op: Op) -> tuple[str, int] | None:
    """Base and byte offset of a scratch access whose address is the same for every lane; else None."""
    said = op.form
    if said.memory is None or said.memory.space != "scratch" or op.kind != "vector":
        return None
    where = [operand for operand in said.operands if not re.match(r"[va][\d\[]", operand)]
    vectors = len(said.operands) - len(where)
    if vectors != 1:  # an address in a vector register is a lane's own
        return None
    match = _OFFSET.search(said.modifiers)
    return " ".join(where), int(match[1], 0) if match else 0


def _scratch(said: Form) -> Form:
    assert said.memory is not None
    return replace(said, memory=replace(said.memory, space="scratch"))


def _through(op: Op, known: Iterable[int]) -> bool:
    said = op.form
    if op.kind != "vector" or not said.name.startswith("buffer_") or len(said.operands) < 3:
        return False
    return said.memory is not None and registers(said.operands[2]) in known and "idxen" not in said.modifiers


def _descriptors(ops: Sequence[Op]) -> frozenset[int]:
    """Scalar quads that hold the scratch descriptor all through the function."""
    held = {bit: at for at, bit in enumerate(_each(_BUFFER))}
    setting: set[int] = set()
    for index, op in enumerate(ops):
        said = op.form
        written = list(_each(said.writes & SCALAR))
        sources = list(_each(said.reads & SCALAR))
        if said.name in _MOVES and len(written) == len(sources) and all(bit in held for bit in sources):
            held.update((bit, held[source]) for bit, source in zip(written, sources, strict=True))
            setting.add(index)
        elif said.name in _MOVES_ON and len(written) == 1 and written[0] in held and said.reads & written[0]:
            setting.add(index)
        else:
            for bit in written:
                held.pop(bit, None)
        if op.kind in ("branch", "end", "jump") and said.name != "s_branch":
            break
    later = 0
    for index, op in enumerate(ops):
        if index not in setting:
            later |= op.form.writes
    quads = []
    for bit, place in held.items():
        quad = 0b1111 * bit
        if place == 0 and all(held.get(bit << at) == at for at in range(4)) and not quad & later:
            quads.append(quad)
    return frozenset(quads)


def _each(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low
        mask ^= low
