"""Bundles of every kind: what is in them against the code objects that they were made from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.containers_builder import bundle, compressed, packager
from wavefit.kernels import BadFile, NoKernels, kernels
from wavefit.kernels.backing import Memory
from wavefit.kernels.bounds import Bounds, Reading
from wavefit.kernels.open import read
from wavefit.kernels.source import Source
from wavefit.model import Kernel

DATA = Path(__file__).parent / "data/kernels"
BUNDLES = DATA / "bundles"
TARGETS = ("gfx906", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")
"""What clang's bundler was given: k_gfx*.co, in this order."""
ID = "hipv4-amdgcn-amd-amdhsa--"
GFX950 = (DATA / "k_gfx950.co").read_bytes()


def found(data: bytes, bounds: Bounds | None = None) -> list[Kernel | BadFile]:
    return list(read(Source(Memory(data), len(data), "f", reading=Reading(bounds))))  # type: ignore[arg-type]


def only_error(data: bytes, bounds: Bounds | None = None) -> str:
    (bad,) = found(data, bounds)
    assert isinstance(bad, BadFile)
    return str(bad)


def spend(kernel: Kernel | BadFile) -> Kernel:
    """All that a kernel says, wherever it was found."""
    assert isinstance(kernel, Kernel), str(kernel)
    return replace(kernel, file="", member=None)


def of(*targets: str) -> list[Kernel]:
    return [spend(kernel) for target in targets for kernel in kernels(DATA / f"k_{target}.co")]


@pytest.mark.parametrize(
    ("name", "targets"),
    [
        ("plain.hipfb", TARGETS),
        *(
            (f"ccob_v{version}_{method}.hipfb", TARGETS)
            for version in (1, 2, 3)
            for method in ("zlib", "zstd")
        ),
        ("llvm22_v2.hipfb", ("gfx950",)),
        ("llvm22_v3.hipfb", ("gfx950",)),
        ("concat_mixed.hipfb", ("gfx950", *TARGETS, "gfx950")),
        ("pkg.out", ("gfx950", "gfx90a")),
    ],
)
def test_what_was_bundled_is_found(name: str, targets: tuple[str, ...]) -> None:
    assert [spend(kernel) for kernel in kernels(BUNDLES / name)] == of(*targets)


def test_a_member_is_named_by_its_entry_and_by_the_place_of_its_bundle() -> None:
    members = dict.fromkeys(kernel.member for kernel in kernels(BUNDLES / "concat_mixed.hipfb"))
    assert list(members)[:2] == [f"{ID}gfx950", f"+0x663/{ID}gfx906"]
    assert list(members)[-1] == f"+0xec5b/{ID}gfx950"
    data = (BUNDLES / "concat_mixed.hipfb").read_bytes()
    assert data[0xEC5B:].startswith(b"CCOB")
    assert data[0x663:].startswith(b"__CLANG")


def test_host_entries_and_code_for_others_are_passed_over() -> None:
    entries = {
        "host-x86_64-unknown-linux-gnu-": b"\x7fELF" * 20,
        "host-x86_64-unknown-linux--": b"",
        "hip-spirv64-amd-amdhsa--amdgcnspirv": b"\x03\x02\x23\x07" * 8,
        "openmp-amdgcn-amd-amdhsa--gfx950": GFX950,
        f"{ID}gfx90a:xnack-": b"BC\xc0\xde bitcode is compiled at run time",
    }
    assert [spend(kernel) for kernel in found(bundle(entries))] == of("gfx950")


def test_a_generic_target_and_features_are_read_from_the_code_object() -> None:
    generic = (DATA / "targets/gfx9-4-generic.o").read_bytes()
    settings = (DATA / "targets/gfx90a_settings.o").read_bytes()
    items = found(bundle({f"{ID}gfx9-4-generic": generic, f"{ID}gfx90a:sramecc+:xnack-": settings}))
    assert [(item.target, item.features) for item in items if isinstance(item, Kernel)][::3] == [
        ("gfx9-4-generic", ()),
        ("gfx90a", ("sramecc+", "xnack-")),
    ]


def test_the_same_code_twice_is_two_members() -> None:
    twice = found(bundle({f"{ID}gfx950": GFX950}) * 2)
    assert len({kernel.member for kernel in twice if isinstance(kernel, Kernel)}) == 2


def test_an_object_that_names_no_target_is_known_by_its_entry() -> None:
    """Hygon's numbers in e_flags are not public: the metadata or the bundle name the target."""
    object_v3 = bytearray((DATA / "clang14_cov3_gfx906.co").read_bytes())
    object_v3[48] = 0xFF  # no target that anybody knows
    assert only_error(bytes(object_v3)).endswith("name no known target and neither do the metadata")
    items = found(bundle({f"{ID}gfx936": bytes(object_v3)}))
    assert {kernel.target for kernel in items if isinstance(kernel, Kernel)} == {"gfx936"}


@pytest.mark.parametrize("count", [0, 7_599_999_999_999_999_999, 1 << 62, 3])
def test_the_magic_alone_is_no_bundle_in_other_data(count: int) -> None:
    text = b"__CLANG_OFFLOAD_BUNDLE__" + count.to_bytes(8, "little") + b"clang-offload-bundler: \0" * 5
    data = bundle({f"{ID}gfx950": GFX950}) + text + b"CCOB, CCOB\x03\x00\x01\x00 and \x7fELF\x02\x01\x01"
    assert [spend(kernel) for kernel in found(data)] == of("gfx950")


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"__CLANG_OFFLOAD_BUNDLE__", "f[+0x18]: 8 bytes needed here, 0 left"),
        (b"__CLANG_OFFLOAD_BUNDLE__" + b"\0" * 8, "f[+0x0]: an offload bundle without entries"),
        (
            b"__CLANG_OFFLOAD_BUNDLE__" + b"\xff" * 8,
            "f[+0x18]: 18446744073709551615 bundle entries declared, which do not fit here",
        ),
        (bundle({"": b"x"}), "f[+0x20]: bundle entry 1 of 1 has no id that names a target"),
        (
            bundle({f"{ID}gfx950": GFX950})[:-1],
            f"f[+0x1000]: {ID}gfx950 has 6696 bytes here, 6695 are left",
        ),
        (b"CCOB\x09\0\0\0" + b"\0" * 40, "f[+0x4]: compressed bundle version 9; known are 1 to 3"),
        (
            b"CCOB\x03\0\x07\0" + b"\0" * 40,
            "f[+0x6]: compressed bundle packed by method 7; known are 0 (zlib), 1 (zstd)",
        ),
        (
            compressed(b"", declared=9 << 50),
            "f[+0x20]: declares 9 PiB; limit 8 GiB",
        ),
        (
            compressed(b"", declared=1 << 30),
            "f[+0x20]: declares 1 GiB from 8 bytes; limit 1000 times",
        ),
        (
            compressed(bundle({f"{ID}gfx950": GFX950}), declared=5000),
            f"f[+0x1000]: {ID}gfx950 has 6696 bytes here, 904 are left",
        ),
        (packager(GFX950)[:100], "f[+0x8]: an offload packager file of 6776 bytes, 100 are here"),
    ],
)
def test_damage_is_one_line_that_names_its_place(data: bytes, cause: str) -> None:
    first = found(data)[0]
    assert isinstance(first, BadFile)
    assert not isinstance(first, NoKernels)
    assert str(first) == cause


def test_a_damaged_entry_leaves_the_others() -> None:
    data = bytearray(bundle({f"{ID}gfx906": GFX950, f"{ID}gfx90a": b"\x7fELF", f"{ID}gfx950": GFX950}))
    data[4096:4100] = b"oops"
    items = found(bytes(data))
    assert [spend(kernel) for kernel in items if isinstance(kernel, Kernel)] == of("gfx950")
    assert [str(item) for item in items if isinstance(item, BadFile)] == [
        f"f[{ID}gfx90a+0x0]: an ELF file cut off after 4 bytes"
    ]


def test_a_damaged_compressed_bundle_leaves_what_follows() -> None:
    whole = compressed(bundle({f"{ID}gfx906": GFX950}))
    for version in (1, 2, 3):
        broken = bytearray(compressed(bundle({f"{ID}gfx906": GFX950}), version=version))
        broken[200:260] = b"\xff" * 60
        items = found(bytes(broken).ljust(4096, b"\0") + whole)
        assert [spend(kernel) for kernel in items if isinstance(kernel, Kernel)] == of("gfx950")
        assert any("damaged zlib data" in str(item) for item in items)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_more_than_declared_is_an_error_and_less_too(version: int) -> None:
    plain = bundle({f"{ID}gfx950": GFX950})
    for declared, words in ((len(plain) - 1, "more than"), (len(plain) + 1, "and declares")):
        items = found(compressed(plain, version=version, declared=declared))
        assert any(words in str(item) for item in items if isinstance(item, BadFile)), declared


def test_entries_that_overlap_are_an_error_where_bytes_pass_once() -> None:
    padded = GFX950 + b"\0" * (2 << 20)
    plain = bytearray(bundle({f"{ID}gfx906": padded, f"{ID}gfx950": padded}))
    second = plain.index(b"gfx950") - len(ID) - 24
    plain[second : second + 8] = (4096 + 64).to_bytes(8, "little")
    items = found(compressed(bytes(plain)), Bounds(small=1))
    assert [spend(item) for item in items[:3]] == of("gfx950")
    assert "parts overlap" in str(items[3])


def test_a_packager_file_of_another_version_is_searched() -> None:
    data = packager(GFX950, version=2, triple="amdgcn-amd-amdhsa", arch="gfx950")
    assert [spend(kernel) for kernel in found(data)] == of("gfx950")


def test_packager_members_say_what_they_are_for() -> None:
    data = packager(GFX950, triple="amdgcn-amd-amdhsa", arch="gfx950", producer="hip")
    assert {kernel.member for kernel in found(data) if isinstance(kernel, Kernel)} == {
        "hip-amdgcn-amd-amdhsa-gfx950"
    }
