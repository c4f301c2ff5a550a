"""Which reader reads a Source: found by its first bytes, never by its name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from wavefit.kernels.source import BadFile, Source
from wavefit.model import Kernel

Read = Callable[[Source], Iterator[Kernel | Source | BadFile]]


@dataclass(frozen=True, slots=True)
class Reader:
    """One format: how it is known (`magic` at `at`, then `when`) and what reads it."""

    what: str
    magic: bytes
    at: int
    when: Callable[[Source], bool] | None
    read: Read

    def accepts(self, source: Source) -> bool:
        return source.starts(self.magic, self.at) and (self.when is None or self.when(source))


_readers: list[Reader] = []


def reader(
    what: str, *, magic: bytes = b"", at: int = 0, when: Callable[[Source], bool] | None = None
) -> Callable[[Read], Read]:
    """Registers the reader of one format.

    `what` names the format in messages. `magic` must stand at offset `at`; `when` may look further, for
    formats that share a magic (ELF) or have none (text); it must not assume any size.
    """

    def register(read: Read) -> Read:
        _readers.append(Reader(what, magic, at, when, read))
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
    return next((candidate for candidate in readers() if candidate.accepts(source)), None)
