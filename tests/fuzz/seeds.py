"""What the fuzzers begin with: small sound inputs for every reader, made from the fixtures."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tests.containers_builder import ar, bundle, compressed, host_elf, host_pe, packager, tar, zipped
from tests.test_formats_wheels import TWO, aks2
from wavefit.kernels.backing import Memory
from wavefit.kernels.registry import reader_of
from wavefit.kernels.source import Source
from wavefit.kernels.unpack import zstd

DATA = Path(__file__).parent.parent / "data"
LARGEST = 1 << 16


def seeds() -> Iterator[bytes]:
    """Every small fixture, and what the standard library and the builders of the tests make of one."""
    for file in sorted(DATA.rglob("*")):
        if file.is_file() and file.stat().st_size <= LARGEST:
            yield file.read_bytes()
    small = (DATA / "kernels/targets/gfx950.o").read_bytes()
    plain = bundle({"host-x86_64--": b"", "hipv4-amdgcn-amd-amdhsa--gfx950:xnack-": small}, align=16)
    library = host_elf([(".hip_fatbin", plain + packager(small)), (".data", small)])
    members = {"a.co": small, "b.so": library, "k.hsaco": small, "k.json": b'{"shared": 4, "num_warps": 4}'}
    yield plain
    yield from (compressed(plain, version=version) for version in (1, 2, 3))
    yield plain + compressed(plain, version=1) + packager(small, arch="gfx950", triple="amdgcn-amd-amdhsa")
    yield packager(small, arch="gfx950", triple="amdgcn-amd-amdhsa", producer="hip")
    yield library
    yield host_pe([(b".hip_fat", plain), (b".rdata", small)])
    yield b"\x20\0\0\0IREE" + small
    yield from (
        ar([("a.o", small), ("a-very-long-name-of-an-object.o", library)], bsd=bsd) for bsd in (False, True)
    )
    yield b"!<thin>\n"
    yield aks2(TWO)
    yield from (tar(members, form=form) for form in (0, 1, 2))
    yield from (zipped(members, method) for method in (0, 8, 12))
    yield from (pack(tar(members)) for pack in (gzip.compress, bz2.compress, lzma.compress, zstd.compress))


def seeds_of(what: str) -> list[bytes]:
    """Those that the reader of this name reads."""
    return _by_reader().get(what, [])


@lru_cache(maxsize=1)
def _by_reader() -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {}
    for seed in seeds():
        if reader := reader_of(Source(Memory(seed), len(seed), "seed")):
            found.setdefault(reader.what, []).append(seed)
    return found
