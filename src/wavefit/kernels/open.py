"""`kernels(path)`: every kernel in one file or in all files of a folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from typing import BinaryIO

from wavefit.kernels.other import described
from wavefit.kernels.registry import Reader, reader_of
from wavefit.kernels.source import BadFile, File, NoKernels, Source
from wavefit.kernels.triton import SIDE_FILE_LIMIT, launched, side_file
from wavefit.model import Kernel

DEEPEST = 16
"""Members within members; a bundle in a section of a library in a wheel in an archive is five."""


def kernels(path: str | os.PathLike[str]) -> Iterator[Kernel | BadFile]:
    """Every kernel of a file, or of all files under a folder in sorted order, lazily.

    What cannot be read is yielded as a BadFile in its place and the rest goes on. A named file (or a
    folder) without any kernel yields one NoKernels that says what it is; files in a folder that are
    simply something else are passed over.
    """
    name = os.fsdecode(path)
    return _folder(name) if os.path.isdir(name) else _file(name)


def read(source: Source, depth: int = 0) -> Iterator[Kernel | BadFile]:
    """Every kernel of a Source and of its members; exactly one NoKernels where there is nothing to say."""
    nothing: NoKernels | None = None
    spoken = False
    try:
        if depth > DEEPEST:
            raise source.bad(None, f"members nested more than {DEEPEST} deep")
        reader = reader_of(source)
        if reader is None:
            raise described(source)
        nothing = source.nothing(f"{reader.what} without a kernel")
        for found in _found(reader, source, depth):
            if not isinstance(found, NoKernels):
                spoken = True
                yield found
    except NoKernels as answer:
        nothing = answer
    except BadFile as bad:
        spoken = True
        yield bad
    if nothing and not spoken:
        yield nothing


def _found(reader: Reader, source: Source, depth: int) -> Iterator[Kernel | BadFile]:
    side = None
    for item in reader.read(source):
        if isinstance(item, Source):
            yield from read(item, depth + 1)
        elif isinstance(item, Kernel) and source.sibling:
            side = side or side_file(source, source.sibling)
            yield launched(item, side)
        else:
            yield item


def _folder(root: str) -> Iterator[Kernel | BadFile]:
    files, spoken = 0, False
    for name in _walk(root):
        files += 1
        for found in (name,) if isinstance(name, BadFile) else _file(name):
            if not isinstance(found, NoKernels):
                spoken = True
                yield found
    if not spoken:
        cause = f"no kernels in the {files} files of this folder" if files else "no files in this folder"
        yield NoKernels(root, None, None, cause)


def _walk(root: str) -> Iterator[str | BadFile]:
    """Files under a folder, sorted; symbolic links are followed, each folder is entered once."""
    entered: set[tuple[int, int]] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        try:
            about = os.stat(name)
            if stat.S_ISREG(about.st_mode):
                yield name
            elif stat.S_ISDIR(about.st_mode) and (about.st_dev, about.st_ino) not in entered:
                entered.add((about.st_dev, about.st_ino))
                waiting += [os.path.join(name, entry) for entry in sorted(os.listdir(name), reverse=True)]
        except OSError as error:
            yield _unreadable(name, error)


def _file(name: str) -> Iterator[Kernel | BadFile]:
    try:
        handle = _open(name)
    except (OSError, ValueError) as error:  # ValueError: a name that holds a NUL
        yield _unreadable(name, error)
        return
    with handle:
        data = File(handle)
        yield from read(Source(data, data.size, name, sibling=_beside(name)))


def _open(name: str) -> BinaryIO:
    """A regular file, opened unbuffered; opening a pipe would wait for a writer."""
    if not stat.S_ISREG(os.stat(name).st_mode):
        raise OSError(0, "not a regular file")
    return open(name, "rb", buffering=0)


def _unreadable(name: str, error: OSError | ValueError) -> BadFile:
    return BadFile(name, None, None, getattr(error, "strerror", None) or str(error))


def _beside(name: str) -> Callable[[str], bytes | None]:
    stem = os.path.splitext(name)[0]

    def content(suffix: str) -> bytes | None:
        try:
            with _open(stem + suffix) as handle:
                return handle.read(SIDE_FILE_LIMIT + 1)
        except FileNotFoundError:
            return None

    return content
