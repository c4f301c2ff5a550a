"""NVIDIA's words beside AMD's: the table, and reports on NVIDIA chips."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import wavefit as wf
from tests.nvidia_files import DATA
from wavefit.chips import targets
from wavefit.report.rosetta import BESIDE, ROSETTA, rosetta_document, rosetta_text
from wavefit.report.text import fit_text


def run(*args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "wavefit", *args], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("amd", "nvidia"),
    [
        ("CU", "SM"),
        ("SIMD", "sub-partition"),
        ("wavefront", "warp"),
        ("workgroup", "block"),
        ("VGPR", "register"),
        ("LDS", "shared memory"),
        ("s_barrier", "__syncthreads"),
        ("matrix core", "tensor core"),
    ],
)
def test_the_table_has_both_words_on_one_line(amd: str, nvidia: str) -> None:
    assert any(line.startswith(amd) and nvidia in line for line in run("chips", "--rosetta").splitlines())


def test_the_table_fits_a_terminal_and_its_document_says_the_same() -> None:
    assert all(len(line) <= 80 for line in rosetta_text().splitlines())
    document = json.loads(run("chips", "--rosetta", "--json"))
    assert document == rosetta_document()
    assert len(document["words"]) == len(ROSETTA)


def test_every_vendor_of_the_words_makes_a_target() -> None:
    assert set(BESIDE) <= {target.vendor for target in targets()}


def test_a_fit_on_nvidia_says_it_in_both_words_and_that_it_is_a_ceiling() -> None:
    text = fit_text(wf.fit("H200", vgprs=128, lds=32768, threads=256))
    assert "256 threads = 8 waves (warps) of 32" in text
    assert "16 of 64 waves a SM, 4 a SIMD, 2 workgroups" in text
    assert "= 16 of 64 warps a SM, 4 a sub-partition, 2 blocks" in text
    assert "4 of 16 waves a SIMD: VGPR (register) stops the next workgroup" in text
    assert "the ceiling: the driver may give less LDS (shared memory) than this counts" in text
    assert all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.parametrize("chip", ["MI355X", "gfx1201", "BW1000"])
def test_a_fit_on_another_chip_keeps_its_own_words(chip: str) -> None:
    text = fit_text(wf.fit(chip, vgprs=64, lds=32768, threads=256))
    assert not any(word in text for word in ("warp", "sub-partition", "register)", "ceiling"))


def test_a_report_of_a_cubin_speaks_of_registers_and_shared_memory() -> None:
    text = run("report", str(DATA / "triton/matmul_sm89_64x64x32_w4_s2.cubin"))
    assert "spends 96 VGPRs (registers), LDS (shared memory) 0 static + 8192 dynamic bytes" in text
    assert "on sm_89: 128 threads = 4 waves (warps) of 32" in text
