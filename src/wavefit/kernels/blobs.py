"""Device code inside other data: sections of host files, and one blob after another."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from wavefit.kernels.backing import WINDOW
from wavefit.kernels.registry import Reader, readers
from wavefit.kernels.source import BadFile, Source

ALIGNED = 4
"""Blobs lie at multiples of at least 8 in a host file; one directly behind another may lie anywhere."""


def blobs(source: Source, at: int = 0, phase: int = 0) -> Iterator[Source]:
    """Every blob at or after this offset in ascending order, each once, as a part of the Source.

    A magic counts only where its format says so: the bytes stand by chance, or as a text constant, in
    libraries without any blob. `phase` is where the Source begins in its file. Reads forward only.
    """
    kinds = [kind for kind in readers() if kind.extent]
    overlap = max((len(kind.magic) for kind in kinds), default=1) - 1
    while window := source.some(at, WINDOW):
        end = at + len(window)
        for place, kind in _marks(window, at, phase, kinds):
            size = kind.extent(source, place) if kind.extent and place >= at else None
            if size:
                at = place + min(size, source.size - place)
                yield source.sub(place, at - place)
                if (at + phase) % ALIGNED:
                    break  # a new window begins with what stands directly behind
        else:
            at = max(at, end - overlap if len(window) > overlap else end)


def blobs_of(source: Source, regions: Iterable[tuple[int, int, str]]) -> Iterator[Source | BadFile]:
    """The blobs in regions of a file, each given as offset, size and name.

    Regions with a name for device code come first, where the file can be read in any order: the others can
    be large and hold nothing. Of regions that overlap, each byte is searched once.
    """
    chosen = sorted(regions)
    device = [] if source.forward else [region for region in chosen if _is_device(region[2])]
    yield from _in_order(source, device)
    yield from _in_order(source, chosen if source.forward else [r for r in chosen if not _is_device(r[2])])


def _in_order(source: Source, regions: list[tuple[int, int, str]]) -> Iterator[Source | BadFile]:
    searched = 0
    for start, size, name in regions:
        end = start + size
        if end > source.size:
            yield source.bad(start, f"section {name} passes the end of the file")
            end = source.size
        if max(start, searched) < end:
            yield from blobs(source.sub(start, end - start, name), max(0, searched - start), start)
            searched = end


def _is_device(name: str) -> bool:
    return name.lower().startswith((".hip", ".llvm.offloading", ".nv_fatbin", "__clang_offload"))


def _marks(window: bytes, base: int, phase: int, kinds: list[Reader]) -> list[tuple[int, Reader]]:
    """Where magics stand in a window that begins at `base`: right there and at aligned places, ascending."""
    first = -(base + phase) % ALIGNED
    marks = [(base, kind) for kind in kinds if first and window.startswith(kind.magic)]
    search = _by_words if "numpy" in sys.modules else _by_bytes
    marks += [(base + place, kind) for place, kind in search(window, first, kinds)]
    return sorted(marks, key=lambda mark: mark[0])


def _by_bytes(window: bytes, first: int, kinds: list[Reader]) -> Iterator[tuple[int, Reader]]:
    for kind in kinds:
        place = window.find(kind.magic)
        while place >= 0:
            if place % ALIGNED == first:
                yield place, kind
            place = window.find(kind.magic, place + 1)


def _by_words(window: bytes, first: int, kinds: list[Reader]) -> Iterator[tuple[int, Reader]]:
    """The same, eight times as quick (1.8 against 0.2 GB/s), where NumPy is loaded already."""
    import numpy as np

    if len(window) < first:
        return
    words = np.frombuffer(window, dtype="<u4", offset=first, count=(len(window) - first) // 4)
    found = np.zeros(len(words), dtype=bool)
    for kind in kinds:
        found |= words == int.from_bytes(kind.magic[:4], "little")
    for place in (np.flatnonzero(found) * 4 + first).tolist():
        yield from ((place, kind) for kind in kinds if window.startswith(kind.magic, place))
