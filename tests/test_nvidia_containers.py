"""Fat binaries, host files, PTX and the texts of NVIDIA's tools, each against what another of them says."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

import wavefit as wf
from tests.nvidia_files import DATA, found
from wavefit.kernels import BadFile, NoKernels
from wavefit.kernels.backing import Memory
from wavefit.kernels.bounds import Bounds, Reading
from wavefit.kernels.nvidia import lz4
from wavefit.kernels.open import read
from wavefit.kernels.source import Source
from wavefit.model import Kernel

FORMS = ("stored.fatbin", "lz4.fatbin", "zstd.fatbin", "host.o")
USAGE = re.findall(
    r"arch = (sm_\w+)|Function (\S+):\n\s+REG:(\d+) STACK:(\w+) SHARED:(\d+)",
    (DATA / "res_usage.txt").read_text(),
)
FIELDS = ("target", "name", "vgprs", "lds", "scratch", "dynamic_stack", "max_threads", "barriers", "features")


def kernels(name: str) -> list[Kernel]:
    items = list(wf.kernels(DATA / name))
    assert all(isinstance(item, Kernel) for item in items), [str(item) for item in items]
    return [item for item in items if isinstance(item, Kernel)]


def compiled(name: str) -> list[tuple[object, ...]]:
    return sorted(
        tuple(getattr(kernel, field) for field in FIELDS)
        for kernel in kernels(name)
        if kernel.vgprs is not None
    )


@pytest.mark.parametrize("name", FORMS)
def test_every_form_holds_the_kernels_that_cuobjdump_lists(name: str) -> None:
    expected, target = [], ""
    for arch, function, registers, stack, shared in USAGE:
        target = arch.rstrip("a") or target
        if function:
            expected.append((target, function, int(registers), stack, int(shared)))
    assert len(expected) == 10
    ours = [
        (k.target, k.name, k.vgprs, "UNKNOWN" if k.dynamic_stack else str(k.scratch), k.lds)
        for k in kernels(name)
        if k.vgprs is not None
    ]
    # cuobjdump counts the driver's 1024 bytes in sm_90's shared memory, see test_nvidia_cubins
    assert sorted(ours) == sorted(
        (arch, function, registers, stack, shared - 1024 if arch == "sm_90" and shared else shared)
        for arch, function, registers, stack, shared in expected
    )


@pytest.mark.parametrize("name", FORMS[1:])
def test_every_way_of_packing_gives_the_same(name: str) -> None:
    assert compiled(name) == compiled("stored.fatbin")


def test_lz4_blocks_unpack_to_the_stored_bytes() -> None:
    stored, packed = (list(_entries((DATA / name).read_bytes())) for name in ("stored.fatbin", "lz4.fatbin"))
    assert len(stored) == len(packed) == 3
    for (plain, _), (block, size) in zip(stored, packed, strict=True):
        source = Source(Memory(block), len(block), "f")
        assert lz4.unpack(source, size) == plain[:size]


def _entries(data: bytes) -> list[tuple[bytes, int]]:
    """Content and unpacked size of each entry, by our own reading of the header."""
    at, entries = 16, []
    while at < len(data):
        header, size, packed = struct.unpack_from("<4xIQI", data, at)
        (unpacked,) = struct.unpack_from("<Q", data, at + 56)
        entries.append((data[at + header : at + header + (packed or size)], unpacked))
        at += header + size
    return entries


def test_members_are_named_by_section_number_and_target() -> None:
    assert {kernel.member for kernel in kernels("lz4.fatbin")} == {
        "1.sm_75.cubin",
        "2.sm_90.cubin",
        "3.sm_90.ptx",
    }
    assert all(str(kernel.member).startswith(".nv_fatbin") for kernel in kernels("host.o"))


def test_lto_ir_is_named_and_is_not_an_error_of_the_file() -> None:
    (item,) = wf.kernels(DATA / "lto.fatbin")
    assert isinstance(item, NoKernels)
    assert item.cause == "fat binary with LTO IR for sm_90: not compiled"


def test_a_packing_that_nobody_knows_is_one_line() -> None:
    data = bytearray((DATA / "zstd.fatbin").read_bytes())
    struct.pack_into("<Q", data, 16 + 40, 0x1011)
    errors = [item for item in found(bytes(data)) if isinstance(item, BadFile)]
    assert [str(error) for error in errors] == [
        "f[1.sm_75.cubin+0x0]: packed in a way that is not public (flags 0x1011)"
    ]


def test_one_damaged_entry_leaves_the_others() -> None:
    data = bytearray((DATA / "lz4.fatbin").read_bytes())
    data[16 + 64 + 10 : 16 + 64 + 200] = bytes(190)
    items = found(bytes(data))
    assert [item.cause[:16] for item in items if isinstance(item, BadFile)] == ["damaged LZ4 data"]
    assert {item.target for item in items if isinstance(item, Kernel)} == {"sm_90"}


def test_a_declared_size_beyond_what_lz4_can_mean_is_refused() -> None:
    data = bytearray((DATA / "lz4.fatbin").read_bytes())
    struct.pack_into("<Q", data, 16 + 56, 1 << 50)
    errors = [item for item in found(bytes(data)) if isinstance(item, BadFile)]
    assert len(errors) == 1
    assert "declares 1 PiB, more than LZ4 can pack" in errors[0].cause


@pytest.mark.parametrize("bounds", [Bounds(held=1000), Bounds(altogether=1000)])
def test_the_callers_bounds_hold_for_lz4(bounds: Bounds) -> None:
    data = (DATA / "lz4.fatbin").read_bytes()
    items = list(read(Source(Memory(data), len(data), "f", reading=Reading(bounds))))
    assert items
    assert all(isinstance(item, BadFile) for item in items)
    assert "limit 1000 bytes" in str(items[0]) or "more than 1000 bytes altogether" in str(items[0])


@pytest.mark.parametrize(
    ("block", "most", "why"),
    [
        (b"\x10A\x05\x00", 100, "from 5 before 1"),
        (b"\x10A\x00\x00", 100, "from 0 before 1"),
        (b"\x1fA\x01\x00\xff\xff\xff\x00", 100, "100 in all"),
        (b"\xf0\xff\xff", 100, "index out of range"),
        (b"\x10A\x01", 100, "index out of range"),
    ],
)  # fmt: skip
def test_damaged_lz4_says_what_is_wrong(block: bytes, most: int, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        lz4.unpack(Source(Memory(block), len(block), "f"), most)


def test_ptx_says_sizes_and_no_registers() -> None:
    text = (DATA / "spend.ptx").read_text()
    entries = re.findall(r"\.entry (\S+)\(", text)
    ours = kernels("spend.ptx")
    assert [kernel.name for kernel in ours] == entries
    assert {(k.target, k.vgprs, k.total_vgprs, k.lds, k.scratch) for k in ours} == {
        ("sm_90", None, None, None, None)
    }
    assert {k.name: k.max_threads for k in ours if k.max_threads} == {
        "spend": 128,
        "_Z5namedILi96EEvPKfPf": 96,
    }
    assert all("not compiled" in kernel.notes[0] for kernel in ours)


@pytest.mark.parametrize(
    ("directives", "most", "required"),
    [
        (".maxntid 8, 4, 2", 64, None),
        (".maxntid\n\t256", 256, None),
        (".reqntid 64,2", None, (64, 2, 1)),
        ("/* .maxntid 1 */ .reqntid 32 // .reqntid 5", None, (32, 1, 1)),
        (".minnctapersm 2 .maxnreg 40", None, None),
    ],
)
def test_ptx_directives(directives: str, most: int | None, required: tuple[int, ...] | None) -> None:
    head = ".version 8.8\n.target sm_100a, debug\n.address_size 64\n.visible .entry $k_1(.param .u64 p)\n"
    (kernel,) = found(f"{head}{directives}\n{{ ret; }}\n.entry declared(.param .u64 q);\n".encode())
    assert isinstance(kernel, Kernel)
    assert (kernel.name, kernel.max_threads, kernel.required_size) == ("$k_1", most, required)
    assert (kernel.target, kernel.features) == ("sm_100", ("sm_100a",))
    assert ("at most 40 registers a thread (.maxnreg)" in kernel.notes) == ("maxnreg" in directives)


def test_a_fit_of_ptx_is_not_bound_by_registers_that_nobody_knows() -> None:
    kernel = next(kernel for kernel in kernels("spend.ptx") if kernel.name == "spend")
    fit = wf.fit(kernel)
    assert isinstance(fit, wf.Fit)
    assert fit.limit("vgpr").workgroups is None


def test_ptxas_v_says_what_the_cubins_say() -> None:
    fields = ("target", "features", "name", "vgprs", "lds", "scratch", "barriers")
    text, cubins = (
        sorted(tuple(getattr(k, field) for field in fields) for k in kernels(name) if k.vgprs is not None)
        for name in ("ptxas_v.txt", "stored.fatbin")
    )
    assert text == cubins
    spills = [k for k in kernels("ptxas_v.txt") if any("spills" in note for note in k.notes)]
    printed = re.findall(
        r"properties for (\S+)\n.* ([1-9]\d*) bytes spill", (DATA / "ptxas_v.txt").read_text()
    )
    names = {kernel.name for kernel in kernels("ptxas_v.txt")}
    assert len(spills) == len([name for name, _ in printed if name in names])


def test_res_usage_text_says_what_the_cubins_say() -> None:
    fields = ("target", "name", "vgprs", "lds", "scratch", "dynamic_stack")
    text, cubins = (
        sorted(tuple(getattr(k, field) for field in fields) for k in kernels(name) if k.vgprs is not None)
        for name in ("res_usage.txt", "stored.fatbin")
    )
    assert text == cubins


def test_res_usage_of_a_bare_cubin_names_no_target(tmp_path: Path) -> None:
    path = tmp_path / "said.txt"
    path.write_text(
        "\nResource usage:\n Common:\n  GLOBAL:0\n Function k:\n  REG:16 STACK:8 SHARED:1024 LOCAL:0\n"
    )
    (kernel,) = wf.kernels(path)
    assert isinstance(kernel, Kernel)
    assert (kernel.target, kernel.vgprs, kernel.lds, kernel.scratch) == ("", 16, 1024, 8)
    assert "the text names no target" in kernel.notes
