"""Theory beside measurement: published figures, Nsight Compute's own theory, AMD's sample workloads."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.profiles_builder import AGENT_INFO, counter_rows, rocpd, table
from wavefit.chips import chip
from wavefit.occupancy import BadQuestion
from wavefit.profiles import Confirmation, Confirmations, confirm, measurements
from wavefit.profiles.metrics import occupancies
from wavefit.profiles.reasons import CODES
from wavefit.profiles.theory import chip_of, machine_of
from wavefit.report.confirm import confirm_document, confirm_lines

DATA = Path(__file__).parent / "data"
NCU = DATA / "profiles" / "ncu-h200"
SHARED = Path(__file__).parents[2] / "shared" / "profiles"
SYSINFO = table(
    """gpu_model gpu_arch cu_per_gpu simd_per_cu se_per_gpu max_waves_per_cu max_sclk num_xcd
    compute_partition""",
    "MI200,gfx90a,104,4,8,32,1700,1,NA",
)


def shared(name: str) -> Path:
    """A sample of AMD's that is not copied into the repository."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"needs {path}: AMD's samples are not part of the repository")
    return path


def codes(item: Confirmation) -> list[str]:
    return [reason.code for reason in item.reasons]


def only(found: Confirmations) -> Confirmation:
    """The one kernel, read without a complaint."""
    assert not [problem for problem in found.errors if problem.kind == "damaged"]
    (item,) = found
    return item


def limiter_rows() -> Iterator[dict[str, str]]:
    with (DATA / "profiles" / "occupancy_limiters_mi250.csv").open(newline="") as file:
        yield from csv.DictReader(file)


@pytest.mark.parametrize("row", list(limiter_rows()), ids=lambda row: row["kernel"])
def test_mi250_limiter_kernels_confirm(tmp_path: Path, row: dict[str, str]) -> None:
    """rocprofiler-compute's example: 50, 12.5 and 100 % in theory; 49.92, 12.49 and 98.91 % measured."""
    cycles = 1e6
    counters = {"OccupancyPercent": float(row["measured_pct"]), "GRBM_GUI_ACTIVE": cycles}
    for resource, scale in (("vgpr", 100), ("lds", 400), ("sgpr", 100), ("waveslots", 100)):
        share = row[f"spi_{resource}_pct"]
        if share:
            name = {"lds": "LDS_CU", "waveslots": "WAVE_SIMD"}.get(resource, f"{resource.upper()}_SIMD")
            counters[f"SPI_RA_{name}_FULL_CSN"] = float(share) * cycles * 104 / scale
    text = counter_rows(
        "6.4", counters, Grid_Size=2**28, LDS_Block_Size=row["lds_bytes"], Scratch_Size=row["scratch_bytes"],
        VGPR_Count=row["arch_vgpr"], Accum_VGPR_Count=row["accum_vgpr"], SGPR_Count=row["sgpr_alloc"],
    )  # fmt: skip
    (tmp_path / "sysinfo.csv").write_text(SYSINFO)
    (tmp_path / "a_counter_collection.csv").write_text(text)
    item = only(confirm(tmp_path))
    expected = {"vgprbound": 0.5, "ldsbound": 0.125, "sgprbound": 1.0}[row["kernel"]]
    bound = {"vgprbound": "vgpr", "ldsbound": "lds", "sgprbound": "slots"}[row["kernel"]]
    assert item.ceiling == item.grid_ceiling == expected
    assert item.fit is not None
    assert bound in item.fit.binding
    assert item.achieved == pytest.approx(float(row["measured_pct"]) / 100)
    assert item.achieved <= item.ceiling
    assert item.decision == "the kernel holds what fits"
    limiter = next(reason.text for reason in item.reasons if reason.code == "limiter")
    assert f"as the Fit does ({', '.join(item.fit.binding)})" in limiter


def ncu_pages() -> list[Confirmation]:
    return [item for page in ("details", "raw") for item in confirm(NCU / f"ncu_{page}.csv.gz")]


def test_ncu_theory_is_ours_for_every_launch() -> None:
    items = ncu_pages()
    assert len(items) == 90
    assert [item.tool_ceiling for item in items] == [item.ceiling for item in items]


def test_ncu_achieved_is_never_above_and_every_gap_has_a_reason_that_is_known() -> None:
    for item in ncu_pages():
        assert item.ceiling is not None
        assert item.grid_ceiling is not None
        assert item.achieved is not None
        assert item.achieved <= item.grid_ceiling <= item.ceiling
        gap = item.ceiling - item.achieved
        if gap > 0.03 * item.ceiling:
            assert set(codes(item)) & {"grid too small", "tail", "launch and drain"}, item.kernel
        assert set(codes(item)) <= set(CODES) - {"unexplained", "above the ceiling"}
        assert sum(reason.share or 0 for reason in item.reasons) <= gap + 1e-9


def test_ncu_a_grid_of_132_is_grid_limited_and_one_of_2112_is_not() -> None:
    by_launch = {(item.kernel, item.reported.workgroups): item for item in confirm(NCU / "ncu_raw.csv.gz")}
    assert codes(by_launch["regs_small", 132]) == ["grid too small"]
    assert "grid too small" not in codes(by_launch["regs_small", 2112])


def test_both_ncu_pages_of_a_folder_are_one_kernel_each() -> None:
    found = confirm(NCU)
    assert len(found) == 45
    assert {item.dispatches for item in found} == {1}


def test_104_cus_and_a_grid_of_13_percent_is_grid_limited_not_register_limited(tmp_path: Path) -> None:
    text = counter_rows("6.4", {"OccupancyPercent": 12.4}, Grid_Size=108 * 256, VGPR_Count=124)
    (tmp_path / "sysinfo.csv").write_text(SYSINFO)
    (tmp_path / "a_counter_collection.csv").write_text(text)
    item = only(confirm(tmp_path))
    assert (item.ceiling, item.over) == (0.5, "all")
    assert item.grid_ceiling == pytest.approx(0.13, abs=0.001)
    assert codes(item) == ["grid too small", "launch and drain"] or codes(item) == ["grid too small"]
    assert item.reasons[0].share == pytest.approx(0.37, abs=0.001)


def test_more_than_the_ceiling_is_a_loud_error(tmp_path: Path) -> None:
    (tmp_path / "sysinfo.csv").write_text(SYSINFO)
    (tmp_path / "a_counter_collection.csv").write_text(counter_rows("6.4", {"OccupancyPercent": 75.0}))
    found = confirm(tmp_path)
    assert found.wrong == (only(found),)
    assert codes(found[0]) == ["above the ceiling"]
    assert next(confirm_lines(found)) == "ERROR: more was measured than fits"


@pytest.mark.parametrize(
    ("counter", "value", "says"),
    [("MfmaUtil", 92.0, "matrix unit 92 %"), ("VALUBusy", 85.0, "VALU 85 %"), ("MfmaUtil", 40.0, None)],
)
def test_a_busy_unit_ends_the_question(tmp_path: Path, counter: str, value: float, says: str | None) -> None:
    (tmp_path / "sysinfo.csv").write_text(SYSINFO)
    text = counter_rows("6.4", {"OccupancyPercent": 30.0, counter: value})
    (tmp_path / "a_counter_collection.csv").write_text(text)
    item = only(confirm(tmp_path))
    assert item.busy == says
    assert ("occupancy is not the problem, stop" in item.decision) == (says is not None)


def gfx950(tmp_path: Path, *rows: tuple[str, int, int], threads: int = 256) -> dict[str, Confirmation]:
    """Kernels of a gfx950 trace by name, from their name, VGPR_Count and Accum_VGPR_Count."""
    (tmp_path / "a_agent_info.csv").write_text(AGENT_INFO)
    text = "".join(
        counter_rows(
            "6.4", {"SQ_WAVES": 1}, Kernel_Name=name, VGPR_Count=vgprs, Accum_VGPR_Count=agprs,
            Workgroup_Size=threads,
        ).split("\n", 1 if number else 0)[-1]
        for number, (name, vgprs, agprs) in enumerate(rows)
    )  # fmt: skip
    (tmp_path / "a_counter_collection.csv").write_text(text)
    return {item.kernel: item for item in confirm(tmp_path)}


def test_gfx950_registers_of_a_release_with_the_fault_are_doubled_and_said(tmp_path: Path) -> None:
    found = gfx950(tmp_path, ("a", 128, 0), ("b", 4, 0))  # 4 is no multiple of 8: proof
    assert found["a"].total_vgprs == 256
    assert found["a"].ceiling == 0.25
    assert codes(found["a"]) == ["profiler's register bug"]
    assert not [text for text in found["a"].assumptions if text.startswith("vgprs")]


def test_gfx950_registers_of_a_release_with_the_fix_are_left_alone(tmp_path: Path) -> None:
    found = gfx950(tmp_path, ("a", 128, 0), ("b", 12, 4))  # accumulators: the tool decodes the target
    assert found["a"].total_vgprs == 128
    assert codes(found["a"]) == []


def test_gfx950_without_proof_is_doubled_and_labelled(tmp_path: Path) -> None:
    found = gfx950(tmp_path, ("a", 64, 0))
    assert found["a"].total_vgprs == 128
    assert any("nothing in this trace proves" in text for text in found["a"].assumptions)


def test_gfx950_is_not_doubled_where_the_kernel_could_not_have_run(tmp_path: Path) -> None:
    found = gfx950(tmp_path, ("a", 128, 0), threads=1024)  # 16 waves need 4 a SIMD: 128 registers at most
    assert found["a"].total_vgprs == 128
    assert codes(found["a"]) == []


def test_gfx908_accumulators_are_a_copy(tmp_path: Path) -> None:
    """MI100 reports one count in both columns; the files are separate and the larger one limits."""
    (tmp_path / "sysinfo.csv").write_text(SYSINFO.replace("gfx90a,104,4,8,32", "gfx908,120,4,8,40"))
    text = counter_rows("6.4", {"SQ_WAVES": 1}, VGPR_Count=64, Accum_VGPR_Count=64)
    (tmp_path / "a_counter_collection.csv").write_text(text)
    item = only(confirm(tmp_path))
    assert item.total_vgprs == 64
    assert item.fit is not None
    assert item.fit.waves_per_simd == 4  # AMD-005


def test_a_partition_of_a_chip_is_recognised_and_bounds_the_grid(tmp_path: Path) -> None:
    """MI300X in CPX: each die is a device of 38 CUs, and 304 workgroups are not one to a CU."""
    agents = AGENT_INFO.replace("2,2,", "2,2,").replace(
        "1024,8,160,8,256,32,1,4,90500,2400,32", "152,8,64,1,38,4,1,4,90402,2100,32"
    )
    agents = agents.replace('"gfx950","AMD Radeon Graphics"', '"gfx942","AMD Instinct MI300X"')
    (tmp_path / "a_agent_info.csv").write_text(agents)
    (tmp_path / "a_counter_collection.csv").write_text(
        counter_rows("6.4", {"SQ_WAVES": 1}, Grid_Size=304 * 256)
    )
    item = only(confirm(tmp_path))
    assert item.spread is not None
    assert (item.chip, item.spread.array.units, item.spread.whole_rounds) == ("MI300X", 38, 2)
    assert item.notes == ("one CPX partition of MI300X: 38 of its 304 units",)


def test_metrics_that_a_target_lacks_are_not_used(tmp_path: Path) -> None:
    (tmp_path / "sysinfo.csv").write_text(SYSINFO.replace("gfx90a,104,4,8,32", "gfx908,120,4,8,40"))
    (tmp_path / "a.csv").write_text(counter_rows("6.4", {"OccupancyPercent": 50.0}, Accum_VGPR_Count=124))
    item = only(confirm(tmp_path))
    assert item.achieved is None
    assert item.notes == ("OccupancyPercent: not defined for gfx908",)


def test_dynamic_lds_of_the_dispatch_counts_and_is_named(tmp_path: Path) -> None:
    rocpd(str(tmp_path / "a.db"), dispatches=1)  # gemm: 1024 bytes static, 4096 at the dispatch
    item = only(confirm(tmp_path))
    assert item.fit is not None
    assert item.fit.limit("lds").requested == 4096
    assert "3072 bytes of LDS came with the launch, beside 1024 static" in str(item.reasons)


def test_a_compiled_kernel_joins_by_every_form_of_its_name(tmp_path: Path) -> None:
    """The code object counts what the profiler rounds; both are the same kernel."""
    from wavefit.kernels import kernels
    from wavefit.model import Kernel

    path = next(
        path for path in DATA.rglob("*gfx90a*.co") if any(isinstance(k, Kernel) for k in kernels(path))
    )
    compiled = next(k for k in kernels(path) if isinstance(k, Kernel))
    (tmp_path / "sysinfo.csv").write_text(SYSINFO)
    total = -(-(compiled.charged_vgprs or 0) // 8) * 8
    for name in (
        compiled.name,
        f"{compiled.name}.kd",
        f"{compiled.name} [clone .kd]",
        f"{compiled.name} (.kd)",
    ):
        text = counter_rows(
            "6.4", {"SQ_WAVES": 1}, Kernel_Name=name, VGPR_Count=total, Accum_VGPR_Count=0, Workgroup_Size=64
        )
        (tmp_path / "a_counter_collection.csv").write_text(text)
        found = confirm(tmp_path, kernels=path)
        assert (only(found).joined, found.unjoined) == ("symbol", ())
    (tmp_path / "a_counter_collection.csv").write_text(
        counter_rows("6.4", {"SQ_WAVES": 1}, Kernel_Name="other")
    )
    found = confirm(tmp_path, kernels=path)
    assert found.unjoined == ("other",)
    assert compiled.name in found.unseen


def test_a_trace_of_another_target_than_the_named_chip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sysinfo.csv").write_text(SYSINFO)
    (tmp_path / "a.csv").write_text(counter_rows("6.4", {"SQ_WAVES": 1}))
    with pytest.raises(BadQuestion, match="the trace is of gfx90a, not of MI300X"):
        confirm(tmp_path, chip="MI300X")


def test_a_trace_that_names_no_chip_says_so_and_takes_the_one_given(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(counter_rows("6.4", {"OccupancyPercent": 49.9}))
    item = only(confirm(tmp_path))
    assert (item.ceiling, item.decision) == (None, "no theory to compare with")
    assert "name it (--chip)" in (item.why or "")
    item = only(confirm(tmp_path, chip="MI250"))
    assert (item.chip, item.ceiling) == ("MI250", 0.5)
    assert item.spread is not None
    assert item.spread.array.units == 104  # a launch stays on one of the two GCDs


def test_the_document_is_json_and_the_lines_hide_nothing(tmp_path: Path) -> None:
    found = confirm(NCU)
    document = json.loads(json.dumps(confirm_document(found), allow_nan=False))
    assert document["schema"] == "wavefit.confirm/1"
    assert len(document["kernels"]) == len(found)
    text = "\n".join(confirm_lines(found))
    for item in found:
        assert item.kernel in text
    (tmp_path / "a.csv").write_text(counter_rows("6.4", {"SQ_WAVES": 1}, Kernel_Name='"\x1b[2J\u202eevil"'))
    shown = "\n".join(confirm_lines(confirm(tmp_path)))
    assert "\x1b" not in shown
    assert "\u202e" not in shown


# --- AMD's own workloads, where they stand beside the repository ---------------------------------------


@pytest.mark.parametrize(
    ("workload", "table_", "divisor", "waves"),
    [
        ("MI200", "SQ_LEVEL_WAVES.csv", "SQ_BUSY_CYCLES", 26.1),
        ("MI200", "SQ_LEVEL_WAVES.csv", "GRBM_GUI_ACTIVE", 15.4),
        ("MI200", "pmc_perf.csv", "SQ_BUSY_CU_CYCLES", 27.3),
        ("MI300X_A1", "SQ_LEVEL_WAVES.csv", "SQ_BUSY_CYCLES", 25.3),
        ("MI300X_A1", "SQ_LEVEL_WAVES.csv", "GRBM_GUI_ACTIVE", 8.4),
        ("MI300X_A1", "pmc_perf.csv", "SQ_BUSY_CU_CYCLES", 28.1),
    ],
)
def test_vcopy_ratios_of_one_pass(workload: str, table_: str, divisor: str, waves: float) -> None:
    """Waves a CU of the first dispatch beside figures worked out by hand, some from SQ_ACCUM_PREV_HIRES,
    which is up to 2.5 % more than four times SQ_WAVE_CYCLES."""
    first = next(iter(measurements(shared(f"rocprofiler-compute/vcopy/{workload}/{table_}"))))
    machine = machine_of(first.device, chip_of(first.device, None))
    found = {r.method: r.waves for one in first.passes for r in occupancies(one, machine)}
    assert found[f"SQ_WAVE_CYCLES / {divisor}"] == pytest.approx(waves, rel=0.025)


@pytest.mark.parametrize("workload", ["MI200", "MI300X_A1", "MI300X_A1_rocpd", "MI350"])
def test_vcopy_theory_is_full_and_what_is_missing_has_a_name(workload: str) -> None:
    item = only_kernel(shared(f"rocprofiler-compute/vcopy/{workload}"))
    assert item.ceiling == 1.0
    assert item.achieved is not None
    assert item.achieved < 1.0
    assert item.dispatches == 3
    assert set(codes(item)) & {"tail", "launch and drain"}
    assert "unexplained" not in codes(item)
    assert any("slots" in reason.text for reason in item.reasons if reason.code == "limiter")


def only_kernel(path: Path) -> Confirmation:
    (item,) = confirm(path)
    return item


@pytest.mark.parametrize("workload", ["MI350", "MI300X_A1_rocpd"])
def test_vcopy_counters_of_different_passes_are_not_divided(workload: str) -> None:
    """There SQ_WAVE_CYCLES and SQ_BUSY_CU_CYCLES were counted in different runs."""
    path = shared(f"rocprofiler-compute/vcopy/{workload}")
    names = {name for one in measurements(path) for name in one.counters}
    assert {"SQ_WAVE_CYCLES", "SQ_BUSY_CU_CYCLES"} <= names
    assert not [way for way in only_kernel(path).ways if "SQ_BUSY_CU_CYCLES" in way.method]


def test_hipkittens_captures_are_corrected_for_the_register_bug() -> None:
    found = confirm(shared("rocprofv3/mi350x-hipkittens"))
    assert found
    for item in found:
        assert item.total_vgprs == 2 * (item.reported.vgprs or 0)
        assert "profiler's register bug" in codes(item)
        assert item.spread is not None
        assert (item.spread.array.units, item.spread.array.dies) == (256, 8)


def test_every_kernel_of_a_real_trace_ran_so_it_must_fit() -> None:
    """TraceLens' MI350X training run, 328 dispatches: a Fit of 0 workgroups would be our bug."""
    found = confirm(shared("rocprofv3/mi350x-json/908_results_trimmed.json"))
    assert sum(item.dispatches for item in found) == 328
    assert not [item.kernel for item in found if not item.fit or not item.fit.workgroups]


def test_every_shared_file_is_read_or_refused_with_a_reason() -> None:
    files = [path for path in shared("MANIFEST.md").parent.rglob("*") if path.is_file()]
    assert len(files) > 70
    for path in files:
        found = measurements(path)
        items = list(found)
        assert items or found.errors, path
        assert all(problem.cause for problem in found.errors)


def test_the_named_products_are_known() -> None:
    assert chip("MI250").value("compute.cus_per_die") == 104


def test_mean_occupancy_of_rocm_6_2_on_several_dies_is_left_aside(tmp_path: Path) -> None:
    (tmp_path / "sysinfo.csv").write_text(
        SYSINFO.replace("gfx90a,104,4,8,32,1700,1", "gfx942,304,4,32,32,2100,8")
    )
    (tmp_path / "a.csv").write_text(counter_rows("6.2", {"MeanOccupancyPerCU": 2.0}))
    item = only(confirm(tmp_path))
    assert (item.achieved, item.chip) == (None, "gfx942")
    assert "8 times too small" in item.notes[0]
    (tmp_path / "a.csv").write_text(counter_rows("6.3", {"MeanOccupancyPerCU": 16.0}))
    assert only(confirm(tmp_path)).achieved == 0.5


def test_a_sum_over_dies_is_divided_by_them(tmp_path: Path) -> None:
    """304 CUs of MI300X, 16 waves on each for 1000 clocks of every die."""
    (tmp_path / "sysinfo.csv").write_text(
        SYSINFO.replace("gfx90a,104,4,8,32,1700,1", "gfx942,304,4,32,32,2100,8")
    )
    counters = {"SQ_WAVE_CYCLES": 304 * 16 * 1000 / 4, "GRBM_GUI_ACTIVE": 8 * 1000}
    (tmp_path / "a.csv").write_text(counter_rows("6.4", counters))
    item = only(confirm(tmp_path))
    assert (item.achieved, item.over, item.method) == (0.5, "all", "SQ_WAVE_CYCLES / GRBM_GUI_ACTIVE")


def test_waves_per_active_cu_are_waves_a_simd(tmp_path: Path) -> None:
    """gcnasm's 8-wave GEMM on MI350X reports 1.99: 8 of 32 waves a CU, not 2."""
    (tmp_path / "a_agent_info.csv").write_text(AGENT_INFO)
    text = counter_rows(
        "6.4", {"MeanOccupancyPerActiveCU": 1.99}, VGPR_Count=121, Accum_VGPR_Count=121, Workgroup_Size=512
    )
    (tmp_path / "a_counter_collection.csv").write_text(text)
    item = only(confirm(tmp_path))
    assert item.achieved == pytest.approx(8 / 32, rel=0.01)
    assert (item.ceiling, item.over) == (0.25, "busy")


def test_a_kernel_that_ran_though_nothing_fits_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "sysinfo.csv").write_text(SYSINFO)
    (tmp_path / "a.csv").write_text(counter_rows("6.4", {"SQ_WAVES": 1}, LDS_Block_Size=100 * 1024))
    item = only(confirm(tmp_path))
    assert (item.ceiling, item.wrong) == (0.0, True)


def test_lds_hidden_from_the_trace_is_named_by_its_limiter(tmp_path: Path) -> None:
    (tmp_path / "sysinfo.csv").write_text(SYSINFO)
    counters = {"SPI_RA_LDS_CU_FULL_CSN": 5000, "GRBM_GUI_ACTIVE": 1000}
    (tmp_path / "a.csv").write_text(counter_rows("6.4", counters))
    item = only(confirm(tmp_path))
    assert "dynamic LDS" in codes(item)


def test_a_slow_clock_is_named(tmp_path: Path) -> None:
    (tmp_path / "sysinfo.csv").write_text(
        SYSINFO.replace("gfx90a,104,4,8,32,1700,1", "gfx942,304,4,32,32,2100,8")
    )
    (tmp_path / "a.csv").write_text(counter_rows("6.4", {"GRBM_GUI_ACTIVE": 8 * 1.2e9 * 0.005}))
    assert any("1200 MHz of 2100" in str(reason) for reason in only(confirm(tmp_path)).reasons)


def test_traces_and_counters_of_one_run_are_one_kernel(tmp_path: Path) -> None:
    """ROCm 6: the trace has times and the dispatch's LDS, the counters have registers."""
    (tmp_path / "sysinfo.csv").write_text(SYSINFO)
    (tmp_path / "a_counter_collection.csv").write_text(counter_rows("6.2", {"OccupancyPercent": 40.0}))
    trace = table(
        """Kind Agent_Id Queue_Id Thread_Id Dispatch_Id Kernel_Id Kernel_Name Correlation_Id Start_Timestamp
        End_Timestamp Private_Segment_Size Group_Segment_Size Workgroup_Size_X Workgroup_Size_Y
        Workgroup_Size_Z Grid_Size_X Grid_Size_Y Grid_Size_Z""",
        '"KERNEL_DISPATCH",2,1,5,1,16,"void gemm<float>(float*, int)",1,1000,3000,0,16384,'
        "256,1,1,1048576,1,1",
    )
    (tmp_path / "a_kernel_trace.csv").write_text(trace)
    item = only(confirm(tmp_path))
    assert (item.dispatches, item.achieved, item.seconds) == (1, 0.4, 2e-6)
    assert (item.reported.vgprs, item.reported.lds, item.fit and item.fit.binding) == (
        124,
        16384,
        ("vgpr", "lds"),
    )


def test_hygon_valu_share_is_of_80_cus_and_one_clock(tmp_path: Path) -> None:
    """gfx936: SQ_ACTIVE_INST_VALU / (clocks x 80 CUs), as calibrated with kernels of known work."""
    text = table(
        """Index KernelName gpu-id grd wgr lds scr arch_vgpr accum_vgpr sgpr wave_size sig GRBM_GUI_ACTIVE
        SQ_ACTIVE_INST_VALU DispatchNs BeginNs EndNs CompleteNs""",
        "0,_Z3fmaPf,8,163840,256,0,0,24,0,16,64,0x0,1500000,117600000,1,1000,1001000,2000000",
    )
    (tmp_path / "pmc_results_5.csv").write_text(text)
    item = only(confirm(tmp_path, chip="BW1000"))
    assert item.valu_busy == pytest.approx(98.0)
    assert item.clock == pytest.approx(1500.0)
    assert "occupancy is not the problem" in item.decision
