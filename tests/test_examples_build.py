"""The committed examples are what `examples/build.py` makes of their sources, and what the README says."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import wavefit as wf

EXAMPLES = Path(__file__).parents[1] / "examples"
COMPILED = EXAMPLES / "compiled"
NAMES = sorted(path.stem for path in COMPILED.glob("*.hsaco"))
READELF = shutil.which("llvm-readelf-22")

SPENT = {
    "vgpr_count": "total_vgprs", "agpr_count": "agprs", "sgpr_count": "sgprs",
    "vgpr_spill_count": "vgpr_spills", "sgpr_spill_count": "sgpr_spills",
    "group_segment_fixed_size": "lds", "private_segment_fixed_size": "scratch",
    "max_flat_workgroup_size": "max_threads", "wavefront_size": "wave",
}  # fmt: skip
"""Keys of a code object's metadata, and our word for each."""


def side_file(path: Path) -> dict[str, Any]:
    """What the JSON beside a code object says."""
    said: dict[str, Any] = json.loads(path.read_text())
    return said


def read_by_llvm(path: Path) -> dict[str, int]:
    """The metadata of a file's one kernel, by llvm-readelf."""
    notes = subprocess.run([str(READELF), "--notes", path], capture_output=True, text=True, check=True).stdout
    return {
        key: int(value) for key, value in re.findall(r"\.(\w+): +(\d+)$", notes, re.MULTILINE) if key in SPENT
    }


def read_by_us(path: Path) -> dict[str, int]:
    """The same, by wavefit's reader."""
    (kernel,) = wf.kernels(path)
    assert isinstance(kernel, wf.Kernel)
    spent = {key: getattr(kernel, ours) for key, ours in SPENT.items()}
    return {key: value for key, value in spent.items() if value is not None}


def printed_rows(text: str) -> dict[str, list[str]]:
    """The cells of each table row that begins with an example's name."""
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", text, re.MULTILINE)
    return {name: cells.split(" | ") for name, cells in rows}


def run(*command: object) -> str:
    done = subprocess.run([sys.executable, "-B", *map(str, command)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def need_triton() -> None:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed (pip install 'wavefit[triton]')")


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    """Folder of new files, folder of Triton's own, and what the build printed."""
    need_triton()
    committed = {side_file(COMPILED / f"{name}.json")["triton_version"] for name in NAMES}
    if committed != {metadata.version("triton")}:
        pytest.skip(f"Triton {metadata.version('triton')} is installed, the examples are from {committed}")
    out, cache = tmp_path_factory.mktemp("out"), tmp_path_factory.mktemp("triton")
    return out, cache, run(EXAMPLES / "build.py", "--out", out, "--cache", cache)


def test_examples_are_small_and_complete() -> None:
    assert {path.name for path in COMPILED.iterdir()} == {
        f"{n}.{kind}" for n in NAMES for kind in ("hsaco", "json")
    }
    assert {"gemm_mxfp8_gfx950_128x128x128_w4", "gemm_bf16_gfx942_128x128x64_w4"} <= set(NAMES)
    assert sum(path.stat().st_size for path in COMPILED.iterdir()) < 300 << 10


@pytest.mark.parametrize("name", NAMES)
def test_readme_row_is_what_the_code_object_says(name: str) -> None:
    # the row was printed by the compiler
    vgprs, agprs, sgprs, shared, spills, _ = printed_rows((EXAMPLES / "README.md").read_text())[name]
    (kernel,) = wf.kernels(COMPILED / f"{name}.hsaco")
    assert isinstance(kernel, wf.Kernel)
    accumulators = 0 if agprs == "-" else int(agprs)
    total = -(-int(vgprs) // 4) * 4 + accumulators if accumulators else int(vgprs)
    assert (kernel.total_vgprs, kernel.agprs or 0) == (total, accumulators)
    assert (kernel.sgprs, kernel.vgpr_spills) == (int(sgprs), int(spills))
    assert (kernel.lds, kernel.lds_dynamic) == (0, int(shared))
    side = side_file(COMPILED / f"{name}.json")
    assert kernel.side_threads == kernel.max_threads == side["num_warps"] * side["warp_size"]


@pytest.mark.heavy
@pytest.mark.parametrize("name", NAMES)
def test_rebuild_spends_the_same(name: str, rebuilt: tuple[Path, Path, str]) -> None:
    out, cache, _ = rebuilt
    read = read_by_llvm if READELF else read_by_us
    old, new = (read(folder / f"{name}.hsaco") for folder in (COMPILED, out))
    assert {"vgpr_count", "sgpr_count", "group_segment_fixed_size"} <= old.keys()
    assert new == old
    side = side_file(COMPILED / f"{name}.json")
    assert side_file(out / f"{name}.json") == side
    (of_triton,) = (cache / name).rglob(f"{side['name']}.json")
    said = side_file(of_triton)
    for key in ("name", "shared", "num_warps", "num_stages", "warp_size", "target", "triton_version"):
        assert said[key] == side[key]


@pytest.mark.heavy
def test_rebuild_prints_the_table_of_the_readme(rebuilt: tuple[Path, Path, str]) -> None:
    assert printed_rows(rebuilt[2]) == printed_rows((EXAMPLES / "README.md").read_text())


@pytest.mark.heavy
def test_mxfp8_runs_on_the_scaled_matrix_instruction(rebuilt: tuple[Path, Path, str]) -> None:
    for name in (name for name in NAMES if "mxfp8" in name):
        (assembly,) = (rebuilt[1] / name).rglob("*.amdgcn")
        instructions = set(re.findall(r"\bv_(?:mfma|smfmac)\w+", assembly.read_text()))
        assert instructions, name
        assert all(instruction.startswith("v_mfma_scale_f32_") for instruction in instructions), name


@pytest.mark.heavy
def test_examples_compute_what_numpy_computes() -> None:
    need_triton()
    errors = dict(re.findall(r"^(\w+): largest error (\S+)", run(EXAMPLES / "check.py"), re.MULTILINE))
    assert set(errors) == {"gemm_mxfp8", "gemm_bf16", "softmax"}
    assert all(float(error) <= 2**-7 for error in errors.values())
