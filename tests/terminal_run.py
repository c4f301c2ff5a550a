"""Every command as a user types it, on what the repository ships: here, or on a pseudo-terminal."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import isa_data
from wavefit.cli import main

ROOT = Path(__file__).parent.parent
MXFP8 = "examples/compiled/gemm_mxfp8_gfx950_128x256x128_w8.hsaco"
NCU = "tests/data/profiles/ncu-h200/ncu_details.csv.gz"
MFMA = "v_mfma_f32_16x16x32_bf16"
GEMM = ["--m", "4096", "--n", "4096", "--k", "4096"]
LOOP = "LOOP"
"""Stands for compiler's text with a loop, which needs no disassembler."""
BOUND = ["--vgprs", "100", "--sgprs", "92", "--lds", "13000", "--threads", "256"]
COMMANDS = {
    "fit": ["fit", "--chip", "MI355X", "--vgprs", "128", "--sgprs", "50", "--lds", "32K", "--threads", "256"],
    "fit-explain": ["fit", "--chip", "BW1000", *BOUND, "--explain"],
    "fit-nvidia": ["fit", "--chip", "H200", *BOUND[:2], *BOUND[4:], "--explain"],
    "fit-range": ["fit", "--chip", "RX 7900 XTX", "--vgprs", "100", "--lds", "16K"],
    "fit-not": ["fit", "--chip", "MI300X", "--vgprs", "300", "--threads", "1024"],
    "fit-view": ["fit", "--chip", "MI300X", *BOUND, "--view", "by-hand"],
    "fit-scratch": ["fit", "--chip", "MI100", *BOUND, "--scratch", "64", "--explain"],
    "report": ["report", MXFP8, "--chip", "MI355X", "--explain"],
    "report-all": ["report", "examples/compiled"],
    "report-cubin": ["report", "tests/data/nvidia/triton/matmul_sm89_64x64x32_w4_s2.cubin"],
    "report-targets": ["report", "tests/data/kernels/targets"],
    "survey": ["survey", "examples/compiled"],
    "views": ["views", "--chip", "MI300X", *BOUND],
    "views-file": ["views", MXFP8],
    "views-guide": ["views", "--chip", "MI355X", *BOUND],
    "chips": ["chips"],
    "chip": ["chips", "MI355X"],
    "chip-nvidia": ["chips", "H200"],
    "chips-rosetta": ["chips", "--rosetta"],
    "chips-check": ["chips", "--check"],
    "matrix": ["matrix", "MI355X"],
    "matrix-nvidia": ["matrix", "RTX 4090"],
    "matrix-one": ["matrix", "MI355X", "--instruction", "v_mfma_f32_16x16x128_f8f6f4"],
    "matrix-layout": ["matrix", "MI355X", "--instruction", "v_mfma_f32_16x16x128_f8f6f4", "--layout", "A"],
    "feed": ["feed", "--chip", "MI355X", "--instruction", MFMA, "--ilp", "1", "--waves", "1"],
    "feed-sweep": ["feed", "--chip", "MI355X", "--instruction", MFMA, "--sweep"],
    "feed-trap": ["feed", "--chip", "MI355X", "--instruction", MFMA, "--trap"],
    "feed-memory": [
        "feed", "--chip", "H200", "--memory", "--waves", "4", "--vector-bytes", "16", "--outstanding", "2",
    ],
    "feed-memory-sweep": ["feed", "--chip", "H200", "--memory"],
    "feed-roofline": ["feed", "--chip", "MI355X", "--roofline", "bf16", "--tile", "256x256"],
    "feed-measured": ["feed", "--chip", "MI355X", "--measured", "tests/data/feed/mfma_ilp_sweep.csv"],
    "confirm": ["confirm", NCU],
    "confirm-files": ["confirm", NCU, "--kernels", "examples/compiled"],
    "code": ["code", LOOP, "--chip", "MI355X", "--threads", "256", "--listing"],
    "advise": ["advise", LOOP, "--chip", "MI355X", "--threads", "256"],
    "tiles": ["tiles", "--chip", "MI300X", *GEMM, "--dtype", "bf16"],
    "order": ["order", "--chip", "MI300X", *GEMM],
    "diff": ["diff", "examples/compiled", "tests/data/kernels/targets"],
    "gate": ["gate", "examples/compiled", "occupancy > 0", "waves_per_simd >= 1"],
    "doctor": ["doctor"],
    "schema": ["schema"],
}  # fmt: skip
_RAN: dict[tuple[str, str], Ran] = {}
_ESCAPE = re.compile(r"\x1b\[[0-9;]*[mK]")


@dataclass(frozen=True)
class Ran:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def loop(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file for LOOP."""
    folder = tmp_path_factory.mktemp("loop")
    name = next(name for name in isa_data.FEED if "gfx950" in name)
    isa_data.unpacked("feed", name, folder)
    return str(folder / f"{name}.amdgcn")


class Here:
    """Commands in this process, from the repository's root."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], loop: str
    ) -> None:
        self._patch, self._capsys, self._loop = monkeypatch, capsys, loop
        for name in ("WAVEFIT_LANG", "LC_ALL", "LC_MESSAGES", "LANG", "NO_COLOR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.chdir(ROOT)

    def __call__(self, *args: str) -> Ran:
        self._patch.setattr(sys, "argv", ["wavefit", *(self._loop if arg == LOOP else arg for arg in args)])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = self._capsys.readouterr()
        return Ran(int(end.value.code or 0), out, err)

    def shown(self, name: str, language: str = "en") -> Ran:
        """One of COMMANDS in a language, run once for all tests."""
        if (name, language) not in _RAN:
            _RAN[name, language] = self(*COMMANDS[name], "--lang", language)
        return _RAN[name, language]


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], loop: str) -> Here:
    return Here(monkeypatch, capsys, loop)


def on_terminal(*args: str, **environment: str) -> str:
    """What a command shows on a pseudo-terminal of 80 columns, with its escape codes."""
    pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
    ours, theirs = pty.openpty()
    env = {
        key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "WAVEFIT_LANG", "LC_ALL")
    }
    env |= {"TERM": "xterm-256color", "COLUMNS": "80", "LANG": "C.UTF-8", **environment}
    with subprocess.Popen(
        [sys.executable, "-m", "wavefit", *args],
        cwd=ROOT,
        env=env,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ):
        os.close(theirs)
        shown = b""
        while True:
            try:
                read = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not read:
                break
            shown += read
    os.close(ours)
    return shown.decode("utf-8").replace("\r\n", "\n")


def without_codes(text: str) -> str:
    """The text without escape codes."""
    return _ESCAPE.sub("", text)
