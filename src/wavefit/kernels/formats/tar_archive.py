"""tar archives (POSIX and GNU), read in order without unpacking them; header blocks decoded by `tarfile`.

The members are walked here and not by `tarfile`, which reads extended headers of any declared size into
memory and follows negative sizes backwards for ever (CVE-2025-8194).
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass

from wavefit.kernels.registry import reader
from wavefit.kernels.source import BadFile, Sibling, Source
from wavefit.kernels.triton import SIDE_FILE_LIMIT, is_copy

BLOCK = tarfile.BLOCKSIZE
LARGEST_HEADER = 1 << 20
FILES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)
SPARSE_FLAG_FIRST, SPARSE_FLAG = 482, 504
"""Where a block says that another block of a sparse file's map follows."""


@dataclass(frozen=True, slots=True)
class Member:
    """A regular file in the archive; `trouble` says why its bytes cannot be read where they lie."""

    name: str
    at: int
    size: int
    trouble: str | None = None


@reader("tar archive", magic=b"ustar", at=257, forward=True, container=True)
def archive(source: Source) -> Iterator[Source | BadFile]:
    """The regular files in archive order. Links hold nothing; files with holes are not read.

    What stands beside a file is known where the archive can be read twice, not while it is unpacked.
    """
    places = {} if source.forward else _places(source)
    for member in _members(source):
        if member.trouble:
            yield source.bad(member.at, f"{member.name} {member.trouble}")
        elif not is_copy(member.name, places.__contains__):
            part = source.sub(member.at, member.size, member.name)
            part.sibling = _beside(source, places, member.name)
            yield part


def _places(source: Source) -> dict[str, Member]:
    places = {}
    try:
        for member in _members(source):
            places[member.name] = member
    except BadFile:  # is said in its place, on the second way through
        pass
    return places


def _beside(source: Source, places: dict[str, Member], name: str) -> Sibling:
    stem = os.path.splitext(name)[0]

    def content(suffix: str) -> bytes | None:
        member = places.get(stem + suffix)
        return source.read(member.at, min(member.size, SIDE_FILE_LIMIT + 1)) if member else None

    return content


def _members(source: Source) -> Iterator[Member]:
    at = 0
    said: dict[str, str] = {}
    while any(block := source.some(at, BLOCK)):
        info = _header(source, at, block)
        at += BLOCK
        size = _size(source, at, said, info)
        name = said.get("path", info.name).removeprefix("./")
        if info.type in (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE):
            said.update(_extended(source, at, info))
        elif info.type == tarfile.GNUTYPE_SPARSE:
            at = _after_map(source, at, block)
            yield Member(name, at, size, "is stored with holes: not read")
        elif info.type in FILES and not info.isdir():
            yield Member(name, at, size)
        if info.type not in (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE):
            said = {}
        at += -(-size // BLOCK) * BLOCK


def _header(source: Source, at: int, block: bytes) -> tarfile.TarInfo:
    try:
        return tarfile.TarInfo.frombuf(block, "utf-8", "backslashreplace")
    except (tarfile.HeaderError, ValueError) as error:
        raise source.bad(at, f"no tar member begins here: {error}") from None


def _size(source: Source, at: int, said: dict[str, str], info: tarfile.TarInfo) -> int:
    """Bytes that follow a header: links have none; an extended header may say more than a block can."""
    if info.type in (tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE):
        return 0
    given = said.get("size", "")
    size = int(given) if given.isdigit() and len(given) < 20 and info.type in FILES else info.size
    if size < 0:
        raise source.bad(at - BLOCK, f"a tar member of {size} bytes")
    return size


def _extended(source: Source, at: int, info: tarfile.TarInfo) -> dict[str, str]:
    """What an extended header says of the member that follows: GNU's long name, or POSIX's records."""
    if info.size > LARGEST_HEADER:
        raise source.bad(at, f"an extended tar header of {info.size} bytes; limit {LARGEST_HEADER}")
    data = source.read(at, info.size)
    if info.type == tarfile.GNUTYPE_LONGNAME:
        return {"path": data.rstrip(b"\0").decode("utf-8", "backslashreplace")}
    said = {}
    while data.strip(b"\0"):
        digits = data[:32].split(b" ", 1)[0]
        length = int(digits) if digits.isdigit() else 0
        if not len(digits) < length <= len(data):
            raise source.bad(at, "an extended tar header with damaged records")
        key, _, value = data[len(digits) + 1 : length].decode("utf-8", "backslashreplace").partition("=")
        said[key] = value.removesuffix("\n")
        data = data[length:]
    return said


def _after_map(source: Source, at: int, block: bytes) -> int:
    more = block[SPARSE_FLAG_FIRST]
    while more:
        more = source.read(at, BLOCK)[SPARSE_FLAG]
        at += BLOCK
    return at
