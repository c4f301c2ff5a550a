"""What a worker does with a piece: three functions of plain data, each of which any other can do again."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TypeAlias

from wavefit.kernels import BadFile, NoKernels
from wavefit.kernels.bulk import Leaf, Rows, find, rows, rows_in
from wavefit.model import Kernel
from wavefit.survey.arrow import packed
from wavefit.survey.options import Options
from wavefit.survey.pieces import MOST, TOGETHER, Piece
from wavefit.survey.places import Listed, opener
from wavefit.survey.summary import Summary
from wavefit.survey.table import Table, table

Item: TypeAlias = "Rows | Kernel | BadFile"

SLICE_S, LONGEST_S = 0.3, 2.0
SLICE_BYTES = 8 << 20
"""A walk comes back with what it has found after this time, later ones after more; or when the Leaves to be
sent are this large. Between two slices its worker may be given something else."""
_KEPT = 8
"""Walks that a worker keeps open."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a piece held: Tables (packed; or written as a part, then `summary` counts them) and errors.

    `spoken` says that there was a kernel or an error, whatever its target.
    """

    found: tuple[bytes | Table | BadFile, ...] = ()
    spoken: bool = False
    size: int = 0
    summary: Summary | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing that a walk came by: a Piece to be read, or an Answer; None where its part was known."""

    number: int
    what: Piece | Answer | None
    last: bool = False


@dataclass(frozen=True, slots=True)
class Walked:
    """The next Slots of a walk, in the order of the file; `more` may follow."""

    slots: tuple[Slot, ...]
    more: bool


def read(piece: Piece, options: Options) -> Answer:
    """Reads a piece."""
    heard = _Heard(options)
    answer = _answer(heard.kept(_items(piece, options)), heard, options, piece.size)
    return delivered(answer, piece.files, options, piece.number if piece.leaves is not None else None)


def probe(piece: Piece, options: Options) -> None:
    """Reads a piece for nothing but to know whether one survives it."""
    for _ in _items(piece, options):
        pass


def read_items(piece: Piece, options: Options) -> Iterator[Item]:
    """The items of a piece, for who reads it here: of the targets asked for, as they come."""
    return _Heard(options).kept(_items(piece, options))


def walk(file: Listed, skip: int, options: Options, done: frozenset[int] = frozenset()) -> Walked:
    """Walks a large file on from its Slot number `skip`; `done` are Slots of which there are parts.

    A worker goes on where it was; another one begins again and passes over what is known.
    """
    key = (file, options, done)
    with _lock:
        at, slots = _walks.pop(key, (None, None))
    if slots is None or at != skip:
        slots = _slots(file, options, done)
        for _ in range(skip):
            next(slots, None)
    found: list[Slot] = []
    end, sent = time.monotonic() + min(LONGEST_S, SLICE_S * (1 + skip / 8)), 0
    while time.monotonic() < end and sent < SLICE_BYTES:
        slot = next(slots, None)
        if slot is None:
            break
        found.append(slot)
        if slot.last:
            return Walked(tuple(found), False)
        if isinstance(slot.what, Piece):
            sent += sum(len(leaf.data or b"") for leaf in slot.what.leaves or ())
    with _lock:
        _walks[key] = (skip + len(found), slots)
        while len(_walks) > _KEPT:
            del _walks[next(iter(_walks))]
    return Walked(tuple(found), True)


_walks: dict[object, tuple[int, Iterator[Slot]]] = {}
_lock = Lock()


def _slots(file: Listed, options: Options, done: frozenset[int]) -> Iterator[Slot]:
    """A walk's Slots: cut by what the file holds alone, so that they are the same each time."""
    number, leaves, own, heard = 0, list[Leaf](), list[Item](), _Heard(options)
    cost = 0

    def cut(last: bool = False) -> Iterator[Slot]:
        nonlocal number, leaves, own, heard, cost
        if not (leaves or own or last):
            return
        what: Piece | Answer | None = None
        if leaves:
            what = Piece((file,), tuple(leaves), number)
        elif number not in done:
            answer = _answer(iter(own), heard, options, 0)
            what = delivered(answer, (file,), options, number, last)
        yield Slot(number, None if number in done else what, last)
        number, leaves, own, heard, cost = number + 1, [], [], _Heard(options), 0

    for item in find(file.name, options.bounds, opener, options.jobs):
        if isinstance(item, Leaf):
            if own or cost >= TOGETHER or len(leaves) >= MOST:
                yield from cut()
            leaves.append(item)
            cost += item.cost
            continue
        if leaves or cost >= options.batch:
            yield from cut()
        for kept in heard.kept([item]):
            if not isinstance(kept, NoKernels) or file.named:
                own.append(kept)
        cost += len(item) if isinstance(item, Rows) else 1
    if leaves:
        yield from cut()
    yield from cut(last=True)


def _items(piece: Piece, options: Options) -> Iterator[Item]:
    dead = dict(piece.dead)
    if piece.leaves is None:
        for place, file in enumerate(piece.files):
            if place in dead:
                yield BadFile(file.name, None, None, dead[place])
                continue
            for item in rows(file.name, options.bounds, opener):
                if file.named or not isinstance(item, NoKernels):
                    yield item
        return
    (file,) = piece.files
    begin = 0
    for place in [*sorted(dead), len(piece.leaves)]:
        for item in (
            rows_in(file.name, piece.leaves[begin:place], options.bounds, opener) if place > begin else ()
        ):
            if not isinstance(item, NoKernels) or (item.member is None and file.named):
                yield item
        if place in dead:
            leaf = piece.leaves[place]
            yield BadFile(file.name, leaf.member, leaf.origin or None, dead[place])
        begin = place + 1


@dataclass(slots=True)
class _Heard:
    """Keeps what is of the targets asked for, and knows whether there was anything else."""

    options: Options
    spoken: bool = field(default=False)

    def kept(self, items: Iterable[Item | Leaf]) -> Iterator[Item]:
        targets = self.options.targets
        for item in items:
            if isinstance(item, BadFile):
                self.spoken = self.spoken or not isinstance(item, NoKernels)
                yield item
            elif not isinstance(item, Leaf):
                self.spoken = self.spoken or isinstance(item, Kernel) or len(item) > 0
                if not targets or (item.code.target if isinstance(item, Rows) else item.target) in targets:
                    yield item


def tables(items: Iterable[Item], batch: int, seconds: float) -> Iterator[Table | BadFile]:
    """Errors as they come, kernels in Tables of about `batch` rows or what came in some seconds."""
    some: list[Rows | Kernel] = []
    count, since = 0, time.monotonic()
    for item in items:
        if isinstance(item, BadFile):
            yield item
        else:
            some.append(item)
            count += len(item) if isinstance(item, Rows) else 1
        if count >= batch or (count and time.monotonic() - since > seconds):
            yield table(some)
            some, count, since = [], 0, time.monotonic()
    if count:
        yield table(some)


def _answer(items: Iterator[Item], heard: _Heard, options: Options, size: int) -> Answer:
    found = tuple(tables(items, options.batch, float("inf")))
    if not options.parts:
        return Answer(tuple(_sent(each, options) for each in found), heard.spoken, size)
    return Answer(found, heard.spoken, size)


def _sent(each: Table | BadFile, options: Options) -> bytes | Table | BadFile:
    if isinstance(each, BadFile):
        return each
    return packed(each, Summary.of([each], options.within).counts())


def delivered(
    answer: Answer, files: tuple[Listed, ...], options: Options, number: int | None, last: bool = False
) -> Answer:
    """The answer; where parts are wanted with its rows written as one, of which it keeps the counts."""
    if not options.parts:
        return answer
    from wavefit.survey.parts import name_of, write_part

    made = (each for each in answer.found if isinstance(each, Table))
    whole = replace(answer, summary=Summary.of(made, options.within))
    write_part(options.parts, name_of(files, options, number, last), whole)
    return replace(whole, found=tuple(each for each in answer.found if isinstance(each, BadFile)))
