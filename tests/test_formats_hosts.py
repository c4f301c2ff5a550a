"""Libraries, executables and modules that carry device code: every blob, and nothing that is none."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.containers_builder import bundle, compressed, host_elf, host_pe, packager
from tests.test_formats_bundles import GFX950, ID, found, of, only_error, spend
from wavefit.kernels import BadFile, NoKernels
from wavefit.kernels.backing import WINDOW, Stream
from wavefit.kernels.bounds import OPEN, Bounds, Reading
from wavefit.kernels.open import read
from wavefit.kernels.source import Source
from wavefit.model import Kernel

PLAIN = bundle({f"{ID}gfx950": GFX950})
PAGES = PLAIN.ljust(-(-len(PLAIN) // 4096) * 4096, b"\0")


def streamed(data: bytes, piece: int = 1 << 16) -> list[Kernel | BadFile]:
    """The same file where its bytes pass only once and nobody knows how many come."""
    left = [data]

    def pull(count: int) -> bytes:
        take = min(count, piece)
        given, left[0] = left[0][:take], left[0][take:]
        return given

    return list(read(Source(Stream(pull), OPEN, "f", reading=Reading())))  # type: ignore[arg-type]


def members(items: list[Kernel | BadFile]) -> list[str | None]:
    return list(dict.fromkeys(item.member for item in items))


@pytest.mark.parametrize("name", [".hip_fatbin", ".hipFatBinSegment", ".rodata", ".data", "anything"])
def test_many_bundles_in_a_section_are_found_at_their_pages(name: str) -> None:
    section = PAGES * 2 + compressed(PLAIN, version=2).ljust(4096, b"\0") + compressed(PLAIN)
    data = host_elf([(".text", b"\x90" * 99), (name, section)])
    items = found(data)
    assert [spend(item) for item in items] == of("gfx950") * 4
    places = ("", "+0x3000", "+0x6000", "+0x7000")
    assert members(items) == [f"{name}{place}/{ID}gfx950" for place in places]


def test_the_same_file_as_a_stream_gives_the_same_kernels_in_the_same_order() -> None:
    section = b"\0" * 32 + GFX950 + b"\0" * 8 + packager(GFX950) + PAGES * 3 + compressed(PLAIN, version=1)
    data = host_elf([(".rodata", b"x" * (2 * WINDOW + 77)), (".hip_fatbin", section)])
    whole = [spend(item) for item in found(data)]
    assert whole == of("gfx950") * 6
    for piece in (100, 1 << 12, 1 << 20):
        assert [spend(item) for item in streamed(data, piece)] == whole


def test_naked_code_objects_in_data_are_found_by_their_header() -> None:
    data = host_elf([(".rodata", b"\x7fELF is a magic\0" + (GFX950 + b"\0" * 8) * 100)])
    items = found(data)
    assert [spend(item) for item in items] == of("gfx950") * 100
    assert len(set(members(items))) == 100
    assert members(items)[:2] == [".rodata+0x10", ".rodata+0x1a40"]


def test_a_blob_across_the_border_of_two_windows_is_found() -> None:
    for shift in range(-40, 8, 4):
        data = host_elf([(".data", b"\0" * (WINDOW + shift) + PLAIN)])
        assert [spend(item) for item in found(data)] == of("gfx950"), shift


@pytest.mark.parametrize(
    ("flags", "kind", "name"), [(6, 1, ".text"), (2, 8, ".bss"), (0, 1, ".debug_info"), (0, 1, ".comment")]
)
def test_code_and_what_is_not_loaded_is_not_searched(flags: int, kind: int, name: str) -> None:
    data = host_elf([(name, PLAIN), (".x", b"")], flags=flags, kind=kind)
    # what is left has no section of data, and is then searched as a whole
    assert bool([item for item in found(data) if isinstance(item, Kernel)]) is True
    both = bytearray(host_elf([(name, PLAIN), (".data", b"nothing")], flags=flags, kind=kind))
    headers = int.from_bytes(both[40:48], "little")
    struct.pack_into("<IQ", both, headers + 2 * 64 + 4, 1, 2)  # .data is data
    assert not [item for item in found(bytes(both)) if isinstance(item, Kernel)]


def test_an_object_file_of_the_new_driver() -> None:
    images = packager(GFX950, triple="amdgcn-amd-amdhsa", arch="gfx950") + packager(b"BC\xc0\xde")
    items = found(host_elf([(".llvm.offloading", images)], flags=0x80000000, kind=0x6FFF4C0B))
    assert [spend(item) for item in items] == of("gfx950")


def test_sections_that_overlap_are_searched_once() -> None:
    data = bytearray(host_elf([(f"s{number}", b"") for number in range(60)] + [(".data", PAGES)]))
    headers = int.from_bytes(data[40:48], "little")
    start = data.index(b"__CLANG")
    for number in range(1, 61):
        struct.pack_into("<QQ", data, headers + number * 64 + 24, start, len(PAGES))
    assert [spend(item) for item in found(bytes(data))] == of("gfx950")


@pytest.mark.parametrize("cut", [1, 200])
def test_a_library_that_is_cut_off_says_so_and_gives_what_is_left(cut: int) -> None:
    items = found(host_elf([(".hip_fatbin", PAGES)], cut=cut))
    assert isinstance(items[0], BadFile)
    assert not isinstance(items[0], NoKernels)
    assert [spend(item) for item in items[1:]] == of("gfx950")


def test_a_library_without_device_code_is_named() -> None:
    assert (
        only_error(host_elf([(".rodata", b"__CLANG_OFFLOAD_BUNDLE__")]))
        == "f: ELF for x86-64, no device code"
    )
    assert only_error(host_elf([(".data", b"")], machine=183)) == "f: ELF for AArch64, no device code"


@pytest.mark.parametrize("name", [b".hip_fat", b".hipFatB", b".rdata"])
def test_windows_libraries(name: bytes) -> None:
    data = host_pe([(b".text", PLAIN), (name, PAGES + compressed(PLAIN))])
    items = found(data)
    assert [spend(item) for item in items] == of("gfx950") * 3
    places = [f"{name.decode()}/{ID}gfx950", f"{name.decode()}+0x3000/{ID}gfx950"]
    assert sorted(map(str, members(items))) == sorted([*places, f".text/{ID}gfx950"])
    assert members(items)[:2] == places or name == b".rdata"  # what is named for it comes first
    assert [spend(item) for item in streamed(data)] == of("gfx950") * 3
    code = found(host_pe([(name, PAGES)], flags=0x60000020))
    assert str(code[0]) == "f: Windows executable or library without a kernel"


def test_a_windows_library_that_is_cut_off() -> None:
    items = found(host_pe([(b".hip_fat", PAGES + PLAIN)])[:-2000])
    assert [str(item) for item in items if isinstance(item, BadFile)] == [
        "f[+0x400]: section .hip_fat passes the end of the file",
        f"f[.hip_fat+0x4000]: {ID}gfx950 has 6696 bytes here, 5168 are left",
        "f[.hip_fat+0x5668]: past the end at 0x5430",  # what is left of it, read for what it is
    ]
    assert [spend(item) for item in items if isinstance(item, Kernel)] == of("gfx950")
    assert "not a code object (begins with 4d 5a" in only_error(b"MZ" + b"\0" * 200)


def test_iree_modules_are_searched() -> None:
    module = b"\x20\0\0\0IREE" + b"\0" * 24 + GFX950 + b"\0" * 100
    assert [spend(item) for item in found(module)] == of("gfx950")
    assert only_error(module[:32]) == "f: IREE module without a kernel"


def test_bounds_are_those_of_the_whole_file() -> None:
    data = host_elf([(".hip_fatbin", compressed(PLAIN).ljust(4096, b"\0") * 4)])
    items = found(data, Bounds(altogether=3 * len(PLAIN)))
    assert [spend(item) for item in items if isinstance(item, Kernel)] == of("gfx950") * 3
    assert "unpacks to more than" in str(items[-1])


def test_every_fixture_bundle_in_a_library(tmp_path: Path) -> None:
    folder = Path(__file__).parent / "data/kernels/bundles"
    for file in folder.iterdir():
        alone = [spend(item) for item in found(file.read_bytes())]
        assert [spend(item) for item in found(host_elf([(".hip_fatbin", file.read_bytes())]))] == alone
