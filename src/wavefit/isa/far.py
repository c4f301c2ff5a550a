"""Branches farther than an instruction reaches: the compiler adds to the program counter and jumps there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from wavefit.isa.model import Op

_BACK = 8
"""Instructions before the jump in which the sum is made."""


def resolved(ops: Sequence[Op]) -> tuple[Op, ...]:
    """The same instructions, jumps to a known distance with their target."""
    found = list(ops)
    for at, op in enumerate(ops):
        if op.name == "s_setpc_b64" and op.size is not None:
            target = _target(op.form.operands[0], ops[max(0, at - _BACK) : at])
            if target is not None:
                found[at] = replace(op, target=target)
    return tuple(found)


def _target(pair: str, before: Sequence[Op]) -> int | None:
    """Where a jump through this register pair goes, None where the instructions before do not say."""
    start = next(
        (at for at, op in enumerate(before) if op.name == "s_getpc_b64" and op.form.operands[0] == pair), None
    )
    if start is None:
        return None
    low = high = None
    for op in before[start + 1 :]:
        mine = [op.form.operands[0]] if op.form.operands else []
        if op.name == "s_add_u32" and mine == _halves(pair)[:1]:
            low = _number(op.form.operands[-1])
        elif op.name == "s_addc_u32" and mine == _halves(pair)[1:]:
            high = _number(op.form.operands[-1])
    if low is None or high is None:
        return None
    after = before[start].at + (before[start].size or 4)
    distance = (low & 0xFFFFFFFF) | (high & 0xFFFFFFFF) << 32
    return (after + distance) & ((1 << 64) - 1)


def _halves(pair: str) -> list[str]:
    first, _, last = pair.strip("s[]").partition(":")
    return [f"s{first}", f"s{last}"]


def _number(operand: str) -> int | None:
    try:
        return int(operand, 0)
    except ValueError:
        return None
