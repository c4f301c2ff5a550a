"""The experiments compiled with real compilers: registers, LDS, chains, and the timing ptxas writes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import wavefit as wf
from wavefit.experiments import build, plan, write_sources
from wavefit.experiments.build import CLANGS
from wavefit.feed import timing

pytestmark = pytest.mark.heavy

CLANG = next((found for name in CLANGS if (found := shutil.which(name))), None)
READELF = shutil.which("llvm-readelf-22") or shutil.which("llvm-readelf")
NVCC = shutil.which("nvcc")
ILPS = (1, 2, 4, 8)
BEST = {"gfx942": "Fp8_16x16x32", "gfx950": "F8f6f4_16x16x128"}
ACCUMULATE = re.compile(r"(v_s?mfma\S+) ([va]\[\d+:\d+\]), \S+ \S+ ([va]\[\d+:\d+\])")


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HIP device side, compiled for gfx942 and gfx950 at every occupancy."""
    if CLANG is None:
        pytest.skip(f"none of {', '.join(CLANGS)} is on PATH")
    folder = tmp_path_factory.mktemp("hip")
    write_sources(folder)
    for target in BEST:
        made = [each for each in build(folder, (target,)) if each.kind == "hip-device"]
        assert [each.why for each in made] == [None] * 8
    return folder


def _notes(path: Path) -> dict[str, dict[str, int]]:
    """What llvm-readelf says of each kernel."""
    if READELF is None:
        pytest.skip("llvm-readelf is not on PATH")
    text = subprocess.run([READELF, "--notes", path], capture_output=True, text=True, check=True).stdout
    found = {}
    for part in text.split("  - .agpr_count")[1:]:
        name = re.search(r"\.name: +(\S+)", part)
        keys = dict(re.findall(r"\.(vgpr_count|group_segment_fixed_size): +(\d+)", part))
        assert name
        found[name[1]] = {key: int(value) for key, value in keys.items()}
    return found


@pytest.mark.parametrize("target", BEST)
def test_hip_objects_reserve_the_planned_lds(objects: Path, target: str):
    for each in plan(target):
        path = objects / f"feed_{target}_{each.waves}waves.co"
        notes = _notes(path)
        kernels = {kernel.name: kernel for kernel in wf.kernels(str(path))}
        assert notes.keys() == kernels.keys()
        for name, kernel in kernels.items():
            assert kernel.lds == notes[name]["group_segment_fixed_size"] == each.lds
            assert kernel.total_vgprs == notes[name]["vgpr_count"]
            assert wf.fit(kernel, threads=256).waves_per_simd == each.waves


@pytest.mark.parametrize("target", BEST)
@pytest.mark.parametrize("ilp", ILPS)
def test_hip_loops_hold_the_intended_chains(objects: Path, target: str, ilp: int):
    assert CLANG
    flags = ["--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-O3", "-std=c++17"]
    source, text = objects / "feed_device.hip.cpp", objects / f"{target}.s"
    subprocess.run([CLANG, *flags, "-S", "-o", text, source], check=True)
    body = text.read_text().split(f"\nmatrix_{BEST[target]}_ilp{ilp}:")[1].split("s_endpgm")[0]
    chains = ACCUMULATE.findall(body)
    assert len(chains) == ilp  # clang leaves the loop as it is written
    assert len({into for _, into, _ in chains}) == ilp
    assert all(into == start for _, into, start in chains)


@pytest.mark.parametrize("target", BEST)
def test_gluon_kernels_hold_the_intended_chains_and_lds(tmp_path: Path, target: str):
    if find_spec("triton") is None:
        pytest.skip("Triton is not installed")
    write_sources(tmp_path)
    sys.path.insert(0, str(tmp_path))
    try:
        gluon = import_module("feed_gluon")
        for ilp in ILPS:
            made = gluon.build(target, ilp, 16384)
            loop = max(
                made.asm["amdgcn"].split("s_endpgm")[0].split(".LBB"), key=lambda part: part.count("v_mfma")
            )
            chains = ACCUMULATE.findall(loop)
            assert len({into for _, into, _ in chains}) == ilp
            assert all(into == start for _, into, start in chains)
            assert len(chains) == 8 * ilp  # unrolled eight times
            assert made.metadata.shared == 16384
        gluon.save(target, 16384, tmp_path)
        (kernel,) = wf.kernels(str(tmp_path / f"gluon_{target}_ilp8_lds16384.hsaco"))
        assert (kernel.lds_dynamic, kernel.side_threads) == (16384, 256)
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("feed_gluon", None)


# What ptxas writes: bits 105 to 108 of an instruction are the cycles it stalls the warp


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The CUDA experiment's code for sm_90 with its encodings."""
    if NVCC is None:
        pytest.skip("nvcc is not on PATH")
    spec = find_spec("triton")
    found = [*Path(str(spec.origin)).parent.rglob("nvidia/bin/nvdisasm")] if spec else []
    nvdisasm = shutil.which("nvdisasm") or (str(found[0]) if found else None)
    if nvdisasm is None:
        pytest.skip("nvdisasm is not on PATH and Triton, which brings one, is not installed")
    folder = tmp_path_factory.mktemp("cuda")
    write_sources(folder)
    cubin = folder / "feed.cubin"
    subprocess.run([NVCC, "-O3", "-arch=sm_90", "-cubin", "-o", cubin, folder / "feed.cu"], check=True)
    return subprocess.run([nvdisasm, "-c", "-hex", cubin], capture_output=True, text=True, check=True).stdout


def _loop(listing: str, kernel: str, ilp: int) -> list[tuple[str, int]]:
    """(opcode, stall) of the kernel's first loop that multiplies."""
    part = re.split(r"\.text\.\S*" + f"{kernel}ILi{ilp}E" + r"\S*:", listing)[1]
    found: list[tuple[str, int]] = []
    pairs = re.findall(r"\*/ +([^;]+);\s+/\* 0x[0-9a-f]{16} \*/\s+/\* 0x([0-9a-f]{16}) \*/", part)
    for text, high in pairs:
        stall = int(high, 16) >> 41 & 15
        opcode = text.split()[1] if text.startswith("@") else text.split()[0]
        if opcode == "BRA":
            if any(name.startswith(("HMMA", "FFMA")) for name, _ in found):
                return [*found, (opcode, stall)]
            found = []
        else:
            found.append((opcode, stall))
    raise AssertionError("no loop")


def _gaps(loop: list[tuple[str, int]], opcode: str) -> list[int]:
    """Cycles from each instruction of a kind to the next, by the stalls between."""
    gaps, since = list[int](), None
    for name, stall in loop:
        if name.startswith(opcode):
            if since is not None:
                gaps.append(since)
            since = 0
        if since is not None:
            since += stall
    return gaps


@pytest.mark.parametrize("ilp", range(1, 9))
def test_ptxas_unrolls_and_spaces_mma_as_the_page_says(listing: str, ilp: int):
    known = timing("sm_90", "mma.m16n8k16.bf16")
    loop = _loop(listing, "mma_bf16", ilp)
    gaps = _gaps(loop, "HMMA")
    assert len(gaps) + 1 == known.loop(ilp).length
    rounds = gaps[ilp:]  # the first round also holds the counter
    assert min(rounds) >= known.interval
    assert {sum(rounds[at : at + ilp]) for at in range(len(rounds) - ilp + 1)} == {max(24, 6 * ilp)}
    end = max(at for at, (name, _) in enumerate(loop) if name.startswith("HMMA"))
    after = sum(stall for _, stall in loop[end:])
    assert after == 24 == round(known.wait - 7.6)  # 7.6: the branch itself, measured
