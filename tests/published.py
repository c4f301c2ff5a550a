"""What the English guide says, each statement under its id with our verdict and what bears it out.

The page `docs/*/published.md` prints these verdicts. A guide's own figures stand in the assertion. The two
Chinese guides are in `published_chinese.py`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import wavefit as wf
from wavefit.chips import Target
from wavefit.feed import balance, intensity, trap
from wavefit.report.rosetta import ROSETTA

DATA = Path(__file__).parent / "data"
HOLDS, PARTLY, NOT, UNKNOWN = "holds", "partly", "does not hold", "unknown"
MXFP8 = "v_mfma_f32_16x16x128_f8f6f4"

CHECKED: dict[str, tuple[str, Callable[[], None]]] = {}
"""By id: the verdict, and what must be true for it."""


def says(identifier: str, verdict: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def keep(check: Callable[[], None]) -> Callable[[], None]:
        assert identifier not in CHECKED
        CHECKED[identifier] = (verdict, check)
        return check

    return keep


def fit(chip: str, **numbers: Any) -> wf.Fit:
    found = wf.fit(chip, **numbers)
    assert isinstance(found, wf.Fit)
    return found


def target(name: str) -> Target:
    return wf.chip(name).target


def alone(found: wf.Fit, resource: str) -> int | float | None:
    """What a resource alone admits, in waves a SIMD."""
    return found.limit(resource).waves_per_simd


def measured(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def sweep_of_guide(ilp: int) -> list[float]:
    """The guide's PFLOP/s at one ILP, the least occupied first."""
    return [float(row["pflops"]) for row in measured("feed/mfma_ilp_sweep.csv") if row["ilp"] == str(ilp)]


def model(ilp: int, waves: int) -> float:
    return float(wf.feed("MI355X", instruction=MXFP8, ilp=ilp, waves=waves).utilisation)


# G1: "Occupancy Math on the AMD MI355X"


@says("G1-01", HOLDS)
def eight_dies_of_32_cus() -> None:
    chip = wf.chip("MI355X")
    assert [chip.value(f"compute.{what}") for what in ("cus", "dies", "cus_per_die")] == [256, 8, 32]
    assert chip.value("clock.peak_mhz") == 2400
    assert (chip.value("memory.bandwidth"), chip.value("memory.type")) == (8e12, "HBM3E")
    assert chip.value("memory.bytes") == 288 << 30
    assert (chip.value("cache.mall_bytes"), chip.value("cache.l2_bytes_per_die")) == (256 << 20, 4 << 20)


@says("G1-02", HOLDS)
def registers_are_private_and_lds_is_shared() -> None:
    known = target("gfx950")
    assert (known.unit().simds, known.wave_sizes) == (4, (64,))
    assert known.facts["sgpr.file"].unit == "per SIMD"
    assert known.facts["units.cu.lds_pool"].unit == "bytes per CU"


@says("G1-03", HOLDS)
def one_file_of_512_on_both_generations() -> None:
    for name in ("gfx942", "gfx950"):
        vgpr = target(name).vgpr
        assert (vgpr.accumulator, vgpr.files[64].file) == ("unified", 512)
        assert (vgpr.addressable_arch, vgpr.agprs, vgpr.addressable) == (256, 256, 512)


@says("G1-04", PARTLY)
def scalar_registers_and_what_the_trap_handler_takes() -> None:
    sgpr = target("gfx950").sgpr
    assert (sgpr.file, sgpr.addressable, sgpr.granule) == (800, 102, 16)
    assert sgpr.trap_reserve == 16  # left out by the guide
    assert fit("MI300X", vgprs=16, sgprs=92, threads=64).workgroups == 28  # measured, rocm-systems #10618


@says("G1-05", HOLDS)
def lds_of_160_and_64_kib() -> None:
    assert [target(name).unit().lds_pool for name in ("gfx950", "gfx942")] == [160 << 10, 64 << 10]


@says("G1-06", HOLDS)
def eight_waves_of_64() -> None:
    known = target("gfx950")
    assert (known.unit().wave_slots, known.default_wave, fit("MI355X", threads=64).max_waves) == (8, 64, 32)
    assert known.facts["units.cu.wave_slots"].status == "runtime"


@says("G1-07", PARTLY)
def the_least_limit_in_whole_workgroups() -> None:
    found = fit("MI355X", vgprs=96, threads=512)
    assert 512 // 96 == 5  # what the division says
    assert (alone(found, "vgpr"), found.waves_per_simd) == (5, 4)
    for answer in (found, fit("MI355X", vgprs=100, sgprs=92, lds=32 << 10, threads=256)):
        counts = [limit.workgroups for limit in answer.limits if limit.workgroups is not None]
        assert answer.workgroups == min(counts)


@says("G1-08", HOLDS)
def the_waves_of_a_workgroup_spread_over_the_simds() -> None:
    assert fit("MI355X", total_vgprs=512, threads=256).waves_per_simd == 1
    assert fit("MI355X", total_vgprs=256, threads=512).waves_per_simd == 2
    six = fit("MI355X", vgprs=80, threads=256)
    assert (six.workgroups, six.waves_per_simd) == (6, 6)
    (row,) = [row for row in measured("oracles/occupancy_limiters_mi250.csv") if row["kernel"] == "ldsbound"]
    assert float(row["measured_pct"]) == pytest.approx(  # one workgroup of four waves on a CU
        100 * fit("gfx90a", lds=int(row["lds_bytes"]), threads=256).occupancy, abs=0.1
    )


@says("G1-09", PARTLY)
def the_worked_tile() -> None:
    asked = {"vgprs": 128, "agprs": 0, "sgprs": 50, "lds": 32 << 10, "threads": 256}
    old, new = fit("MI300X", **asked), fit("MI355X", **asked)
    assert (old.occupancy, new.occupancy) == (0.25, 0.5)
    assert [alone(old, each) for each in ("vgpr", "sgpr", "lds")] == [4, 10, 2]  # the guide: 4, 16, 2
    assert [alone(new, each) for each in ("vgpr", "sgpr", "lds")] == [4, 10, 4]  # the guide: 4, 16, 5
    assert 163840 // (32 << 10) == 5


@says("G1-10", HOLDS)
def larger_tiles() -> None:
    assert [fit("MI355X", total_vgprs=n, threads=256).waves_per_simd for n in (202, 294, 498)] == [2, 1, 1]
    assert fit("MI355X", vgprs=252, agprs=246, threads=256).limit("vgpr").requested == 498


@says("G1-11", HOLDS)
def granule_of_eight() -> None:
    for vgprs, charged, waves in ((100, 104, 4), (96, 96, 5)):
        found = fit("MI355X", vgprs=vgprs, threads=256)
        assert (found.limit("vgpr").allocated, found.waves_per_simd) == (charged, waves)


@says("G1-12", PARTLY)
def workgroup_slots() -> None:
    assert fit("MI355X", threads=128).occupancy == 1  # never the only limit here
    for name, asked in (("MI100", 128), ("gfx1250", 64)):
        found = fit(name, threads=asked)
        assert found.binding == ("workgroups",)
        assert found.occupancy < 1


@says("G1-13", HOLDS)
def the_count_of_the_binary_includes_accumulators() -> None:
    name = "gemm_mxfp8_gfx950_128x256x128_w8.hsaco"
    (kernel,) = wf.kernels(DATA.parent.parent / "examples" / "compiled" / name)
    assert isinstance(kernel, wf.Kernel)
    assert kernel.vgprs is not None
    assert kernel.agprs is not None
    assert kernel.total_vgprs == kernel.vgprs + kernel.agprs
    assert kernel.agprs > 0
    assert kernel.vgprs % 4 == 0  # the accumulator offset
    assert (kernel.lds, kernel.vgpr_spills) == (0, 0)
    assert kernel.lds_dynamic  # from the file beside it


@says("G1-14", PARTLY)
def theory_is_a_ceiling() -> None:
    for row in measured("oracles/occupancy_limiters_mi250.csv"):
        asked = {"vgprs": int(row["vgpr_isa"]), "lds": int(row["lds_bytes"]), "threads": int(row["wg"])}
        gap = 100 * fit("gfx90a", **asked).occupancy - float(row["measured_pct"])
        assert 0 <= gap < 2


@says("G1-15", HOLDS)
def parallelism_in_flight() -> None:
    for chip, name in (("MI355X", MXFP8), ("H200", "mma.m16n8k16.bf16")):
        found = wf.feed(chip, instruction=name, ilp=1, waves=1)
        loop = found.timing.loop(1)
        assert found.needed_in_flight - 1 < loop.latency / loop.interval <= found.needed_in_flight
        assert {way.by for way in found.ways} == {"chains", "waves"}


@says("G1-16", PARTLY)
def the_experiment() -> None:
    for ilp, low, high in ((1, 3.47, 4.55), (2, 4.65, 4.67), (4, 4.46, 4.69), (8, 4.82, 4.83)):
        read = sweep_of_guide(ilp)
        assert (read[0], max(read)) == pytest.approx((low, high), abs=0.011)
    assert sweep_of_guide(4)[0] < sweep_of_guide(2)[0]
    assert model(4, 1) > model(2, 1)  # what the model cannot say


@says("G1-17", HOLDS)
def eight_chains_in_one_wave_beat_two_in_eight() -> None:
    assert sweep_of_guide(8)[0] > max(sweep_of_guide(2))
    assert model(8, 1) > model(2, 8)
    rows = [row for row in measured("feed/h200_feed_run.csv") if row["instruction"] == "mma.m16n8k16.bf16"]
    rate = {(int(row["ilp"]), int(row["waves_per_simd"])): float(row["flops"]) for row in rows}
    assert rate[4, 2] > rate[1, 16]  # measured: 12 % occupancy against 100 %


@says("G1-18", PARTLY)
def bytes_in_flight() -> None:
    facts = wf.chip("MI355X").facts
    assert not [path for path in facts if path.startswith("latency.memory")]  # not public
    found = wf.feed_memory("MI355X", waves=2, vector_bytes=16, outstanding=2, latency_ns=500)
    assert found.needed_bytes == 4e6
    wide = wf.feed_memory("BW1000", waves=1, vector_bytes=16, outstanding=4)
    assert (
        wide.bytes_in_flight
        == 16 * wf.feed_memory("BW1000", waves=1, vector_bytes=4, outstanding=1).bytes_in_flight
    )


@says("G1-19", HOLDS)
def matrix_instructions_read_registers() -> None:
    fact = target("gfx950").facts["tile.from_lds"]
    assert (fact.value, fact.status) == (False, "compiler")


@says("G1-20", HOLDS)
def machine_balance() -> None:
    assert balance("MI355X", "mxfp8").balance == pytest.approx(625, rel=0.01)
    assert intensity(256, 256, "mxfp8") == pytest.approx(2 * intensity(128, 128, "mxfp8"))


@says("G1-21", PARTLY)
def the_trap() -> None:
    points = trap("MI355X", MXFP8).points
    for more in ("registers", "intensity"):
        few, many = getattr(points[0], more), getattr(points[-1], more)
        assert many < few
    assert points[-1].flops < points[0].flops / 2
    assert points[-1].by == "memory"
    assert trap("MI355X", MXFP8).best.waves == 1  # not 2 to 4
    assert trap("MI355X", MXFP8, exposed=64, reuse=4).best.waves == 2


@says("G1-22", HOLDS)
def the_order_of_questions() -> None:
    fed, starved = (wf.feed("MI355X", instruction=MXFP8, ilp=ilp, waves=1) for ilp in (8, 1))
    assert fed.ways == ()  # busy: nothing to do
    assert next(way.by for way in starved.ways if way.possible) == "chains"  # the cheaper way first


@says("G1-23", HOLDS)
def peaks_of_the_chip() -> None:
    chip = wf.chip("MI355X")
    assert chip.peak("mxfp8") == pytest.approx(5e15, rel=0.01)
    for kind in ("fp6", "fp4"):
        assert chip.peak(kind) == pytest.approx(10e15, rel=0.01)


@says("G1-24", HOLDS)
def words() -> None:
    pairs = (
        ("CU", "SM"), ("SIMD", "sub-partition"), ("wave", "warp"), ("VGPR", "register"),
        ("LDS", "shared memory"), ("matrix core", "tensor core"), ("workgroup", "block"),
        ("s_barrier", "__syncthreads"),
    )  # fmt: skip
    for ours, theirs in pairs:
        assert any(ours in word.amd and theirs in word.nvidia for word in ROSETTA), ours
    assert (target("gfx950").default_wave, target("sm_90").default_wave) == (64, 32)


@says("G1-25", PARTLY)
def what_its_calculator_leaves_out() -> None:
    found = fit("MI355X", vgprs=100, sgprs=50, lds=32 << 10, threads=320)
    by_rule = min(512 // 104, 800 // 64, 160 / 32 * 5 / 4)
    assert by_rule == 4
    assert (found.workgroups, found.waves_per_simd) == (3, 3.75)
