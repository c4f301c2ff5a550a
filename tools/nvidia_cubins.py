"""Compiles the cubins that the readers are tested on, and writes down what NVIDIA's own tools say of them.

    python tools/nvidia_cubins.py CUOBJDUMP [PTXAS...]     # writes tests/data/nvidia/{cubins.zip,said.csv}

`nvcc` 13 must be on PATH; CUOBJDUMP is one of CUDA 13 (Triton's package carries one). Each further PTXAS is a
compiler of another release, which compiles the same kernels from PTX: its release goes into the file names.
"""

from __future__ import annotations

import csv
import itertools
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).parent.parent / "tests/data/nvidia"
SOURCE = DATA / "spend.cu"
TARGETS = (
    "75",
    "80",
    "86",
    "87",
    "88",
    "89",
    "90",
    "90a",
    "100",
    "100a",
    "103",
    "103a",
    "110",
    "120",
    "120a",
    "121",
)
OLD_TARGETS = {"11": "70 72 75 80 86 87 89 90", "12": "70 75 80 89 90 90a", "13": "75 90a 100a 120a"}
"""By the major release of a further PTXAS."""
SPENDS = [
    f"REGS={regs} SHARED={shared} STACK={stack} BARS={bars} SIZE={size}"
    for regs, shared, stack, bars, size in [
        (2, 0, 0, 0, 0), (4, 1, 0, 1, 32), (7, 1000, 0, 2, 64), (10, 4096, 30, 0, 128),
        (15, 16384, 0, 3, 192), (22, 300, 7, 7, 256), (30, 49152, 0, 15, 384), (40, 0, 100, 0, 512),
        (50, 12345, 0, 1, 0), (70, 32768, 0, 4, 128), (100, 0, 1, 0, 256), (118, 8192, 0, 5, 0),
    ]
]  # fmt: skip
GIVEN = (
    "../profiles/ncu-h200/occ_profile_sm90.cubin", "triton/softmax_sm90_4096_w8.cubin",
    "triton/matmul_sm89_64x64x32_w4_s2.cubin", "triton/matmul_sm120_64x64x32_w4_s2.cubin",
)  # fmt: skip
"""Cubins that others compiled."""
FIELDS = (
    "file", "kernel", "registers", "stack", "shared", "static", "barriers", "max_threads", "required",
    "target",
)  # fmt: skip
SIZES = ("MAX_THREADS", "REQNTID")
Row = dict[str, str]


def main() -> None:
    cuobjdump, *compilers = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = [*fresh(folder), *linked(folder), *older(folder, compilers)]
        given = [(DATA / path, "") for path in GIVEN]
        rows = [row for path, log in [*made, *given] for row in said(cuobjdump, path, log)]
        with zipfile.ZipFile(DATA / "cubins.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path, _ in made:
                archive.writestr(zipfile.ZipInfo(path.name, (2026, 1, 1, 0, 0, 0)), path.read_bytes(),
                                 zipfile.ZIP_DEFLATED)  # fmt: skip
    with (DATA / "said.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(made)} cubins, {len(rows)} kernels")


def fresh(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every target with every amount, straight from nvcc."""
    for target, (number, spends) in itertools.product(TARGETS, enumerate(SPENDS)):
        path = folder / f"sm_{target}_{number:02}.cubin"
        flags = ["-DCLUSTER"] if number == 0 and int(target.rstrip("a")) >= 90 else []
        yield path, compiled(path, target, spends, *flags)


def linked(folder: Path) -> Iterator[tuple[Path, str]]:
    """Relocatable code, and the same after linking, where functions call each other."""
    for target in ("75", "80", "90", "100", "120"):
        part, whole = folder / f"sm_{target}_unlinked.cubin", folder / f"sm_{target}_linked.cubin"
        compiled(part, target, SPENDS[3], "-DCALLS", "-rdc=true")
        run("nvcc", f"-arch=sm_{target}", "-dlink", "-cubin", "-o", whole, part)
        yield part, ""
        yield whole, ""


def older(folder: Path, compilers: list[str]) -> Iterator[tuple[Path, str]]:
    """The same kernels by other releases of the compiler, which read older PTX."""
    for compiler in compilers:
        found = re.search(r"release (\d+)\.(\d+)", run(compiler, "--version"))
        assert found, compiler
        for target, number in itertools.product(OLD_TARGETS[found[1]].split(), (1, 5, 8)):
            text = folder / "kernels.ptx"
            run("nvcc", "-ptx", "-arch=compute_75", *defines(SPENDS[number]), "-o", text, SOURCE)
            version = "8.8" if target.startswith("1") else "8.0" if "a" in target else "7.8"
            words = re.sub(r"(?m)^\.version .*$", f".version {version}", text.read_text())
            text.write_text(re.sub(r"(?m)^\.target .*$", f".target sm_{target}", words))
            path = folder / f"sm_{target}_{number:02}_cuda{found[1]}.{found[2]}.cubin"
            yield path, run(compiler, "-v", f"-arch=sm_{target}", "-o", path, text)


def compiled(path: Path, target: str, spends: str, *flags: str) -> str:
    """What the compiler says while it compiles."""
    command = ["-cubin", f"-arch=sm_{target}", "-Xptxas=-v", *defines(spends), *flags]
    return run("nvcc", *command, "-o", path, SOURCE)


def defines(spends: str) -> list[str]:
    return [f"-D{word}" for word in spends.split()]


def said(cuobjdump: str, path: Path, log: str) -> Iterator[Row]:
    """A row for each kernel. `static` is shared memory as the compiler counted it; "" where nobody says."""
    dump = run(cuobjdump, "-elf", path)
    target = re.search(r"\bsm=(\w+)", dump)
    assert target, path
    about = attributes(dump)
    static = dict(re.findall(r"entry function '(\S+?)' .*?\n(?s:.*?)Used ([^\n]*)", log))
    usage = re.findall(
        r"Function (\S+):\s+REG:(\d+) STACK:(\w+) SHARED:(\d+)", run(cuobjdump, "-res-usage", path)
    )
    for name, registers, stack, shared in usage:
        own = about.get(name)
        if own is None:
            continue
        smem = re.search(r"(\d+) bytes smem", static.get(name, ""))
        yield {
            "file": name_of(path), "kernel": name, "registers": registers, "stack": stack, "shared": shared,
            "static": "" if name not in static else smem[1] if smem else "0",
            "barriers": barriers(cuobjdump, path, name, own, static.get(name)),
            "max_threads": own["MAX_THREADS"], "required": own["REQNTID"], "target": f"sm_{target[1]}",
        }  # fmt: skip


def name_of(path: Path) -> str:
    """As the table names it: by its folder where the cubin is kept as a file."""
    return next((given for given in GIVEN if path == DATA / given), path.name)


def barriers(tool: str, path: Path, name: str, own: Row, log: str | None) -> str:
    """As the compiler counted them; else as nvdisasm prints the flags of the code; else the attribute."""
    counted = re.search(r"used (\d+) barriers", log or "")
    if counted or "NUM_BARRIERS" in own:
        return counted[1] if counted else str(int(own["NUM_BARRIERS"], 16))
    done = subprocess.run([Path(tool).with_name("nvdisasm"), path], capture_output=True, text=True)
    if done.returncode:  # sm_70 and sm_72 are too old for it
        return ""
    flags = re.search(rf"\.section\t\.text\.{name},.*\n\t\.sectionflags\t@\"SHF_BARRIERS=(\d+)", done.stdout)
    return flags[1] if flags else "0"


def attributes(dump: str) -> dict[str, Row]:
    """The attributes of each kernel by the names that cuobjdump gives them, sizes as X*Y*Z."""
    found: dict[str, Row] = {}
    for name, body in re.findall(r"(?m)^\.nv\.info\.(\S+)\n((?:\t.*\n)+)", dump):
        if "EIATTR_CBANK_PARAM_SIZE" not in body:  # a function that kernels call
            continue
        pairs = dict(re.findall(r"EIATTR_(\w+)\n\tFormat:.*\n\tValue:\s+(.*?)\s*\n", body))
        sizes = {key: "*".join(str(int(n, 16)) for n in pairs.get(key, "").split()) for key in SIZES}
        found[name] = {**{key: pairs[key] for key in ("NUM_BARRIERS",) if key in pairs}, **sizes}
    return found


def run(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


if __name__ == "__main__":
    main()
