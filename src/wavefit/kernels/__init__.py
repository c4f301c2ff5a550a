"""Readers of compiled kernels: from files to Kernels, lazily, whatever the files hold.

To add a format, add one file to `formats/` and a fixture to its test; nothing else changes:

    @reader("offload bundle", magic=b"__CLANG_OFFLOAD_BUNDLE__")
    def bundles(source: Source) -> Iterator[Kernel | Source | BadFile]:
        yield source.sub(at, size, entry_id)          # a member: its own reader is found the same way
        yield source.bad(at, "entry 3 overlaps the header")       # a damaged member: the rest goes on

A reader yields Kernels, members (Sources) and errors; a BadFile that it raises ends this member alone.
It reads through its Source, which never passes the end, yields as it goes, and holds no more than a
small multiple of its input; what is unpacked is counted against the file's Bounds (`unpack`). Readers
that only read onward say so (`forward`), and then read large packed members while they are unpacked.
What no reader knows is described by `other.py`. Whole libraries are read by column: `bulk`.
"""

from wavefit.kernels.bounds import Bounds
from wavefit.kernels.open import kernels
from wavefit.kernels.source import BadFile, NoKernels
from wavefit.room import callable_as

__all__ = ["BadFile", "Bounds", "NoKernels", "kernels"]

callable_as(__name__, kernels)
