"""Every command of the README runs and prints what the README shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import blocks

ROOT = blocks.ROOT
README = ROOT / "README.md"


@pytest.mark.parametrize("name", [path.name for path in sorted(ROOT.glob("README*.md"))])
def test_what_it_shows_is_what_the_commands_print(name: str, tmp_path: Path) -> None:
    session = blocks.Session(tmp_path)
    found = [block for block in blocks.blocks(ROOT / name) if not block.heavy]
    assert len(found) >= 8
    for block in found:
        assert session.replay(block) == block.text, block.place


def test_the_python_block_says_what_its_comments_say(tmp_path: Path) -> None:
    session = blocks.Session(tmp_path)
    (block,) = [block for block in blocks.blocks(README) if block.kind == "python"]
    session.replay(block)
    fit = session.space["fit"]
    assert (fit.workgroups, fit.waves_per_simd, fit.binding) == (4, 4, ("vgpr", "lds"))


def test_make_demo_is_the_first_command_shown() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    kernel = re.search(r"^KERNEL := (\S+)", makefile, re.MULTILINE)
    assert kernel is not None
    first = blocks.blocks(README)[0].text.splitlines()[0]
    assert first == f"$ wavefit report {kernel[1]} --chip MI355X --explain"
