"""Work as independent, bounded pieces of plain data: some small files, or some parts of a large one."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from wavefit.kernels import BadFile
from wavefit.kernels.bulk import Leaf
from wavefit.survey.places import Listed, listed

LARGE = 8 << 20
"""Bytes from which a file is walked, so that its parts can be read by several."""
TOGETHER = 4 << 20
"""Bytes of small files, or cost of parts, that make one piece."""
MOST = 256
"""Files or parts in one piece."""
_ENDS = 0x3F
"""A piece of small files ends where its last name says so, once in 64: one file more changes one piece."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some small files, or some `leaves` of one; to be sent to any worker and read again by any other.

    `number` counts the pieces of a large file. `dead` are those of the files or leaves, by their place, whose
    reader died, and how: they are not read any more.
    """

    files: tuple[Listed, ...]
    leaves: tuple[Leaf, ...] | None = None
    number: int = 0
    dead: tuple[tuple[int, str], ...] = ()

    def __len__(self) -> int:
        return len(self.files) if self.leaves is None else len(self.leaves)

    @property
    def size(self) -> int:
        """Bytes to read."""
        parts = self.files if self.leaves is None else self.leaves
        return sum(part.size for part in parts)

    def among(self, first: int, end: int) -> Piece:
        """Some of its files or leaves."""
        if self.leaves is None:
            return replace(self, files=self.files[first:end])
        return replace(self, leaves=self.leaves[first:end])


@dataclass(frozen=True, slots=True)
class Walk:
    """One large file that is to be walked, to find its pieces."""

    file: Listed


def pieces(paths: list[str], *, split: bool = True, urls: bool = False) -> Iterator[Piece | Walk | BadFile]:
    """The work under the paths, in sorted order; files one by one and whole unless it is to be `split`."""
    few: list[Listed] = []
    size = 0
    for found in listed(paths, urls):
        small = isinstance(found, Listed) and found.size < LARGE
        if few and not (split and small and size < TOGETHER and len(few) < MOST):
            yield Piece(tuple(few))
            few, size = [], 0
        if isinstance(found, BadFile):
            yield found
        elif split and not small:
            yield Walk(found)
        else:
            few.append(found)
            size += found.size
            if (
                split
                and len(few) > MOST // 8
                and not zlib.crc32(found.name.encode("utf-8", "replace")) & _ENDS
            ):
                size = TOGETHER
    if few:
        yield Piece(tuple(few))


def total_size(paths: list[str], urls: bool = False) -> int:
    """Bytes of all files under the paths."""
    return sum(found.size for found in listed(paths, urls) if isinstance(found, Listed))
