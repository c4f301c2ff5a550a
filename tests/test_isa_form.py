# ruff: noqa: E501  (tables of instructions)
"""What an instruction reads, writes and moves, by its text: against LLVM's own tables, and by hand for each class."""

from __future__ import annotations

import pytest

from tests import isa_oracle
from wavefit.isa.form import form, split
from wavefit.isa.model import Memory
from wavefit.isa.registers import Misread, names, registers, span
from wavefit.isa.rules import KINDS, UNKNOWN, bare, rule


def test_every_instruction_that_llvm_decodes_reads_and_writes_what_llvm_says():
    found = [line for row in isa_oracle.rows() for line in isa_oracle.differences(row)]
    assert not found, f"{len(found)} rows: " + "\n".join(found[:20])


def test_every_exception_from_llvm_is_still_needed():
    for row in isa_oracle.rows():
        isa_oracle.differences(row)
    idle = [each.why for at, each in enumerate(isa_oracle.EXCEPTIONS) if at not in isa_oracle.USED]
    assert not idle


def test_every_mnemonic_of_llvms_assembler_is_classified():
    words = isa_oracle.mnemonics()
    assert len(words) > 2500
    lost = [word for word in words if rule(bare(word), "gfx1250") is UNKNOWN]
    assert not lost


# By hand, from the ISA manuals' descriptions: text, target, class, written, read.
WORKED = [
    ("s_add_u32 s0, s1, s2", "gfx942", "salu", "s0 scc", "s[1:2]"),
    ("s_addc_u32 s0, s1, 0", "gfx942", "salu", "s0 scc", "s1 scc"),
    ("s_mov_b64 s[4:5], exec", "gfx942", "salu", "s[4:5]", "exec"),
    ("s_and_saveexec_b64 s[6:7], vcc", "gfx942", "salu", "s[6:7] exec scc", "vcc exec"),
    ("s_cselect_b32 s3, s4, 0", "gfx942", "salu", "s3", "s4 scc"),
    ("s_cmp_lt_i32 s8, 1", "gfx942", "salu", "scc", "s8"),
    ("s_addk_i32 s13, 0x80", "gfx942", "salu", "s13 scc", "s13"),
    ("s_mul_i32 s0, s1, s2", "gfx942", "salu", "s0", "s[1:2]"),
    ("s_load_dwordx8 s[8:15], s[4:5], 0x0", "gfx950", "scalar", "s[8:15]", "s[4:5]"),
    ("s_load_b256 s[4:11], s[0:1], null", "gfx1100", "scalar", "s[4:11]", "s[0:1]"),
    ("s_cbranch_scc1 .LBB0_3", "gfx950", "branch", "", "scc"),
    ("s_cbranch_vccnz 11", "gfx950", "branch", "", "vcc"),
    ("s_cbranch_execz .LBB0_2", "gfx950", "branch", "", "exec"),
    ("s_branch 56", "gfx950", "branch", "", ""),
    ("s_swappc_b64 s[30:31], s[16:17]", "gfx90a", "call", "s[30:31]", "s[16:17]"),
    ("s_setpc_b64 s[30:31]", "gfx90a", "jump", "", "s[30:31]"),
    ("s_endpgm", "gfx950", "end", "", ""),
    ("s_barrier", "gfx950", "barrier", "", ""),
    ("s_waitcnt vmcnt(3) lgkmcnt(0)", "gfx950", "wait", "", ""),
    ("s_nop 7", "gfx950", "nop", "", ""),
    ("s_setprio 1", "gfx950", "control", "", ""),
    ("v_add_f32_e32 v1, s2, v3", "gfx942", "valu", "v1", "v3 s2 exec"),
    ("v_fmac_f32_e32 v1, v2, v3", "gfx942", "valu", "v1", "v[1:3] exec"),
    ("v_add_co_u32_e32 v1, vcc, v2, v3", "gfx942", "valu", "v1 vcc", "v[2:3] exec"),
    ("v_addc_co_u32_e64 v1, s[2:3], v2, v3, s[4:5]", "gfx942", "valu", "v1 s[2:3]", "v[2:3] s[4:5] exec"),
    ("v_add_u32_e32 v1, vcc, v2, v3", "gfx803", "valu", "v1 vcc", "v[2:3] exec"),
    ("v_add_u32_e32 v1, v2, v3", "gfx90a", "valu", "v1", "v[2:3] exec"),
    ("v_cmp_lt_f32_e32 vcc, s9, v2", "gfx950", "valu", "vcc", "v2 s9 exec"),
    ("v_cmp_gt_i32_e64 s[0:1], s11, v16", "gfx90a", "valu", "s[0:1]", "v16 s11 exec"),
    ("v_cmpx_eq_u32_e32 vcc, v1, v2", "gfx90a", "valu", "vcc exec", "v[1:2] exec"),
    ("v_cmpx_eq_u32_e32 v1, v2", "gfx1100", "valu", "exec", "v[1:2] exec"),
    ("v_cndmask_b32_e64 v4, v13, v12, s[0:1]", "gfx90a", "valu", "v4", "v[12:13] s[0:1] exec"),
    ("v_div_scale_f32 v1, vcc, v2, v3, v2", "gfx90a", "valu", "v1 vcc", "v[2:3] exec"),
    ("v_div_fmas_f32 v1, v2, v3, v4", "gfx90a", "valu", "v1", "v[2:4] vcc exec"),
    ("v_mad_u64_u32 v[0:1], s[2:3], v4, v5, v[6:7]", "gfx90a", "valu", "v[0:1] s[2:3]", "v[4:7] exec"),
    ("v_readfirstlane_b32 s0, v0", "gfx950", "valu", "s0", "v0 exec"),
    ("v_readlane_b32 s0, v0, s1", "gfx950", "valu", "s0", "v0 s1"),
    ("v_writelane_b32 v0, s1, 3", "gfx950", "valu", "v0", "v0 s1"),
    ("v_swap_b32 v1, v2", "gfx950", "valu", "v[1:2]", "v[1:2] exec"),
    ("v_permlane32_swap_b32_e32 v1, v2", "gfx950", "valu", "v[1:2]", "v[1:2] exec"),
    ("v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", "gfx90a", "valu", "v1", "v2 exec"),
    ("v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf", "gfx90a", "valu", "v1", "v[1:2] exec"),
    ("v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1", "gfx90a", "valu", "v1", "v2 exec"),
    ("v_mov_b32_sdwa v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:DWORD", "gfx90a", "valu", "v1", "v[1:2] exec"),
    ("v_cvt_f16_f32_e64 v99.h, v128", "gfx1100", "valu", "v99", "v99 v128 exec"),
    ("v_accvgpr_write_b32 a3, v1", "gfx90a", "valu", "a3", "v1 exec"),
    ("v_pk_fma_f32 v[0:1], v[2:3], s[4:5], v[6:7]", "gfx90a", "valu", "v[0:1]", "v[2:3] v[6:7] s[4:5] exec"),
    ("v_dual_fmac_f32 v0, v1, v2 :: v_dual_mov_b32 v3, s4", "gfx1100", "valu", "v0 v3", "v[0:2] s4 exec"),
    ("v_mfma_f32_32x32x8f16 v[60:75], v[22:23], v[42:43], v[60:75]", "gfx90a", "matrix", "v[60:75]", "v[22:23] v[42:43] v[60:75] exec"),
    ("v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], 0", "gfx942", "matrix", "a[0:3]", "v[0:3] exec"),
    ("v_mfma_scale_f32_16x16x128_f8f6f4 v[18:21], v[2:9], v[10:17], v[18:21], v1, v1 op_sel_hi:[0,0,0]", "gfx950", "matrix", "v[18:21]", "v[1:21] exec"),
    ("v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10", "gfx942", "matrix", "v[0:3]", "v[0:10] exec"),
    ("v_wmma_f32_16x16x16_f16 v[9:16], v[20:27], v[30:37], v[9:16]", "gfx1100", "matrix", "v[9:16]", "v[9:16] v[20:27] v[30:37] exec"),
    ("ds_read_b128 v[0:3], v4 offset:16", "gfx950", "lds", "v[0:3]", "v4 exec"),
    ("ds_write2st64_b64 v16, v[86:87], v[90:91] offset0:64 offset1:72", "gfx90a", "lds", "", "v16 v[86:87] v[90:91] exec"),
    ("ds_add_u32 v1, v2", "gfx90a", "lds", "", "v[1:2] exec"),
    ("ds_add_rtn_u32 v0, v1, v2", "gfx90a", "lds", "v0", "v[1:2] exec"),
    ("ds_bpermute_b32 v0, v1, v2", "gfx90a", "lds", "v0", "v[1:2] exec"),
    ("ds_append v0 offset:8", "gfx90a", "lds", "v0", "exec m0"),
    ("buffer_load_dwordx4 v[100:103], v78, s[24:27], 0 offen", "gfx950", "vector", "v[100:103]", "v78 s[24:27] exec"),
    ("buffer_load_dwordx4 v78, s[24:27], 0 offen lds", "gfx950", "vector", "", "v78 s[24:27] exec m0"),
    ("buffer_store_dword v18, off, s[36:39], 0 offset:1120", "gfx90a", "vector", "", "v18 s[36:39] exec"),
    ("buffer_atomic_add v1, v2, s[0:3], 0 offen", "gfx90a", "vector", "", "v[1:2] s[0:3] exec"),
    ("buffer_atomic_add v1, v2, s[0:3], 0 offen glc", "gfx90a", "vector", "v1", "v[1:2] s[0:3] exec"),
    ("buffer_load_short_d16_hi v1, v2, s[0:3], 0 offen", "gfx90a", "vector", "v1", "v[1:2] s[0:3] exec"),
    ("global_load_dwordx4 v[8:11], v[6:7], off", "gfx950", "vector", "v[8:11]", "v[6:7] exec"),
    ("global_load_lds_dwordx4 v[6:7], off", "gfx950", "vector", "", "v[6:7] exec m0"),
    ("global_store_dword v1, v3, s[4:5]", "gfx950", "vector", "", "v1 v3 s[4:5] exec"),
    ("global_atomic_add v[0:1], v2, off", "gfx90a", "vector", "", "v[0:2] exec"),
    ("global_atomic_add v5, v[0:1], v2, off glc", "gfx90a", "vector", "v5", "v[0:2] exec"),
    ("global_atomic_add_u32 v5, v0, v2, s[4:5] th:TH_ATOMIC_RETURN", "gfx1200", "vector", "v5", "v0 v2 s[4:5] exec"),
    ("scratch_load_dwordx2 v[4:5], off, off offset:512", "gfx942", "vector", "v[4:5]", "exec flat_scratch"),
    ("image_sample v[0:3], v[4:5], s[0:7], s[8:11] dmask:0xf", "gfx90a", "image", "v[0:3]", "v[4:5] s[0:11] exec"),
    ("exp mrt0 v0, v1, v2, v3 done vm", "gfx90a", "export", "", "v[0:3] exec"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "target", "kind", "writes", "reads"), WORKED, ids=[row[0] for row in WORKED]
)
def test_worked_by_hand(text: str, target: str, kind: str, writes: str, reads: str):
    said = form(text, target)
    assert (said.kind, said.writes, said.reads) == (kind, registers(writes), registers(reads)), (
        said.write_names,
        said.read_names,
    )


def test_the_worked_instructions_meet_every_class_but_what_is_no_instruction():
    assert {row[2] for row in WORKED} == set(KINDS) - {"unknown", "padding"}


MEMORY = [
    ("ds_read2_b64 v[0:3], v4 offset1:1", Memory("lds", "load", 16)),
    ("ds_write_b8 v0, v1", Memory("lds", "store", 1)),
    ("ds_read_u16 v0, v1", Memory("lds", "load", 2)),
    ("ds_load_2addr_stride64_b64 v[0:3], v4", Memory("lds", "load", 16)),
    ("ds_read_b64_tr_b16 v[0:1], v2", Memory("lds", "load", 8)),
    ("ds_add_rtn_u32 v0, v1, v2", Memory("lds", "atomic", 4, returns=True)),
    ("buffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen", Memory("global", "load", 16)),
    ("buffer_load_dword v4, s[0:3], 0 offen lds", Memory("global", "load", 4, to_lds=True)),
    ("global_load_lds_dwordx4 v[0:1], off", Memory("global", "load", 16, to_lds=True)),
    ("buffer_load_ubyte v0, v4, s[0:3], 0 offen", Memory("global", "load", 1)),
    ("global_load_short_d16 v0, v[1:2], off", Memory("global", "load", 2)),
    ("global_store_b128 v[0:1], v[2:5], off", Memory("global", "store", 16)),
    ("global_load_d16_hi_u8 v0, v[1:2], off", Memory("global", "load", 1)),
    ("global_atomic_cmpswap_x2 v[0:1], v[2:3], v[4:7], off glc", Memory("global", "atomic", 8, returns=True)),
    ("flat_load_dwordx3 v[0:2], v[3:4]", Memory("flat", "load", 12)),
    ("scratch_store_dwordx4 off, a[0:3], off", Memory("scratch", "store", 16)),
    ("s_load_dwordx16 s[0:15], s[16:17], 0x0", Memory("scalar", "load", 64)),
    ("s_buffer_load_b64 s[0:1], s[4:7], 0x0", Memory("scalar", "load", 8)),
    ("image_load v[0:3], v[4:5], s[0:7] dmask:0xf", Memory("image", "load", None)),
    ("tbuffer_load_format_xyzw v[0:3], v4, s[0:3], 0 format:[BUF_FMT_32_FLOAT] offen", Memory("global", "load", None)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "memory"), MEMORY, ids=[row[0] for row in MEMORY])
def test_what_a_memory_instruction_moves(text: str, memory: Memory):
    assert form(text, "gfx950").memory == memory


COUNTS = [
    ("s_waitcnt vmcnt(3) lgkmcnt(0)", {"vm": 3, "lgkm": 0}),
    ("s_waitcnt vmcnt(0) & lgkmcnt(2)", {"vm": 0, "lgkm": 2}),
    ("s_waitcnt_vscnt null, 0x0", {"vs": 0}),
    ("s_wait_loadcnt 0x5", {"load": 5}),
    ("s_wait_loadcnt_dscnt 0x301", {"load": 3, "ds": 1}),
    ("s_wait_alu depctr_va_vdst(0)", {}),
    ("s_waitcnt_depctr depctr_vm_vsrc(0)", {}),
]


@pytest.mark.parametrize(("text", "counts"), COUNTS, ids=[row[0] for row in COUNTS])
def test_what_a_wait_waits_for(text: str, counts: dict[str, int]):
    assert form(text, "gfx1200" if text.startswith("s_wait_") else "gfx1100").counts == counts


def test_operands_end_where_modifiers_begin():
    assert split("v1, v2 op_sel:[0,1] clamp") == (("v1", "v2"), "op_sel:[0,1] clamp")
    assert split("v[0:3], [v4, v5], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D") == (
        ("v[0:3]", "[v4, v5]", "s[0:7]"),
        "dmask:0xf dim:SQ_RSRC_IMG_2D",
    )
    assert split("hwreg(HW_REG_MODE, 23, 1), 1") == (("hwreg(HW_REG_MODE, 23, 1)", "1"), "")
    assert split("vmcnt(0)") == (("vmcnt(0)",), "")
    assert split("") == ((), "")


def test_the_hygon_instruction_that_llvm_does_not_know_is_read_where_the_text_is_given():
    said = form("v_mmac_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]", "gfx936")
    assert (said.kind, said.writes, said.accumulates) == ("matrix", registers("v[0:3]"), registers("v[0:3]"))


def test_what_no_rule_knows_stays_unknown_and_touches_nothing():
    said = form("frobnicate v1, v2", "gfx950")
    assert (said.kind, said.reads, said.writes) == ("unknown", 0, 0)


def test_a_register_that_does_not_exist_makes_the_instruction_unknown():
    assert form("v_mov_b32_e32 v5000, v2", "gfx950").kind == "unknown"
    with pytest.raises(Misread):
        span("s", 127, 2)


def test_sets_of_registers_in_words():
    assert names(registers("v[2:5]") | registers("v7") | registers("vcc") | registers("exec_lo")) == (
        "v[2:5]", "v7", "vcc", "exec_lo",
    )  # fmt: skip
