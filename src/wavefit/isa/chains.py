"""Accumulator chains: which matrix instructions of a loop wait for which through C and D."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wavefit.isa.flow import Cycle, Flow
from wavefit.isa.model import Form, Op
from wavefit.isa.registers import ACCUMULATORS, VECTORS, names, registers
from wavefit.isa.scratch import slot

_COPIES = frozenset((
    "v_mov_b32", "v_mov_b64", "v_pk_mov_b32",
    "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32",
))  # fmt: skip
"""Instructions that only carry a result on."""

_SELECT = re.compile(r"\bop_sel:\[([01]),([01])\]")
_VECTORS = VECTORS + ACCUMULATORS
"""Bits below are vector registers and accumulators."""
_SLOTS = 1 << 32
"""Places in scratch follow, by their base and byte offset."""

State = dict[int, frozenset[int]]
"""By register (one bit) or slot of scratch: the matrix instructions whose result may be in it."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Matrix instructions of one iteration that add to each other's results, in order.

    `carried` says that the next iteration goes on where this one ends. `registers` are those of C and D.
    """

    ops: tuple[Op, ...]
    carried: bool
    registers: tuple[str, ...]

    @property
    def length(self) -> int:
        """Instructions an iteration, each of which waits for the one before it."""
        return len(self.ops)

    @property
    def instructions(self) -> tuple[str, ...]:
        """The mnemonics in it, each once."""
        return tuple(dict.fromkeys(op.name for op in self.ops))


def chains(of: Flow, cycle: Cycle) -> tuple[Chain, ...]:
    """The chains of a loop, in the order of their first instructions; a lone one is of length 1."""
    bodies = {number: of.blocks[number].ops for number in cycle.blocks}
    matrix = [op for number in cycle.blocks for op in bodies[number] if op.kind == "matrix"]
    if not matrix:
        return ()
    index = {op.at: at for at, op in enumerate(matrix)}
    inside = _links(of, cycle, bodies, index, around=False)
    every = _links(of, cycle, bodies, index, around=True)
    group = list(range(len(matrix)))
    for consumer, producers in every.items():
        for producer in producers:
            _join(group, consumer, producer)
    carried = {
        _root(group, consumer)
        for consumer, producers in every.items()
        if producers - inside.get(consumer, frozenset())
    }
    members: dict[int, list[int]] = {}
    for at in range(len(matrix)):
        members.setdefault(_root(group, at), []).append(at)
    return tuple(
        Chain(tuple(matrix[at] for at in ops), root in carried, _registers(matrix[at] for at in ops))
        for root, ops in members.items()
    )


def _registers(ops: Iterable[Op]) -> tuple[str, ...]:
    mask = 0
    for op in ops:
        mask |= op.form.writes | op.form.accumulates
    return names(mask)


def _links(
    of: Flow, cycle: Cycle, bodies: Mapping[int, Sequence[Op]], index: Mapping[int, int], *, around: bool
) -> dict[int, frozenset[int]]:
    """For each matrix instruction those whose D may reach its C; `around`: also by the way back."""
    entry: dict[int, State] = {number: {} for number in cycle.blocks}
    links: dict[int, frozenset[int]] = {}
    waiting = list(cycle.blocks)
    rounds = 0
    while waiting and rounds <= len(cycle.blocks) + 64:
        rounds += 1
        again: set[int] = set()
        for number in waiting:
            state = _play(bodies[number], dict(entry[number]), index, links)
            for after in of.blocks[number].next:
                if after in entry and (around or after != cycle.header) and _merge(entry[after], state):
                    again.add(after)
        waiting = [number for number in cycle.blocks if number in again]
    return links


def _play(
    ops: Sequence[Op], state: State, index: Mapping[int, int], links: dict[int, frozenset[int]]
) -> State:
    """Follows results through a block, and notes in `links` what reaches each C."""
    for op in ops:
        said = op.form
        if op.kind == "matrix":
            here = index[op.at]
            reached: frozenset[int] = frozenset()
            for bit in _bits(said.accumulates):
                reached |= state.get(bit, frozenset())
            links[here] = links.get(here, frozenset()) | reached
            mine = frozenset((here,))
            for bit in _bits(said.writes):
                state[bit] = mine
        elif said.name in _COPIES:
            _carry(said, state)
        elif (place := slot(op)) and said.memory is not None and said.memory.bytes:
            _spill(op, _SLOTS + (zlib.crc32(place[0].encode()) << 24) + place[1], state)
        elif said.writes:
            for bit in [bit for bit in state if bit < _SLOTS and said.writes >> bit & 1]:
                del state[bit]
    return state


def _carry(said: Form, state: State) -> None:
    """A copy: each register written holds what the one read did."""
    targets = list(_bits(said.writes))
    sources = list(_sources(said))
    values = [state.get(bit) for bit in sources] if len(sources) == len(targets) else [None] * len(targets)
    for target, value in zip(targets, values, strict=True):
        if value:
            state[target] = value
        else:
            state.pop(target, None)


def _sources(said: Form) -> Iterable[int]:
    """The registers that a copy reads, in the order of those that it writes."""
    if said.name != "v_pk_mov_b32":
        return (bit for bit in _bits(said.reads) if bit < _VECTORS)
    chosen = _SELECT.search(said.modifiers)
    halves = (int(chosen[1]), int(chosen[2])) if chosen else (0, 0)
    pairs = [list(_bits(registers(operand))) for operand in said.operands[1:3]]
    return [pair[half] for pair, half in zip(pairs, halves, strict=True) if half < len(pair)]


def _spill(op: Op, first: int, state: State) -> None:
    """A store to a slot of scratch, or a load from one: the slot holds what the register did."""
    stores = op.form.memory is not None and op.form.memory.action == "store"
    data = [bit for bit in _bits(op.form.reads if stores else op.form.writes) if bit < _VECTORS]
    for at, bit in enumerate(data):
        source, target = (bit, first + 4 * at) if stores else (first + 4 * at, bit)
        value = state.get(source)
        if value:
            state[target] = value
        else:
            state.pop(target, None)


def _merge(into: State, state: State) -> bool:
    changed = False
    for bit, ops in state.items():
        known = into.get(bit, frozenset())
        if not ops <= known:
            into[bit] = known | ops
            changed = True
    return changed


def _bits(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _root(group: list[int], at: int) -> int:
    while group[at] != at:
        group[at] = group[group[at]]
        at = group[at]
    return at


def _join(group: list[int], one: int, other: int) -> None:
    first, second = sorted((_root(group, one), _root(group, other)))
    group[second] = first
