"""docs/en/howto/gate.md, run: the kernel is what the compiler makes, and the commands print what it shows."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import llvmlite.binding as llvm
import pytest

import wavefit as wf
from tests import blocks
from tests.gate_run import STORY, run
from tests.gate_story import AHEAD, compile_kernel
from wavefit.gate.budget import read
from wavefit.gate.parser import parse

PAGE = blocks.ROOT / "docs/en/howto/gate.md"
TEXT = PAGE.read_text(encoding="utf-8")
SHOWN = [block.text.partition("\n") for block in blocks.blocks(PAGE) if block.kind == "console"]
COMMANDS = [first.removeprefix("$ wavefit ") for first, _, _ in SHOWN]
VGPRS = {"main": 96, "change": 105}


@pytest.mark.parametrize("build", AHEAD)
def test_the_kernel_is_what_llvm_makes_of_it(build: str) -> None:
    if llvm.llvm_version_info[0] != 22:
        pytest.skip(f"compiled by LLVM 22; this is LLVM {llvm.llvm_version_info[0]}")
    assert compile_kernel(AHEAD[build]) == (STORY / build / "tile_sum.o").read_bytes()


@pytest.mark.parametrize("build", AHEAD)
def test_llvm_prints_the_registers_that_the_story_tells(build: str) -> None:
    """The compiler's own count, from the assembly it writes for the same source."""
    from tests.gate_story import source

    machine = llvm.Target.from_triple("amdgcn-amd-amdhsa").create_target_machine(cpu="gfx950", opt=2)
    machine.set_asm_verbosity(True)
    text = machine.emit_assembly(llvm.parse_assembly(source(AHEAD[build])))
    printed = re.search(r"^; NumVgprs: (\d+)", text, re.MULTILINE)
    occupancy = re.search(r"^; Occupancy: (\d+)", text, re.MULTILINE)
    assert printed is not None
    assert occupancy is not None
    (kernel,) = wf.kernels(STORY / build / "tile_sum.o")
    assert isinstance(kernel, wf.Kernel)
    assert kernel.total_vgprs == int(printed[1]) == VGPRS[build]
    fit = wf.fit(kernel)
    assert isinstance(fit, wf.Fit)
    assert fit.waves_per_simd == int(occupancy[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORY, tmp_path / "story"))


def test_the_story_has_its_three_commands() -> None:
    """What they print is held against the page by test_docs.py."""
    assert [command.split()[0] for command in COMMANDS] == ["diff", "gate", "gate"]


def test_the_saved_baseline_tells_the_same_story(folder: Path) -> None:
    (folder / "main.json").write_text(run("report", "main", "--json", cwd=folder).out)
    by_build, by_file = (
        run("gate", "change", "waves_per_simd >= baseline", "--baseline", baseline, cwd=folder)
        for baseline in ("main", "main.json")
    )
    assert by_build == by_file
    assert by_build.code == 1


def test_the_sarif_of_the_story_opens(folder: Path) -> None:
    """As code scanning opens it: the file it points at is there, relative to where the build ran."""
    command = next(command for command in COMMANDS if "--sarif" in command)
    run(*shlex.split(command), cwd=folder)
    log = json.loads((folder / "wavefit.sarif").read_text())
    (only,) = log["runs"][0]["results"]
    uri = only["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert (folder / uri).read_bytes() == (STORY / "change/tile_sum.o").read_bytes()
    assert "total_vgprs 96 -> 105" in only["message"]["text"]


def test_every_rule_that_the_docs_show_is_a_rule() -> None:
    table = TEXT.split("## Rules")[1].split("Fields of the kernel")[0]
    rules = re.findall(r"`([^`]+ (?:[<>=!]=?|=~|->) [^`]+|not [^`]+)`", table)
    assert len(rules) >= 9
    for rule in rules:
        parse(rule)
    budget = re.search(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    assert budget is not None
    assert len(read(budget[1].encode(), "docs")) == 4


def test_every_field_that_the_docs_name_is_a_field() -> None:
    from wavefit.gate.fields import RESOURCES, fields

    said = TEXT.split("Fields of the kernel")[1].split("Over a range")[0]
    named = set(re.findall(r"`([a-z_]+)`", said))
    of_limits = {name.split(".")[2] for name in fields() if name.startswith("limits.")}
    assert named <= set(fields()) | of_limits
    assert {name for name in fields() if "." not in name} <= named
    assert {f"slack.{resource}" for resource in RESOURCES} <= set(fields())
