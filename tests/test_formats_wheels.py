"""What wheels and caches that people publish hold, and readers once tripped over."""

from __future__ import annotations

import lzma
import struct
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.containers_builder import host_elf, tar, zipped
from tests.test_formats_bundles import GFX950, found, of, only_error, spend
from wavefit.kernels import BadFile, NoKernels, kernels
from wavefit.kernels.bounds import Bounds
from wavefit.kernels.unpack import zstd
from wavefit.model import Kernel

DATA = Path(__file__).parent / "data"
LARGE = Bounds(small=1)
"""So that packed members are read while they are unpacked, as large ones are."""


def aks2(rows: Sequence[tuple[str, int, int, bytes]]) -> bytes:
    """An archive as AOTriton's: name, LDS bytes and threads at launch, code object, of each kernel."""
    directory = images = b""
    for name, shared, threads, image in rows:
        directory += struct.pack("<IIIII", shared, threads, len(images), len(image), len(name) + 1)
        directory += name.encode() + b"\0"
        images += image
    head = struct.pack("<4sIII", b"AKS2", len(directory + images), len(rows), len(directory))
    return head + lzma.compress(directory + images)


TWO = [("attn-wave1_warp4", 16384, 256, GFX950), ("attn-wave2_warp8", 0, 512, GFX950)]


def test_a_member_without_a_name_leaves_the_others() -> None:
    """`zipfile` cuts names at a NUL; its `is_dir` breaks on what is left (Python up to 3.11)."""
    data = zipped({"zero": b"only text", "k.co": GFX950}, zipfile.ZIP_STORED).replace(b"zero", b"\0ero")
    assert [spend(item) for item in found(data)] == of("gfx950")


@pytest.mark.parametrize("bounds", [None, LARGE])
def test_a_large_library_without_device_code_says_what_it_is_and_no_more(bounds: Bounds | None) -> None:
    """Three published wheels hold one: 40 MB of host code in front of which nothing can be read again."""
    library = host_elf([(".text", b"x" * 3_000_000)])
    (answer,) = found(zipped({"lib.so": library}), bounds)
    assert isinstance(answer, NoKernels), str(answer)
    assert [spend(item) for item in found(zipped({"a.so": library, "k.co": GFX950}), bounds)] == of("gfx950")


@pytest.mark.parametrize("bounds", [None, LARGE])
def test_aotriton_archives_give_each_kernel_with_its_launch(bounds: Bounds | None) -> None:
    items = found(aks2(TWO), bounds)
    expected = [
        replace(kernel, member=name, side_threads=threads, lds_dynamic=max(0, shared - (kernel.lds or 0)))
        for name, shared, threads, _ in TWO
        for kernel in of("gfx950")
    ]
    assert [replace(item, file="") for item in items if isinstance(item, Kernel)] == expected
    in_a_wheel = found(zipped({"lib/aotriton.images/amd-gfx950/flash/x.aks2": aks2(TWO)}), bounds)
    assert [spend(item) for item in in_a_wheel] == [spend(item) for item in items]


@pytest.mark.parametrize(
    ("at", "number", "cause"),
    [
        (4, 1 << 31, "declares"),
        (4, 100, "needed here"),
        (8, 1 << 30, "kernels in a directory of"),
        (12, 0xFFFFFF, "in a directory of"),
        (8, 3, "needed here"),
    ],
)
def test_damaged_aotriton_archives(at: int, number: int, cause: str) -> None:
    data = bytearray(aks2(TWO))
    struct.pack_into("<I", data, at, number)
    bad = [item for item in found(bytes(data)) if isinstance(item, BadFile)]
    assert cause in str(bad[0])


def test_an_aotriton_row_past_the_end_leaves_the_others() -> None:
    good, lost = TWO
    data = aks2([good, lost])
    content = bytearray(lzma.decompress(data[16:]))
    second = 20 + len(good[0]) + 1
    struct.pack_into("<I", content, second + 8, 1 << 30)
    items = found(data[:16] + lzma.compress(bytes(content)))
    assert len([item for item in items if isinstance(item, Kernel)]) == len(of("gfx950"))
    assert len([item for item in items if isinstance(item, BadFile)]) == 1


def test_conda_packages_of_both_kinds() -> None:
    """A `.conda` is a zip of stored zstd tars, the older kind one bzip2 tar."""
    content = tar({"lib/k.co": GFX950, "info/index.json": b"{}"})
    newer = zipped({"metadata.json": b"{}", "pkg-x-1-0.tar.zst": zstd.compress(content)}, zipfile.ZIP_STORED)
    assert [spend(item) for item in found(newer)] == of("gfx950")
    assert [spend(item) for item in found(tar({"lib/k.co": GFX950}, "w:bz2"))] == of("gfx950")


def test_the_ptx_beside_a_cubin_is_a_copy(tmp_path: Path) -> None:
    cubin = (DATA / "nvidia/driver_check.cubin").read_bytes()
    text = (DATA / "nvidia/spend.ptx").read_bytes()
    (tmp_path / "k.cubin").write_bytes(cubin)
    alone = list(kernels(tmp_path))
    (tmp_path / "k.ptx").write_bytes(text)
    assert list(kernels(tmp_path)) == alone
    assert found(zipped({"k.cubin": cubin, "k.ptx": text})) == found(zipped({"k.cubin": cubin}))
    (tmp_path / "other.ptx").write_bytes(text)
    assert len(list(kernels(tmp_path))) > len(alone)


def test_naked_cubins_of_either_abi_are_found_in_data() -> None:
    """The older ABI keeps its own version, 0x81, where other files keep 1."""
    for cubin in DATA.glob("nvidia/triton/*.cubin"):
        data = cubin.read_bytes()
        for version in (1, 0x81):
            data = data[:20] + struct.pack("<I", version) + data[24:]
            (alone,) = found(data)
            (inside,) = found(host_elf([(".rodata", b"x" * 64 + data)]))
            assert spend(inside) == spend(alone)


def test_an_archive_that_names_nothing_says_so() -> None:
    assert "AOTriton archive without a kernel" in only_error(aks2([]))
