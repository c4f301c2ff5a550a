"""`kernels(path)`: every kernel in one file or in all files of a folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from typing import BinaryIO, TypeVar, cast

from wavefit.kernels.backing import File
from wavefit.kernels.bounds import Bounds, Reading
from wavefit.kernels.leaves import Leaf, leaf_of, packed_member
from wavefit.kernels.other import described
from wavefit.kernels.registry import Reader, reader_of
from wavefit.kernels.rows import Rows
from wavefit.kernels.source import BadFile, NoKernels, Source
from wavefit.kernels.triton import NOTHING, SIDE_FILE_LIMIT, Side, is_copy, launched, side_file
from wavefit.model import Kernel

Refusal = TypeVar("Refusal", bound=BadFile)
Found = Kernel | Rows | BadFile | Leaf
Open = Callable[[str], BinaryIO]


def kernels(path: str | os.PathLike[str], bounds: Bounds | None = None) -> Iterator[Kernel | BadFile]:
    """Every kernel of a file, or of all files under a folder in sorted order, lazily.

    What cannot be read of `path` is yielded as a BadFile in its place and the rest goes on; nothing is
    raised. A named file (or a folder) without any kernel yields one NoKernels that says what it is; files
    in a folder that are simply something else are passed over. `bounds` limit what one file may unpack to
    and hold.
    """
    return cast(Iterator[Kernel | BadFile], found_in(path, lambda: Reading(bounds)))


def found_in(path: str | os.PathLike[str], reading: Callable[[], Reading]) -> Iterator[Found]:
    """What each file of a path gives; `reading` makes a Reading for each."""
    name = os.fsdecode(path)
    return _folder(name, reading) if os.path.isdir(name) else _file(name, reading)


def read(source: Source, depth: int = 0) -> Iterator[Found]:
    """Every kernel of a Source and of its members; exactly one NoKernels where there is nothing to say."""
    nothing: NoKernels | None = None
    spoken = False
    try:
        if depth > source.reading.bounds.depth:
            raise source.bad(None, f"members nested more than {source.reading.bounds.depth} deep")
        if source.reading.find and (leaf := packed_member(source, depth)):
            yield leaf
            return
        source, reader = _chosen(source)
        apart = source.reading.find and not reader.container
        if apart and (leaf := leaf_of(source, depth, reader.packed)):
            yield leaf
            return
        nothing = source.nothing(f"{reader.what} without a kernel")
        for found in _found(reader, source, depth):
            if not isinstance(found, NoKernels):
                spoken = spoken or not _silent(found)
                yield found
    except NoKernels as answer:
        nothing = _bare(answer)
    except BadFile as bad:
        spoken = True
        yield _bare(bad)
    if nothing and not spoken:
        yield nothing


def _bare(error: Refusal) -> Refusal:
    """Without the frames it came through: they hold what was read for as long as somebody holds the error."""
    error.__cause__ = error.__context__ = None
    return error.with_traceback(None)


def _silent(found: Found) -> bool:
    """Whether it is no kernel and no error; what a Leaf holds is not known yet."""
    return isinstance(found, Leaf) or (isinstance(found, Rows) and not len(found))


def _chosen(source: Source) -> tuple[Source, Reader]:
    """The reader of this Source, which is held in memory where it is small or where the reader goes back."""
    if source.forward and source.size <= source.reading.bounds.small:
        source = source.held()
    reader = reader_of(source)
    if reader is None:
        raise described(source)
    if source.forward and not reader.forward:
        source = source.held()
    return source, reader


def _found(reader: Reader, source: Source, depth: int) -> Iterator[Found]:
    side = None
    many = reader.rows if source.reading.by_rows else None
    members = 0
    for item in (many or reader.read)(source):
        if isinstance(item, Source):
            members += 1
            if members > source.reading.bounds.members:
                raise source.bad(None, f"more than {source.reading.bounds.members} members")
            yield from read(item, depth + 1)
        elif source.sibling and isinstance(item, Kernel | Rows):
            side = side or side_file(source, source.sibling)
            yield from _launched(item, side)
        else:
            yield item


def _launched(item: Kernel | Rows, side: Side) -> Iterator[Kernel | Rows]:
    """With what its side file says, which is about single kernels."""
    if isinstance(item, Kernel):
        yield launched(item, side)
    elif side == NOTHING:
        yield item
    else:
        yield from (launched(kernel, side) for kernel in item.kernels())


def _folder(root: str, reading: Callable[[], Reading]) -> Iterator[Found]:
    files, spoken = 0, False
    for name in walk(root):
        files += 1
        for found in (name,) if isinstance(name, BadFile) else _file(name, reading):
            if not isinstance(found, NoKernels):
                spoken = True
                yield found
    if not spoken:
        cause = f"no kernels in the {files} files of this folder" if files else "no files in this folder"
        yield NoKernels(root, None, None, cause)


def walk(root: str) -> Iterator[str | BadFile]:
    """Files under a folder, sorted; symbolic links are followed, but nothing is read twice for them."""
    entered: set[tuple[int, int]] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        try:
            about = os.stat(name)
            if stat.S_ISREG(about.st_mode):
                if not is_copy(name, os.path.exists) and not (os.path.islink(name) and _inside(root, name)):
                    yield name
            elif stat.S_ISDIR(about.st_mode) and (about.st_dev, about.st_ino) not in entered:
                entered.add((about.st_dev, about.st_ino))
                waiting += [os.path.join(name, entry) for entry in sorted(os.listdir(name), reverse=True)]
        except OSError as error:
            yield unreadable(name, error)


def _inside(root: str, name: str) -> bool:
    """Whether a link leads to what is met under the folder anyway."""
    folder = os.path.join(os.path.realpath(root), "")
    return os.path.realpath(name).startswith(folder)


def _file(name: str, reading: Callable[[], Reading]) -> Iterator[Found]:
    return opened(name, reading(), read)


def opened(
    name: str, reading: Reading, use: Callable[[Source], Iterator[Found]], by: Open | None = None
) -> Iterator[Found]:
    """What `use` makes of a file, which `by` opens, or the error that it cannot be opened."""
    by = by or open_file
    try:
        handle = by(name)
    except (OSError, ValueError) as error:  # ValueError: a name that holds a NUL
        yield unreadable(name, error)
        return
    with handle:
        data = File(handle)
        yield from use(Source(data, data.size, name, sibling=_beside(name, by), reading=reading))


def open_file(name: str) -> BinaryIO:
    """A regular file, opened unbuffered; opening a pipe would wait for a writer."""
    if not stat.S_ISREG(os.stat(name).st_mode):
        raise OSError(0, "not a regular file")
    return open(name, "rb", buffering=0)


def unreadable(name: str, error: OSError | ValueError) -> BadFile:
    """The error that this file cannot be opened."""
    return BadFile(name, None, None, getattr(error, "strerror", None) or str(error))


def _beside(name: str, by: Open) -> Callable[[str], bytes | None]:
    stem = os.path.splitext(name)[0]

    def content(suffix: str) -> bytes | None:
        try:
            with by(stem + suffix) as handle:
                return handle.read(SIDE_FILE_LIMIT + 1)
        except FileNotFoundError:
            return None

    return content
