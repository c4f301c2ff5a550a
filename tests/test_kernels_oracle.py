"""Kernels as read against what LLVM's own tools and the compiler print of the same files."""

from __future__ import annotations

import csv
import io
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection, SymbolTableSection

from wavefit.kernels import kernels
from wavefit.kernels.elf import SHT_DYNSYM, SHT_SYMTAB, Elf
from wavefit.kernels.source import Memory, Source
from wavefit.model import Kernel

DATA = Path(__file__).parent / "data/kernels"
LLVM: dict[str, dict[str, Any]] = json.loads((DATA / "llvm.json").read_text())["objects"]
COMPILER = list(csv.DictReader((DATA / "compiler_says.csv").open()))
ONE_FILE = ("gfx90a", "gfx942", "gfx950", "gfx9-4-generic")


@lru_cache
def read(name: str) -> tuple[Kernel, ...]:
    found = tuple(kernels(DATA / name))
    assert all(isinstance(kernel, Kernel) for kernel in found), [
        str(f) for f in found if not isinstance(f, Kernel)
    ]
    return found  # type: ignore[return-value]


def round_up(value: int, granule: int) -> int:
    return -(-value // granule) * granule


@pytest.mark.parametrize("name", list(LLVM))
def test_target_and_version_as_readelf_prints_them(name: str) -> None:
    said = LLVM[name]
    for kernel in read(name):
        assert kernel.target == said["flags"][1]
        assert kernel.code_version == said["abi_version"] + 2


@pytest.mark.parametrize("name", [name for name in LLVM if "settings" in name or "_cov3_" in name])
def test_settings_as_readelf_prints_them(name: str) -> None:
    # readelf prints V3's bits without a sign
    signed = {flag if flag[-1] in "+-" else f"{flag}+" for flag in LLVM[name]["flags"][2:]}
    assert {kernel.features for kernel in read(name)} == {tuple(sorted(signed))}


@pytest.mark.parametrize("name", [name for name in LLVM if "_cov2_" not in name])
def test_metadata_as_readelf_prints_them(name: str) -> None:
    said = LLVM[name]["kernels"]
    found = read(name)
    assert [kernel.symbol for kernel in found] == [entry[".symbol"] for entry in said]
    for kernel, entry in zip(found, said, strict=True):
        assert kernel.name == entry[".name"]
        assert kernel.total_vgprs == entry[".vgpr_count"]
        assert kernel.sgprs == entry[".sgpr_count"]
        assert kernel.lds == entry[".group_segment_fixed_size"]
        assert kernel.scratch == entry[".private_segment_fixed_size"]
        assert kernel.max_threads == entry[".max_flat_workgroup_size"]
        assert kernel.required_size == (tuple(entry.get(".reqd_workgroup_size", ())) or None)
        assert kernel.wave == entry[".wavefront_size"]
        assert kernel.vgpr_spills == entry.get(".vgpr_spill_count")
        assert kernel.sgpr_spills == entry.get(".sgpr_spill_count")
        assert kernel.dynamic_stack == bool(entry.get(".uses_dynamic_stack"))
        assert kernel.uses_dynamic_lds == ("hidden_dynamic_lds_size" in entry["argument_kinds"])
        if ".agpr_count" in entry:
            assert kernel.agprs == entry[".agpr_count"]


@pytest.mark.parametrize("name", [name for name in LLVM if "_cov2_" in name])
def test_v2_metadata_as_readelf_prints_them(name: str) -> None:
    assert LLVM[name]["isa_note"] == [9, 0, 7]
    said = LLVM[name]["kernels"]
    found = read(name)
    assert [f"{kernel.symbol}@kd" for kernel in found] == [entry["SymbolName"] for entry in said]
    for kernel, entry in zip(found, said, strict=True):
        properties = entry["CodeProps"]
        assert kernel.name == entry["Name"]
        assert (kernel.vgprs, kernel.sgprs) == (properties["NumVGPRs"], properties["NumSGPRs"])
        assert (kernel.lds, kernel.scratch) == (
            properties["GroupSegmentFixedSize"],
            properties["PrivateSegmentFixedSize"],
        )
        assert kernel.max_threads == properties["MaxFlatWorkGroupSize"]
        assert kernel.wave == properties["WavefrontSize"]
        assert kernel.required_size == (tuple(entry.get("Attrs", {}).get("ReqdWorkGroupSize", ())) or None)
        # gfx9 encodes VGPRs in 4 and SGPRs in 16; the code object keeps the plain counts as well
        assert kernel.allocated_vgprs == round_up(properties["NumVGPRs"], 4)
        assert kernel.allocated_sgprs == round_up(properties["NumSGPRs"], 16)
        assert any("gfx906" in note and "gfx907" in note for note in kernel.notes)  # its ISA note's alias


@pytest.mark.parametrize("name", [name for name, said in LLVM.items() if said["descriptors"]])
def test_descriptors_as_objdump_prints_them(name: str) -> None:
    said = LLVM[name]["descriptors"]
    for kernel in read(name):
        told = said.get(kernel.symbol.removesuffix(".kd"))
        if told is None:  # older clangs set SGPR bits on gfx1030, which objdump then does not decode
            assert kernel.target == "gfx1030"
            continue
        assert kernel.allocated_vgprs == told["next_free_vgpr"]  # objdump prints all that is encoded
        if kernel.target.startswith("gfx9"):
            # objdump counts the field in 8, the hardware in 16 (GRANULATED_WAVEFRONT_SGPR_COUNT)
            assert kernel.allocated_sgprs == round_up(told["next_free_sgpr"], 16)
        elif kernel.target.startswith("gfx8"):
            assert kernel.allocated_sgprs == told["next_free_sgpr"]
        else:
            assert kernel.allocated_sgprs is None
        assert kernel.lds == told["group_segment_fixed_size"]
        assert kernel.scratch == told["private_segment_fixed_size"]
        assert kernel.mode == {0: "cu", 1: "wgp", None: None}[told.get("workgroup_processor_mode")]
        if "wavefront_size32" in told:
            assert kernel.wave == (32 if told["wavefront_size32"] else 64)
        if "accum_offset" in told and kernel.total_vgprs is not None:
            assert kernel.agprs is not None
            assert kernel.agprs in (0, max(0, kernel.total_vgprs - told["accum_offset"]))


@pytest.mark.parametrize("name", [f"targets/{name}.o" for name in ONE_FILE])
def test_a_missing_agpr_count_follows_from_the_accumulator_offset(name: str) -> None:
    for kernel in read(name):
        offset = LLVM[name]["descriptors"][kernel.name]["accum_offset"]
        total = kernel.total_vgprs
        assert total is not None
        assert (kernel.vgprs, kernel.agprs) == (min(total, offset), max(0, total - offset))


@pytest.mark.parametrize(
    "name", [f"targets/gfx{number}.o" for number in (600, 601, 602, 700, 701, 702, 703, 704, 705)]
)
def test_gfx6_and_gfx7_encode_vgprs_in_4_and_sgprs_in_8(name: str) -> None:
    # the assembly asked for these; gfx6 and gfx7 add VCC, gfx7 FLAT_SCRATCH (2 to 4 SGPRs)
    allocated = {kernel.name: (kernel.allocated_vgprs, kernel.allocated_sgprs) for kernel in read(name)}
    assert allocated == {"small": (4, 16), "odd": (40, 48), "large": (204, 96)}


@pytest.mark.parametrize("row", COMPILER, ids=[row["file"] for row in COMPILER])
def test_triton_kernels_as_the_compiler_printed_them(row: dict[str, str]) -> None:
    (kernel,) = read(f"triton/{row['file']}.hsaco")
    assert kernel.name == row["kernel"]
    assert kernel.total_vgprs == int(row["md_vgpr"])
    assert kernel.sgprs == int(row["md_sgpr"])
    assert (kernel.lds, kernel.scratch) == (int(row["md_lds"]), int(row["md_scratch"]))
    assert (kernel.wave, kernel.max_threads) == (int(row["wave"]), int(row["wg_max"]))
    assert (kernel.vgpr_spills, kernel.sgpr_spills) == (int(row["md_vspill"]), int(row["md_sspill"]))
    assert kernel.lds_dynamic == int(row["dyn_lds"])
    assert kernel.side_threads == int(row["wg_launch"])
    if row["agpr"]:
        assert kernel.agprs == int(row["agpr"])
    if row["d_accum_offset"]:  # one file: the compiler's own count of regular ones, rounded to 4 beside AGPRs
        assert kernel.vgprs == round_up(int(row["vgpr"]), 4 if kernel.agprs else 1)
    # "VGPRBlocks" is the field of the descriptor: what is encoded is (blocks + 1) granules
    assert kernel.allocated_vgprs is not None
    assert kernel.allocated_vgprs % (int(row["vgpr_blocks"]) + 1) == 0
    granule = kernel.allocated_vgprs // (int(row["vgpr_blocks"]) + 1)
    assert kernel.allocated_vgprs == round_up(int(row["d_next_free_vgpr"]), granule)
    if row["d_workgroup_processor_mode"]:
        assert kernel.mode == ("wgp" if row["d_workgroup_processor_mode"] == "1" else "cu")


def test_wpe2_declares_62_vgprs_and_allocates_176() -> None:
    (kernel,) = read("triton/matmul_gfx950_64x64x32_w4_s1_wpe2.hsaco")
    assert (kernel.total_vgprs, kernel.allocated_vgprs) == (62, 176)
    assert (kernel.sgprs, kernel.allocated_sgprs) == (34, 112)
    assert any("176" in note for note in kernel.notes)


def test_ldsk_uses_3_vgprs_and_allocates_104() -> None:
    kernel = next(kernel for kernel in read("k_gfx90a.co") if kernel.name == "ldsk")
    assert (kernel.total_vgprs, kernel.allocated_vgprs) == (3, 104)


def test_the_side_file_is_what_shows_launch_lds() -> None:
    # 21 of the 30 need LDS at launch and have no argument that shows it
    found = [kernel for row in COMPILER for kernel in read(f"triton/{row['file']}.hsaco")]
    assert len(found) == 30
    assert sum(bool(kernel.lds_dynamic) and not kernel.uses_dynamic_lds for kernel in found) == 21


@pytest.mark.parametrize("name", list(LLVM))
def test_sections_notes_and_symbols_as_pyelftools_reads_them(name: str) -> None:
    data = (DATA / name).read_bytes()
    ours, theirs = Elf(Source(Memory(data), len(data), name)), ELFFile(io.BytesIO(data))
    assert (ours.machine, ours.flags) == (224, theirs["e_flags"])
    assert [(s.name, s.address, s.offset, s.size) for s in ours.named()] == [
        (s.name, s["sh_addr"], s["sh_offset"], s["sh_size"]) for s in theirs.iter_sections()
    ]
    tables = {"SHT_SYMTAB": SHT_SYMTAB, "SHT_DYNSYM": SHT_DYNSYM}
    for section in theirs.iter_sections():
        if isinstance(section, SymbolTableSection):
            assert [(s.name.decode(), s.value) for s in ours.symbols(tables[section["sh_type"]])] == [
                (s.name, s["st_value"]) for s in section.iter_symbols() if isinstance(s["st_shndx"], int)
            ]
    note = next(s for s in theirs.iter_sections() if isinstance(s, NoteSection))
    assert [(n.owner.decode(), n.content.read(0, n.content.size)) for n in ours.notes()] == [
        (n["n_name"], n["n_descdata"]) for n in note.iter_notes()
    ]
