"""`wavefit doctor` and `wavefit completion`: what is really here, and what a shell really completes."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.gate_run import run
from wavefit import environment

BIN = Path(sys.executable).parent


def test_doctor_says_what_importlib_and_the_path_say() -> None:
    found = run("doctor", "--json").document
    parts = {part["name"]: part for part in found["parts"]}
    assert found["wavefit"] == version("wavefit")
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    for name, part in parts.items():
        if part["kind"] == "package" and part["present"]:
            assert part["version"] == version(name)
        if part["kind"] == "program" and part["present"]:
            assert os.access(part["where"], os.X_OK)
    assert parts["triton"]["for"] == "wavefit[triton]"


def test_doctor_finds_a_program_and_asks_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "rocprofv3"
    program.write_text("#!/bin/sh\necho tool version: 7.1.0\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    part = next(part for part in environment.parts() if part.name == "rocprofv3")
    assert (part.present, part.version, part.where) == (True, "7.1.0", str(program))


def test_a_program_that_hangs_or_prints_junk_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "SECONDS", 0.2)
    for name, body in (("ncu", "sleep 5"), ("rocprofv3", r"printf '\377\376'; exit 3")):
        (tmp_path / name).write_text(
            f"#!/bin/sh\nexec {body}\n" if "sleep" in body else f"#!/bin/sh\n{body}\n"
        )
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    parts = {part.name: part for part in environment.parts()}
    assert (parts["ncu"].present, parts["ncu"].version) == (True, None)
    assert (parts["rocprofv3"].present, parts["rocprofv3"].version) == (True, None)


def test_gpus_are_those_of_the_drivers_own_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the kernel drivers write them: KFD's topology (a CPU is node 0), NVIDIA's information files."""
    for node, encoded in enumerate((0, 90500, 90010, 110000)):
        (tmp_path / f"kfd/{node}").mkdir(parents=True)
        text = f"cpu_cores_count 0\nsimd_count 1\ngfx_target_version {encoded}\n"
        (tmp_path / f"kfd/{node}/properties").write_text(text)
    (tmp_path / "nvidia/0000:01:00.0").mkdir(parents=True)
    (tmp_path / "nvidia/0000:01:00.0/information").write_text("Model: \t\t NVIDIA H200\nIRQ: 5\n")
    monkeypatch.setattr(environment, "KFD", tmp_path / "kfd")
    monkeypatch.setattr(environment, "NVIDIA", tmp_path / "nvidia")
    names = [part.name for part in environment.parts() if part.kind == "device"]
    assert names == ["gfx950", "gfx90a", "gfx1100", "NVIDIA H200"]


def test_a_machine_without_gpus_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "KFD", tmp_path / "none")
    monkeypatch.setattr(environment, "NVIDIA", tmp_path / "none")
    (device,) = [part for part in environment.parts() if part.kind == "device"]
    assert not device.present


SHELLS = ("bash", "zsh", "fish")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_one_its_shell_accepts(shell: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(run("completion", shell).out)
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} here")
    done = subprocess.run([program, "-n", str(script)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def completed(words: str, at: int) -> set[str]:
    """What bash offers, by the script's own call of the program."""
    env = {**os.environ, "COMP_WORDS": words, "COMP_CWORD": str(at), "_WAVEFIT_COMPLETE": "bash_complete"}
    done = subprocess.run([BIN / "wavefit"], capture_output=True, text=True, env=env, timeout=60)
    return {line.partition(",")[2] for line in done.stdout.splitlines()}


def test_commands_and_options_are_completed() -> None:
    assert {"diff", "doctor"} <= completed("wavefit d", 1)
    assert "fit" not in completed("wavefit d", 1)
    assert {"--baseline", "--budget"} <= completed("wavefit gate build --b", 3)
    assert completed("wavefit fit --mode ", 3) == {"cu", "wgp"}
