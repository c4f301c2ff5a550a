"""Runs the pieces through Executors: in order, few under way; what is wrong with one is an error line."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from typing import Any, cast

from wavefit.kernels import BadFile, NoKernels
from wavefit.survey.arrow import unpacked
from wavefit.survey.crew import Call, Crew, Died, Here, Processes
from wavefit.survey.options import Options, Progress
from wavefit.survey.parts import Parts, opened, recall
from wavefit.survey.pieces import Piece, Walk, pieces
from wavefit.survey.places import Listed
from wavefit.survey.table import Table
from wavefit.survey.work import Answer, Slot, Walked, delivered, probe, read, read_items, tables, walk

Found = Table | BadFile
HELD = 256 << 20
"""Bytes of answers that wait for an earlier one before nothing but that one goes on."""
AHEAD = 64
"""Pieces of walks that wait to be read."""


def survey(
    paths: list[str],
    options: Options | None = None,
    progress: Progress | None = None,
    crew: Crew | None = None,
) -> Iterator[Found]:
    """Tables of every kernel under the paths and the errors, as they come, in the order of the files.

    `crew` (default: `options.jobs` processes, or this one) changes nothing but the time. Needs NumPy.
    """
    options = replace(options or Options(), parts=None)
    if crew is None and options.jobs == 1:
        yield from _said(_here(paths, options, progress), paths)
        return
    used: Crew = crew or Processes(options.jobs)
    try:
        answers = Run(used, options, progress).answers(pieces(paths, urls=options.urls))
        each = (e if isinstance(e, BadFile) else unpacked(e) for answer in answers for e in answer.found)
        yield from _said(each, paths)
    finally:
        if crew is None:
            used.close()


def survey_parts(
    paths: list[str], options: Options, progress: Progress | None = None, crew: Crew | None = None
) -> Iterator[Answer]:
    """The same into `options.parts`, as Parquet files that each worker writes; yields their counts.

    What was made before of files that are as they were is not made again. Raises CannotReach.
    """
    parts = opened(options, paths)
    used: Crew = crew or (Processes(options.jobs) if options.jobs > 1 else Here())
    errors: list[BadFile] = []
    spoken, first = False, None
    try:
        for answer in Run(used, options, progress, parts).answers(pieces(paths, urls=options.urls)):
            spoken = spoken or answer.spoken
            first = first or next((e for e in answer.found if isinstance(e, NoKernels)), None)
            real = tuple(e for e in answer.found if isinstance(e, BadFile) and not isinstance(e, NoKernels))
            errors += real
            yield replace(answer, found=real)
        if not spoken:
            nothing = first or _nothing(paths)
            errors.append(nothing)
            yield Answer((nothing,))
        parts.finish(errors)
    finally:
        if crew is None:
            used.close()


def _here(paths: list[str], options: Options, progress: Progress | None) -> Iterator[Found]:
    """Small files share a Table: computing one costs more than reading a file of a cache."""

    def items() -> Iterator[Any]:
        for piece in pieces(paths, split=False, urls=options.urls):
            if isinstance(piece, Piece):
                yield from read_items(piece, options)
                if progress:
                    progress(piece.size)
            elif isinstance(piece, BadFile):
                yield piece

    return tables(items(), options.batch, options.seconds)


def _said(found: Iterator[Found], paths: list[str]) -> Iterator[Found]:
    """One answer at least: that a path holds nothing is said where it is the only one, or all do."""
    spoken, first = False, None
    for each in found:
        if isinstance(each, NoKernels):
            first = first or each
        else:
            spoken = spoken or isinstance(each, BadFile) or len(each) > 0
        if not isinstance(each, NoKernels) or len(paths) == 1:
            yield each
    if not spoken and (first is None or len(paths) > 1):
        yield first or _nothing(paths)


def _nothing(paths: list[str]) -> NoKernels:
    return NoKernels(paths[0] if paths else "", None, None, "no files in this folder")


@dataclass(slots=True, eq=False)
class _Place:
    """One piece in the order of the answers."""

    piece: Piece | None
    answer: Answer | None = None
    sent: bool = False


@dataclass(slots=True, eq=False)
class _Line:
    """A large file: its places so far, how many Slots were walked, and whether more come."""

    file: Listed
    number: int
    done: frozenset[int]
    places: deque[_Place] = field(default_factory=deque)
    walked: int = 0
    more: bool = True
    walking: bool = False
    spoken: bool = False
    counted: int = 0


class Run:
    """One survey under way. `answers` is its only entrance."""

    def __init__(
        self, crew: Crew, options: Options, progress: Progress | None = None, parts: Parts | None = None
    ) -> None:
        self._crew, self._options, self._progress, self._parts = crew, options, progress, parts
        self._deaths: tuple[type[BaseException], ...] = (*crew.broken, MemoryError)
        self._queue: deque[_Place | _Line] = deque()
        self._flight: dict[Future[Any], tuple[_Place | _Line, Call]] = {}
        self._lines = self._held = 0
        self._more = True

    def answers(self, work: Iterator[Piece | Walk | BadFile]) -> Iterator[Answer]:
        """The Answers in the order of the work and, in each file, of what it holds."""
        while self._more or self._queue:
            self._fill(work)
            yield from self._ready()
            if self._flight:
                done, _ = wait(self._flight, return_when=FIRST_COMPLETED)
                self._settle(done)

    def _fill(self, work: Iterator[Piece | Walk | BadFile]) -> None:
        """Sends as much as may be under way: the earliest first; new work where there is room for it.

        A walk has room of its own: the longest of them should have begun when all else is done.
        """
        for at, entry in enumerate(self._queue):
            if at and self._held > HELD:
                return
            self._send_of(entry)
        while self._more and self._held <= HELD:
            if sum(isinstance(each, _Line) and each.more for each in self._queue) >= self._crew.walks:
                return
            waiting = sum(isinstance(e, _Place) and bool(e.piece) and not e.sent for e in self._queue)
            if len(self._flight) >= self._crew.window and waiting >= self._crew.window:
                return
            piece = next(work, None)
            if piece is None:
                self._more = False
                return
            entry = self._entry(piece)
            self._queue.append(entry)
            self._send_of(entry)

    def _entry(self, piece: Piece | Walk | BadFile) -> _Place | _Line:
        if isinstance(piece, BadFile):
            return _Place(None, Answer((piece,), spoken=True))
        if isinstance(piece, Piece):
            place = _Place(piece)
            if self._parts and (name := self._parts.part(piece.files)):
                self._recall(place, name)
            return place
        self._lines += 1
        line = _Line(piece.file, self._lines, frozenset())
        if self._parts:
            whole, line.done = self._parts.of_walk(piece.file)
            for name in whole or ():
                line.places.append(_Place(None))
                self._recall(line.places[-1], name)
            line.more = whole is None
        return line

    def _send_of(self, entry: _Place | _Line) -> None:
        if isinstance(entry, _Place):
            if entry.piece and not entry.sent and len(self._flight) < self._crew.window:
                self._send(entry, read, entry.piece, self._options)
            return
        waiting = [place for place in entry.places if place.piece and not place.sent]
        if entry.more and not entry.walking and len(waiting) < AHEAD:
            entry.walking = True
            call = (walk, (entry.file, entry.walked, self._options, entry.done))
            self._flight[self._crew.walker(entry.number).submit(call[0], *call[1])] = (entry, call)
        for place in waiting:
            if len(self._flight) >= self._crew.window:
                break
            assert place.piece is not None
            self._send(place, read, place.piece, self._options)

    def _send(self, place: _Place, function: Callable[..., Answer], *arguments: Any) -> None:
        place.sent = True
        self._flight[self._crew.reader().submit(function, *arguments)] = (place, (function, arguments))

    def _recall(self, place: _Place, name: str) -> None:
        assert self._parts is not None
        place.sent = True
        place.answer = recall(self._parts.url, name)

    def _settle(self, done: set[Future[Any]]) -> None:
        """Takes what is done; where a worker died, finds out whose fault it was."""
        suspects = []
        for future in done:
            entry, call = self._flight.pop(future)
            try:
                self._take(entry, future.result())
            except self._deaths:
                suspects.append((entry, call))
        if suspects:
            self._alone(suspects)

    def _alone(self, suspects: list[tuple[_Place | _Line, Call]]) -> None:
        """Everything that was under way, one after the other: what dies again is what kills."""
        wait(self._flight)
        for future, (entry, call) in self._flight.items():
            try:
                self._take(entry, future.result())
            except self._deaths:
                suspects.append((entry, call))
        self._flight.clear()
        self._crew.renew()
        answers = self._crew.alone([call for _, call in suspects])
        for (entry, (function, arguments)), answer in zip(suspects, answers, strict=True):
            if isinstance(answer, Died):
                answer = self._without(entry, function, arguments, answer)
            self._take(entry, answer)

    def _without(
        self, entry: _Place | _Line, function: Callable[..., Any], arguments: tuple[Any, ...], death: Died
    ) -> Answer | Walked:
        """The answer without the files or parts that kill their reader, which are errors in their place."""
        if isinstance(entry, _Line):
            bad = Answer((BadFile(entry.file.name, None, None, _cause(death)),), spoken=True)
            bad = delivered(bad, (entry.file,), self._options, entry.walked, last=True)
            return Walked((Slot(entry.walked, bad, last=True),), False)
        piece, *rest = arguments
        singly = [(probe, (piece.among(at, at + 1), *rest)) for at in range(len(piece))]
        lives = list(self._crew.alone(singly))
        dead = tuple((at, _cause(life)) for at, life in enumerate(lives) if isinstance(life, Died))
        (answer,) = self._crew.alone([(function, (replace(piece, dead=dead), *rest))])
        if isinstance(answer, Died):  # not the same twice: leave it all out
            every = tuple((at, _cause(answer)) for at in range(len(piece)))
            answer = read(replace(piece, dead=every), self._options)
        return cast(Answer, answer)

    def _take(self, entry: _Place | _Line, result: Answer | Walked) -> None:
        if isinstance(entry, _Place):
            assert isinstance(result, Answer)
            entry.answer = result
            self._held += _weight(result)
            if self._parts and entry.piece:
                number = entry.piece.number if entry.piece.leaves is not None else None
                self._parts.name(entry.piece.files, number)
            return
        assert isinstance(result, Walked)
        entry.walking, entry.more = False, result.more
        for slot in result.slots:
            place = _Place(slot.what if isinstance(slot.what, Piece) else None)
            entry.places.append(place)
            if self._parts:
                name = self._parts.name((entry.file,), slot.number, slot.last)
                if slot.what is None:
                    self._recall(place, name)
            if isinstance(slot.what, Answer):
                place.answer = slot.what
                self._held += _weight(slot.what)
        entry.walked += len(result.slots)

    def _ready(self) -> Iterator[Answer]:
        """Answers that nothing stands before."""
        while self._queue:
            head = self._queue[0]
            if isinstance(head, _Place):
                if head.answer is None:
                    return
                self._queue.popleft()
                self._held -= _weight(head.answer)
                self._count(head.answer.size)
                yield head.answer
                continue
            while head.places and (answer := head.places[0].answer):
                head.places.popleft()
                self._held -= _weight(answer)
                yield self._of_line(head, answer)
            if head.places or head.more:
                return
            self._queue.popleft()
            self._count(head.file.size - head.counted)

    def _of_line(self, line: _Line, answer: Answer) -> Answer:
        """An answer about a part of a file: that it is empty is said at the end, if nothing else was."""
        step = min(answer.size, line.file.size - line.counted)
        line.counted += step
        self._count(step)
        line.spoken = line.spoken or answer.spoken
        if not line.spoken:
            return answer
        return replace(answer, found=tuple(e for e in answer.found if not isinstance(e, NoKernels)))

    def _count(self, size: int) -> None:
        if self._progress and size:
            self._progress(size)


def _cause(death: Died) -> str:
    return f"its reader {death}; left out"


def _weight(answer: Answer) -> int:
    return sum(len(each) for each in answer.found if isinstance(each, bytes))
