"""`rows(path)`: the kernels of whole libraries, many at once, and the parts in which a library can be read.

The same as `kernels`, five times as quick on a library of 400,000 kernels: an object of Python's for each
kernel costs more than everything else together. Needs NumPy.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import cast

from wavefit.kernels.bounds import Bounds, Reading
from wavefit.kernels.leaves import Leaf, source_of
from wavefit.kernels.open import Found, Open, found_in, opened, read
from wavefit.kernels.rows import Rows
from wavefit.kernels.source import BadFile, Source
from wavefit.model import Kernel

__all__ = ["Leaf", "Rows", "find", "rows", "rows_in"]

Item = Rows | Kernel | BadFile


def rows(
    path: str | os.PathLike[str], bounds: Bounds | None = None, by: Open | None = None
) -> Iterator[Item]:
    """Every kernel of a file, or of all files under a folder, in the order of `kernels`.

    Rows where a code object holds many, else single Kernels; errors as from `kernels`. With `by`, what opens
    it, the path is one file.
    """
    import numpy  # noqa: F401  # so that the search for blobs uses it from the start

    if by:
        return cast(Iterator[Item], opened(os.fsdecode(path), Reading(bounds, by_rows=True), read, by))
    return cast(Iterator[Item], found_in(path, lambda: Reading(bounds, by_rows=True)))


def find(
    name: str, bounds: Bounds | None = None, by: Open | None = None, threads: int = 1
) -> Iterator[Found]:
    """The Leaves of one file in its order, and in their places the errors and what is no Leaf.

    Of a file with nothing but Leaves it is said that it holds nothing: what they hold is not known yet.
    """
    import numpy  # noqa: F401

    return opened(name, Reading(bounds, by_rows=True, find=True, threads=threads), read, by)


def rows_in(
    name: str, leaves: Iterable[Leaf], bounds: Bounds | None = None, by: Open | None = None
) -> Iterator[Item]:
    """What these Leaves of a file hold, in their order; a Leaf that holds nothing says so (NoKernels)."""
    import numpy  # noqa: F401

    def each(whole: Source) -> Iterator[Found]:
        for leaf in leaves:
            yield from read(source_of(leaf, whole), leaf.depth)

    return cast(Iterator[Item], opened(name, Reading(bounds, by_rows=True), each, by))
