"""Code objects that no compiler at hand produces: Hygon's, hand-written, damaged, hostile."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from tests.kernels_builder import ENTRY, code_object, descriptor, metadata, note
from wavefit.kernels import BadFile
from wavefit.kernels.amd.isa import Isa, from_text
from wavefit.kernels.amd.yaml_subset import parse
from wavefit.kernels.open import read
from wavefit.kernels.source import Memory, Source
from wavefit.model import Kernel

DATA = Path(__file__).parent / "data/kernels"


def found(data: bytes) -> list[Kernel | BadFile]:
    return list(read(Source(Memory(data), len(data), "a.co")))


def one(data: bytes) -> Kernel:
    (kernel,) = found(data)
    assert isinstance(kernel, Kernel), str(kernel)
    return kernel


def error(data: bytes) -> str:
    (bad,) = found(data)
    assert isinstance(bad, BadFile), bad
    return str(bad)


def entry(**said: Any) -> dict[str, Any]:
    """ENTRY with some keys changed; None takes one away."""
    changed = {f".{key}": value for key, value in said.items()}
    return {key: value for key, value in {**ENTRY, **changed}.items() if value is not None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("amdgcn-amd-amdhsa--gfx950", Isa("gfx950")),
        ("amdgcn-amd-amdhsa-unknown-gfx950", Isa("gfx950")),
        ("amdgpu9.50-amd-amdhsa-unknown-gfx950", Isa("gfx950")),
        ("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", Isa("gfx90a", ("sramecc+", "xnack-"))),
        ("amdgcn-amd-amdhsa--gfx9-4-generic", Isa("gfx9-4-generic")),
        ("'amdgcn-amd-amdhsa--gfx936:sramecc+:xnack-'", Isa("gfx936", ("sramecc+", "xnack-"))),
        ("gfx938:sramecc+", Isa("gfx938", ("sramecc+",))),
        ("amdgcn-amd-amdhsa--", None),
        ("x86_64-unknown-linux-gnu", None),
        ("", None),
    ],
)
def test_spellings_of_a_target(text: str, expected: Isa | None) -> None:
    assert from_text(text) == expected


def test_the_public_gfx938_binary() -> None:
    # its e_flags, rsrc3, registers and fields as published: 37 VGPRs encode as 9, 13 SGPRs as 1
    target = "amdgcn-amd-amdhsa--gfx938:sramecc+"
    data = code_object(
        note(metadata(entry(fp64_status=0, agpr_count=0), target=target)),
        {"k.kd": descriptor(vgpr_field=9, sgpr_field=1, rsrc3=0x1E)},
        flags=0xD84,
    )
    kernel = one(data)
    assert (kernel.target, kernel.features, kernel.code_version) == ("gfx938", ("sramecc+",), 5)
    assert (kernel.total_vgprs, kernel.allocated_vgprs) == (37, 40)
    assert (kernel.vgprs, kernel.agprs) == (37, 0)


@pytest.mark.parametrize("target", ["gfx926", "gfx928", "gfx936", "gfx938"])
def test_hygon_is_known_by_its_target_string_whatever_e_flags_say(target: str) -> None:
    data = code_object(
        note(metadata(entry(), target=f"amdgcn-amd-amdhsa--{target}")),
        {"k.kd": descriptor(rsrc3=0x05)},  # on gfx90a this would be an accumulator offset of 24
        flags=0x53F,  # gfx90a's
    )
    kernel = one(data)
    assert kernel.target == target
    assert (kernel.vgprs, kernel.total_vgprs, kernel.allocated_vgprs) == (37, 37, 40)
    assert not kernel.agprs
    assert any("gfx90a" in note for note in kernel.notes)


@pytest.mark.parametrize(("name", "flags"), [("gfx940", 0x540), ("gfx941", 0x54B)])
def test_gfx940_and_gfx941_assume_the_limits_of_gfx942(name: str, flags: int) -> None:
    data = code_object(note(metadata(entry(), target=None)), {"k.kd": descriptor(vgpr_field=4)}, flags=flags)
    kernel = one(data)
    assert (kernel.target, kernel.allocated_vgprs) == ("gfx942", 40)
    assert any(name in note and "assumed" in note for note in kernel.notes)


def test_a_target_without_data_keeps_its_counts_and_says_so() -> None:
    data = code_object(note(metadata(entry(), target="amdgcn-amd-amdhsa--gfx9999")), {"k.kd": descriptor()})
    kernel = one(data)
    assert (kernel.target, kernel.total_vgprs, kernel.allocated_vgprs) == ("gfx9999", 37, None)
    assert any("no data on gfx9999" in note for note in kernel.notes)


def test_no_target_at_all_is_an_error_that_shows_e_flags() -> None:
    data = code_object(note(metadata(entry(), target=None)), {"k.kd": descriptor()}, flags=0xD84)
    assert error(data).startswith("a.co[+0x30]: e_flags 0xd84 name no known target")


def test_agprs_of_a_hand_written_kernel_never_follow_from_padding() -> None:
    # 100 used, offset (15 + 1) x 4 = 64; 176 allocated
    data = code_object(note(metadata(entry(vgpr_count=100))), {"k.kd": descriptor(vgpr_field=21, rsrc3=15)})
    kernel = one(data)
    assert (kernel.vgprs, kernel.agprs, kernel.total_vgprs, kernel.allocated_vgprs) == (64, 36, 100, 176)


def test_gfx908_keeps_the_larger_count() -> None:
    target = "amdgcn-amd-amdhsa--gfx908"
    data = code_object(
        note(metadata(entry(agpr_count=32), target=target)), {"k.kd": descriptor()}, flags=0x530
    )
    kernel = one(data)
    assert (kernel.vgprs, kernel.agprs, kernel.total_vgprs) == (37, 32, 37)


@pytest.mark.parametrize(("properties", "wave"), [(0, 64), (1 << 10, 32)])
@pytest.mark.parametrize(("rsrc1", "mode"), [(0, "cu"), (1 << 29, "wgp")])
def test_wave_and_mode_from_the_descriptor_alone(properties: int, wave: int, rsrc1: int, mode: str) -> None:
    target = "amdgcn-amd-amdhsa--gfx1100"
    told = descriptor(rsrc1=rsrc1, properties=properties)
    kernel = one(
        code_object(note(metadata(entry(wavefront_size=None), target=target)), {"k.kd": told}, flags=0x41)
    )
    assert (kernel.wave, kernel.mode) == (wave, mode)


def test_bit_29_means_nothing_on_gfx1250() -> None:
    target = "amdgcn-amd-amdhsa--gfx1250"
    told = descriptor(rsrc1=1 << 29, properties=1 << 10)
    kernel = one(
        code_object(note(metadata(entry(wavefront_size=32), target=target)), {"k.kd": told}, flags=0x49)
    )
    assert (kernel.wave, kernel.mode) == (32, None)


def test_v2_without_usable_e_flags_is_read_by_its_isa_note() -> None:
    isa = struct.pack("<HHIII", 4, 7, 9, 0, 10) + b"AMD\0AMDGPU\0"
    text = b"---\nKernels:\n  - Name: k\n    SymbolName: 'k@kd'\n    CodeProps:\n      NumVGPRs: 9\n...\n"
    told = bytearray(256)
    struct.pack_into("<I", told, 48, 1)
    told[103] = 6
    notes = note(isa, b"AMD\0", 3) + note(text, b"AMD\0", 10)
    kernel = one(code_object(notes, {"k": bytes(told)}, flags=0, abi=0, kind=10))
    assert (kernel.target, kernel.symbol, kernel.total_vgprs, kernel.wave) == ("gfx90a", "k", 9, 64)


def test_a_kernel_without_descriptor_says_that_its_allocation_is_not_known() -> None:
    kernel = one(code_object(note(metadata(entry())), {}))
    assert (kernel.total_vgprs, kernel.allocated_vgprs, kernel.allocated_sgprs) == (37, None, None)
    assert any("no descriptor" in note for note in kernel.notes)


def test_a_descriptor_without_metadata_is_a_kernel_too() -> None:
    named, alone = found(
        code_object(note(metadata(entry())), {"k.kd": descriptor(), "z.kd": descriptor(lds=512)})
    )
    assert isinstance(alone, Kernel)
    assert isinstance(named, Kernel)
    assert (alone.name, alone.lds, alone.allocated_vgprs, alone.total_vgprs) == ("z", 512, 80, None)
    assert any("metadata do not name it" in note for note in alone.notes)


def test_damaged_metadata_are_one_error_and_the_descriptors_are_still_read() -> None:
    bad, kernel = found(
        code_object(note(b"\x81\xaeamdhsa.kernels\xdd\xff\xff\xff\xff"), {"k.kd": descriptor()})
    )
    assert isinstance(bad, BadFile)
    assert isinstance(kernel, Kernel)
    assert str(bad) == "a.co[+0x54]: kernel metadata: Input data was truncated"
    assert (kernel.target, kernel.allocated_vgprs) == ("gfx950", 80)


def test_halves_that_disagree_are_said() -> None:
    said = entry(group_segment_fixed_size=1024, vgpr_count=100)
    kernel = one(code_object(note(metadata(said)), {"k.kd": descriptor(lds=2048)}))
    assert kernel.lds == 1024
    assert any("1024 bytes of LDS, the descriptor 2048" in note for note in kernel.notes)
    assert any("80 VGPRs, fewer than the 100" in note for note in kernel.notes)


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (entry(agpr_count=38), "38 AGPRs of 37 VGPRs"),
        (entry(wavefront_size=7), "wave size 7"),
        (entry(vgpr_count=-1), "kernel metadata: Expected `int` >= 0 - at `$.amdhsa.kernels[0]..vgpr_count`"),
        (entry(vgpr_count=2**32), "kernel metadata: Expected `int` <="),
        (entry(sgpr_count="x"), "kernel metadata: Expected `int | null`, got `str`"),
        (entry(name=None), "missing required field `.name`"),
        (entry(reqd_workgroup_size=[1, 2]), "kernel metadata: Expected `array` of length 3"),
    ],
)
def test_impossible_metadata_are_an_error_that_names_the_place(said: dict[str, Any], cause: str) -> None:
    first = found(code_object(note(metadata(said)), {"k.kd": descriptor()}))[0]
    assert isinstance(first, BadFile)
    assert cause in str(first)


def test_one_bad_kernel_does_not_hide_the_others() -> None:
    entries = entry(agpr_count=38), entry(name="b", symbol="b.kd")
    data = code_object(note(metadata(*entries)), {"k.kd": descriptor(), "b.kd": descriptor()})
    bad, kernel = found(data)
    assert isinstance(bad, BadFile)
    assert isinstance(kernel, Kernel)
    assert kernel.name == "b"


def test_hostile_names_are_escaped_in_messages() -> None:
    name = "k\x1b[2J\u202e\n"
    bad = found(code_object(note(metadata(entry(name=name, agpr_count=99))), {"k.kd": descriptor()}))[0]
    assert str(bad) == "a.co: kernel k\\x1b[2J\\u202e\\x0a: 99 AGPRs of 37 VGPRs in all"


def test_an_object_of_another_os_abi_says_so() -> None:
    assert (
        error(code_object(b"", {}, os_abi=65))
        == "a.co[+0x7]: AMD GPU object for OS ABI 65; only HSA's, 64, is read"
    )


def test_an_object_without_kernels_says_so() -> None:
    assert error(code_object(note(metadata()), {})) == "a.co: AMD code object without a kernel"


def test_a_truncated_object_names_the_offset() -> None:
    data = (DATA / "k_gfx950.co").read_bytes()
    headers = struct.unpack_from("<Q", data, 40)[0]
    assert error(data[:40]) == "a.co[+0x0]: 64 bytes needed here, 40 left"
    assert error(data[:100]) == f"a.co[+{headers:#x}]: past the end at 0x64"


def test_overlapping_names_end_in_an_error_and_not_in_hours() -> None:
    # 20,000 symbols that all begin in the same 2 MB name: 40 GB to copy if nothing stopped it
    names = b"\0" + b"x" * 2_000_000 + b".kd\0"
    symbols = struct.pack("<IBBHQQ", 1, 0x11, 0, 2, 0x1000, 64) * 20_000
    data = bytearray(code_object(b"", {"k.kd": descriptor()}, extra=[(2, symbols), (3, names)]))
    headers = struct.unpack_from("<Q", data, 40)[0]
    struct.pack_into("<I", data, headers + 64 * 5 + 40, 6)  # the symbol table's strings: the last section
    assert "overlap" in str(found(bytes(data))[-1])


def test_overlapping_notes_end_in_an_error() -> None:
    data = bytearray(code_object(note(b"\x80") * 500, {}, extra=[(7, b"")] * 50))
    headers = struct.unpack_from("<Q", data, 40)[0]
    for section in range(5, 55):  # each the same bytes as the first
        data[headers + 64 * section + 24 : headers + 64 * section + 40] = data[headers + 88 : headers + 104]
    assert "note sections overlap" in error(bytes(data))


YAML = """---
Version:         [ 1, 0 ]
# comment
Printf:
  - '1:1:4:it''s %d\\n'
  - "a\\tb"
Kernels:
  - Name:            a
    Attrs:
      ReqdWorkGroupSize: [ 256, 1, 1 ]
      Hint:
    Deep:
    - x: 1
      y: true
  - Name: b, c
    Flow: []
...
"""


def test_the_yaml_that_compilers_write() -> None:
    assert parse(YAML) == {
        "Version": [1, 0],
        "Printf": ["1:1:4:it's %d\\n", "a\tb"],
        "Kernels": [
            {"Name": "a", "Attrs": {"ReqdWorkGroupSize": [256, 1, 1]}, "Deep": [{"x": 1, "y": True}]},
            {"Name": "b, c", "Flow": []},
        ],
    }


@pytest.mark.parametrize(
    "text",
    [
        "a: &x [ 1 ]", "a: *x", "a: !!python/object x", "a: |\n  b", "a: { b: c }", "a\n", "a: 1\n   b: 2",
        "a: [ 1", "- " * 40 + "a", "a: 'b", "? a", "\ta: 1", "a: @b", "<<: *x",
        "a:\n  - b\n  c: d", "a: [ [ 1 ] ]",
    ],
)  # fmt: skip
def test_yaml_that_they_do_not_write_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"line|nested"):
        parse(text)


def test_an_error_holds_nothing_of_what_was_read() -> None:
    """Frames of a traceback would keep the file in memory for as long as a survey keeps its errors."""
    for bad in found(b"\x7fELF" + bytes(200)) + found((DATA / "k_gfx950.co").read_bytes()[:100]):
        assert isinstance(bad, BadFile)
        assert (bad.__traceback__, bad.__cause__, bad.__context__) == (None, None, None)
