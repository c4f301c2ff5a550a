"""Runs the pieces: here one after the other, or in processes whose death is an error line."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context

from wavefit.kernels import BadFile, NoKernels
from wavefit.kernels.bounds import Bounds
from wavefit.kernels.bulk import Rows, rows
from wavefit.model import Kernel
from wavefit.survey.pieces import Piece, pieces
from wavefit.survey.table import Table, table

Found = Table | BadFile
Item = Rows | Kernel | BadFile
Progress = Callable[[Piece], None]


@dataclass(frozen=True, slots=True)
class Options:
    """How to survey: worker processes, targets to keep (all if none), and what a file may unpack to.

    Tables hold about `batch` rows, fewer where `seconds` pass first.
    """

    jobs: int = 1
    targets: tuple[str, ...] = ()
    bounds: Bounds | None = None
    batch: int = 20_000
    seconds: float = 0.5


def survey(
    paths: list[str], options: Options | None = None, progress: Progress | None = None
) -> Iterator[Found]:
    """Tables of every kernel under the paths and the errors, as they come, in the order of the files.

    With several jobs the blobs of one large file are shared out, so that its rows come in another order.
    `progress` is called with each piece when it is done. Needs NumPy.
    """
    options = options or Options()
    work = pieces(paths, options.jobs)
    many = _in_processes(work, options, progress) if options.jobs > 1 else _here(work, options, progress)
    spoken, first = False, None
    for found in many:
        if isinstance(found, NoKernels):
            first = first or found
        else:
            spoken = spoken or isinstance(found, BadFile) or len(found) > 0
        if not isinstance(found, NoKernels) or len(paths) == 1:
            yield found
    if not spoken and (first is None or len(paths) > 1):
        yield first or NoKernels(paths[0] if paths else "", None, None, "no files in this folder")


def _here(work: Iterator[Piece | BadFile], options: Options, progress: Progress | None) -> Iterator[Found]:
    """Small files share a Table: computing one costs more than reading a file of a cache."""

    def items() -> Iterator[Item]:
        for piece in work:
            if isinstance(piece, BadFile):
                yield piece
                continue
            yield from _items(piece, options)
            if progress:
                progress(piece)

    return _tables(items(), options)


def read_piece(piece: Piece, options: Options) -> Iterator[Found]:
    """The Tables and errors of one piece."""
    return _tables(_items(piece, options), options)


def _items(piece: Piece, options: Options) -> Iterator[Item]:
    """What one piece holds of the targets asked for; what is wrong with a shared file is said once."""
    for item in rows(piece.file, options.bounds, piece.share):
        if isinstance(item, NoKernels):
            if piece.named and piece.share[0] == 0:
                yield item
        elif isinstance(item, BadFile):
            if piece.share[0] == 0 or item.member is not None:
                yield item
        elif not options.targets or _target(item) in options.targets:
            yield item


def _tables(items: Iterator[Item], options: Options) -> Iterator[Found]:
    """Errors as they come, kernels in batches."""
    batch: list[Rows | Kernel] = []
    count, since = 0, time.monotonic()
    for item in items:
        if isinstance(item, BadFile):
            yield item
        else:
            batch.append(item)
            count += len(item) if isinstance(item, Rows) else 1
        if count >= options.batch or (count and time.monotonic() - since > options.seconds):
            yield table(batch)
            batch, count, since = [], 0, time.monotonic()
    if count:
        yield table(batch)


def _target(item: Rows | Kernel) -> str:
    return item.code.target if isinstance(item, Rows) else item.target


def _whole(piece: Piece, options: Options) -> list[Found]:
    return list(read_piece(piece, options))


def _in_processes(
    work: Iterator[Piece | BadFile], options: Options, progress: Progress | None
) -> Iterator[Found]:
    """In submission order, with a bounded number of pieces under way."""
    waiting: deque[tuple[Piece | BadFile, Future[list[Found]] | None]] = deque()
    pool = _pool(options.jobs)
    try:
        more = True
        while more or waiting:
            while more and len(waiting) < 4 * options.jobs:
                piece = next(work, None)
                more = piece is not None
                if piece is not None:
                    waiting.append(
                        (piece, None if isinstance(piece, BadFile) else pool.submit(_whole, piece, options))
                    )
            if not waiting:
                break
            piece, future = waiting.popleft()
            if isinstance(piece, BadFile) or future is None:
                yield piece  # type: ignore[misc]
                continue
            try:
                yield from future.result()
            except BrokenProcessPool:
                pool = _pool(options.jobs)
                yield from _alone(piece, options)
                waiting = deque(
                    (each, None if isinstance(each, BadFile) else pool.submit(_whole, each, options))
                    for each, _ in waiting
                )
            if progress:
                progress(piece)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _alone(piece: Piece, options: Options) -> list[Found]:
    """A piece again in a process of its own: if that dies too, it is this file that kills it."""
    with _pool(1) as pool:
        try:
            return pool.submit(_whole, piece, options).result()
        except BrokenProcessPool:
            return [BadFile(piece.file, None, None, "its reader died; the file is left out")]


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
