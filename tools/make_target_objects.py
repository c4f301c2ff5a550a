"""Assembles one small code object for every AMD target, for the tests of the reader.

    python tools/make_target_objects.py      # needs llvm-mc-22; writes tests/data/kernels/targets

Three hand-written kernels each, so that every field differs from what a compiler would choose. The
metadata leave out `.agpr_count` and, in every second object, `amdhsa.target`.
"""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "src/wavefit/kernels/data/elf_mach.csv"
OUT = ROOT / "tests/data/kernels/targets"
KERNELS = {"small": (3, 7, 0, 0), "odd": (37, 41, 1234, 24), "large": (201, 90, 16384, 0)}
"""VGPRs, SGPRs, LDS bytes, scratch bytes."""
TWO_WAVE_SIZES = ("gfx10", "gfx11", "gfx120", "gfx12-")
SETTINGS = {"gfx90a": "+sramecc,-xnack", "gfx942": "-sramecc,+xnack", "gfx1010": "-xnack"}
"""Objects of their own, with the target's settings not left to chance."""
ONE_FILE = ("gfx90a", "gfx942", "gfx950", "gfx9-4-generic")


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    rows = csv.DictReader(line for line in TABLE.read_text().splitlines() if not line.startswith("#"))
    names = [row["target"] for row in rows if not row["read_as"]]
    for number, name in enumerate(names):
        assemble(OUT / f"{name}.o", name, named=number % 2 == 0)
    for name, settings in SETTINGS.items():
        assemble(OUT / f"{name}_settings.o", name, named=False, settings=settings)


def assemble(out: Path, name: str, *, named: bool, settings: str = "") -> None:
    command = ["llvm-mc-22", "-triple=amdgcn-amd-amdhsa", f"-mcpu={name}", f"-mattr={settings}"]
    command += ["-filetype=obj", "-o", str(out)]
    subprocess.run(command, input=assembly(name, named=named), text=True, check=True)


def assembly(name: str, *, named: bool) -> str:
    lines = [f".amdhsa_code_object_version {6 if name.endswith('generic') else 4}", ".text"]
    for kernel in KERNELS:
        lines += [f".globl {kernel}", ".p2align 8", f".type {kernel},@function", f"{kernel}: s_endpgm"]
    lines += [".rodata", ".p2align 6"]
    for kernel in KERNELS:
        settings = descriptor(name, kernel).items()
        lines += [f".amdhsa_kernel {kernel}", *(f".amdhsa_{key} {value}" for key, value in settings)]
        lines += [".end_amdhsa_kernel"]
    lines += [".amdgpu_metadata", "amdhsa.version: [1, 2]"]
    lines += [f'amdhsa.target: "amdgcn-amd-amdhsa--{name}"'] if named else []
    lines += ["amdhsa.kernels:"]
    for kernel in KERNELS:
        first, *rest = (f".{key}: {value}" for key, value in entry(name, kernel).items())
        lines += [f"  - {first}", *(f"    {line}" for line in rest)]
    return "\n".join([*lines, ".end_amdgpu_metadata", ""])


def wave(name: str, kernel: str) -> int:
    if name.startswith("gfx125"):
        return 32
    return 32 if name.startswith(TWO_WAVE_SIZES) and kernel != "odd" else 64


def descriptor(name: str, kernel: str) -> dict[str, int]:
    vgprs, sgprs, lds, scratch = KERNELS[kernel]
    settings = {
        "next_free_vgpr": vgprs,
        "next_free_sgpr": sgprs,
        "group_segment_fixed_size": lds,
        "private_segment_fixed_size": scratch,
    }
    if name in ONE_FILE:
        settings["accum_offset"] = max(4, vgprs // 2 // 4 * 4)
    if name.startswith(TWO_WAVE_SIZES):
        settings["workgroup_processor_mode"] = int(kernel == "large")
        settings["wavefront_size32"] = int(wave(name, kernel) == 32)
    return settings


def entry(name: str, kernel: str) -> dict[str, object]:
    vgprs, sgprs, lds, scratch = KERNELS[kernel]
    return {
        "name": kernel,
        "symbol": f"{kernel}.kd",
        "vgpr_count": vgprs,
        "sgpr_count": sgprs,
        "group_segment_fixed_size": lds,
        "private_segment_fixed_size": scratch,
        "kernarg_segment_size": 0,
        "kernarg_segment_align": 4,
        "wavefront_size": wave(name, kernel),
        "max_flat_workgroup_size": 512,
    }


if __name__ == "__main__":
    main()
