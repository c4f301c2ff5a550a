"""From the text of one instruction, in LLVM's assembly language, to what it reads, writes and moves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from wavefit.isa.model import Form, Memory
from wavefit.isa.registers import NAMED, Misread, registers
from wavefit.isa.rules import UNKNOWN, Rule, bare, rule

_RETURNS = re.compile(r"\b(?:glc|sc0|th:TH_ATOMIC_(?:\w*RETURN\w*|CASCADE_\w+|0x\d*[13579bdf]))\b")
_WHOLE_DPP = re.compile(r"bound_ctrl:|quad_perm:|row_ror:|row_(?:half_)?mirror|row_share:|row_xmask:|dpp8:")
_COUNT = re.compile(r"(\w+?)cnt\((\d+)\)")
_WIDTHS = (
    (re.compile(r"_b(\d+)(?:_|$)"), 1 / 8),
    (re.compile(r"_[iuf](64|32|16|8)(?:_|$)"), 1 / 8),
    (re.compile(r"dwordx(\d+)"), 4),
)
_NAMED_WIDTHS = (("dword", 4), ("ubyte", 1), ("sbyte", 1), ("byte", 1), ("short", 2))
_TWO = re.compile(r"(?:read|write|load|store)(?:xchg|_)?2|wrxchg2|_2addr")
_APART = ("global", "flat")
"""Atomics of these write their result to a register of its own; the others' data take it."""
_ONCE = re.compile(r"\s+")


@lru_cache(maxsize=1 << 17)
def form(text: str, target: str) -> Form:
    """The Form of one instruction's text on a target (`gfx950`).

    What no rule knows has the kind `unknown`: its registers are in nobody's reads or writes.
    """
    text = _ONCE.sub(" ", text).strip()
    if " :: " in text:
        return _dual(text, target)
    mnemonic, _, rest = text.partition(" ")
    name = bare(mnemonic)
    said = rule(name, target)
    if said is UNKNOWN:
        return Form(text, name, "unknown")
    operands, modifiers = split(rest)
    try:
        return _read(text, mnemonic, name, said, operands, modifiers)
    except Misread as why:
        return Form(f"{text} ({why})", name, "unknown")


def split(rest: str) -> tuple[tuple[str, ...], str]:
    """Operands, and the modifiers that follow the last of them."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(rest):
        if char in "[(":
            depth += 1
        elif char in "])":
            depth -= 1
        elif char == "," and not depth:
            parts.append(rest[start:at].strip())
            start = at + 1
    last = rest[start:].strip()
    if not last:
        return tuple(parts), ""
    end = _end_of_operand(last)
    operand = last[:end]
    if ":" in operand and "[" not in operand.partition(":")[0]:  # a modifier where no operand is
        return tuple(parts), last
    return (*parts, operand), last[end:].strip()


def _end_of_operand(text: str) -> int:
    depth = 0
    for at, char in enumerate(text):
        if char in "[(":
            depth += 1
        elif char in "])":
            depth -= 1
        elif char == " " and not depth and not text.startswith("/*", at + 1):
            return at
    return len(text)


def _read(text: str, mnemonic: str, name: str, said: Rule, operands: tuple[str, ...], modifiers: str) -> Form:
    defs, keeps = said.defs, said.keeps
    masks = [registers(operand) for operand in operands]
    reads, writes = said.reads, said.writes
    memory = _memory(name, said, operands, modifiers)
    if memory and memory.returns and not defs:
        defs, keeps = 1, () if name.startswith(_APART) else (0,)
    if memory and memory.to_lds:
        defs, reads = 0, reads | (NAMED["m0"] if "async" not in name else 0)
    if (
        defs
        and said.kind in ("valu", "vector", "lds")
        and _keeps_a_part(mnemonic, name, operands[:1], modifiers)
    ):
        keeps = (*keeps, 0)
    for at, mask in enumerate(masks):
        if at < defs:
            writes |= mask
        if at >= defs or at in keeps:
            reads |= mask
    return Form(
        text=text,
        name=name,
        kind=said.kind,
        reads=reads,
        writes=writes,
        operands=operands,
        modifiers=modifiers,
        memory=memory,
        counts=_counts(name, text) if said.kind == "wait" else {},
        accumulates=_accumulates(said, masks) if said.kind == "matrix" else 0,
    )


def _dual(text: str, target: str) -> Form:
    """Two instructions issued as one: together they read and write what each does."""
    halves = [form(half.replace("v_dual_", "v_"), target) for half in text.split(" :: ")]
    names = [half.name for half in halves]
    reads = writes = 0
    for half in halves:
        reads, writes = reads | half.reads, writes | half.writes
        if half.name == "v_cndmask_b32" and len(half.operands) == 3:  # does not name the VCC that it reads
            reads |= NAMED["vcc_lo"]
    kind = "valu" if all(half.kind == "valu" for half in halves) else "unknown"
    return Form(text, f"v_dual_{names[0].removeprefix('v_')}", kind, reads, writes, halves[0].operands, text)


def _keeps_a_part(mnemonic: str, name: str, written: tuple[str, ...], modifiers: str) -> bool:
    """Whether the first operand keeps some lanes or bits of what it held."""
    if "_d16" in name and ("format" not in name or "_hi" in name):
        return True
    if written and written[0].endswith((".l", ".h")):
        return True
    if "UNUSED_PRESERVE" in modifiers:
        return True
    if "_dpp" in mnemonic:
        whole = _WHOLE_DPP.search(modifiers)
        masks = re.findall(r"(?:row|bank)_mask:(0x[0-9a-f]+)", modifiers)
        return not whole or any(mask != "0xf" for mask in masks)
    return False


def _returns(name: str, said: Rule, operands: tuple[str, ...], modifiers: str) -> bool:
    """Whether an atomic gives the old value back."""
    if said.action != "atomic":
        return False
    if said.defs:
        return True
    if name.startswith(_APART):  # the result is one operand more: result, address, data[, scalar address]
        scalar = bool(operands) and not re.match(r"[va][\d\[]", operands[-1])
        return len(operands) - scalar == 3
    return bool(_RETURNS.search(modifiers))


def _memory(name: str, said: Rule, operands: tuple[str, ...], modifiers: str) -> Memory | None:
    if not said.space:
        return None
    to_lds = "lds" in modifiers.split() or ("_lds_" in f"{name}_" and said.kind == "vector")
    return Memory(
        space=said.space,
        action=said.action,
        bytes=_bytes(name, said),
        to_lds=to_lds,
        returns=_returns(name, said, operands, modifiers),
    )


def _bytes(name: str, said: Rule) -> int | None:
    """Bytes a lane by the mnemonic, None where it does not say."""
    if said.space in ("clock", "message"):
        return 8 if said.space == "clock" else None
    if said.space in ("image", "gds") or "format" in name:
        return None
    times = 2 if _TWO.search(name) else 1
    for pattern, scale in _WIDTHS:
        if match := pattern.search(name):
            return int(int(match[1]) * scale) * times
    for word, size in _NAMED_WIDTHS:
        if word in name:
            return size * times
    if said.action == "atomic":
        return 8 if name.endswith("_x2") else 4
    return None


def _counts(name: str, text: str) -> Mapping[str, int]:
    """Counters of a wait and how many operations may still be outstanding: `{"vm": 0, "lgkm": 2}`."""
    rest = text.partition(" ")[2]
    if name.startswith("s_wait_"):  # gfx12: one counter (or two) an instruction
        words = [word.removesuffix("cnt") for word in name.removeprefix("s_wait_").split("_")]
        value = _number(rest)
        if value is None or not all(word in _COUNTERS for word in words):
            return {}
        if len(words) == 2:  # loads (or stores) in the high byte, LDS in the low one
            return {words[0]: value >> 8, words[1]: value & 0xFF}
        return {words[0]: value}
    if name.startswith("s_waitcnt_"):
        value = _number(rest.rpartition(",")[2])
        word = name.removeprefix("s_waitcnt_").removesuffix("cnt")
        return {word: value} if value is not None and word in _COUNTERS else {}
    return {match[1]: int(match[2]) for match in _COUNT.finditer(rest)}


_COUNTERS = frozenset((
    "vm", "lgkm", "exp", "vs", "load", "store", "ds", "km", "sample", "bvh", "x", "async", "tensor",
))  # fmt: skip


def _number(text: str) -> int | None:
    try:
        return int(text.strip(), 0)
    except ValueError:
        return None


def _accumulates(said: Rule, masks: list[int]) -> int:
    """The registers of C: D itself where the instruction adds to it, else the fourth operand."""
    if said.keeps:
        return masks[0] if masks else 0
    return masks[3] if len(masks) > 3 else 0
