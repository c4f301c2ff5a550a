"""Every tool's output becomes the same Measurement: small samples written from the documented formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.profiles_builder import AGENT_INFO, counter_rows, table
from wavefit.profiles import Measurement, measurements
from wavefit.profiles.model import LDS_DISPATCH, LDS_ROUNDED, LDS_STATIC


def read(path: Path, text: str, encoding: str = "utf-8") -> list[Measurement]:
    """What a file with this text holds; it must hold it without a complaint."""
    path.write_text(text, encoding=encoding)
    found = measurements(path)
    items = list(found)
    assert not found.errors, found.errors
    return items


TRACE_EARLY_62 = table(
    """Kind Agent_Id Queue_Id Kernel_Id Kernel_Name Correlation_Id Start_Timestamp End_Timestamp
    Private_Segment_Size Group_Segment_Size Workgroup_Size_X Workgroup_Size_Y Workgroup_Size_Z
    Grid_Size_X Grid_Size_Y Grid_Size_Z""",
    '"KERNEL_DISPATCH",4,1,2,"norm(int, double)",1,1000,9000,16,4360,64,2,2,130,4,4',
)
TRACE_7 = table(
    """Kind Agent_Id Queue_Id Stream_Id Thread_Id Dispatch_Id Kernel_Id Kernel_Name Correlation_Id
    Start_Timestamp End_Timestamp LDS_Block_Size Scratch_Size VGPR_Count Accum_VGPR_Count SGPR_Count
    Workgroup_Size_X Workgroup_Size_Y Workgroup_Size_Z Grid_Size_X Grid_Size_Y Grid_Size_Z""",
    '"KERNEL_DISPATCH","Agent 4",1,1,834304,7,10,"void add<float>(float*, int)",1,1000,9000,'
    "512,16,12,4,32,256,1,1,1000,3,1",
)


def test_trace_of_early_6_2_has_no_dispatch_id_and_the_raw_lds(tmp_path: Path) -> None:
    (one,) = read(tmp_path / "omp_kernel_trace.csv", TRACE_EARLY_62)
    assert (one.kernel, one.dispatch, one.seconds) == ("norm(int, double)", None, 8e-6)
    assert (one.threads, one.workgroups) == (256, 3 * 2 * 2)  # 130 work-items are three workgroups of 64
    assert (one.vgprs, one.scratch, one.lds) == (None, 16, 4360)
    assert one.reported.lds_means == LDS_DISPATCH


def test_trace_of_7_has_registers_and_hides_dynamic_lds(tmp_path: Path) -> None:
    (one,) = read(tmp_path / "any_name.csv", TRACE_7)
    assert (one.vgprs, one.agprs, one.sgprs, one.lds, one.dispatch) == (12, 4, 32, 512, 7)
    assert (one.threads, one.workgroups) == (256, 4 * 3)
    assert one.reported.lds_means == LDS_STATIC


def test_headers_match_in_any_case_and_rocpd_converted_lds_is_the_dispatchs(tmp_path: Path) -> None:
    header, row = TRACE_7.replace("VGPR_Count", "Vgpr_Count").replace("LDS_", "Lds_").splitlines()
    text = f"Guid,{header}\n0000-01,{row.replace(',512,', ',8456,')}\n"
    (one,) = read(tmp_path / "out_kernel_trace.csv", text)
    assert (one.vgprs, one.lds, one.reported.lds_means) == (12, 8456, LDS_DISPATCH)
    assert one.tool == "rocprofv3, converted from rocpd"


@pytest.mark.parametrize("release", ["early 6.2", "6.2", "6.3", "6.4"])
def test_counter_rows_of_one_dispatch_are_one_measurement(tmp_path: Path, release: str) -> None:
    rows = counter_rows(release, {"SQ_WAVES": 16384, "SQ_WAVE_CYCLES": 2.36316718e-02}, dispatches=3)
    found = read(tmp_path / "out_counter_collection.csv", rows)
    assert [one.dispatch for one in found] == [1, 2, 3]
    assert found[1].counters == {"SQ_WAVES": 16384, "SQ_WAVE_CYCLES": 0.0236316718}
    assert (found[0].threads, found[0].workgroups, found[0].vgprs) == (256, 4096, 124)
    assert found[0].agprs == (4 if release == "6.4" else None)
    assert (found[0].seconds is None) == (release in ("early 6.2", "6.2"))


def test_one_device_table_serves_agent_2_and_2(tmp_path: Path) -> None:
    (tmp_path / "x_agent_info.csv").write_text(AGENT_INFO)
    for agent in ("2", '"Agent 2"', '"GPU 0"'):
        text = counter_rows("6.4", {"SQ_WAVES": 1}).replace('"Agent 2"', agent)
        (tmp_path / "x_counter_collection.csv").write_text(text)
        for path in (tmp_path, tmp_path / "x_counter_collection.csv"):
            (one,) = measurements(path)
            assert one.device is not None
            assert (one.chip, one.device.units, one.device.dies, one.device.waves) == ("gfx950", 256, 8, 32)


def test_passes_in_folders_find_the_device_table_further_up(tmp_path: Path) -> None:
    (tmp_path / "agent_info.csv").write_text(AGENT_INFO)
    for number, counter in enumerate(("SQ_WAVES", "GRBM_GUI_ACTIVE"), 1):
        folder = tmp_path / f"pass_{number}"
        folder.mkdir()
        (folder / "1_counter_collection.csv").write_text(counter_rows("6.4", {counter: 5}))
    found = list(measurements(tmp_path))
    assert [sorted(one.counters) for one in found] == [["SQ_WAVES"], ["GRBM_GUI_ACTIVE"]]
    assert {one.chip for one in found} == {"gfx950"}


def test_kernel_statistics_are_sums_and_api_statistics_are_refused(tmp_path: Path) -> None:
    columns = "Name Calls TotalDurationNs AverageNs Percentage MinNs MaxNs StdDev"
    row = '"norm(int, double)",1000,545275480,545275.48,43.03,1,2,3'
    (one,) = read(tmp_path / "a_kernel_stats.csv", table(columns, row))
    assert (one.calls, one.seconds, one.threads) == (1000, 0.54527548, None)
    api = table(columns, '"hipMalloc",2,100,50,1,1,1,1', '"__hipRegisterFunction",1,1,1,1,1,1,1')
    (tmp_path / "hip.csv").write_text(api)
    found = measurements(tmp_path / "hip.csv")
    assert not list(found)
    assert [problem.kind for problem in found.errors] == ["refused"]


def test_json_joins_symbols_agents_and_counters(tmp_path: Path) -> None:
    dispatch = {
        "agent_id": {"handle": 7}, "queue_id": {"handle": 1}, "kernel_id": 3, "dispatch_id": 9,
        "private_segment_size": 0, "group_segment_size": 4096,
        "workgroup_size": {"x": 256, "y": 1, "z": 1}, "grid_size": {"x": 1024, "y": 2, "z": 1},
    }  # fmt: skip
    times = {"start_timestamp": 1000, "end_timestamp": 4000}
    symbol = {
        "kernel_id": 3, "kernel_name": "_Z4gemmPf.kd", "demangled_kernel_name": "gemm(float*) [clone .kd]",
        "group_segment_size": 1024, "sgpr_count": 32, "arch_vgpr_count": 24, "accum_vgpr_count": 8,
    }  # fmt: skip
    agent = {
        "id": {"handle": 7},
        "type": 2,
        "name": "gfx942",
        "cu_count": 304,
        "num_xcc": 8,
        "simd_per_cu": 4,
    }
    process = {
        "metadata": {"pid": 1},
        "agents": [{"id": {"handle": 6}, "type": 1, "name": "EPYC"}, agent],
        "counters": [{"id": {"handle": 5}, "name": "SQ_WAVES"}],
        "kernel_symbols": [{"kernel_id": 0, "kernel_name": ""}, symbol],
        "callback_records": {
            "counter_collection": [
                {
                    "dispatch_data": {"dispatch_info": dispatch, **times},
                    "records": [{"counter_id": {"handle": 5}, "value": value} for value in (3, 4)],
                }
            ]
        },
        "buffer_records": {"kernel_dispatch": [{"dispatch_info": dispatch, **times}], "hip_api": []},
    }  # fmt: skip
    counted, traced = read(tmp_path / "r.json", json.dumps({"rocprofiler-sdk-tool": [process]}))
    assert counted.counters == {"SQ_WAVES": 7}  # instances add up
    assert traced.passes == ()
    assert traced.kernel == "gemm(float*) [clone .kd]"
    assert (traced.vgprs, traced.agprs, traced.lds, traced.reported.lds_static) == (24, 8, 4096, 1024)
    assert (traced.chip, traced.workgroups, traced.seconds) == ("gfx942", 8, 3e-6)


def test_rocprof_v1_old_and_new(tmp_path: Path) -> None:
    noise = "RPL: on '250101' from '/opt/rocm'\nROCProfiler: input from \"x.xml\"\n"
    new = table(
        """Index KernelName gpu-id queue-id queue-index pid tid grd wgr lds scr arch_vgpr accum_vgpr sgpr
        wave_size sig obj SQ_WAVES DispatchNs BeginNs EndNs CompleteNs""",
        '0,"vecCopy(double*, int) [clone .kd]",2,0,0,1,1,1048576,256,512,0,8,4,16,64,'
        "0x0,0x7f,16384,1,100,300,400",
    )
    (one,) = read(tmp_path / "results.csv", noise + new)
    assert (one.workgroups, one.vgprs, one.agprs, one.seconds) == (4096, 8, 4, 2e-7)
    assert (one.tool, one.reported.wave, one.reported.lds_means) == ("rocprof v1", 64, LDS_ROUNDED)
    assert one.counters == {"SQ_WAVES": 16384}
    old = table(
        "Index KernelName gpu-id queue-id queue-index pid tid grd wgr lds scr vgpr sgpr fbar sig obj",
        '0,"k.kd",0,0,0,1,1,512,64,0,0,36,48,11584,0x0,0x0',
    )
    (one,) = read(tmp_path / "old.csv", old)
    assert (one.vgprs, one.agprs, one.sgprs, one.workgroups) == (36, None, 48, 8)


def test_rocprof_v1_with_more_counters_than_a_pass_holds_gives_no_ratio(tmp_path: Path) -> None:
    names = [f"SQ_INSTS_{letter}" for letter in "ABCDEFG"] + ["SQ_WAVE_CYCLES", "SQ_BUSY_CU_CYCLES"]
    columns = "Index KernelName gpu-id grd wgr lds scr arch_vgpr accum_vgpr sgpr wave_size sig obj "
    text = table(columns + " ".join(names), "0,k,0,512,64,0,0,8,0,16,64,0,0,1,2,3,4,5,6,7,8,9")
    (one,) = read(tmp_path / "r.csv", text)
    assert [len(counters) for counters in one.passes] == [1] * 9


def test_rocprof_v2_early_and_file_plugin(tmp_path: Path) -> None:
    early = table(
        """Dispatch_ID GPU_ID Queue_ID PID TID GRD WGR LDS SCR Arch_VGPR ACCUM_VGPR SGPR Wave_Size
        Kernel_Name SQ_WAVES""",
        '1,0,1,5,5,1024,128,0,0,8,0,16,64,"k(int) (.kd)",16',
    )
    (one,) = read(tmp_path / "v2.csv", early)
    assert (one.tool, one.workgroups, one.vgprs) == ("rocprof v2", 8, 8)
    names = "Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem"
    (one,) = read(tmp_path / "v2b.csv", early.replace("GRD,WGR,LDS,SCR", names))
    assert (one.tool, one.workgroups, one.counters) == ("rocprof v2", 8, {"SQ_WAVES": 16})


WIDE = table(
    """Dispatch_ID GPU_ID Grid_Size Workgroup_Size LDS_Per_Workgroup Scratch_Per_Workitem Arch_VGPR
    Accum_VGPR SGPR Wave_Size Kernel_Name Correlation_ID SQ_WAVES TCC_HIT[0] TCC_HIT[1] Wave_Size_1
    Correlation_ID_1 XCC_Index SQ_WAVE_CYCLES GRBM_GUI_ACTIVE Start_Timestamp End_Timestamp""",
    '1,2,2048,256,0,0,4,4,16,64,"k (.kd)",0,32,5,6,64,0,0,700,90,1000,3000',
)


def test_a_merged_workload_is_cut_at_its_repeated_columns(tmp_path: Path) -> None:
    (one,) = read(tmp_path / "pmc_perf.csv", WIDE)
    assert one.passes == ({"SQ_WAVES": 32, "TCC_HIT": 11}, {"SQ_WAVE_CYCLES": 700, "GRBM_GUI_ACTIVE": 90})
    assert one.counters["TCC_HIT"] == 11


def test_a_long_workload_is_cut_where_its_dispatches_start_again(tmp_path: Path) -> None:
    rows = [
        f'2,{dispatch},512,64,100,0,4,4,16,"k(int, int)",{start},{start + 5},12,{name},{part + 0.5}'
        for part, names in enumerate((("SQ_WAVES", "SQ_WAVE_CYCLES"), ("SQ_BUSY_CU_CYCLES",)))
        for dispatch in (1, 2)
        for start in (1000 * part + 10 * dispatch,)
        for name in names
    ]
    text = table(
        """GPU_ID Dispatch_ID Grid_Size Workgroup_Size LDS_Per_Workgroup Scratch_Per_Workitem Arch_VGPR
        Accum_VGPR SGPR Kernel_Name Start_Timestamp End_Timestamp Kernel_ID Counter_Name Counter_Value""",
        *rows,
    )
    found = read(tmp_path / "pmc_perf.csv", text)
    assert [(one.dispatch, one.part, sorted(one.counters)) for one in found] == [
        (1, 0, ["SQ_WAVES", "SQ_WAVE_CYCLES"]), (2, 0, ["SQ_WAVES", "SQ_WAVE_CYCLES"]),
        (1, 1, ["SQ_BUSY_CU_CYCLES"]), (2, 1, ["SQ_BUSY_CU_CYCLES"]),
    ]  # fmt: skip
    assert found[0].reported.lds_means == LDS_DISPATCH


def test_hipprof_csv_has_no_obj_and_sums_its_instances(tmp_path: Path) -> None:
    text = table(
        """Index KernelName gpu-id queue-id queue-index pid tid grd wgr lds scr arch_vgpr accum_vgpr sgpr
        wave_size sig GRBM_GUI_ACTIVE TCC_EA_RDREQ[0] TCC_EA_RDREQ[1] DispatchNs BeginNs EndNs CompleteNs""",
        "0,_Z4readPKfPf,8,0,0,1,1,163840,256,0,0,24,0,16,64,0x0,1500,8,9,1,1000,2000,3000",
    )
    (one,) = read(tmp_path / "pmc_results_77.csv", text)
    assert (one.tool, one.workgroups, one.vgprs) == ("hipprof", 640, 24)
    assert one.counters == {"GRBM_GUI_ACTIVE": 1500, "TCC_EA_RDREQ": 17}


def test_hipprof_text(tmp_path: Path) -> None:
    text = (
        "dispatch[0], gpu-id(8), queue-id(0), queue-index(0), pid(5), tid(5), grd(65536), wgr(256), lds(0), "
        "scr(0), arch_vgpr(24), accum_vgpr(0), sgpr(16), wave_size(64), sig(0x0), "
        'kernel-name("add(float*, int)"), time(1,100,2600,2700)\n'
        "  GRBM_GUI_ACTIVE (3750)\n  SQ_INSTS_VALU (12)\n"
        "dispatch[1], gpu-id(8), grd(512), wgr(64), lds(1024), scr(0), arch_vgpr(8), sgpr(16), "
        'kernel-name("b"), time(1,2,3,4)\n'
    )
    first, second = read(tmp_path / "pmc_results_5.txt", text)
    assert (first.kernel, first.workgroups, first.vgprs, first.seconds) == (
        "add(float*, int)",
        256,
        24,
        2.5e-6,
    )
    assert first.counters == {"GRBM_GUI_ACTIVE": 3750, "SQ_INSTS_VALU": 12}
    assert (second.kernel, second.lds, second.counters) == ("b", 1024, {})


@pytest.mark.parametrize(
    ("cells", "locale"),
    [
        (("3,135,802,469.14", "11.50", "32.77"), "English"),
        (("3.135.802.469,14", "11,50", "32,77"), "German"),
        (("3 135 802 469,14", "11,50", "32,77"), "French"),
    ],
)
def test_ncu_details_in_any_locale_and_scaled_units(
    tmp_path: Path, cells: tuple[str, ...], locale: str
) -> None:
    rate, share, kbytes = cells
    metrics = [
        ("DRAM Frequency", "hz", rate),
        ("Achieved Occupancy", "%", share),
        ("Registers Per Thread", "", "40"),
        ("Dynamic Shared Memory Per Block", "Kbyte/block", kbytes),
        ("Static Shared Memory Per Block", "byte/block", "0"),
        ("Duration", "us", share),
        ("# SMs", "SM", "132"),
    ]
    launch = '"0","1","p","h","k(int)","1","7","(128, 2, 1)","(33, 2, 1)","0","9.0","S"'
    text = "==PROF== Connected\n" + table(
        """ID Process_ID Process_Name Host_Name Kernel_Name Context Stream Block_Size Grid_Size Device CC
        Section_Name Metric_Name Metric_Unit Metric_Value""",
        *(f'{launch},"{name}","{unit}","{value}"' for name, unit, value in metrics),
    ).replace("_", " ")
    (one,) = read(tmp_path / f"{locale}.csv", text, encoding="utf-8-sig")
    assert (one.threads, one.workgroups, one.vgprs, one.chip) == (256, 66, 40, "sm_90")
    assert (one.lds, one.reported.lds_static) == (32768, 0)
    assert one.counters["DRAM Frequency"] == 3135802469.14
    assert one.counters["sm__warps_active.avg.pct_of_peak_sustained_active"] == 11.5
    assert one.seconds == pytest.approx(11.5e-6)


def test_ncu_pages_of_the_same_run_agree() -> None:
    """The details and raw pages of one machine: the same launches, so the same registers and ceilings."""
    folder = Path(__file__).parent / "data" / "profiles" / "ncu-h200"
    pages = [list(measurements(folder / f"ncu_{page}.csv.gz")) for page in ("details", "raw")]
    for detail, raw in zip(*pages, strict=True):
        assert (detail.kernel, detail.threads, detail.workgroups, detail.vgprs, detail.lds) == (
            raw.kernel, raw.threads, raw.workgroups, raw.vgprs, raw.lds
        )  # fmt: skip
        for name in ("sm__maximum_warps_avg_per_active_cycle", "launch__occupancy_limit_registers"):
            assert detail.counters[name] == raw.counters[name]
