"""Every limit holds, says its name, can be moved; no input makes a reader hold much more than it may."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.containers_builder import ar, bundle, compressed, host_elf, packager, tar, zipped
from tests.test_formats_bundles import GFX950, ID, found, of, spend
from wavefit.kernels import BadFile, kernels
from wavefit.kernels.bounds import Bounds, size_text
from wavefit.kernels.unpack import zstd
from wavefit.model import Kernel

MIB = 1 << 20
ZEROS = bytes(64 * MIB)
TIGHT = Bounds(unpacked=8 * MIB, unquestioned=MIB, held=4 * MIB, small=MIB)
SLACK = 8 * MIB
"""Windows, decompressors and Python's own, on top of what is held."""
PACKERS: list[Callable[[bytes], bytes]] = [gzip.compress, bz2.compress, lzma.compress, zstd.compress]


def held(data: bytes, bounds: Bounds) -> tuple[int, list[Kernel | BadFile]]:
    """The most bytes that reading holds at once, and what comes of it."""
    tracemalloc.start()
    try:
        items = found(data, bounds)
        return tracemalloc.get_traced_memory()[1], items
    finally:
        tracemalloc.stop()


def deep(levels: int, data: bytes) -> bytes:
    for _ in range(levels):
        data = zipped({"x": data})
    return data


@pytest.mark.parametrize("pack", PACKERS)
def test_packed_bombs_are_stopped_by_ratio_size_or_what_may_be_held(pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(GFX950 + ZEROS)
    peak, (bad,) = held(bomb, TIGHT)
    assert isinstance(bad, BadFile)
    assert "limit" in str(bad)
    assert peak < TIGHT.held + SLACK


def test_declared_bombs_are_not_even_begun() -> None:
    peak, items = held(compressed(b"", declared=1 << 60), Bounds())
    assert peak < MIB
    assert [str(item) for item in items] == ["f[+0x20]: declares 1 EiB; limit 8 GiB"]
    ccob = compressed(bundle({f"{ID}gfx950": ZEROS}))
    assert "declares 64 MiB; limit 8 MiB" in str(found(ccob, TIGHT)[0])
    archive = zipped({"bomb.co": ZEROS})
    assert "declares 64 MiB; limit 8 MiB" in str(found(archive, TIGHT)[0])


def test_a_large_entry_is_held_no_more_than_may_be() -> None:
    noise = Random(1).randbytes(6 * MIB)
    ccob = compressed(bundle({f"{ID}gfx906": GFX950 + noise, f"{ID}gfx950": GFX950}))
    peak, items = held(ccob, Bounds(held=4 * MIB, small=MIB))
    assert "6 MiB would have to be held in memory; limit 4 MiB" in str(items[0])
    assert [spend(item) for item in items[1:]] == of("gfx950")
    assert peak < 4 * MIB + SLACK


def test_a_library_that_unpacks_82_times_passes_by_default() -> None:
    """One real library does (29.5 MB to 2,434 MB), the densest of its blobs 114 times."""
    noise = Random(1).randbytes(200_000)
    content = bundle({f"{ID}gfx950": GFX950, f"{ID}gfx90a": (noise + bytes(30_000)) * 100})
    packed = zstd.compress(content)
    assert len(content) > 82 * len(packed)
    assert len(content) > Bounds().unquestioned
    head = b"CCOB" + struct.pack("<HHQQQ", 3, 1, 32 + len(packed), len(content), 0)
    items = found(head + packed)
    assert [spend(item) for item in items[:3]] == of("gfx950")


def test_the_ratio_can_be_moved() -> None:
    packed = zstd.compress(tar({"a.co": GFX950, "zeros": ZEROS}))
    (bad,) = (item for item in found(packed) if isinstance(item, BadFile))
    assert "limit 1000 times" in str(bad)
    assert [spend(item) for item in found(packed, Bounds(ratio=100_000))] == of("gfx950")


def test_archives_in_archives_come_to_an_end() -> None:
    assert [spend(item) for item in found(deep(8, GFX950))] == of("gfx950")
    assert "nested more than 16 deep" in str(found(deep(20, GFX950))[0])
    assert "nested more than 3 deep" in str(found(deep(4, GFX950), Bounds(depth=3))[0])


def test_what_a_file_unpacks_to_altogether_is_bounded() -> None:
    bomb = zipped({f"{number}.zip": zipped({"zeros": bytes(MIB)}) for number in range(40)})
    items = found(bomb, Bounds(altogether=10 * MIB))
    assert "unpacks to more than 10 MiB altogether" in str(items[0])


def test_a_stream_inside_a_stream_needs_no_more_memory_than_one() -> None:
    noise = Random(2).randbytes(MIB)
    members = {"a": noise, "lib.so": host_elf([(".data", noise), (".hip_fatbin", GFX950)]), "b": noise}
    data = lzma.compress(tar({"inner.tar.gz": tar(members, "w:gz"), "c": noise}), preset=0)
    peak, items = held(data, Bounds(small=MIB // 2))
    assert [spend(item) for item in items] == of("gfx950")
    assert peak < 2 * SLACK


def test_text_is_searched_up_to_a_bound() -> None:
    text = (
        b"; "
        + b"x" * (2 * MIB)
        + b"\n.amdgpu_metadata\n.end_amdgpu_metadata\n.amdhsa_kernel k\n.end_amdhsa_kernel\n"
    )
    assert isinstance(found(text)[0], Kernel)
    assert str(found(text, Bounds(text=MIB))[0]) == "f: text, not a code object"


def test_a_table_of_a_million_entries_or_names_is_bounded() -> None:
    table = struct.pack("<QQQ", 0, 0, 0) * 100_000
    many = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 100_000) + table
    assert "no id" in str(found(many)[0])
    assert "do not fit" in str(found(many, Bounds(members=99_999))[0])
    peak, _ = held(b"CCOB" * 500_000, Bounds())
    assert peak < 64 * MIB


def test_members_are_counted() -> None:
    items = found(zipped({"a.co": GFX950, "b.co": GFX950, "c.co": GFX950}), Bounds(members=2))
    assert [spend(item) for item in items[:-1]] == of("gfx950") * 2
    assert str(items[-1]) == "f: more than 2 members"


@pytest.mark.parametrize(
    "text",
    [
        ".amdhsa_kernel k\n" * 100_000,
        ".amdgpu_metadata\n" * 100_000,
        "File: x\n" * 100_000,
        (" " * 100 + ".amdhsa_") * 10_000,
        "remark: Function Name: k [-Rpass-analysis=kernel-resource-usage]\n" * 50_000,
        "remark: " * 100_000 + "[-Rpass-analysis=kernel-resource-usage]",
        "AMD HSA ISA Name:\n" * 100_000 + ".amdhsa_kernel",
        ":".join(["x"] * 100_000) + ":\tfile format elf64-amdgpu\n.amdhsa_kernel",
    ],
    ids=range(8),
)
def test_text_made_to_be_slow_is_read_in_one_pass(text: str) -> None:
    """One that took time by the square of its length would not come back."""
    assert all(isinstance(item, Kernel | BadFile) for item in found(text.encode()))


def test_sizes_are_said_as_a_person_says_them() -> None:
    said = [size_text(count) for count in (0, 1023, 1024, 30_932_992, 8 << 30, 9 << 50, 1 << 62)]
    assert said == ["0 bytes", "1023 bytes", "1 KiB", "29.5 MiB", "8 GiB", "9 PiB", "4 EiB"]


def test_a_member_of_an_archive_that_shrinks_is_an_error(tmp_path: Path) -> None:
    archive = zipped({"a.co": GFX950, "b.co": GFX950 + Random(3).randbytes(2 * MIB), "c.co": GFX950}, 0)
    path = tmp_path / "x.zip"
    path.write_bytes(archive)
    items = kernels(path)
    assert isinstance(next(items), Kernel)
    with path.open("r+b") as handle:
        handle.truncate(40_000)
    rest = list(items)
    assert any("became shorter" in str(item) for item in rest if isinstance(item, BadFile))


def test_every_packed_format_ends_where_it_is_cut() -> None:
    whole: dict[str, bytes] = {
        "ar": ar([("a.co", GFX950), ("b.co", GFX950)]),
        "tar": tar({"a.co": GFX950, "b.co": GFX950}),
        "gz": gzip.compress(GFX950),
        "packager": packager(GFX950),
        "ccob": compressed(bundle({f"{ID}gfx950": GFX950}), version=2),
        "zip": zipped({"a.co": GFX950}),
    }
    for name, data in whole.items():
        for size in range(len(data) - 1, 8, -max(1, len(data) // 40)):
            items = found(data[:size])
            assert items, name
            assert isinstance(items[-1], BadFile) or name in ("tar", "ar"), (name, size)


def test_raw_deflate_that_says_nothing_more_is_an_end() -> None:
    """zlib may have taken all input and still hold output back."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(GFX950) + packer.flush(zlib.Z_SYNC_FLUSH)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("a.co")
        archive.writestr(info, data)
    raw = bytearray(out.getvalue())
    for place, size_at in ((0, 18), (raw.rindex(b"a.co") - 46, 20)):
        struct.pack_into("<H", raw, place + (8 if place == 0 else 10), 8)
        struct.pack_into("<I", raw, place + size_at + 4, len(GFX950))
        struct.pack_into("<I", raw, place + size_at - 4, zlib.crc32(GFX950))
    assert [spend(item) for item in found(bytes(raw))] == of("gfx950")


def test_tar_members_that_declare_more_than_there_is() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        info = tarfile.TarInfo("a.co")
        info.size = 1 << 40
        archive.addfile(info)
    (bad,) = found(out.getvalue())
    assert "1099511627776 bytes needed here" in str(bad)
