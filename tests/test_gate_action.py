"""The GitHub Action and the pre-commit hook: valid by their makers' own checkers, and their commands run."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.gate_run import STORY

ROOT = Path(__file__).parent.parent
ACTION = ROOT / "action.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
BIN = Path(sys.executable).parent


def shell(command: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A step as the runner starts it: bash that ends at the first error."""
    given = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **env}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", command],
        capture_output=True, text=True, cwd=cwd, env=given, timeout=120,
    )  # fmt: skip


@pytest.fixture(scope="module")
def action() -> Any:
    return yaml.safe_load(ACTION.read_text())


def step(action: Any, name: str) -> Any:
    return next(step for step in action["runs"]["steps"] if step["name"] == name)


def given(action: Any, of: Any, **inputs: str) -> dict[str, str]:
    """The step's environment with these inputs, the others at their defaults."""
    values = {key: str(said.get("default", "")) for key, said in action["inputs"].items()} | inputs
    return {
        key: values[text.removeprefix("${{ inputs.").removesuffix(" }}")] for key, text in of["env"].items()
    }


def test_the_action_is_valid_by_its_schema() -> None:
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.github-actions",
        str(ACTION),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_input_is_pasted_into_a_script(action: Any) -> None:
    for each in action["runs"]["steps"]:
        assert "${{" not in each["run"], each["name"]


def test_the_gate_step_fails_with_the_reason_and_leaves_sarif(action: Any, tmp_path: Path) -> None:
    gate = step(action, "Gate")
    rules = "waves_per_simd >= baseline\n\nvgpr_spills == 0\n"
    inputs = {
        "path": str(STORY / "change"),
        "rules": rules,
        "baseline": str(STORY / "main"),
        "chip": "MI355X",
    }
    done = shell(gate["run"], tmp_path, GITHUB_OUTPUT=str(tmp_path / "out"), **given(action, gate, **inputs))
    assert done.returncode == 1, done.stderr
    assert "1 kernel, 2 checks: 1 broken" in done.stdout
    assert "past 97" in done.stdout
    assert (tmp_path / "out").read_text() == "sarif=wavefit.sarif\n"
    assert "waves_per_simd" in (tmp_path / "wavefit.sarif").read_text()


def test_the_gate_step_passes_what_keeps_its_rules(action: Any, tmp_path: Path) -> None:
    gate = step(action, "Gate")
    inputs = {"path": str(STORY / "main"), "rules": "-vgprs < 0"}
    done = shell(gate["run"], tmp_path, GITHUB_OUTPUT=str(tmp_path / "out"), **given(action, gate, **inputs))
    assert (done.returncode, done.stdout) == (0, "1 kernel, 1 check: all kept\n")


def test_an_input_cannot_run_a_command(action: Any, tmp_path: Path) -> None:
    gate, diff = step(action, "Gate"), step(action, "What changed")
    evil = f'"; touch {tmp_path}/owned; $(touch {tmp_path}/owned) `touch {tmp_path}/owned`'
    inputs = dict.fromkeys(("path", "rules", "budget", "baseline", "chip"), evil)
    for each, said in ((gate, {"GITHUB_OUTPUT": "out"}), (diff, {"GITHUB_STEP_SUMMARY": "summary"})):
        done = shell(each["run"], tmp_path, **said, **given(action, each, **inputs))
        assert done.returncode == 2
    assert not (tmp_path / "owned").exists()


def test_the_summary_is_the_diff(action: Any, tmp_path: Path) -> None:
    diff = step(action, "What changed")
    env = given(action, diff, path=str(STORY / "change"), baseline=str(STORY / "main"))
    done = shell(diff["run"], tmp_path, GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"), **env)
    assert done.returncode == 0, done.stderr
    assert "| worse |" in (tmp_path / "summary.md").read_text()


def test_the_install_step_installs_this_checkout(action: Any, tmp_path: Path) -> None:
    """With a stand-in for pip that writes down what it is asked."""
    fake = tmp_path / "python3"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > asked\n')
    fake.chmod(0o755)
    run = step(action, "Install wavefit")["run"]
    done = shell(f'PATH="{tmp_path}:$PATH"\n{run}', tmp_path, REQUIREMENT=str(ROOT))
    assert done.returncode == 0, done.stderr
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[:3] == ["-m", "pip", "install"]
    assert asked[-1] == str(ROOT)
    assert (ROOT / "pyproject.toml").exists()


def test_the_hook_is_valid_by_pre_commit() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", str(HOOKS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("rule", "code", "says"), [("vgprs < 100", 1, "vgprs is 105"), ("vgprs > 0", 0, "")])
def test_pre_commit_runs_the_hook(tmp_path: Path, rule: str, code: int, says: str) -> None:
    """The hook as it is, but for its language: no environment is built, the command is this one."""
    (hook,) = yaml.safe_load(HOOKS.read_text())
    (tmp_path / "build").mkdir()
    (tmp_path / "build/k.o").write_bytes((STORY / "change/tile_sum.o").read_bytes())
    local = {**hook, "language": "system", "args": ["build", rule]}
    config = {"repos": [{"repo": "local", "hooks": [local]}]}
    (tmp_path / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    commands = ("git init -q .", "git add .", f"{shlex.quote(sys.executable)} -m pre_commit run --all-files")
    done = shell(
        "\n".join(commands), tmp_path, PRE_COMMIT_HOME=str(tmp_path / "home"), GIT_CONFIG_GLOBAL=os.devnull
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert "wavefit gate" in done.stdout
    assert "no files to check" not in done.stdout
    assert says in done.stdout
