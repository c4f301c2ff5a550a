"""IREE modules (`.vmfb`): a flatbuffer, in which code objects are searched for by their own magic."""

from __future__ import annotations

from collections.abc import Iterator

from wavefit.kernels.blobs import blobs
from wavefit.kernels.registry import reader
from wavefit.kernels.source import Source


@reader("IREE module", magic=b"IREE", at=4, forward=True, container=True)
def module(source: Source) -> Iterator[Source]:
    """The code objects that stand in it, without what the module says about them."""
    yield from blobs(source)
