"""Rounds through decoded code: do LLVM's waits and wait states agree with our reads and writes?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from wavefit.isa import Code, Op
from wavefit.isa.registers import NAMED, names
from wavefit.isa.waits import allowed, counters_of, queues
from wavefit.matrix import MatrixError, instruction

_IGNORED = NAMED["exec"] | NAMED["scc"] | NAMED["vcc"] | NAMED["m0"]
_SYNC = frozenset(("barrier", "end", "branch", "call"))

Pending = dict[tuple[str, int], int]
"""By queue and register: how many operations of the same counter began after the one that writes it."""


@dataclass
class Found:
    """`early`: reads of what was not waited for. The others count waits, by what they are for."""

    early: list[str] = field(default_factory=list)
    needed: int = 0
    sync: int = 0
    other: int = 0


def waits(code: Code) -> Found:
    """Follows outstanding loads over all ways through a kernel, as LLVM's own pass does."""
    found = Found()

    def step(ops: tuple[Op, ...], at: int, state: Pending, report: bool) -> None:
        op, said = ops[at], ops[at].form
        if op.kind == "wait":
            dropped = _dropped(op, state, code.target)
            if report and said.counts:
                _count(found, ops, at, dropped)
            return
        if report:
            touched = said.reads | (said.writes if op.kind in ("valu", "salu", "matrix") else 0)
            early = [register for (_, register) in state if register & touched]
            if early:
                found.early.append(f"{code.name} {op.at:#x} {op.text}: {names(early[0])}")
        _begin(op, state, code.target)

    _round(code, step)
    return found


def _dropped(op: Op, state: Pending, target: str) -> int:
    """Takes out of the state what a wait has seen end; the registers."""
    dropped = 0
    for names_, count in allowed(op.form, target):
        ended = [
            key
            for key, age in state.items()
            if key[0] in names_ and age >= count and (not count or key[0] != "scalar")
        ]
        for key in ended:
            dropped |= key[1]
            del state[key]
    return dropped


def _count(found: Found, ops: tuple[Op, ...], at: int, dropped: int) -> None:
    after = next((op for op in ops[at + 1 :] if op.kind not in ("wait", "nop", "control")), None)
    if after is not None and (after.form.reads | after.form.writes) & dropped:
        found.needed += 1
    elif after is None or after.kind in _SYNC:
        found.sync += 1
    else:
        found.other += 1


def _begin(op: Op, state: Pending, target: str) -> None:
    entered = queues(op.form)
    for name in entered:
        counted = [names_ for names_ in counters_of(target).values() if name in names_]
        for key in state:
            if any(key[0] in names_ for names_ in counted):
                state[key] += 1
        if op.memory is not None and op.memory.action != "store":
            rest = op.form.writes & ~_IGNORED
            while rest:
                state[name, rest & -rest] = 0
                rest &= rest - 1


def matrix_results(code: Code) -> list[str]:
    """Reads of a matrix result by a vector instruction sooner than the wait states of its table row."""
    early: list[str] = []

    def step(ops: tuple[Op, ...], at: int, state: Pending, report: bool) -> None:
        op, said = ops[at], ops[at].form
        slots = int(said.operands[0], 0) + 1 if op.name == "s_nop" else 1
        if op.kind == "valu" and report:
            hit = [key for key in state if key[1] & said.reads]
            early.extend(f"{code.name} {op.at:#x} {op.text}: {state[key]} slots to go" for key in hit)
        for key in list(state):
            state[key] -= slots
            if state[key] <= 0:
                del state[key]
        if op.kind == "matrix" and (wait := _states(code.target, op)):
            state["matrix", said.writes] = wait

    _round(code, step)
    return early


def _states(target: str, op: Op) -> int:
    try:
        return instruction(target, op.name).waits.get("read", 0)
    except MatrixError:
        return 0


def _round(code: Code, step: Callable[[tuple[Op, ...], int, Pending, bool], None]) -> None:
    """Plays every block until nothing changes, then once more with a report."""
    of = code.flow
    entry: dict[int, Pending] = {of.order[0]: {}}

    def play(number: int, report: bool) -> Pending:
        state = dict(entry.get(number, {}))
        ops = of.blocks[number].ops
        for at in range(len(ops)):
            step(ops, at, state, report)
        return state

    waiting = list(of.order)
    for _ in range(64):
        again: set[int] = set()
        for number in waiting:
            state = play(number, False)
            for after in of.blocks[number].next:
                if after not in entry:
                    entry[after] = dict(state)
                    again.add(after)
                for key, age in state.items():
                    if entry[after].get(key, age + 1) > age:
                        entry[after][key] = age
                        again.add(after)
        waiting = [number for number in of.order if number in again]
        if not waiting:
            break
    for number in of.order:
        play(number, True)
