"""Tables of instructions against LLVM 22's own words (frozen; `test_matrix_heavy.py` asks it again)."""

import pytest
from tools import matrix_tables

from tests import accuracy_matrix as oracle
from wavefit import matrix
from wavefit.chips import chip, targets
from wavefit.chips.model import STATUSES

CDNA_AND_RDNA = ("gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200")
TABLES = (*matrix_tables.TARGETS, "gfx926", "gfx928", "gfx936", "gfx938", "sm_80", "sm_89", "sm_90", "sm_120")


@pytest.mark.parametrize("target", matrix_tables.TARGETS)
def test_every_difference_from_llvm_22_has_a_reason(target):
    counts, differences = oracle.llvm(target)
    assert [each for each in differences if each.reason is None] == []
    assert counts["registers"][0] == counts["registers"][1] > 0


@pytest.mark.parametrize("target", CDNA_AND_RDNA)
def test_mnemonics_are_exactly_those_llvm_22_assembles(target):
    equal, total = oracle.llvm(target)[0]["name"]
    assert equal == total > 0


@pytest.mark.parametrize(("target", "count"), [("gfx908", 20), ("gfx90a", 27), ("gfx942", 46)])
def test_cycles_are_four_times_the_passes_of_llvm_mca(target, count):
    assert oracle.llvm(target)[0]["cycles"] == (count, count)


def test_gfx950_differs_from_llvm_mca_only_by_a_factor_of_two_where_an_operand_is_8_bit():
    differences = oracle.llvm("gfx950")[1]
    assert {each.what for each in differences} == {"cycles"}
    for each in differences:
        theirs, ours = (float(word.strip("{}")) for word in (each.llvm, each.table))
        assert ours == 2 * theirs, each
        assert "fp8/bf8" in each.name


def test_old_spellings_mean_the_instruction_llvm_makes_of_them():
    pairs = oracle.spellings()
    assert len(pairs) > 400
    assert [pair for pair in pairs if pair[0] != pair[1]] == []


def test_xf32_is_gone_on_gfx950_and_the_error_says_what_there_is():
    with pytest.raises(
        matrix.TypeNotFound,
        match="no matrix instruction of gfx950 for xf32 is in the tables; they have fp64, fp32",
    ):
        matrix.matrix("MI355X", type="xf32")


@pytest.mark.parametrize("target", ["gfx936", "gfx938"])
def test_hygon_shapes_are_those_of_the_dumma_table(target):
    # DTK 26.04.1 DUMMA manual, table 3.1.
    expected = {
        ("fp32", "fp32", 4), ("fp32", "fp32", 8), ("tf32", "fp32", 8), ("fp16", "fp32", 16),
        ("bf16", "fp32", 16),
        ("int8", "int32", 32), ("uint8", "int32", 32), ("int4", "int32", 64), ("uint4", "int32", 64),
        ("fp64", "fp64", 4),
    }  # fmt: skip
    if target == "gfx938":
        expected |= {("fp8", "fp32", 32), ("bf8", "fp32", 32)}
    table = matrix.matrix(target)
    assert {(each.a.type.name, each.d.type.name, each.k) for each in table} == expected
    assert {(each.m, each.n, each.blocks, each.wave) for each in table} == {(16, 16, 1, 64)}


def test_hygon_cycles_are_known_for_gfx936_only():
    f16 = matrix.instruction("BW1000", "v_mmac_f32_16x16x16_f16")
    assert (f16.cycles, f16.latency, f16.d.registers) == (8, 44, 4)
    assert f16.facts["latency"].status == "measured"
    for target in ("gfx926", "gfx928", "gfx938"):
        assert {(each.cycles, each.latency) for each in matrix.matrix(target)} == {(None, None)}


def test_wgmma_cycles_are_those_measured_on_hopper():
    # arXiv 2512.02189: n 64, 128, 256 in 32, 64, 128 cycles, FP8 k32 in 128 too.
    for n, cycles in ((64, 32), (128, 64), (256, 128)):
        assert matrix.instruction("H200", f"wgmma.m64n{n}k16.f16").cycles == cycles
    assert matrix.instruction("H200", "wgmma.m64n256k32.e4m3").cycles == 128
    assert matrix.instruction("H200", "wgmma.m64n256k16.f16").flops_per_clock_cu == 4096


def test_cycles_and_rates_are_those_that_amd_prints():
    pairs = oracle.cycles()
    assert len(pairs) >= 22
    assert [pair for pair in pairs if pair[0] != pair[1]] == []


def test_the_half_rate_trap_of_gfx950_is_a_note():
    old = matrix.instruction("MI355X", "v_mfma_f32_16x16x16_f16")
    assert old.notes == ("half the rate of v_mfma_f32_32x32x16_f16",)
    assert matrix.instruction("MI300X", "v_mfma_f32_16x16x16_f16").notes == ()
    fp8 = matrix.instruction("MI355X", "v_mfma_f32_32x32x16_fp8_fp8")
    assert "half the rate of v_mfma_f32_32x32x64_f8f6f4" in fp8.notes


@pytest.mark.parametrize(
    ("target", "name", "then", "wait"),
    [
        # LLVM's GCNHazardRecognizer, by the passes P of the producer.
        ("gfx908", "v_mfma_f32_32x32x1f32", "read", 18),
        ("gfx90a", "v_mfma_f32_16x16x4f16", "ab", 11),
        ("gfx90a", "v_mfma_f64_16x16x4f64", "memory", 18),
        ("gfx942", "v_mfma_f32_16x16x16_f16", "ab", 4 + 3),
        ("gfx942", "v_mfma_f32_32x32x2_f32", "ab", 16 + 2),
        ("gfx942", "v_mfma_f32_4x4x4_16b_f16", "c_same", 2),
        ("gfx950", "v_mfma_f32_32x32x16_f16", "ab", 8 + 4),
        ("gfx950", "v_mfma_f32_4x4x4_16b_f16", "read", 2 + 3),
        ("gfx950", "v_mfma_f64_16x16x4_f64", "ab", 19),
        ("gfx1250", "v_wmma_f32_16x16x32_f16", "ab", 5),
        ("gfx1250", "v_swmmac_f32_16x16x64_f16", "ab", 3),
        ("gfx1251", "v_wmma_f32_16x16x128_fp8_fp8", "ab", 17),
    ],
)
def test_wait_states_follow_the_hazard_recognizer(target, name, then, wait):
    assert matrix.instruction(target, name).waits[then] == wait


def test_an_accumulate_chain_needs_no_wait_states_but_for_two_pass_and_4x4_fp64():
    for target in ("gfx908", "gfx90a", "gfx942", "gfx950"):
        for each in matrix.matrix(target):
            assert each.waits["c_same"] in (
                (0, 2) if each.passes == 2 else (0, 4) if each.m == 4 else (0,)
            ), each


@pytest.mark.parametrize("target", TABLES)
def test_every_number_says_who_says_so(target):
    for each in matrix.matrix(target):
        assert set(each.facts) == {"shape", "registers", "cycles", "latency", "waits"}
        for key, fact in each.facts.items():
            assert fact.source, (each.name, key)
            assert fact.status in STATUSES, (each.name, key)
            assert (fact.value is None) == (fact.status == "unknown"), (each.name, key)


def test_every_target_is_said_to_have_instructions_or_none_or_to_be_unknown():
    assert oracle.tables_missing() == []
    for target in targets():
        try:
            assert matrix.matrix(target)
        except matrix.NoMatrix as reason:
            assert target.name in str(reason)  # noqa: PT017


def test_registers_hold_the_elements_and_rdna3_holds_a_and_b_twice():
    for target in TABLES:
        for each in matrix.matrix(target):
            lanes = each.wave * each.waves
            held = {"a": each.m * each.k // (2 if each.sparse else 1), "b": each.k * each.n}
            for key, elements in held.items():
                operand = getattr(each, key)
                if operand.registers == 0:
                    continue
                bits = elements * each.blocks * operand.type.bits
                copies = {"gfx1100": lanes // 16}.get(target, 1)
                assert operand.registers * 32 == max(bits * copies // lanes, 32), (each, key)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("MI355X", "v_mfma_f32_16x16x32_f17"), "did you mean v_mfma_f32_16x16x32_f16"),
        (("BW1000", "v_mfma_f32_16x16x16_f16"), "gfx936 has no matrix instruction"),
        (("MI355X", ""), "gfx950 has no matrix instruction ''"),
    ],
)
def test_an_unknown_instruction_names_near_ones_in_one_line(words, expected):
    with pytest.raises(matrix.InstructionNotFound) as caught:
        matrix.instruction(*words)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_type_names_near_ones():
    with pytest.raises(matrix.TypeNotFound, match="unknown element type 'fp9'; did you mean fp8"):
        matrix.matrix("MI355X", type="fp9")


def test_a_target_without_a_matrix_unit_says_so():
    with pytest.raises(matrix.NoMatrix, match="gfx906 has no matrix instructions"):
        matrix.matrix("MI60")
    with pytest.raises(matrix.NoMatrix, match="gfx946: matrix instructions are not known"):
        matrix.matrix("gfx946")


def test_types_are_asked_for_by_group_name_or_format():
    def names(word):
        return {each.name for each in matrix.matrix("MI355X", type=word)}

    assert names("e4m3") < names("fp8")
    assert "v_mfma_f32_16x16x32_bf8_bf8" in names("bf8") - names("e4m3")
    assert "v_mfma_scale_f32_16x16x128_f8f6f4" in names("mxfp4") & names("e5m2")
    assert names("f16") == names("fp16") == names("half")


def test_f8f6f4_without_formats_is_8_bit_as_the_assembler_encodes_it():
    assert matrix.instruction("MI355X", "v_mfma_f32_16x16x128_f8f6f4").a.registers == 8
    assert matrix.instruction("MI355X", "v_mfma_f32_16x16x128_f8f6f4", a="fp4", b="fp6").b.registers == 6
    with pytest.raises(matrix.InstructionNotFound, match="with these types"):
        matrix.instruction("MI355X", "v_mfma_f32_16x16x128_f8f6f4", a="fp16")


def test_a_wave_size_chooses_the_row_and_the_default_is_the_targets():
    name = "v_wmma_f32_16x16x16_f16"
    assert matrix.instruction("gfx1100", name).d.registers == 8  # 256 elements over 32 lanes.
    assert matrix.instruction("gfx1100", name, wave=64).d.registers == 4
    assert matrix.instruction("gfx1100", "wmma_f32_16x16x16f16", wave=64).wave == 64
    assert {each.wave for each in matrix.matrix("gfx1201", wave=64)} == {64}
    assert {each.target for each in matrix.matrix("gfx1201")} == {"gfx1201"}


def test_the_package_is_callable_as_the_contract_has_it():
    import wavefit.matrix as package

    found = package("MI355X", type="fp8")
    assert found == matrix.matrix(chip("MI355X"), type="fp8")
    assert all("fp8" in (each.a.type.group, each.b.type.group) for each in found)
