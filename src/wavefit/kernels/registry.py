"""Which reader reads a Source: found by its first bytes, never by its name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from wavefit.kernels.rows import Rows
from wavefit.kernels.source import BadFile, Source
from wavefit.model import Kernel

Read = Callable[[Source], Iterator[Kernel | Source | BadFile]]
Bulk = Callable[[Source], "Iterator[Rows | Kernel | Source | BadFile]"]
Extent = Callable[[Source, int], int | None]


@dataclass(frozen=True, slots=True)
class Reader:
    """One format: how it is known (`magic` at `at`, then `when`), what reads it, and how."""

    what: str
    magic: bytes
    at: int
    when: Callable[[Source], bool] | None
    read: Read
    forward: bool
    extent: Extent | None
    rows: Bulk | None
    container: bool
    packed: bool

    def accepts(self, source: Source, head: bytes) -> bool:
        """Whether it reads this Source, which begins with `head`."""
        return head.startswith(self.magic, self.at) and (self.when is None or self.when(source))


_readers: list[Reader] = []
HEAD = 512
"""Every magic stands within this many bytes."""


def reader(
    what: str,
    *,
    magic: bytes = b"",
    at: int = 0,
    when: Callable[[Source], bool] | None = None,
    forward: bool = False,
    extent: Extent | None = None,
    rows: Bulk | None = None,
    container: bool = False,
    packed: bool = False,
) -> Callable[[Read], Read]:
    """Registers the reader of one format.

    `what` names the format in messages. `magic` must stand at offset `at`; `when` may look further, for
    formats that share a magic (ELF) or have none (text); it must not assume any size.
    `forward` says that it reads in ascending order only, so that what is unpacked need not be held.
    `extent` makes it known inside other data as well (`blobs`): it is given a Source and an offset where
    the magic stands, and says how many bytes belong to it, or None where the magic means nothing.
    `rows` reads the same as the reader itself, many kernels at once (`bulk`). `container` says that its
    members have nothing to do with each other, so that several processes may take some each; `packed` that
    it holds little for what comes out of it, so that sending it to another process pays.
    """

    def register(read: Read) -> Read:
        _readers.append(Reader(what, magic, at, when, read, forward, extent, rows, container, packed))
        return read

    return register


@lru_cache(maxsize=1)
def readers() -> tuple[Reader, ...]:
    """Every reader in `formats/`, the most particular first: longer magic, then those that look further."""
    from wavefit.kernels import formats

    for module in pkgutil.iter_modules(formats.__path__):
        importlib.import_module(f"{formats.__name__}.{module.name}")
    return tuple(sorted(_readers, key=lambda r: (-len(r.magic), r.when is None, r.what)))


def reader_of(source: Source) -> Reader | None:
    """The reader that knows this Source, or None."""
    head = source.head(HEAD)
    return next((candidate for candidate in readers() if candidate.accepts(source, head)), None)
