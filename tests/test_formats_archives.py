"""Archives of every kind and depth, written by the standard library and read without unpacking them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.containers_builder import ar, bundle, compressed, host_elf, tar, zipped
from tests.test_formats_bundles import GFX950, ID, found, of, only_error, spend
from wavefit.kernels import BadFile, NoKernels, kernels
from wavefit.kernels.bounds import Bounds
from wavefit.kernels.unpack import zstd
from wavefit.model import Kernel

DATA = Path(__file__).parent / "data/kernels"
LIBRARY = host_elf([(".hip_fatbin", bundle({f"{ID}gfx950": GFX950}))])
LONG = "lib/" + "a-very-long-name/" * 20 + "über.so"
MEMBERS = {"readme.txt": b"only text", "lib/one.co": GFX950, LONG: LIBRARY, "empty": b""}
PLACES = ["lib/one.co", f"{LONG}/.hip_fatbin/{ID}gfx950"]
LARGE = Bounds(small=1)
"""So that packed members are read while they are unpacked, as large ones are."""


def members(items: list[Kernel | BadFile]) -> list[str | None]:
    return list(dict.fromkeys(item.member for item in items))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_zip_archives(method: int) -> None:
    items = found(zipped(MEMBERS, method))
    assert [spend(item) for item in items] == of("gfx950") * 2
    assert members(items) == PLACES
    assert [spend(item) for item in found(zipped(MEMBERS, method), LARGE)] == of("gfx950") * 2


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_tar_archives(mode: str, form: int) -> None:
    items = found(tar(MEMBERS, mode, form))
    assert [spend(item) for item in items] == of("gfx950") * 2
    assert items[0].member == PLACES[0]
    assert str(items[3].member).startswith(LONG)


@pytest.mark.parametrize("bsd", [False, True])
def test_static_archives(bsd: bool) -> None:
    items = found(
        ar([("a.o", LIBRARY), ("a-name-that-is-longer-than-fits.o", LIBRARY), ("a.o", GFX950)], bsd=bsd)
    )
    assert [spend(item) for item in items] == of("gfx950") * 3
    assert members(items) == [
        f"a.o/.hip_fatbin/{ID}gfx950",
        f"a-name-that-is-longer-than-fits.o/.hip_fatbin/{ID}gfx950",
        "a.o",
    ]
    assert (
        str(found(b"!<thin>\n" + b"x" * 60)[0]) == "f: thin archive: its members are other files, read those"
    )


@pytest.mark.parametrize("suffix", ["xz", "gz", "zst"])
def test_debian_packages(suffix: str) -> None:
    pack = {"xz": lzma.compress, "gz": gzip.compress, "zst": zstd.compress}[suffix]
    content = pack(tar({f"./{name}": content for name, content in MEMBERS.items()}))
    control = pack(tar({"./control": b"Package: x"}))
    data = ar(
        [("debian-binary", b"2.0\n"), (f"control.tar.{suffix}", control), (f"data.tar.{suffix}", content)]
    )
    items = found(data)
    assert [spend(item) for item in items] == of("gfx950") * 2
    assert items[0].member == f"data.tar.{suffix}/lib/one.co"


PACKERS: list[Callable[[bytes], bytes]] = [gzip.compress, bz2.compress, lzma.compress, zstd.compress]


@pytest.mark.parametrize("pack", PACKERS)
@pytest.mark.parametrize("bounds", [None, LARGE])
def test_packed_files_and_several_streams_in_one(
    pack: Callable[[bytes], bytes], bounds: Bounds | None
) -> None:
    half = len(GFX950) // 2
    assert [spend(item) for item in found(pack(GFX950), bounds)] == of("gfx950")
    assert [
        spend(item) for item in found(pack(GFX950[:half]) + pack(GFX950[half:]) + b"\0" * 8, bounds)
    ] == of("gfx950")
    assert [spend(item) for item in found(pack(LIBRARY), bounds)] == of("gfx950")
    (bad,) = found(pack(GFX950)[:-20], bounds)
    assert "end early" in str(bad)
    assert isinstance(found(pack(b"only text"), bounds)[0], NoKernels)


def test_boxes_in_boxes() -> None:
    wheel = zipped({"pkg/lib.so": LIBRARY, "pkg/k.co": GFX950})
    data = tar({"wheels/a.whl": wheel, "b.tar.gz": tar({"c.a": ar([("d.o", LIBRARY)])}, "w:gz")}, "w:xz")
    items = found(data)
    assert [spend(item) for item in items] == of("gfx950") * 3
    assert members(items) == [
        f"wheels/a.whl/pkg/lib.so/.hip_fatbin/{ID}gfx950",
        "wheels/a.whl/pkg/k.co",
        f"b.tar.gz/c.a/d.o/.hip_fatbin/{ID}gfx950",
    ]


def test_a_compressed_bundle_in_a_library_in_a_wheel_that_is_read_as_it_comes() -> None:
    section = compressed(bundle({f"{ID}gfx950": GFX950, f"{ID}gfx90a": GFX950}), version=1) + GFX950
    wheel = zipped({"lib.so": host_elf([(".rodata", b"x" * 3_000_000), (".hip_fatbin", section)])})
    assert [spend(item) for item in found(wheel, LARGE)] == of("gfx950") * 3


def test_triton_caches_in_archives_keep_their_side_files() -> None:
    stem = "softmax_gfx942_4096_w8"
    files = {
        name: (DATA / f"triton/{stem}{name[1:]}").read_bytes() for name in ("k.hsaco", "k.json", "k.amdgcn")
    }
    (beside,) = kernels(DATA / f"triton/{stem}.hsaco")
    for archive in (zipped(files), zipped(files, zipfile.ZIP_STORED), tar(files)):
        (item,) = found(archive)
        assert spend(item) == spend(beside)
    assert isinstance(beside, Kernel)
    assert beside.side_threads == 512


def test_names_are_shown_and_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("../../up.co", "/etc/absolute.co", "C:\\drive.co", "a\x1b[31m\u202eb.co", "x/../y.co")
    monkeypatch.chdir(tmp_path)
    for data in (zipped(dict.fromkeys(names, GFX950)), tar(dict.fromkeys(names, GFX950))):
        items = found(data)
        assert members(items) == list(names)
        (tmp_path / "in.zip").write_bytes(data)
        list(kernels("in.zip"))
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "in.zip"]
    (bad,) = found(zipped({"a\x1b[31m.co": GFX950[:100]}))
    assert str(bad).startswith(r"f[a\x1b[31m.co+0x")


def test_links_and_devices_in_archives_are_passed_over() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
            info = tarfile.TarInfo("k.co")
            info.type, info.linkname = kind, "k.co"
            archive.addfile(info)
    assert only_error(out.getvalue()) == "f: tar archive without a kernel"
    folder = zipfile.ZipInfo("folder/")
    folder.external_attr = stat.S_IFDIR << 16
    with zipfile.ZipFile(out := io.BytesIO(), "w") as archive_:
        archive_.writestr(folder, b"")
        archive_.writestr("k.co", GFX950)
    assert [spend(item) for item in found(out.getvalue())] == of("gfx950")


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda zip_: zip_[:-30], "f: zip archive: File is not a zip file"),
        (lambda zip_: zip_.replace(b"PK\3\4", b"PK\3\5"), "f: not a code object (begins with 50 4b 03 05"),
        (lambda zip_: zip_[:8] + b"\x63" + zip_[9:], None),  # the directory is believed
    ],
)
def test_damaged_zip_archives(change: Callable[[bytes], bytes], cause: str | None) -> None:
    items = found(change(zipped({"k.co": GFX950})))
    assert [str(item)[: len(cause)] for item in items] == [cause] if cause else len(items) == 3


def test_damaged_zip_members_leave_the_others() -> None:
    data = bytearray(zipped({"a.co": GFX950, "b.co": GFX950, "c.co": GFX950, "d.co": GFX950}))
    first, second, _third = (data.index(name) for name in (b"a.co", b"b.co", b"c.co"))
    data[first + 400 : first + 420] = b"\xff" * 20
    directory = data.rindex(b"b.co") - 46
    data[directory + 8] |= 1  # encrypted
    data[data.rindex(b"c.co") - 46 + 16] ^= 1  # its checksum
    items = found(bytes(data))
    causes = [str(item) for item in items if isinstance(item, BadFile)]
    assert [spend(item) for item in items if isinstance(item, Kernel)] == of("gfx950")
    assert causes[0].startswith("f[a.co+0x")
    assert "damaged deflate data" in causes[0]
    assert causes[1] == f"f[+{second - 30:#x}]: b.co is encrypted"
    assert causes[2].endswith("the checksum differs")


def test_zip_members_that_overlap_are_refused() -> None:
    """The trick of bombs that quote one packed stream in thousands of members."""
    data = bytearray(zipped({"a.co": GFX950, "b.co": GFX950}))
    second = data.rindex(b"b.co") - 46
    start = bytes(data[second + 42 : second + 46])
    struct.pack_into("<I", data, second + 42, int.from_bytes(start, "little"))
    struct.pack_into("<I", data, data.rindex(b"a.co") - 46 + 42, int.from_bytes(start, "little"))
    assert "overlaps the member before it" in str(found(bytes(data))[-1])


@pytest.mark.parametrize(
    ("at", "content", "cause"),
    [
        (148, b"0000000", "f: not a code object"),
        (124, b"\x80" + b"\xff" * 11, "f[+0x0]: "),
        (124, b"77777777777", "f[+0x200]: "),
    ],
)
def test_damaged_tar_headers(at: int, content: bytes, cause: str) -> None:
    data = bytearray(tar({"k.co": GFX950}, form=tarfile.GNU_FORMAT))
    data[at : at + len(content)] = content
    if at != 148:
        total = 256 + sum(data[:148]) + sum(data[156:512])
        data[148:156] = b"%06o\0 " % total
    (item,) = found(bytes(data))
    assert isinstance(item, BadFile)
    assert "tar" in str(item) or "needed here" in str(item)


def test_extended_tar_headers_of_any_size_and_content() -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("x")
        info.type, info.size = tarfile.XHDTYPE, 1 << 30
        archive.addfile(info)
    assert "an extended tar header of 1073741824 bytes" in only_error(out.getvalue())
    for records in (b"7 a=b\n", b"999999 path=x\n", b"0 a=b\n", b"-4 a=b\n", b"nonsense"):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            info = tarfile.TarInfo("x")
            info.type, info.size = tarfile.XHDTYPE, len(records)
            archive.addfile(info, io.BytesIO(records))
            info = tarfile.TarInfo("k.co")
            info.size = len(GFX950)
            archive.addfile(info, io.BytesIO(GFX950))
        items = found(out.getvalue())
        assert "damaged records" in str(items[0]) or [spend(item) for item in items] == of("gfx950")


@pytest.mark.parametrize("damage", [b"x" * 60, b"a.o/".ljust(48) + b"-1        `\n", b"a.o/".ljust(60)])
def test_damaged_static_archives(damage: bytes) -> None:
    items = found(ar([("b.o", GFX950)]) + damage)
    assert [spend(item) for item in items[:3]] == of("gfx950")
    assert len(items) == 4
    assert isinstance(items[3], BadFile)
