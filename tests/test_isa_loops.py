"""Loops and accumulator chains of compiled kernels: against their tiles, and against LLVM's waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import isa_data, isa_rounds
from wavefit.isa import Listing, Op
from wavefit.isa.far import resolved
from wavefit.isa.flow import cycles, flow
from wavefit.isa.form import form
from wavefit.isa.loops import Code
from wavefit.isa.model import Form
from wavefit.matrix import instruction
from wavefit.model import Kernel


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("isa")


@pytest.mark.parametrize("name", isa_data.FEED)
def test_the_microbenchmark_has_as_many_chains_as_its_ilp(name: str, place: Path):
    target, ilp = name.split("_ilp")
    loop = isa_data.from_text("feed", name, place).main
    assert loop is not None
    assert len(loop.chains) == int(ilp)
    assert all(chain.carried for chain in loop.chains)
    assert {len(chain.ops) for chain in loop.chains} == {loop.counts.kind("matrix") // int(ilp)}
    assert all(op.name.startswith("v_mfma") for op in loop.chains[0].ops), target


GEMMS = [name for name in isa_data.TRITON if isa_data.tile(name)]


@pytest.mark.parametrize("name", GEMMS)
def test_a_gemm_has_one_chain_for_each_tile_fragment_of_a_wave(name: str, place: Path):
    m, n, waves = isa_data.tile(name) or (0, 0, 0)
    decoded = isa_data.from_text("triton", name, place)
    loop = decoded.main
    assert loop is not None
    (mnemonic,) = loop.counts.matrix
    of = instruction(decoded.target, mnemonic)
    assert len(loop.chains) == m * n // waves // (of.m * of.n)
    assert all(chain.carried for chain in loop.chains)  # also where accumulators are spilled on the way round


def test_the_gemms_meet_spilled_accumulators_and_agprs(place: Path):
    decoded = [isa_data.from_text("triton", name, place) for name in GEMMS]
    assert any(code.main and code.main.counts.scratch for code in decoded)
    assert any(code.main and code.main.live.agprs for code in decoded)


@pytest.mark.parametrize("name", isa_data.TRITON)
def test_registers_live_at_the_widest_are_no_more_than_the_compiler_allocated(name: str, place: Path):
    decoded = isa_data.from_text("triton", name, place)
    assert decoded.live.vgprs <= (decoded.kernel.vgprs or 0)
    assert decoded.live.agprs <= (decoded.kernel.agprs or 0)
    if not decoded.kernel.vgpr_spills and decoded.main:  # and not far fewer: the compiler is good at this
        assert decoded.live.vgprs + decoded.live.agprs >= 0.7 * (
            (decoded.kernel.vgprs or 0) + (decoded.kernel.agprs or 0)
        )


@pytest.mark.parametrize("name", isa_data.TRITON)
def test_no_register_is_read_before_the_wait_that_llvm_put_there(name: str, place: Path):
    found = isa_rounds.waits(isa_data.from_text("triton", name, place))
    assert not found.early, found.early[:5]


def test_nearly_every_wait_that_llvm_put_is_for_a_register_that_comes_next(place: Path):
    seen = [isa_rounds.waits(isa_data.from_text("triton", name, place)) for name in isa_data.TRITON]
    for_registers, at_barriers, others = (
        sum(getattr(each, key) for each in seen) for key in ("needed", "sync", "other")
    )
    assert for_registers > 1000
    assert others <= 4, "a wait without a register: a read or write is missing"
    assert at_barriers < 0.15 * for_registers


@pytest.mark.parametrize("name", isa_data.TRITON)
def test_a_result_of_the_matrix_unit_is_not_read_before_llvms_wait_states(name: str, place: Path):
    found = isa_rounds.matrix_results(isa_data.from_text("triton", name, place))
    assert not found, found[:5]


def test_a_kernel_without_matrix_work_has_no_chains_and_no_loop(place: Path):
    decoded = isa_data.from_text("triton", "softmax_gfx942_4096_w8", place)
    assert decoded.loops == ()
    assert decoded.main is None
    assert decoded.counts.packed_fp32 > 0


def test_emulated_mxfp8_shows_as_vector_work(place: Path):
    loop = isa_data.from_text("triton", "mx_gfx942_128x128x128_w4_s2", place).main
    assert loop is not None
    assert loop.counts.kind("valu") > 20 * loop.counts.kind("matrix")


# Small flows by hand.


def _ops(*lines: str) -> tuple[Op, ...]:
    """Instructions at 0, 1, 2, ...; a branch names its place as `@n`."""
    made = []
    for at, line in enumerate(lines):
        text, _, to = line.partition("@")
        made.append(Op(at, form(text.strip(), "gfx950"), None, int(to) if to else None))
    return tuple(made)


def test_code_that_nothing_leads_to_belongs_to_no_block():
    of = flow(_ops("s_branch @3", "s_nop 0", "s_nop 0", "s_endpgm"))
    assert [[op.at for op in block.ops] for block in of.blocks] == [[0], [3]]


def test_loops_in_loops_have_their_depth_and_their_headers():
    of = flow(_ops(
        "s_nop 0", "s_nop 1", "s_nop 2", "s_cbranch_scc1 @2", "s_cbranch_scc0 @1", "s_endpgm",
    ))  # fmt: skip
    found = cycles(of)
    assert [(of.blocks[cycle.header].ops[0].at, cycle.depth) for cycle in found] == [(1, 1), (2, 2)]


def test_two_ways_back_to_one_header_are_one_loop():
    of = flow(_ops("s_nop 0", "s_cbranch_scc1 @0", "s_nop 1", "s_cbranch_scc1 @0", "s_endpgm"))
    (cycle,) = cycles(of)
    assert len(cycle.blocks) == 2
    assert len(cycle.latches) == 2


def _code(*lines: str) -> Code:
    return Code(Kernel("gfx950", name="k"), Listing("k", _ops(*lines), "hand"))


MFMA = "v_mfma_f32_16x16x32_f16 {d}, v[100:103], v[104:107], {c}"


def _mfma(d: str, c: str) -> str:
    return MFMA.format(d=d, c=c)


@pytest.mark.parametrize(
    ("lines", "lengths", "carried"),
    [
        ((_mfma("v[0:3]", "v[0:3]"), _mfma("v[0:3]", "v[0:3]")), [2], [True]),
        ((_mfma("v[0:3]", "v[0:3]"), _mfma("v[4:7]", "v[4:7]")), [1, 1], [True, True]),
        ((_mfma("v[0:3]", "0"), _mfma("v[0:3]", "v[0:3]")), [2], [False]),
        ((_mfma("v[0:3]", "0"), _mfma("v[0:3]", "0")), [1, 1], [False, False]),
        ((_mfma("v[4:7]", "v[0:3]"), _mfma("v[0:3]", "v[4:7]")), [2], [True]),
        ((_mfma("v[0:3]", "v[0:3]"), "v_mul_f32_e32 v0, 2.0, v0", "v_mov_b64_e32 v[1:2], 0",
          "v_mov_b32_e32 v3, 0",
          _mfma("v[0:3]", "v[0:3]")), [2], [True]),
        ((_mfma("a[0:3]", "a[0:3]"), "v_accvgpr_read_b32 v0, a0", "v_accvgpr_write_b32 a0, v0"), [1], [True]),
    ],
)  # fmt: skip
def test_chains_by_hand(lines: tuple[str, ...], lengths: list[int], carried: list[bool]):
    loop = _code("s_nop 0", *lines, f"s_cbranch_scc1 @{0}", "s_endpgm").main
    assert loop is not None
    assert [chain.length for chain in loop.chains] == lengths
    assert [chain.carried for chain in loop.chains] == carried


def test_an_accumulator_that_goes_through_scratch_is_one_chain():
    loop = _code(
        "scratch_load_dwordx4 v[0:3], off, off offset:16", _mfma("v[0:3]", "v[0:3]"),
        "scratch_store_dwordx4 off, v[0:3], off offset:16", "s_cbranch_scc1 @0", "s_endpgm",
    ).main  # fmt: skip
    assert loop is not None
    assert [chain.carried for chain in loop.chains] == [True]
    assert loop.counts.scratch == 2


def test_the_unknown_instruction_ends_nothing_and_is_counted():
    decoded = Code(
        Kernel("gfx950", name="k"),
        Listing("k", (Op(0, Form("?", "?", "unknown")), *_ops("s_endpgm")), "hand"),
    )
    assert decoded.counts.unknown == 1


def test_a_far_branch_through_the_program_counter_has_a_target():
    texts = (
        "s_nop 0",
        "s_getpc_b64 s[4:5]",
        "s_add_u32 s4, s4, 0xfffffff8",
        "s_addc_u32 s5, s5, -1",
        "s_setpc_b64 s[4:5]",
    )
    ops, at = [], 0
    for text in texts:
        size = 8 if "0xf" in text else 4
        ops.append(Op(at, form(text, "gfx950"), size))
        at += size
    found = resolved(ops)
    assert found[-1].target == 0  # behind s_getpc, at 8, less 8
    assert len(cycles(flow(found))) == 1
