"""What is asked of a survey: plain data, the same for every piece of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wavefit.kernels.bounds import Bounds

Progress = Callable[[int], None]
"""Called with the bytes that are done now."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to survey: worker processes, targets to keep (all if none), and what a file may unpack to.

    Tables hold about `batch` rows, fewer where `seconds` pass first (in this process). `urls` lets paths be
    URLs: only for people who ask for it, never for a face that answers others. With `parts`, a folder or URL,
    whoever reads a piece writes its rows there, as Parquet.
    """

    jobs: int = 1
    targets: tuple[str, ...] = ()
    bounds: Bounds | None = None
    batch: int = 20_000
    seconds: float = 0.5
    urls: bool = False
    parts: str | None = None
    within: int = 4
