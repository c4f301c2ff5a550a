"""Every command of the README runs and prints what the README shows."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"```console\n\$ wavefit (.+)\n((?:.*\n)*?)```", README)


@pytest.mark.parametrize(("command", "shown"), SHOWN, ids=[command[:40] for command, _ in SHOWN])
def test_the_shown_output_is_real(command: str, shown: str) -> None:
    command, _, lines = command.partition(" | head -")
    done = subprocess.run(
        [sys.executable, "-m", "wavefit", *shlex.split(command)],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, "COLUMNS": "80"}, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines(keepends=True)
    assert "".join(printed[: int(lines)] if lines else printed) == shown


def test_the_python_block_runs_and_says_what_its_comments_say(monkeypatch: pytest.MonkeyPatch) -> None:
    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert block is not None
    space: dict[str, object] = {}
    monkeypatch.chdir(ROOT)
    exec(block[1], space)
    fit = space["fit"]
    assert (fit.workgroups, fit.waves_per_simd, fit.binding) == (4, 4, ("vgpr", "lds"))  # type: ignore[attr-defined]


def test_make_demo_is_the_first_command_shown() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    kernel = re.search(r"^KERNEL := (\S+)", makefile, re.MULTILINE)
    assert kernel is not None
    assert f"report {kernel[1]} --chip MI355X --explain" == SHOWN[0][0]
