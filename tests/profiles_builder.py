"""Writers of profiler output for tests and for the bench, from the documented formats.

No real rocpd database is public: these are built by our own writer from the published schema
(rocprofiler-sdk, source/share/rocprofiler-sdk-rocpd/rocpd_tables.sql, version 3.0.1).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

COUNTER_COLUMNS = (
    "Correlation_Id", "Dispatch_Id", "Agent_Id", "Queue_Id", "Process_Id", "Thread_Id", "Grid_Size",
    "Kernel_Id", "Kernel_Name", "Workgroup_Size", "LDS_Block_Size", "Scratch_Size", "VGPR_Count",
    "Accum_VGPR_Count", "SGPR_Count", "Counter_Name", "Counter_Value", "Start_Timestamp", "End_Timestamp",
)  # fmt: skip
KERNELS = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<unsigned int>, "
    "std::array<char*, 1ul> >(int, at::native::FillFunctor<unsigned int>, std::array<char*, 1ul>)",
    "Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_MI16x16x16x1_SN_K1_GSU1_LDSB0",
    "attn_fwd",
    "gemm(float*, float const*, float const*, int)",
)
COUNTERS = (
    "SQ_WAVES", "SQ_WAVE_CYCLES", "SQ_BUSY_CU_CYCLES", "SQ_BUSY_CYCLES", "GRBM_GUI_ACTIVE", "SQ_INSTS_VALU",
)  # fmt: skip
AGENT = {
    "cu_count": 304, "simd_count": 1216, "simd_per_cu": 4, "num_xcc": 8, "array_count": 32,
    "simd_arrays_per_engine": 1, "max_waves_per_cu": 32, "lds_size_in_kb": 64, "gfx_target_version": 90402,
    "max_engine_clk_fcompute": 2100, "wave_front_size": 64, "node_id": 1, "logical_node_id": 1,
}  # fmt: skip
RUN = "_00006409_00d1_70d1_a5cb_b5ab88214544"


def table(columns: str, *rows: str) -> str:
    """The text of a CSV: column names as words, rows as they are."""
    return "\n".join((",".join(columns.split()), *rows)) + "\n"


def counter_csv(path: str, size: int, counters: Sequence[str] = COUNTERS) -> int:
    """A rocprofv3 counter_collection.csv of about `size` bytes; returns its dispatches."""
    written = dispatch = 0
    with open(path, "w", newline="") as file:
        written += file.write(",".join(f'"{name}"' for name in COUNTER_COLUMNS) + "\n")
        while written < size:
            dispatch += 1
            which, start = dispatch % len(KERNELS), 493341164651173 + dispatch * 50_000
            head = (
                f'{dispatch},{dispatch},"Agent 1",1,12931,12931,{(dispatch % 64 + 1) * 65536},{100 + which},'
                f'"{KERNELS[which]}",256,0,0,{8 * (which + 1)},{4 * which},{16 * (which + 1)}'
            )
            lines = (
                f'{head},"{name}",{(dispatch % 1000 + 1) * 1000.5:.6f},{start},{start + 30_000}\n'
                for name in counters
            )
            written += file.write("".join(lines))
    return dispatch


_TABLES: Mapping[str, str] = {
    "rocpd_string": "id INTEGER PRIMARY KEY, guid TEXT, string TEXT",
    "rocpd_info_agent": "id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, type TEXT,"
    " absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, uuid INTEGER, name TEXT,"
    " model_name TEXT, vendor_name TEXT, product_name TEXT, user_name TEXT, extdata JSONB DEFAULT '{}'",
    "rocpd_info_kernel_symbol": "id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER,"
    " code_object_id INTEGER, kernel_name TEXT, display_name TEXT, kernel_object INTEGER,"
    " kernarg_segment_size INTEGER, kernarg_segment_alignment INTEGER, group_segment_size INTEGER,"
    " private_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER, accum_vgpr_count INTEGER,"
    " extdata JSONB DEFAULT '{}'",
    "rocpd_info_pmc": "id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, agent_id INTEGER,"
    " target_arch TEXT, name TEXT, symbol TEXT, block TEXT, expression TEXT, is_constant INTEGER,"
    " is_derived INTEGER",
    "rocpd_pmc_event": "id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, event_id INTEGER, pmc_id INTEGER,"
    " value REAL DEFAULT 0.0, extdata JSONB DEFAULT '{}'",
    "rocpd_kernel_dispatch": "id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, nid INTEGER, pid INTEGER,"
    " tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER,"
    ' stream_id INTEGER, start BIGINT, "end" BIGINT, private_segment_size INTEGER,'
    " group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER,"
    " workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER,"
    " region_name_id INTEGER, event_id INTEGER, extdata JSONB DEFAULT '{}'",
}
SYMBOLS: tuple[tuple[Any, ...], ...] = tuple(
    (number, f"_Z{len(name)}{name}Pf.kd", f"{name}(float*)", 512 * number, 32, 24 + 8 * number, 4 * number)
    for number, name in enumerate(("copy", "gemm", "norm"), 1)
)
"""Kernel symbols: id, kernel_name, display_name, static LDS, SGPRs, VGPRs, accumulators."""


def rocpd(
    path: str,
    *,
    dispatches: int = 3,
    counters: Sequence[str] = ("SQ_WAVES", "SQ_WAVE_CYCLES", "SQ_BUSY_CU_CYCLES"),
    instances: int = 1,
    run: str = RUN,
    symbols: Iterable[Sequence[Any]] = SYMBOLS,
    agent: Mapping[str, Any] = AGENT,
    views: bool = True,
) -> None:
    """A rocpd database: every dispatch with every counter, each in so many instances."""
    symbols = list(symbols)
    with closing(sqlite3.connect(path)) as base, base:
        for table, columns in _TABLES.items():
            base.execute(f'CREATE TABLE "{table}{run}" ({columns})')
            if views:
                base.execute(f'CREATE VIEW "{table}" AS SELECT * FROM "{table}{run}"')
        base.execute(
            f'INSERT INTO "rocpd_info_agent{run}" (id, type, absolute_index, name, product_name, extdata)'
            " VALUES (1, 'GPU', 1, 'gfx942', 'AMD Instinct MI300X', ?)",
            (json.dumps(dict(agent)),),
        )
        base.executemany(
            f'INSERT INTO "rocpd_info_kernel_symbol{run}" (id, kernel_name, display_name, group_segment_size,'
            " sgpr_count, arch_vgpr_count, accum_vgpr_count) VALUES (?, ?, ?, ?, ?, ?, ?)",
            symbols,
        )
        base.executemany(
            f'INSERT INTO "rocpd_info_pmc{run}" (id, agent_id, name, symbol) VALUES (?, 1, ?, ?)',
            [(number, name, name) for number, name in enumerate(counters, 1)],
        )
        base.executemany(
            f'INSERT INTO "rocpd_kernel_dispatch{run}" (id, agent_id, kernel_id, dispatch_id, start, "end",'
            " private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z,"
            " grid_size_x, grid_size_y, grid_size_z, event_id)"
            " VALUES (?, 1, ?, ?, ?, ?, 0, ?, 256, 1, 1, 1048576, 1, 1, ?)",
            (
                (n, symbols[n % len(symbols)][0], n, n * 10_000, n * 10_000 + 8000, 4096, n)
                for n in range(1, dispatches + 1)
            ),
        )
        base.executemany(
            f'INSERT INTO "rocpd_pmc_event{run}" (event_id, pmc_id, value) VALUES (?, ?, ?)',
            (
                (n, pmc, 1000.0 * pmc)
                for n in range(1, dispatches + 1)
                for pmc in range(1, len(counters) + 1)
                for _ in range(instances)
            ),
        )


AGENT_INFO = (
    '"Node_Id","Logical_Node_Id","Agent_Type","Simd_Count","Max_Waves_Per_Simd","Lds_Size_In_Kb","Num_Xcc","Cu_Count",'
    '"Array_Count","Simd_Arrays_Per_Engine","Simd_Per_Cu","Gfx_Target_Version","Max_Engine_Clk_Fcompute",'
    '"Max_Waves_Per_Cu","Name","Product_Name"\n'
    '0,0,"CPU",0,0,0,1,128,0,0,0,0,0,0,"AMD EPYC","AMD EPYC"\n'
    '1,1,"CPU",0,0,0,1,128,0,0,0,0,0,0,"AMD EPYC","AMD EPYC"\n'
    '2,2,"GPU",1024,8,160,8,256,32,1,4,90500,2400,32,"gfx950","AMD Radeon Graphics"\n'
)
_RELEASES = {
    "early 6.2": {"Kernel_Id", "Accum_VGPR_Count", "Start_Timestamp", "End_Timestamp"},
    "6.2": {"Accum_VGPR_Count", "Start_Timestamp", "End_Timestamp"},
    "6.3": {"Accum_VGPR_Count"},
    "6.4": set(),
}
"""Columns that a release of rocprofv3 does not write yet."""
ROW: Mapping[str, Any] = {
    "Agent_Id": '"Agent 2"', "Queue_Id": 1, "Process_Id": 5, "Thread_Id": 5, "Grid_Size": 1048576,
    "Kernel_Id": 16, "Kernel_Name": '"void gemm<float>(float*, int)"', "Workgroup_Size": 256,
    "LDS_Block_Size": 0, "Scratch_Size": 0,
    "VGPR_Count": 124, "Accum_VGPR_Count": 4, "SGPR_Count": 80,
}  # fmt: skip


def counter_rows(
    release: str,
    counters: Mapping[str, float],
    *,
    dispatches: int = 1,
    nanoseconds: int = 5_000_000,
    **cells: Any,
) -> str:
    """The text of a counter_collection.csv of one release; cells may be given by column."""
    left_out = _RELEASES[release]
    columns = [name for name in COUNTER_COLUMNS if name not in left_out]
    lines = [",".join(f'"{name}"' for name in columns)]
    for dispatch in range(1, dispatches + 1):
        start = dispatch * 2 * nanoseconds
        for name, value in counters.items():
            row = {
                **ROW, **cells, "Correlation_Id": dispatch, "Dispatch_Id": dispatch,
                "Counter_Name": f'"{name}"', "Counter_Value": value,
                "Start_Timestamp": start, "End_Timestamp": start + nanoseconds,
            }  # fmt: skip
            lines.append(",".join(str(row[column]) for column in columns))
    return "\n".join(lines) + "\n"
