"""Work as a list of independent pieces: a file, or every n-th blob of a large one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from wavefit.kernels import BadFile
from wavefit.kernels.open import walk

LARGE = 64 << 20
"""Bytes from which a file is shared among jobs."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One file (`size` bytes), or its share = (k, n): plain data, to be sent to any worker.

    `named` tells a file that was asked for by name from one that a folder held.
    """

    file: str
    size: int
    share: tuple[int, int]
    named: bool


def pieces(paths: list[str], jobs: int) -> Iterator[Piece | BadFile]:
    """The pieces of all files under the paths, in sorted order; what cannot be listed as errors."""
    for path in paths:
        named = not os.path.isdir(path)
        for found in [path] if named else walk(path):
            if isinstance(found, BadFile):
                yield found
                continue
            try:
                size = os.stat(found).st_size
            except OSError as error:
                yield BadFile(found, None, None, error.strerror or str(error))
                continue
            shares = 2 * jobs if jobs > 1 and size >= LARGE else 1
            for index in range(shares):
                yield Piece(found, size // shares, (index, shares), named)
