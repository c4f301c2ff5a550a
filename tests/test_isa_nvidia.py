"""NVIDIA code in the same model: chains against the tiles, registers against the compiler."""

from __future__ import annotations

import gzip

import pytest

from tests import isa_data
from wavefit.isa import Code, code
from wavefit.isa.loops import Code as Decoded
from wavefit.isa.nvidia import form, sass
from wavefit.isa.registers import registers
from wavefit.isa.tools import nvdisasm

NAMES = sorted(path.name.removesuffix(".sass.gz") for path in (isa_data.TEXTS / "sass").glob("*.gz"))
FRAGMENT = {"HMMA.16816.F32": 16 * 8}
"""Elements of one accumulator fragment, by the PTX manual's shapes."""


def _main_kernel(name: str) -> Decoded:
    text = gzip.decompress((isa_data.TEXTS / "sass" / f"{name}.sass.gz").read_bytes()).decode()
    kernel, listing = next(pair for pair in sass(text) if pair[0].name == "matmul")
    return Decoded(kernel, listing)


@pytest.mark.parametrize("name", NAMES)
def test_every_instruction_is_understood(name: str):
    decoded = _main_kernel(name)
    assert all(note.startswith("it calls functions") for note in decoded.notes)
    assert decoded.target == f"sm_{name.split('_')[1].removeprefix('sm')}"


@pytest.mark.parametrize("name", [name for name in NAMES if "sm90" not in name and "sm100" not in name])
def test_hmma_chains_are_the_tile_fragments_of_a_warp(name: str):
    m, n, warps = isa_data.tile(name) or (0, 0, 0)
    loop = _main_kernel(name).main
    assert loop is not None
    (mnemonic,) = loop.counts.matrix
    assert len(loop.chains) == m * n // warps // FRAGMENT[mnemonic]
    assert all(chain.carried for chain in loop.chains)


def test_a_warpgroup_holds_its_64_rows_in_one_chain():
    loop = _main_kernel("matmul_sm90_128x256x64_w8_s3").main
    assert loop is not None
    assert loop.counts.matrix == {"HGMMA.64x256x16.F32": 4}
    assert [(chain.length, chain.carried) for chain in loop.chains] == [(4, True)]


def test_the_loop_of_tcgen05_instructions_is_found_among_loops_that_only_wait():
    loop = _main_kernel("matmul_sm100_128x256x64_w8_s3").main
    assert loop is not None
    assert loop.counts.matrix.get("UTCHMMA")


@pytest.mark.parametrize("name", [name for name in NAMES if "sm80" in name or "sm89" in name])
def test_registers_live_are_no_more_than_the_kernel_has(name: str):
    decoded = _main_kernel(name)
    assert 0.7 * (decoded.kernel.vgprs or 0) < decoded.live.vgprs <= (decoded.kernel.vgprs or 0)


WORKED = [
    ("HMMA.16816.F32 R4, R36.reuse, R2, R4", "matrix", "v[4:7]", "v[36:39] v[2:3] v[4:7]"),
    ("HGMMA.64x256x16.F32 R24, gdesc[UR8].tnspB, R24, gsb0", "matrix", "v[24:151]", "v[24:151] s8"),
    ("LDG.E.128 R4, [R8.64]", "vector", "v[4:7]", "v[8:9]"),
    ("LDSM.16.M88.4 R36, [R46]", "lds", "v[36:39]", "v46"),
    ("STG.E.64 [R2.64+0x10], R6", "vector", "", "v[2:3] v[6:7]"),
    ("@!P0 BRA `(.L_x_0)", "branch", "", "p0"),
    ("ISETP.GE.AND P0, PT, R1, R2, PT", "valu", "p0", "v[1:2]"),
    ("EXIT", "end", "", ""),
    ("BAR.SYNC.DEFER_BLOCKING 0x0", "barrier", "", ""),
]


@pytest.mark.parametrize(("text", "kind", "writes", "reads"), WORKED, ids=[row[0] for row in WORKED])
def test_worked_by_hand(text: str, kind: str, writes: str, reads: str):
    said = form(text)
    assert (said.kind, said.writes, said.reads) == (kind, registers(writes), registers(reads)), (
        said.write_names,
        said.read_names,
    )


@pytest.mark.heavy
@pytest.mark.skipif(nvdisasm() is None, reason="nvdisasm is not here")
def test_a_cubin_is_decoded_by_nvdisasm():
    found = code(isa_data.OBJECTS.parent / "matmul_sm89_64x64x32_w4_s2.cubin")
    (kernel,) = (item for item in found if isinstance(item, Code))
    assert kernel.by == "nvdisasm"
    assert kernel.main is not None
    assert len(kernel.main.chains) == 8
