"""The pages of chips/data against tables that others wrote (their origins: data/chips/README.md)."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

import wavefit.chips as chips
from wavefit.chips import ChipNotFound, Target

DATA = Path(__file__).parent / "data" / "chips"
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def rows(name: str) -> list[dict[str, str]]:
    text = (DATA / name).read_text(encoding="utf-8").replace("\u00a0", " ")
    return list(csv.DictReader(text.splitlines()))


def most_vgprs(target: Target, wave: int, waves: int) -> int:
    file = target.vgpr.files[wave]
    return min(file.file // waves // file.granule * file.granule, target.vgpr.addressable)


# AMD targets: LLVM's own constants


TARGETS = rows("amd_targets.csv")


def test_each_target_of_llvm_has_a_page_and_no_other_amd_target_has() -> None:
    pages = {t.id for t in chips.targets() if t.vendor == "AMD" and "published" not in t.id}
    assert pages == {row["gfx"] for row in TARGETS}
    assert len(pages) == 59


@pytest.mark.parametrize("row", TARGETS, ids=lambda row: f"{row['gfx']}-{row['mode']}")
def test_target_equals_llvm(row: dict[str, str]) -> None:
    target = chips.target(row["gfx"])
    mode = row["mode"].lower()
    unit = target.unit(mode if target.modes else None)
    assert unit.name == row["mode"]
    assert row["family"].startswith(target.family)
    assert list(target.wave_sizes) == [int(size) for size in row["wave_sizes"].split(",")]
    assert target.default_wave == int(row["default_wave"])
    assert target.modes == (("wgp", "cu") if len([r for r in TARGETS if r["gfx"] == row["gfx"]]) == 2 else ())

    slots = int(row["max_waves_per_simd"])
    assert (unit.simds, unit.wave_slots) == (int(row["simds_per_wg_block"]), slots)
    assert unit.simds * unit.wave_slots == int(row["wave_slots_per_block"]) == int(row["max_wgs_singlewave"])
    assert unit.workgroups == int(row["max_wgs_multiwave"])
    assert target.workgroup.max_threads == int(row["max_flat_wg_size"])
    assert target.workgroup.one_wave_exempt
    assert target.unknown == ()

    for wave in (32, 64):
        column = [row[f"{name}_w{wave}"] for name in ("total_vgprs", "vgpr_granule", "vgpr_encode_granule")]
        file = target.vgpr.files.get(wave)
        assert column == (
            [str(n) for n in (file.file, file.granule, file.encode_granule)] if file else [""] * 3
        )
    vgpr = target.vgpr
    assert vgpr.addressable == int(row["addressable_vgprs_per_wave"])
    assert (vgpr.addressable_arch, vgpr.agprs) == (int(row["addressable_arch_vgprs"]), int(row["agprs"]))
    assert (vgpr.accumulator == "unified") == (row["agpr_unified"] == "1")
    assert (vgpr.accumulator == "separate") == (row["gfx"] == "gfx908")
    assert str(vgpr.accumulator_granule) == (row["accum_offset_granule"] or "1")


@pytest.mark.parametrize("row", TARGETS, ids=lambda row: f"{row['gfx']}-{row['mode']}")
def test_target_scalars_and_lds_equal_llvm(row: dict[str, str]) -> None:
    target = chips.target(row["gfx"])
    sgpr = target.sgpr
    limited = row["sgpr_limits_occupancy"] == "1"
    assert sgpr.limits == ("yes" if limited else "never")
    if limited:
        assert sgpr.file == int(row["sgpr_total_per_simd"])
        assert sgpr.granule == int(row["sgpr_alloc_granule"])
        encode = target.facts["sgpr.encode_granule"]
        assert int(row["sgpr_encode_granule"]) in {
            encode.value,
            *(reading.value for reading in encode.readings),
        }
        assert sgpr.trap_reserve == 16  # LLVM #201342, amdhsa
    else:
        assert sgpr.file is None
        assert row["sgpr_total_per_simd"] == f"{target.facts['sgpr.per_wave'].value} per wave (fixed)"
    assert sgpr.addressable == int(row["addressable_sgprs"])
    assert sgpr.extra == int(row["extra_sgprs_vcc_xnack_flatscr"])
    assert sgpr.fixed == (96 if row["sgpr_init_bug_fixed96"] == "1" else None)
    assert target.facts["features.xnack"].value is (row["xnack_capable"] == "1")
    assert target.facts["features.architected_flat_scratch"].value is (row["architected_flat_scratch"] == "1")

    unit = target.unit(row["mode"].lower() if target.modes else None)
    assert unit.lds_pool == int(row["lds_bytes_per_block"])
    assert min(target.lds.per_workgroup, unit.lds_pool) == int(row["lds_addressable_per_wg"])
    assert target.lds.granule == int(row["lds_alloc_granule_recommended"])
    main = target.views.get("llvm-main", {}).get("lds_granule", target.lds.granule)
    assert main == int(row["lds_alloc_granule_llvm_main_dcd83f0e"])
    assert target.views["llvm-22"]["lds_granule"] == 1


SMALLER_IN_HIP = {"gfx1010", "gfx1011", "gfx1012", "gfx1013", "gfx10-1-generic", "gfx1250", "gfx12-5-generic"}


def test_an_lds_granule_that_hip_contradicts_carries_its_reading() -> None:
    differ = {
        row["gfx"]: int(row["lds_alloc_granule_hip_device_cpp"])
        for row in TARGETS
        if row["lds_alloc_granule_hip_device_cpp"].isdigit()
        and row["lds_alloc_granule_hip_device_cpp"] != row["lds_alloc_granule_recommended"]
    }
    assert differ.keys() == SMALLER_IN_HIP
    for gfx, value in differ.items():
        assert value in [reading.value for reading in chips.target(gfx).facts["lds.granule"].readings]


def test_llvm_22_sgpr_steps_reproduce_its_empty_kernels() -> None:
    # The compiler's answer for a kernel of one wave, whose total of SGPRs the table gives too
    asked = [row for row in TARGETS if row["llc22_empty_kernel_total_sgprs"]]
    for row in asked:
        target, total = chips.target(row["gfx"]), int(row["llc22_empty_kernel_total_sgprs"])
        steps = target.views["llvm-22"].get("sgpr_steps", (999, target.unit().wave_slots))
        assert isinstance(steps, tuple)
        pairs = zip(steps[::2], steps[1::2], strict=True)
        waves = next(int(str(waves)) for most, waves in pairs if total <= int(str(most)))
        assert min(waves, target.unit().wave_slots) == int(row["llc22_max_occ_1wave_wg"]), row["gfx"]
    assert len(asked) == 78


LIMITS = rows("amd_vgpr_limits.csv")


@pytest.mark.parametrize("gfx", sorted({row["gfx"] for row in LIMITS}))
def test_most_vgprs_for_each_number_of_waves(gfx: str) -> None:
    target = chips.target(gfx)
    table = [row for row in LIMITS if row["gfx"] == gfx]
    assert {int(row["wave"]) for row in table} == set(target.wave_sizes)
    for row in table:
        wave, waves = int(row["wave"]), int(row["waves_per_simd"])
        assert most_vgprs(target, wave, waves) == int(row["max_vgprs"]), row
    assert max(int(row["waves_per_simd"]) for row in table) == target.unit().wave_slots


def test_soft_targets_say_so() -> None:
    assert chips.target("gfx1310").facts["units.wgp.wave_slots"].status == "assumed"
    file = chips.target("gfx1250").facts["vgpr.wave32.file"]
    assert (file.value, file.status, file.readings[0].value) == (1024, "contradicted", 1536)
    with pytest.raises(ChipNotFound):
        chips.target("gfx940")  # LLVM dropped it; no row, no page


def test_scratch_slots_are_a_rule_of_gfx9_only() -> None:
    for target in chips.targets():
        gfx9 = target.vendor == "Hygon" or re.match(r"gfx9(?!50-as)", target.name)
        known = not target.unknown
        assert target.scratch_waves == (32 if gfx9 and known else None), target.id
    assert chips.target("gfx942").facts["scratch.waves"].status == "runtime"
    assert chips.target("gfx90a").facts["scratch.waves"].status == "assumed"


# AMD products


@pytest.mark.parametrize("row", rows("amd_products.csv"), ids=lambda row: row["product"])
def test_instinct_product(row: dict[str, str]) -> None:
    chip = chips.chip(row["product"])
    assert (chip.name, chip.target.id) == (row["product"], row["gfx"])
    assert chip.value("compute.cus") == int(row["cus"])
    assert chip.value("compute.dies") == int(row["dies"])
    assert chip.value("compute.cus_per_die") == int(row["cus_per_die"])
    assert chip.value("clock.peak_mhz") == int(row["peak_clock_mhz"])
    assert chip.target.lds.per_workgroup == int(row["lds_kib_per_cu"]) * KIB
    assert chip.value("cache.l1_bytes") == int(row["vl1_kib_per_cu"]) * KIB
    assert chip.value("cache.l2_bytes") == int(row["l2"].split()[0]) * MIB
    assert chip.value("cache.mall_bytes") == (int(row["mall_mib"]) * MIB if row["mall_mib"] else None)
    assert chip.value("memory.bytes") == int(row["memory_gb"]) * GIB
    assert chip.value("memory.type") == row["memory_type"]
    assert chip.value("memory.bandwidth") == round(float(row["mem_bw_gbps"]) * 1e9)
    if row["max_waves_per_cu_hw_reported"]:
        unit = chip.target.unit()
        assert unit.simds * unit.wave_slots == int(row["max_waves_per_cu_hw_reported"])
    for column, paths in RATES.items():
        wanted = int(row[f"flops_clk_cu_{column}"]) if row[f"flops_clk_cu_{column}"] else None
        for path in paths:
            found = chip.value(f"rate.matrix.{path}") or chip.value(f"rate.vector.{path}")
            assert (chip.value(f"rate.{path}") if "." in path else found) == wanted, path


RATES = {
    "vec_fp64": ("vector.fp64",),
    "vec_fp32": ("vector.fp32",),
    "mat_fp64": ("matrix.fp64",),
    "mat_fp32": ("matrix.fp32",),
    "mat_tf32": ("matrix.tf32",),
    "fp16": ("fp16",),
    "bf16": ("bf16",),
    "fp8": ("fp8",),
    "int8": ("int8",),
    "fp6_fp4": ("fp6", "fp4"),
}


@pytest.mark.parametrize("row", rows("amd_rocm_gpu_arch_specs.csv"), ids=lambda row: row["Model"])
def test_product_of_amds_specification_table(row: dict[str, str]) -> None:
    chip = chips.chip(row["Model"])
    target = chip.target
    assert target.id == row["LLVM target name"]
    assert chip.value("compute.cus") == int(row["Compute Units"].split()[0])
    assert chip.value("memory.bytes") == int(row["VRAM (GiB)"]) * GIB
    assert target.default_wave == int(row["Wavefront Size"])
    assert target.unit().lds_pool == int(row["LDS (KiB)"].split()[0]) * KIB
    if per_die := re.search(r"\((\d+) per", row["Compute Units"]):
        assert chip.value("compute.cus_per_die") == int(per_die[1])
    if per_die := re.search(r"\((\d+) per", row["L2 Cache (MiB)"]):
        assert chip.value("cache.l2_bytes_per_die") == int(per_die[1]) * MIB
    assert chip.value("cache.l2_bytes") == int(row["L2 Cache (MiB)"].split()[0]) * MIB
    for key, columns, unit in (
        ("l1_bytes", ("L1 Vector Cache (KiB)", "L0 Vector Cache (KiB)"), KIB),
        ("scalar_bytes", ("L1 Scalar Cache (KiB)", "L0 Scalar Cache (KiB)"), KIB),
        ("instruction_bytes", ("L1 Instruction Cache (KiB)", "L0 Instruction Cache (KiB)"), KIB),
        ("graphics_l1_bytes", ("Graphics L1 Cache (KiB)",), KIB),
        ("mall_bytes", ("Infinity Cache (MiB)", "L3 Cache (MiB)"), MIB),
    ):
        cell = next((row[column] for column in columns if row[column]), "")
        size, _, shared = cell.partition(" per ")
        assert chip.value(f"cache.{key}") == (int(size) * unit if size else None), key
        assert not shared or (chip.facts[f"cache.{key}"].unit or "").endswith(f"per {shared}")


@pytest.mark.parametrize("row", rows("amd_rocm_gpu_arch_specs.csv"), ids=lambda row: row["Model"])
def test_register_files_have_the_size_that_amd_prints(row: dict[str, str]) -> None:
    target = chips.chip(row["Model"]).target
    unit, wave = target.unit(), max(target.wave_sizes)
    vectors = target.vgpr.files[wave].file * wave * 4 * unit.simds
    assert vectors == int(row["VGPR File (KiB)"].split()[0]) * KIB
    cu = target.unit("cu") if target.modes else unit
    fixed = int(str(target.facts["sgpr.per_wave"].value)) * cu.wave_slots if target.modes else 0
    scalars = (target.sgpr.file or fixed) * 4 * cu.simds
    assert scalars == float(row["SGPR File (KiB)"]) * KIB


def test_smaller_parts_are_not_the_chip_they_are_sold_beside() -> None:  # DEV-001
    for name, target, cus, dies in (("MI308X", "gfx942", 80, 4), ("MI350P", "gfx950", 128, 4)):
        chip = chips.chip(name)
        assert (chip.target.id, chip.value("compute.cus"), chip.value("compute.dies")) == (target, cus, dies)
        assert chip.value("memory.bytes") is None  # nobody says


# Hygon


HYGON = [(row, name) for row in rows("hygon_waves.csv") for name in row["targets"].split()]


@pytest.mark.parametrize(("row", "name"), HYGON, ids=lambda value: value if isinstance(value, str) else None)
def test_hygon_waves_by_vgprs(row: dict[str, str], name: str) -> None:
    target = chips.target(name)
    assert target.vendor == "Hygon"
    file = target.vgpr.files[64]
    assert (file.file, file.granule) == (int(row["file_per_lane"]), 4)
    assert (target.wave_sizes, target.unit().simds, target.unit().wave_slots) == ((64,), 4, 10)
    assert (target.vgpr.accumulator, target.sgpr.limits, dict(target.views)) == ("none", "unknown", {})
    pairs = zip(row["waves_per_simd"].split(), row["max_vgprs"].split(), strict=True)
    for waves, vgprs in pairs:
        assert most_vgprs(target, 64, int(waves)) == int(vgprs)


def test_gfx938_carries_both_readings_of_its_file() -> None:
    file = chips.target("gfx938").facts["vgpr.wave64.file"]
    assert (file.value, file.status) == (512, "contradicted")
    other = chips.with_readings(chips.target("gfx938"), {"vgpr.wave64.file": file.readings[0].value})
    assert [most_vgprs(other, 64, waves) for waves in (10, 5, 3)] == [76, 152, 256]
    assert chips.target("gfx938").vgpr.files[64].file == 512


@pytest.mark.parametrize(("name", "lds"), [("gfx946", 160 * KIB), ("gfx92a", 64 * KIB)])
def test_targets_of_which_little_is_public(name: str, lds: int) -> None:
    target = chips.target(name)
    assert (target.vgpr.files[64].file, target.unit().lds_pool) == (512, lds)
    assert {"units.cu.simds", "units.cu.wave_slots", "vgpr.wave64.granule"} <= set(target.unknown)


HYGON_PRODUCTS: dict[str, dict[str, int | None]] = {
    "gfx906-hygon": {"Z100": 60, "Z100L": 60},
    "gfx926": {"K100": 120},
    "gfx928": {"K100_AI": 120, "K100_LC_AI": 120, "K100_LC_E_AI": 128},
    "gfx936": {"BW1000": 80, "BW200": 80, "BW1000_H": 80, "BW150": 80, "BW500SM": 80, "BW100": 80},
    "gfx938": {"BW1100": 64, "BW1101": 64, "BW1000_LC": None, "BW1500B": None, "BW3000B": None},
}


@pytest.mark.parametrize("target", HYGON_PRODUCTS)
def test_hygon_products(target: str) -> None:
    for name, cus in HYGON_PRODUCTS[target].items():
        chip = chips.chip(name)
        assert (chip.vendor, chip.target.id, chip.value("compute.cus")) == ("Hygon", target, cus)


def test_bw1000_measurements_fit_its_memory() -> None:
    # One workgroup has 16 KiB in flight: 42.6 GB/s by Little's law, 41.6 measured
    chip = chips.chip("BW1000")
    latency, clock = chip.value("latency.memory_ns"), chip.value("clock.peak_mhz")
    assert isinstance(latency, float)
    assert isinstance(clock, int)
    assert 16384 / latency == pytest.approx(41.6, rel=0.03)
    assert latency * clock / 1000 == pytest.approx(577, abs=1)


# NVIDIA


@pytest.mark.parametrize("row", rows("nvidia_constants.csv"), ids=lambda row: row["target"])
def test_nvidia_target(row: dict[str, str]) -> None:
    target = chips.target(row["target"])
    unit, file = target.unit(), target.vgpr.files[32]
    assert (unit.name, unit.simds, unit.workgroups) == ("SM", 4, int(row["blocks_per_sm"]))
    assert unit.simds * unit.wave_slots == int(row["warps_per_sm"])
    assert unit.simds * unit.wave_slots * 32 == int(row["threads_per_sm"])
    assert unit.lds_pool == int(row["shared_kib"]) * KIB
    assert target.lds.per_workgroup == int(row["opt_in_kib"]) * KIB
    assert target.lds.carveouts == tuple(int(kib) * KIB for kib in row["carveouts_kib"].split())
    assert (target.lds.reserve, target.lds.granule) == (
        int(row["reserved_kib"]) * KIB,
        int(row["shared_unit"]),
    )
    assert str(target.workgroup.barriers or "") == row["barrier_pool"]
    assert (file.file * 32 * unit.simds, file.granule * 32) == (65536, 256)
    assert (target.vgpr.addressable, target.workgroup.max_threads) == (256, 1024)
    assert (target.sgpr.limits, target.workgroup.one_wave_exempt, target.scratch_waves) == (
        "never",
        False,
        None,
    )


def test_h200_is_what_its_driver_said() -> None:
    said = {row["attribute"]: int(row["value"]) for row in rows("h200_device_attributes.csv")}
    device = {name.removeprefix("CU_DEVICE_ATTRIBUTE_"): value for name, value in said.items()}
    chip = chips.chip("H200")
    target, unit = chip.target, chip.target.unit()
    assert target.id == f"sm_{device['COMPUTE_CAPABILITY_MAJOR']}{device['COMPUTE_CAPABILITY_MINOR']}"
    assert chip.value("compute.cus") == device["MULTIPROCESSOR_COUNT"]
    assert chip.value("clock.peak_mhz") == device["CLOCK_RATE"] // 1000
    assert chip.value("cache.l2_bytes") == device["L2_CACHE_SIZE"]
    bus, memory_khz = device["GLOBAL_MEMORY_BUS_WIDTH"], device["MEMORY_CLOCK_RATE"]
    assert chip.value("memory.bandwidth") == bus // 8 * 2 * memory_khz * 1000
    assert unit.workgroups == device["MAX_BLOCKS_PER_MULTIPROCESSOR"]
    assert unit.simds * unit.wave_slots * device["WARP_SIZE"] == device["MAX_THREADS_PER_MULTIPROCESSOR"]
    assert unit.lds_pool == device["MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"]
    assert target.lds.per_workgroup == device["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"]
    assert target.lds.reserve == device["RESERVED_SHARED_MEMORY_PER_BLOCK"]
    assert target.facts["lds.default_per_workgroup"].value == device["MAX_SHARED_MEMORY_PER_BLOCK"]
    assert target.vgpr.files[32].file * 32 * unit.simds == device["MAX_REGISTERS_PER_MULTIPROCESSOR"]
    assert target.workgroup.max_threads == device["MAX_THREADS_PER_BLOCK"]


# cc, SMs, clock of the published peak, flop per clock per SM, published fp16 TFLOPS
NVIDIA_PRODUCTS = [
    ("V100", "sm_70", 80, 1530, 1024, 125),
    ("T4", "sm_75", 40, 1590, 1024, 65),
    ("A100", "sm_80", 108, 1410, 2048, 312),
    ("H100", "sm_90", 132, 1830, 4096, 989),
    ("H200", "sm_90", 132, 1830, 4096, 989),
    ("B200", "sm_100", 148, 1850, 8192, 2250),
    ("L40S", "sm_89", 142, 2520, 1024, 362),
    ("RTX 4090", "sm_89", 128, 2520, 512, 165),
    ("RTX 5090", "sm_120", 170, 2407, 512, 209.5),
]


@pytest.mark.parametrize("product", NVIDIA_PRODUCTS, ids=lambda product: product[0])
def test_nvidia_product(product: tuple[str, str, int, int, int, float]) -> None:
    name, target, sms, mhz, rate, tflops = product
    chip = chips.chip(name)
    assert (chip.vendor, chip.target.id, chip.value("compute.cus")) == ("NVIDIA", target, sms)
    assert (chip.value("clock.published_mhz") or chip.value("clock.peak_mhz")) == mhz
    assert chip.value("rate.matrix.fp16") == rate
    assert sms * mhz * rate / 1e6 == pytest.approx(tflops, rel=0.02)  # T4 and L40S print rounded peaks
