"""What reading one file may cost at most: each limit is named in the error that it causes."""

from __future__ import annotations

from dataclasses import dataclass

MIB, GIB = 1 << 20, 1 << 30


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits in bytes, unless their text says otherwise; all adjustable, for every file of a call alike.

    Real libraries unpack 29.5 MB to 2,434 MB in 45 blobs, the densest of them 114 times its size.
    """

    unpacked: int = 8 * GIB
    """One packed stream: a bundle, a member of an archive, an archive."""
    altogether: int = 256 * GIB
    """All packed streams of one file, those within others counted again."""
    ratio: int = 1000
    """Unpacked for each packed byte, where more than `unquestioned` comes out."""
    unquestioned: int = 16 * MIB
    """One packed stream may always unpack to this much."""
    held: int = 512 * MIB
    """Kept in memory at once: a packed member that is read in more than one direction, a packer's window."""
    small: int = 32 * MIB
    """A packed member up to this is unpacked at once; a larger one is read while it is unpacked."""
    text: int = 64 * MIB
    """A text file; only its beginning is searched for kernels."""
    members: int = 1_000_000
    """Members of one container (a number)."""
    depth: int = 16
    """Members within members (a number); a bundle in a library in a wheel in an archive is four."""


class Reading:
    """One reading of one file: its bounds, what it has cost so far, and what is asked of it.

    `by_rows` asks for Rows where a reader gives them, `find` for Leaves instead of what can be read apart;
    `threads` may unpack a stream whose blocks can be unpacked apart.
    """

    __slots__ = ("bounds", "by_rows", "find", "threads", "unpacked")

    def __init__(
        self, bounds: Bounds | None = None, *, by_rows: bool = False, find: bool = False, threads: int = 1
    ) -> None:
        self.bounds, self.by_rows, self.find = bounds or Bounds(), by_rows, find
        self.threads = threads
        self.unpacked = 0


def size_text(count: int) -> str:
    """A number of bytes as a person says it: `8 GiB`, `29.5 MiB`, `9 PiB`."""
    amount, unit = float(count), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{count if unit == 'bytes' else f'{amount:.1f}'.removesuffix('.0')} {unit}"


OPEN = 1 << 62
"""The size of a stream of which nobody says where it ends."""
