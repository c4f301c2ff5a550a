"""Basic blocks and natural loops of decoded code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wavefit.isa.model import Op

_ENDS = frozenset(("end", "jump"))


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions that run one after the other. `next` are the numbers of the blocks that may follow."""

    number: int
    ops: tuple[Op, ...]
    next: tuple[int, ...]
    leaves: bool
    """Ends the kernel, or goes where the code alone does not say."""


@dataclass(frozen=True, slots=True)
class Flow:
    """The blocks that can be reached, in the order of their addresses; the first is where the code starts."""

    blocks: tuple[Block, ...]
    order: tuple[int, ...]
    """Block numbers in reverse postorder: each before those that it leads to, but for loops."""
    dominators: tuple[int, ...]
    """Of each block the nearest one that every way to it passes; of the first block itself."""

    def dominates(self, one: int, other: int) -> bool:
        """Whether every way to `other` passes `one`."""
        while other != one:
            up = self.dominators[other]
            if up == other:
                return False
            other = up
        return True


@dataclass(frozen=True, slots=True)
class Cycle:
    """One natural loop: its header, its blocks in reverse postorder, how deep it is nested."""

    header: int
    blocks: tuple[int, ...]
    latches: tuple[int, ...]
    """Blocks that lead back to the header."""
    depth: int
    """1 for a loop that is in no other."""


def flow(ops: Sequence[Op]) -> Flow:
    """Blocks and dominators of a function that starts with the first of these instructions."""
    raw = _blocks(ops)
    order = _postorder(raw)[::-1] if raw else []
    kept = sorted(order)
    number = {old: new for new, old in enumerate(kept)}
    blocks = tuple(
        Block(number[old], raw[old].ops, tuple(number[each] for each in raw[old].next), raw[old].leaves)
        for old in kept
    )
    renumbered = tuple(number[old] for old in order)
    return Flow(blocks, renumbered, _dominators(blocks, renumbered))


def cycles(of: Flow) -> tuple[Cycle, ...]:
    """The natural loops, outer ones first; those with one header are one loop."""
    before = _predecessors(of.blocks)
    latches: dict[int, list[int]] = {}
    for block in of.blocks:
        for header in block.next:
            if of.dominates(header, block.number):
                latches.setdefault(header, []).append(block.number)
    bodies = {header: _body(header, ends, before) for header, ends in latches.items()}
    place = {number: at for at, number in enumerate(of.order)}
    found = [
        Cycle(
            header=header,
            blocks=tuple(sorted(body, key=place.__getitem__)),
            latches=tuple(latches[header]),
            depth=sum(header in other for other in bodies.values()),
        )
        for header, body in bodies.items()
    ]
    return tuple(sorted(found, key=lambda cycle: (place[cycle.header], -len(cycle.blocks))))


def _blocks(ops: Sequence[Op]) -> list[Block]:
    at_of = {op.at: index for index, op in enumerate(ops)}
    starts = {0} if ops else set()
    for index, op in enumerate(ops):
        if op.kind in ("branch", "end", "jump"):
            starts.add(index + 1)
        if op.kind in ("branch", "jump") and op.target in at_of:
            starts.add(at_of[op.target])
    firsts = sorted(start for start in starts if start < len(ops))
    number = {first: at for at, first in enumerate(firsts)}
    found = []
    for at, first in enumerate(firsts):
        end = firsts[at + 1] if at + 1 < len(firsts) else len(ops)
        body = tuple(ops[first:end])
        after = number.get(end)
        last = body[-1]
        to = (
            number.get(at_of[last.target])
            if last.target in at_of and last.kind in ("branch", "jump")
            else None
        )
        falls = last.kind not in _ENDS and last.name != "s_branch"
        following = [each for each in (after if falls else None, to) if each is not None]
        lost = (last.kind in _ENDS or last.kind == "branch") and to is None
        found.append(Block(at, body, tuple(dict.fromkeys(following)), lost or (falls and after is None)))
    return found


def _postorder(blocks: Sequence[Block]) -> list[int]:
    """Reachable blocks, each after all that it leads to; without recursion, for code of any size."""
    found: list[int] = []
    seen = {0}
    waiting = [(0, iter(blocks[0].next))]
    while waiting:
        number, rest = waiting[-1]
        for each in rest:
            if each not in seen:
                seen.add(each)
                waiting.append((each, iter(blocks[each].next)))
                break
        else:
            found.append(number)
            waiting.pop()
    return found


def _predecessors(blocks: Sequence[Block]) -> list[list[int]]:
    before: list[list[int]] = [[] for _ in blocks]
    for block in blocks:
        for each in block.next:
            before[each].append(block.number)
    return before


def _dominators(blocks: Sequence[Block], order: Sequence[int]) -> tuple[int, ...]:
    """Immediate dominators, by intersecting along reverse postorder until nothing changes."""
    if not blocks:
        return ()
    place = {number: at for at, number in enumerate(order)}
    before = _predecessors(blocks)
    found: list[int | None] = [None] * len(blocks)
    found[order[0]] = order[0]
    changed = True
    while changed:
        changed = False
        for number in order[1:]:
            known = [each for each in before[number] if found[each] is not None]
            best = known[0]
            for each in known[1:]:
                best = _meet(best, each, found, place)
            if found[number] != best:
                found[number], changed = best, True
    return tuple(each if each is not None else at for at, each in enumerate(found))


def _meet(one: int, other: int, found: Sequence[int | None], place: dict[int, int]) -> int:
    while one != other:
        while place[one] > place[other]:
            one = found[one] or 0
        while place[other] > place[one]:
            other = found[other] or 0
    return one


def _body(header: int, latches: Sequence[int], before: Sequence[Sequence[int]]) -> set[int]:
    """Blocks from which a latch is reached without passing the header, and the header."""
    body = {header}
    waiting = list(latches)
    while waiting:
        number = waiting.pop()
        if number not in body:
            body.add(number)
            waiting.extend(before[number])
    return body
