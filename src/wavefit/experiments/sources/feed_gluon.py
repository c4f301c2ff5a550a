# ruff: noqa: N803
# mypy: ignore-errors
"""The feed experiment in Gluon, Triton's tile dialect: ILP chains of one MFMA a wave, LDS reserved apart.

Each wave holds a 16 x (16 ILP) accumulator: one matrix instruction a chain. Compiling needs no GPU:

    from feed_gluon import build
    build("gfx950", ilp=4, lds=32768).asm["amdgcn"]

    python feed_gluon.py build gfx950 32768 FOLDER      # code objects with Triton's side files

On a ROCm machine with PyTorch it prints the same CSV as feed.cu: python feed_gluon.py > feed.csv
"""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as ttgl
from triton.experimental.gluon._runtime import GluonASTSource

ILPS = (1, 2, 4, 8)
WAVES = 4
WORK = 65536
COLUMNS = (
    "experiment", "chip", "target", "instruction", "ilp", "waves_per_simd", "workgroups_per_cu", "threads",
    "lds_bytes", "instructions", "cus_in_use", "vector_bytes", "outstanding", "median_ms", "flops",
    "bytes_per_second", "clock_mhz", "cycles_per_instruction", "first_end", "nominal_mhz", "driver",
    "compiler",
)  # fmt: skip


@dataclass(frozen=True)
class Machine:
    """The best instruction of a target: its K, whether it takes scales, and its layout's version."""

    instruction: str
    version: int
    k: int
    k_width: int
    scaled: bool
    lds: int

    @property
    def flops(self) -> int:
        return 2 * 16 * 16 * self.k


MACHINES = {
    "gfx942": Machine("v_mfma_f32_16x16x32_fp8_fp8", 3, 32, 8, False, 65536),
    "gfx950": Machine("v_mfma_f32_16x16x128_f8f6f4", 4, 128, 16, True, 163840),
}


@gluon.jit
def chains(
    out, iterations, ILP: ttgl.constexpr, K: ttgl.constexpr, WIDTH: ttgl.constexpr, VERSION: ttgl.constexpr,
    SCALED: ttgl.constexpr, LDS0: ttgl.constexpr, LDS1: ttgl.constexpr, LDS2: ttgl.constexpr,
):  # fmt: skip
    acc_layout: ttgl.constexpr = ttgl.amd.AMDMFMALayout(
        version=VERSION, instr_shape=[16, 16, K], transposed=True, warps_per_cta=[4, 1]
    )
    a_layout: ttgl.constexpr = ttgl.DotOperandLayout(operand_index=0, parent=acc_layout, k_width=WIDTH)
    b_layout: ttgl.constexpr = ttgl.DotOperandLayout(operand_index=1, parent=acc_layout, k_width=WIDTH)
    plain: ttgl.constexpr = ttgl.SwizzledSharedLayout(vec=1, per_phase=1, max_phase=1, order=[0])
    if LDS0 > 0:
        first = ttgl.allocate_shared_memory(ttgl.int8, [LDS0], plain)
    if LDS1 > 0:
        second = ttgl.allocate_shared_memory(ttgl.int8, [LDS1], plain)
    if LDS2 > 0:
        third = ttgl.allocate_shared_memory(ttgl.int8, [LDS2], plain)
    kind: ttgl.constexpr = ttgl.float8e4nv if SCALED else ttgl.float8e4b8
    a = ttgl.full([64, K], 0.5, ttgl.float32, a_layout).to(kind)
    b = ttgl.full([K, 16 * ILP], 0.25, ttgl.float32, b_layout).to(kind)
    acc = ttgl.zeros([64, 16 * ILP], ttgl.float32, acc_layout)
    for _ in range(iterations):
        if SCALED:
            acc = ttgl.amd.cdna4.mfma_scaled(a, None, "e4m3", b, None, "e4m3", acc)
        else:
            acc = ttgl.amd.cdna3.mfma(a, b, acc)
    rows = ttgl.arange(0, 64, ttgl.SliceLayout(1, acc_layout))
    columns = ttgl.arange(0, 16 * ILP, ttgl.SliceLayout(0, acc_layout))
    ttgl.store(out + rows[:, None] * (16 * ILP) + columns[None, :], acc)
    if LDS0 > 0:
        first._keep_alive()
    if LDS1 > 0:
        second._keep_alive()
    if LDS2 > 0:
        third._keep_alive()


def pieces(lds: int) -> list[int]:
    """The three largest powers of two that fit `lds` bytes together: Gluon allocates no other sizes."""
    found = []
    for _ in range(3):
        found.append(1 << (lds.bit_length() - 1) if lds else 0)
        lds -= found[-1]
    return found


def constants(target: str, ilp: int, lds: int) -> dict[str, Any]:
    """Compile-time arguments of one variant."""
    machine = MACHINES[target]
    return {
        "ILP": ilp, "K": machine.k, "WIDTH": machine.k_width, "VERSION": machine.version,
        "SCALED": machine.scaled, **{f"LDS{at}": size for at, size in enumerate(pieces(lds))},
    }  # fmt: skip


def build(target: str, ilp: int, lds: int = 0) -> Any:
    """One variant compiled for a target, without a GPU. Raises KeyError for a target with no Machine."""
    source = GluonASTSource(
        fn=chains,
        signature={
            "out": "*fp32",
            "iterations": "i32",
            **dict.fromkeys(constants(target, ilp, lds), "constexpr"),
        },
        constexprs={(2 + at,): value for at, value in enumerate(constants(target, ilp, lds).values())},
    )
    return triton.compile(source, target=GPUTarget("hip", target, 64), options={"num_warps": WAVES})


def save(target: str, lds: int, folder: Path) -> None:
    """Every ILP as a code object with the side file that says what LDS it is launched with."""
    for ilp in ILPS:
        made = build(target, ilp, lds)
        stem = folder / f"gluon_{target}_ilp{ilp}_lds{lds}"
        stem.with_suffix(".hsaco").write_bytes(made.asm["hsaco"])
        side = {
            "name": made.metadata.name,
            "shared": made.metadata.shared,
            "num_warps": made.metadata.num_warps,
        }
        stem.with_suffix(".json").write_text(json.dumps({**side, "warp_size": 64, "arch": target}))


def measure() -> None:
    """Every ILP at every occupancy of the GPU at hand, as CSV on standard output."""
    import torch

    device = torch.cuda.get_device_properties(0)
    target = device.gcnArchName.partition(":")[0]
    rows = csv.DictWriter(sys.stdout, COLUMNS, restval=0)
    rows.writeheader()
    for waves in range(1, 9):
        for ilp in ILPS:
            rows.writerow(_row(torch, device, target, waves, ilp))


def _row(torch: Any, device: Any, target: str, waves: int, ilp: int) -> dict[str, Any]:
    machine, cus = MACHINES[target], device.multi_processor_count
    lds, iterations = sum(pieces(machine.lds // waves)), WORK // ilp
    out, fixed = torch.empty(64 * 16 * ilp, device="cuda"), constants(target, ilp, lds)
    ms = triton.testing.do_bench(
        lambda: chains[(cus * waves,)](out, iterations, num_warps=WAVES, **fixed), return_mode="median"
    )
    work = iterations * ilp
    return {
        "experiment": "matrix", "chip": device.name, "target": target, "instruction": machine.instruction,
        "ilp": ilp, "waves_per_simd": waves, "workgroups_per_cu": waves, "threads": WAVES * 64,
        "lds_bytes": lds, "instructions": work, "cus_in_use": cus, "median_ms": f"{ms:.6f}",
        "flops": f"{machine.flops * work * WAVES * waves * cus / ms * 1e3:.6g}",
        "driver": torch.version.hip, "compiler": f"triton {triton.__version__}",
    }  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["build"]:
        save(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))
    else:
        measure()
