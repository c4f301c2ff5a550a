"""What the two Chinese guides say, as `published.py` has it of the English one."""

from __future__ import annotations

import numpy as np
import pytest

import wavefit as wf
from tests.published import CHECKED as CHECKED
from tests.published import (
    HOLDS,
    MXFP8,
    NOT,
    PARTLY,
    UNKNOWN,
    alone,
    fit,
    measured,
    model,
    says,
    sweep_of_guide,
    target,
)
from wavefit.matrix import instruction
from wavefit.tiles.order import tile_of


def as_published(path: str) -> tuple[object, str]:
    """What the Chinese rendering prints for a Fact, and what wavefit calls it."""
    chip = wf.chip("MI355X-as-published-zh")
    fact = {**chip.target.facts, **chip.facts}[path]
    return fact.value, fact.status


# G2: the Chinese rendering


@says("G2-01", NOT)
def a_wave_has_64_lanes() -> None:
    assert as_published("published.wave") == (32, "contradicted")
    assert target("gfx950").wave_sizes == (64,)


@says("G2-02", NOT)
def eight_slots() -> None:
    assert as_published("units.simd.wave_slots") == (16, "contradicted")
    assert as_published("published.waves_per_cu") == (64, "contradicted")
    assert fit("MI355X", threads=64).max_waves == 32


@says("G2-03", PARTLY)
def entries_of_the_vector_file() -> None:
    assert as_published("vgpr.wave32.file")[0] == target("gfx950").vgpr.files[64].file == 512
    assert 512 * 32 == 16384
    assert 512 * target("gfx950").default_wave == 32768


@says("G2-04", NOT)
def scalar_file() -> None:
    assert as_published("sgpr.file") == (6144, "contradicted")
    assert target("gfx950").sgpr.file == 800
    assert 800 * 4 * 4 == 12.5 * 1024  # a CU's in AMD's table


@says("G2-05", NOT)
def lds_is_shared_by_the_cu() -> None:
    assert as_published("units.simd.lds_pool") == (32 << 10, "contradicted")
    assert as_published("published.lds_per_cu") == (128 << 10, "contradicted")
    assert fit("MI355X", lds=160 << 10, threads=1024).workgroups == 1


@says("G2-06", NOT)
def a_matrix_unit_on_each_simd() -> None:
    assert as_published("published.matrix_cores") == (1, "contradicted")
    one = instruction("gfx950", MXFP8)
    assert one.flops is not None
    assert one.cycles is not None
    assert wf.chip("MI355X").facts["rate.matrix.fp8"].value == 4 * one.flops / one.cycles


@says("G2-07", NOT)
def no_accumulation_buffer() -> None:
    assert as_published("cache.accumulation_buffer_bytes") == (64 << 10, "contradicted")
    assert wf.chip("MI355X").value("cache.l1_bytes") == as_published("cache.l1_bytes")[0] == 32 << 10


@says("G2-08", HOLDS)
def accumulators_share_the_file() -> None:
    assert target("gfx950").vgpr.accumulator == "unified"
    assert fit("MI355X", vgprs=128, agprs=128, threads=256).limit("vgpr").requested == 256


@says("G2-09", PARTLY)
def l2_by_die() -> None:
    chip = wf.chip("MI355X")
    assert (chip.value("cache.l2_bytes"), chip.value("cache.l2_bytes_per_die")) == (32 << 20, 4 << 20)
    assert chip.value("compute.cus_per_die") == 32  # not four CUs a slice


@says("G2-10", NOT)
def workgroups_of_a_cu() -> None:
    assert as_published("units.simd.workgroups") == (16, "contradicted")
    assert target("gfx950").unit().workgroups == 16
    assert target("gfx950").unit().simds == 4


@says("G2-11", NOT)
def kind_of_memory() -> None:
    assert as_published("memory.type") == ("HBM3", "contradicted")
    assert wf.chip("MI355X").value("memory.type") == "HBM3E"


def by_its_numbers(**asked: int) -> tuple[list[int | float | None], float]:
    found = fit("MI355X-as-published-zh", threads=32, **asked)
    return [alone(found, each) for each in ("vgpr", "sgpr", "lds")], 100 * found.occupancy


@says("G2-12", NOT)
def its_first_tile() -> None:
    asked = {"vgprs": 112, "sgprs": 120, "lds": 12 << 10}
    assert by_its_numbers(**asked) == ([4, 51, 2], 12.5)
    found = fit("MI355X", threads=64, **asked)
    assert found.workgroups == 0
    assert "scalar" in str(found.why)


@says("G2-13", NOT)
def its_second_tile() -> None:
    asked = {"vgprs": 56, "sgprs": 64, "lds": 4 << 10}
    assert by_its_numbers(**asked) == ([9, 96, 8], 50)
    found = fit("MI355X", threads=64, **asked)
    assert [alone(found, each) for each in ("vgpr", "sgpr", "lds")] == [9, 10, 8]
    assert found.occupancy == 1


@says("G2-14", NOT)
def a_profiler_averages() -> None:
    rows = measured("oracles/occupancy_limiters_mi250.csv")
    assert all(float(row["measured_pct"]) not in (12.5, 50.0, 100.0) for row in rows)
    assert fit("MI355X", threads=64).max_waves != 64


@says("G2-15", UNKNOWN)
def occupancy_does_not_say_how_busy() -> None:
    assert model(1, 1) == pytest.approx(0.70, abs=0.01)
    assert model(8, 1) == pytest.approx(0.97, abs=0.01)


@says("G2-16", NOT)
def unified_since_gfx90a() -> None:
    assert as_published("published.accumulator_file")[1] == "contradicted"
    kinds = [target(name).vgpr.accumulator for name in ("gfx908", "gfx90a", "gfx942", "gfx950")]
    assert kinds == ["separate", "unified", "unified", "unified"]


@says("G2-17", NOT)
def a_wave_goes_on_while_the_unit_works() -> None:
    assert sweep_of_guide(8)[0] > 1.3 * sweep_of_guide(1)[0]  # one wave a SIMD: waiting would make them equal


@says("G2-18", PARTLY)
def sixteen_waves_at_most() -> None:
    assert {min(16, 16 * total) for total in range(1, 65)} == {16}
    known = target("gfx950")
    assert known.workgroup.max_threads // known.default_wave == 16


# G3: FlagGems' guide to gfx936


@says("G3-01", HOLDS)
def bw1000() -> None:
    known = target("gfx936")
    assert wf.chip("BW1000").value("compute.cus") == 80
    assert (known.unit().simds, known.unit().wave_slots, known.wave_sizes) == (4, 10, (64,))
    assert known.vgpr.files[64].file * 64 * 4 == 192 << 10
    assert known.unit().lds_pool == 64 << 10
    assert target("gfx928").vgpr.files[64].file != known.vgpr.files[64].file  # not all DCUs


@says("G3-02", HOLDS)
def few_programs_use_few_cus() -> None:
    cus = wf.chip("BW1000").value("compute.cus")
    assert isinstance(cus, int)
    assert cus > (512 // 128) ** 2
    rates = [float(row["gbytes_per_s"]) for row in measured("feed/hbm_read_by_workgroups.csv")]
    assert rates == sorted(rates)
    assert rates[0] < rates[-1] / 30


@says("G3-03", HOLDS)
def live_values_cost_waves() -> None:
    waves = [fit("BW1000", vgprs=vgprs, threads=256).waves_per_simd for vgprs in (108, 112, 256)]
    assert waves == [7, 6, 3]


@says("G3-04", HOLDS)
def three_rates_of_fp32() -> None:
    facts = wf.chip("BW1000").facts
    assert facts["rate.vector.fp32"].value == 256  # packed; half of it without
    assert facts["rate.matrix.fp32"].value == 512
    assert float(str(facts["measured.vector_fp32"].value)) < float(str(facts["measured.matrix_fp32"].value))


SHAPES = {
    "v_mmac_f32_16x16x16_f16": (16, 16, 16), "v_mmac_f32_16x16x16_bf16": (16, 16, 16),
    "v_mmac_f32_16x16x8_tf32": (16, 16, 8), "v_mmac_16x16x8_f32": (16, 16, 8),
    "v_mmac_i32_16x16x32_i8": (16, 16, 32),
}  # fmt: skip


@says("G3-05", HOLDS)
def shapes_of_mmac() -> None:
    for name, shape in SHAPES.items():
        found = instruction("BW1000", name)
        assert (found.m, found.n, found.k) == shape
        assert found.c.registers == 16 * 16 // 64  # fp32 over 64 lanes


@says("G3-06", PARTLY)
def tf32_and_int4() -> None:
    assert instruction("BW1000", "v_mmac_f32_16x16x8_tf32").k == 8
    int4 = instruction("BW1000", "v_mmac_i32_16x16x64_i4")
    assert int4.a.registers * 64 * 32 == 16 * 64 * 4  # two in a byte fill the operand
    assert int4.cycles is None  # nobody published it


@says("G3-07", HOLDS)
def the_mnemonic_tells() -> None:
    assert all(each.name.startswith("v_mmac_") for each in wf.matrix("BW1000", type="fp16"))


@says("G3-08", HOLDS)
def a_stage_is_not_always_a_buffer() -> None:
    rows = measured("tiles/lds_triton_3_9.csv")

    def buffers(name: str) -> set[int]:
        """Of two stages: LDS over the operands of one step, in whole buffers."""
        return {
            int(row["shared"]) // (2 * int(row["block_k"]) * (int(row["block_m"]) + int(row["block_n"])))
            for row in rows
            if (row["target"], row["stages"]) == (name, "2") and row["dtype"] in ("bf16", "fp16")
            and min(int(row["block_m"]), int(row["block_n"]), int(row["block_k"])) >= 64
        }  # fmt: skip

    assert buffers("gfx942") == {1}  # one of two stages waits in registers
    assert buffers("gfx950") == {2}


@says("G3-09", HOLDS)
def data_of_one_step() -> None:
    assert (64 + 64) * 32 * 2 == 8 << 10
    shown = wf.rank_tiles("BW1000", m=512, n=512, k=4096, dtype="fp16")
    assert any(low < high for low, high in (tile.lds for tile in shown))  # a range, not one number


@says("G3-10", HOLDS)
def half_of_the_lds() -> None:
    assert [fit("BW1000", lds=lds, threads=256).workgroups for lds in (32 << 10, (32 << 10) + 1)] == [2, 1]
    assert fit("BW1000", lds=32 << 10, vgprs=256, threads=512).workgroups == 1  # registers lower it


@says("G3-11", HOLDS)
def grouped_order() -> None:
    rows, columns = tile_of(np.arange(5 * 4), 5, 4, 2)  # five rows of tiles: the last group has one
    walked = list(zip(rows.tolist(), columns.tolist(), strict=True))
    assert walked[:4] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert walked[16:] == [(4, 0), (4, 1), (4, 2), (4, 3)]
    assert sorted(walked) == [(row, column) for row in range(5) for column in range(4)]


@says("G3-12", HOLDS)
def grouping_is_not_always_faster() -> None:
    rate = {row["window"]: float(row["tflops"]) for row in measured("tiles/xcd_window_sweep.csv")}
    assert rate["8"] > 1.09 * rate["0"]
    assert rate["32"] < 0.87 * rate["0"]
