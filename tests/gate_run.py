"""Commands run in this process, and rows for the tests of diff and gate."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import wavefit as wf
from wavefit.cli import main
from wavefit.gate.rows import Row, convert
from wavefit.report.document import Report

STORY = Path(__file__).parent / "data/gate/story"
EXAMPLES = Path(__file__).parent.parent / "examples/compiled"
HOSTILE = (
    "a\x00\x1b[31m\u202e\u2028b",
    "</testcase><x onload=alert(1)>&amp;]]>",
    "| cell | `code` ``` <b>bold</b> | @octocat #1 GH-1",
    "[link](https://example.com) ![i](x) <https://example.com> https://example.com www.example.com",
    "{0} {{1}} [text](0) \\[x](1)",
    "\ud800 half \ufffe \U000e0001",
    "x" * 5000,
    "',\"; DROP TABLE --",
)
"""Names as an attacker would choose them."""


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


def run(*args: str | Path, cwd: Path | None = None) -> Done:
    """`wavefit ARGS`, as `main` runs it."""
    here = Path.cwd()
    out, err = io.StringIO(), io.StringIO()
    try:
        os.chdir(cwd or here)
        with (
            mock.patch.object(sys, "argv", ["wavefit", *map(str, args)]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            main()
    except SystemExit as end:
        return Done(int(end.code or 0), out.getvalue(), err.getvalue())
    finally:
        os.chdir(here)
    raise AssertionError("main always exits")


def row(name: str = "k", *, chip: str = "gfx950", threads: int = 256, **spent: Any) -> Row:
    """A kernel that spends this, with its Fit."""
    nothing = dict.fromkeys(("agprs", "lds", "scratch", "vgpr_spills", "sgpr_spills"), 0)
    spent = {"vgprs": 64, "sgprs": 32, **nothing, **spent}
    spent.setdefault("total_vgprs", spent["vgprs"])
    kernel = wf.Kernel(target=chip, name=name, symbol=spent.pop("symbol", f"{name}.kd"), **spent)
    return convert(Report(((kernel, wf.fit(kernel, threads=threads)),), ()).to_dict()).kernels[0]


def saved(path: Path, names: tuple[str, ...] = HOSTILE) -> Path:
    """A report's file whose kernels have these names."""
    found = run("report", STORY / "main", "--json").document
    (kernel,) = found["kernels"]
    found["kernels"] = [
        {**kernel, "name": name, "symbol": name, "file": name, "member": name} for name in names
    ]
    path.write_text(json.dumps(found))
    return path
