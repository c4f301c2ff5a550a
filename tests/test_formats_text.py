"""Kernels as text says them, against the code objects that the text became or came from."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.test_formats_bundles import found, only_error
from wavefit.kernels import BadFile, NoKernels, kernels
from wavefit.model import Kernel

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).parent / "data/kernels"
TEXT = DATA / "text"
ASSEMBLY = sorted(file.relative_to(DATA) for file in (DATA / "triton").glob("*.amdgcn"))


def said(path: Path) -> list[Kernel]:
    """All but where it was read and what the reader remarks."""
    items = list(kernels(path))
    assert all(isinstance(item, Kernel) for item in items), [str(item) for item in items]
    return [replace(item, file="", member=None, notes=()) for item in items if isinstance(item, Kernel)]


def assembled(name: str) -> str:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from make_target_objects import assembly
    finally:
        sys.path.pop(0)
    return f'.amdgcn_target "amdgcn-amd-amdhsa--{name}"\n' + str(assembly(name, named=True))


@pytest.mark.parametrize("name", ASSEMBLY, ids=lambda name: name.stem)
def test_assembly_says_what_its_code_object_says(name: Path) -> None:
    """Triton writes both; the object is what LLVM's assembler made of the text."""
    assert said(DATA / name) == said(DATA / name.with_suffix(".hsaco"))


@pytest.mark.parametrize("target", ["gfx950", "gfx1100"])
def test_what_clang_prints_with_minus_s_is_what_it_compiles(target: str) -> None:
    assert said(TEXT / f"k_{target}.s") == said(DATA / f"k_{target}.co")


OBJECTS = sorted(file.stem for file in (DATA / "targets").glob("*.o") if "settings" not in file.stem)


@pytest.mark.parametrize("target", OBJECTS)
def test_directives_become_the_descriptor_that_the_assembler_writes(tmp_path: Path, target: str) -> None:
    """Hand-written text for every target that LLVM knows, against the object that it made."""
    (tmp_path / "x.s").write_text(assembled(target))
    plain = {"features": (), "code_version": None}
    text, binary = said(tmp_path / "x.s"), said(DATA / f"targets/{target}.o")
    assert [replace(kernel, **plain) for kernel in text] == [replace(kernel, **plain) for kernel in binary]


def test_dumps_of_readelf_give_what_the_metadata_count() -> None:
    """Three files in one dump, the middle one in V2's words, whose note names an older alias."""
    items = [item for item in kernels(TEXT / "readelf_notes.txt") if isinstance(item, Kernel)]
    counted = (
        "name",
        "total_vgprs",
        "agprs",
        "sgprs",
        "lds",
        "scratch",
        "max_threads",
        "wave",
        "required_size",
    )
    for name in ("k_gfx90a.co", "clang14_cov2_gfx906.co", "clang16_cov4_gfx906.co"):
        mine = [item for item in items if item.member == name]
        for dumped, kernel in zip(mine, said(DATA / name), strict=True):
            for field in counted:
                assert getattr(dumped, field) == getattr(kernel, field), (name, field)
            assert dumped.allocated_vgprs is None
    assert [item.target for item in items][::2] == ["gfx90a", "gfx90a", "gfx907", "gfx906"]


def test_dumps_of_objdump_name_no_target_so_that_registers_stay_unknown() -> None:
    items = [item for item in kernels(TEXT / "objdump_k_gfx90a.txt") if isinstance(item, Kernel)]
    assert [(item.name, item.lds, item.scratch) for item in items] == [
        (kernel.name, kernel.lds, kernel.scratch) for kernel in said(DATA / "k_gfx90a.co")
    ]
    assert all(item.target == "" and item.total_vgprs is None for item in items)
    assert all("the text names no target" in item.notes for item in items)


def test_a_dump_with_its_target_is_decoded(tmp_path: Path) -> None:
    dump = (TEXT / "objdump_k_gfx90a.txt").read_text()
    (tmp_path / "x").write_text('.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"\n' + dump.split("\n", 3)[3])
    items, objects = said(tmp_path / "x"), said(DATA / "k_gfx90a.co")
    assert [(k.allocated_vgprs, k.allocated_sgprs) for k in items] == [
        (k.allocated_vgprs, k.allocated_sgprs) for k in objects
    ]


@pytest.mark.parametrize("target", ["gfx950", "gfx1100"])
def test_remarks_count_what_the_metadata_count(target: str) -> None:
    for remark, kernel in zip(
        said(TEXT / f"k_{target}.remarks.txt"), said(DATA / f"k_{target}.co"), strict=True
    ):
        assert (remark.name, remark.lds, remark.scratch) == (kernel.name, kernel.lds, kernel.scratch)
        assert (remark.total_vgprs, remark.sgprs) == (kernel.total_vgprs, kernel.sgprs)
        assert (remark.vgpr_spills, remark.sgpr_spills) == (kernel.vgpr_spills, kernel.sgpr_spills)
        assert remark.target == ""
        assert remark.allocated_vgprs is None


def test_functions_that_kernels_call_are_no_kernels() -> None:
    text = (TEXT / "k2_gfx90a.remarks.txt").read_text()
    lines = [line for line in text.split("\n") if "LDS Size" not in line]
    assert isinstance(found("\n".join(lines).encode())[0], NoKernels)
    assert len(found(text.encode())) == 2


def test_remarks_of_linking_and_in_colour() -> None:
    end = "[-Rpass-analysis=kernel-resource-usage]\n"
    text = f"\x1b[1mk.hip:1:1: \x1b[0m\x1b[1;34mremark: \x1b[0m<unknown>:0:0: Function Name: k {end}"
    text += f"ld.lld: remark: <unknown>:0:0:     LDS Size [bytes/block]: 4 {end}"
    (kernel,) = found(text.encode())
    assert isinstance(kernel, Kernel)
    assert (kernel.name, kernel.lds) == ("k", 4)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("see .amdhsa_kernel in the manual\n", "f: text about code objects without a kernel"),
        (".amdgpu_metadata\nx: 1\n", "f[+0x11]: kernel metadata that do not end"),
        (
            ".amdgpu_metadata\n\tx\n.end_amdgpu_metadata\n",
            "f[+0x11]: kernel metadata: line 1 is not the YAML that compilers write here",
        ),
        (
            "  AMDGPU Metadata:\n   ---\namdhsa.kernels:\n  - .name: k\n...\n",
            "f[+0x13]: kernel metadata: Object missing required field `.symbol` - at `$.amdhsa.kernels[0]`",
        ),
        ("[-Rpass-analysis=kernel-resource-usage]\n", "f: compiler remarks without a kernel"),
    ],
)
def test_text_that_is_not_what_it_looks_like_says_so(text: str, cause: str) -> None:
    assert only_error(text.encode()) == cause


def test_numbers_that_only_an_assembler_knows_leave_the_metadata(tmp_path: Path) -> None:
    text = (
        (TEXT / "k_gfx950.s")
        .read_text()
        .replace(".amdhsa_next_free_vgpr 4", ".amdhsa_next_free_vgpr max(a, b)")
    )
    (tmp_path / "x.s").write_text(text)
    first, *_ = said(tmp_path / "x.s")
    assert (first.total_vgprs, first.allocated_vgprs) == (said(DATA / "k_gfx950.co")[0].total_vgprs, None)


def test_directives_that_no_metadata_name_are_a_kernel_of_their_own() -> None:
    text = '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr 0x21\n'
    text += ".amdhsa_next_free_sgpr 10 ; a comment\n.amdhsa_accum_offset 36\n.end_amdhsa_kernel\n"
    (kernel,) = found(text.encode())
    assert isinstance(kernel, Kernel)
    assert (kernel.symbol, kernel.allocated_vgprs, kernel.lds) == ("k.kd", 40, 0)


@pytest.mark.parametrize(
    ("value", "allocated"), [("33", 40), ("041", 40), ("0x21", 40), ("0", 8), ("089", None), ("1e1", None)]
)
def test_numbers_are_written_as_an_assembler_reads_them(value: str, allocated: int | None) -> None:
    text = f'.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n.amdhsa_kernel k\n.amdhsa_next_free_vgpr {value}\n'
    (kernel,) = found((text + ".amdhsa_next_free_sgpr 10\n.end_amdhsa_kernel\n").encode())
    assert isinstance(kernel, Kernel)
    assert kernel.allocated_vgprs == allocated


def test_a_folder_counts_a_kernel_once_where_its_text_stands_beside_it(tmp_path: Path) -> None:
    stem = DATA / ASSEMBLY[0].with_suffix("")
    for suffix in (".amdgcn", ".hsaco", ".json"):
        (tmp_path / f"k{suffix}").write_bytes(stem.with_suffix(suffix).read_bytes())
    (tmp_path / "__grp__k.json").write_text('{"child_paths": {"k.hsaco": "/elsewhere/k.hsaco"}}')
    (item,) = kernels(tmp_path)
    assert isinstance(item, Kernel)
    assert item.file.endswith("k.hsaco")
    (tmp_path / "k.hsaco").unlink()
    (item,) = kernels(tmp_path)
    assert isinstance(item, Kernel)
    assert item.file.endswith("k.amdgcn")


def test_text_in_a_hostile_encoding_is_no_kernel() -> None:
    assert isinstance(found("ﬃ .amdhsa_kernel".encode("utf-16"))[0], BadFile)
