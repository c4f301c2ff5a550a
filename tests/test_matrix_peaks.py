"""Peaks against what vendors publish and what others measured, and packed FP32."""

import pytest

from tests import accuracy_matrix as oracle
from wavefit import matrix
from wavefit.chips import chip, products
from wavefit.feed.roofline import balance

PUBLISHED = oracle.published()


@pytest.mark.parametrize(
    ("ours", "row"), PUBLISHED, ids=[f"{r['chip']}-{r['type']}-{r['unit_path']}" for _, r in PUBLISHED]
)
def test_peak_is_the_published_one_or_above_the_measured_one(ours, row):
    # Published: 0.5 % or half the last printed digit; measured: never above the peak.
    assert oracle.agrees(ours, row), (ours, row)


def test_measured_rates_are_near_the_peak_they_are_held_against():
    near = [float(row["tflops"]) / ours for ours, row in PUBLISHED if row["source"].startswith("measured")]
    assert len(near) == 5
    assert min(near) > 0.96  # A peak twice too high would pass the comparison alone.


def test_a_chip_holds_94_percent_of_its_peak_at_the_clock_it_really_has():
    pairs = oracle.sustained()
    assert len(pairs) == 6
    assert [pair for pair in pairs if pair[0] != pair[1]] == []


def test_a_clock_scales_the_peak_and_is_said():
    full, slow = matrix.peak("MI300X", "fp16"), matrix.peak("MI300X", "fp16", clock_mhz=1050)
    assert slow.flops == full.flops / 2
    assert (full.at_peak_clock, slow.at_peak_clock) == (True, False)
    assert slow.arithmetic == "2048 a clock a CU x 304 CUs x 1050 MHz"


def test_sparse_peaks_are_twice_the_dense_ones_and_fp4_has_none():
    for type_ in ("fp16", "bf16", "fp8", "int8"):
        for name in ("MI300X", "MI355X"):
            assert matrix.peak(name, type_, sparse=True).flops == 2 * matrix.peak(name, type_).flops
    with pytest.raises(matrix.NotKnown, match="no sparse matrix rate of fp4 is known"):
        matrix.peak("MI355X", "fp4", sparse=True)


def test_xf32_and_tf32_name_one_rate():
    assert matrix.peak("MI300X", "xf32").flops == matrix.peak("MI300X", "tf32").flops


def test_fp8_peak_of_mi355x_is_256_cus_x_8192_x_2400_mhz():
    peak = matrix.peak("MI355X", "fp8")
    assert peak.flops == 256 * 8192 * 2400e6
    assert {"compute.cus", "clock.peak_mhz", "rate"} == set(peak.facts)


@pytest.mark.parametrize(
    ("asked", "options", "error", "says"),
    [
        (("gfx950", "fp8"), {}, matrix.NotKnown, "is a target, not a chip"),
        (("K100_AI", "fp16"), {}, matrix.NotKnown, "peak clock is not known"),
        (("MI60", "fp16"), {}, matrix.NoMatrix, "gfx906 has no matrix instructions"),
        (("MI300X", "fp4"), {}, matrix.TypeNotFound, "no matrix instruction of gfx942 for fp4"),
        (("MI300X", "bf16"), {"path": "vector"}, matrix.NotKnown, "known: fp64, fp32"),
        (("MI300X", "fp16"), {"clock_mhz": -1}, matrix.Refused, "must be a positive number"),
        (("MI300X", "fp16"), {"path": "tensor"}, matrix.Refused, "matrix or vector"),
        (("RX 7900 XTX", "fp16"), {}, matrix.NotKnown, "peak clock is not known"),
    ],
)
def test_what_is_not_known_is_said_and_not_guessed(asked, options, error, says):
    with pytest.raises(error, match=says):
        matrix.peak(*asked, **options)


def test_an_unknown_clock_can_be_given():
    assert matrix.peak("RX 7900 XTX", "fp16", clock_mhz=2000).flops == 96 * 512 * 2000e6


def test_a_peak_is_no_firmer_than_its_weakest_factor():
    assert matrix.peak("MI355X", "fp8").status == "derived"  # The clock is derived.
    assert matrix.peak("MI100", "fp16").status == "documented"


def test_packed_fp32_doubles_plain_fma_where_llvm_assembles_it():
    # LLVM 22 assembles v_pk_fma_f32 for these and refuses it for gfx908, gfx1100, gfx1200.
    for target in ("gfx90a", "gfx942", "gfx950", "gfx936"):
        found = matrix.packed_fp32(target)
        assert found.instruction == "v_pk_fma_f32"
        assert found.packed == 2 * found.plain == 256
    for target in ("gfx906", "gfx908", "gfx1100", "gfx1200"):
        assert matrix.packed_fp32(target).instruction is None


def test_packed_fp32_of_bw1000_stands_beside_the_matrix_path():
    found = matrix.packed_fp32(chip("BW1000"))
    # Measured: 29.7 TFLOPS packed, about 15 plain, 61.0 on the matrix unit, at 80 CUs and 1.5 GHz.
    assert (found.packed, found.plain, found.matrix) == (256, 128, 512)
    for rate, measured in ((found.packed, 29.7), (found.plain, 15), (found.matrix, 61.0)):
        assert 0.96 < measured / (rate * 80 * 1.5e-3) <= 1
    assert "do not decide" in found.note


GEFORCE = [("RTX 4090", 165.0), ("RTX 5090", 209.5)]  # with FP32 accumulators, as published or measured


@pytest.mark.parametrize(("name", "tflops"), GEFORCE)
def test_geforce_reaches_half_its_rate_with_the_accumulators_that_kernels_use(name, tflops):
    assert matrix.peak(name, "fp16").flops == pytest.approx(tflops * 1e12, rel=0.005)
    assert matrix.peak(name, "fp16", accumulate="fp16").flops == pytest.approx(2 * tflops * 1e12, rel=0.005)
    assert balance(name, "fp16").peak == matrix.peak(name, "fp16").flops


@pytest.mark.parametrize(("name", "tflops"), [("L40S", 362), ("A100", 312), ("RTX 4090", 165), ("H200", 989)])
def test_bf16_has_the_peak_of_fp16_where_the_product_page_says_so(name, tflops):
    assert chip(name).peak("bf16") == chip(name).peak("fp16") == pytest.approx(tflops * 1e12, rel=0.015)
    assert "bf16" in {each.rate.type for each in matrix.peaks(name)}


def test_what_only_geforce_does_is_said_of_geforce_alone():
    notes = {
        name: [each.rate.note for each in matrix.peaks(name) if each.rate.type == "fp16"]
        for name in ("L40S", "RTX 4090")
    }
    assert notes == {"L40S": [""], "RTX 4090": ["with fp32 accumulators, half of what fp16 ones give"]}
    assert not [each for each in matrix.matrix("L40S") if "GeForce" in each.note]


@pytest.mark.parametrize("product", sorted(str(each.name) for each in products()))
def test_every_rate_of_a_product_page_is_the_rate_that_is_told(product):
    pages = chip(product).facts.items()
    said = {path.removeprefix("rate.matrix."): fact.value for path, fact in pages if "rate.matrix." in path}
    plain = {type_: value for type_, value in said.items() if "_" not in type_ and value is not None}
    assert {type_: matrix.rate(product, type_).value for type_ in plain} == plain
