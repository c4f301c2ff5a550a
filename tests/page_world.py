"""Reports for the tests of the page: hostile ones, large ones, and the half of pack.py that unpacks."""

from __future__ import annotations

import base64
import gzip
import json
import random
import re
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import wavefit as wf
from wavefit.kernels import BadFile
from wavefit.report.build import build
from wavefit.report.document import Report

EXAMPLES = Path(__file__).parents[1] / "examples" / "compiled"
HOSTILE = {
    "script": "<script>document.title = 'taken'</script>",
    "ends": '</script><img src=x onerror="document.title=1">',
    "attribute": "\" onmouseover='alert(1)' x=\"",
    "long": "L" * 65536,
    "turned": "safe\u202egpj.exe\u2066\u200f",
    "control": "a\x00b\x1b[31m\r\n",
    "braces": "{amount} {why} ${1}",
    "lone": "\ud800x",
    "entity": "&lt;b&gt;&amp;",
}
"""Kernel names that nobody should believe."""


@cache
def examples() -> Report:
    """The shipped kernels."""
    return build([str(EXAMPLES)])


@cache
def hostile() -> Report:
    """A kernel for each hostile name, in a file and a member of that name, with errors to match."""
    found = []
    for name in HOSTILE.values():
        kernel = wf.Kernel(
            "gfx950", name=name, symbol=name, file=name, member=name, vgprs=96, agprs=0, total_vgprs=96,
            sgprs=40, lds=4096, max_threads=256, notes=(name[:400],),
        )  # fmt: skip
        found.append((kernel, wf.fit(kernel)))
    errors = tuple(BadFile(name[:500], name[:500], 16, name[:500]) for name in HOSTILE.values())
    return Report(tuple(found), errors)


@cache
def many(count: int) -> Report:
    """Kernels with long names like those of a GEMM library, of a few hundred kinds."""
    pick = random.Random(8)
    kinds = [
        {
            "target": pick.choice(("gfx950", "gfx942", "gfx90a")), "total_vgprs": pick.randrange(16, 256),
            "sgprs": pick.randrange(16, 100), "lds": pick.choice((0, pick.randrange(1, 65536))),
            "max_threads": pick.choice((256, 512)), "vgpr_spills": pick.choice((0, 0, 0, 7)),
        }
        for _ in range(300)
    ]  # fmt: skip
    made = []
    for number in range(count):
        size = "x".join(str(pick.choice((16, 32, 64, 128, 256))) for _ in range(3))
        options = f"SN_LDSB{pick.randrange(2)}_AFC1_WG{pick.randrange(64)}"
        name = f"Cijk_Ailk_Bljk_HHS_BH_Bias_MT{size}_{options}_{number}"
        kind = pick.choice(kinds)
        kernel = wf.Kernel(
            **kind, name=name, symbol=name + ".kd", file=f"lib/library_{number % 40}.co", sgpr_spills=0
        )
        made.append((kernel, fitted(tuple(kind.items()))))
    return Report(tuple(made), ())


@cache
def fitted(kind: tuple[tuple[str, Any], ...]) -> wf.Fit:
    """The Fit of a kind, computed once."""
    found = wf.fit(wf.Kernel(**dict(kind), file="-"))
    assert isinstance(found, wf.Fit)
    return found


def unpacked(text: str) -> Any:
    """The document of a page or of compressed data: written from pack.py's description, not from its code."""
    held = re.search(r'id="data">([^<]*)<', text)
    packed = json.loads(gzip.decompress(base64.b64decode(held[1] if held else text)))

    columns = [
        [
            column if kind is None else summed(column)
            for kind, column in zip(table["kinds"], table["columns"], strict=True)
        ]
        for table in packed["tables"]
    ]

    def value(kind: Any, cell: Any) -> Any:
        if cell is None or kind is None:
            return cell
        sort, number = kind
        if sort == "t":
            return packed["texts"][number][cell]
        if sort == "l":
            pool = packed["lists"][number]
            return [value(pool["kind"], each) for each in pool["items"][cell]]
        return row(number, cell)

    @cache
    def row(number: int, at: int) -> Any:
        table = packed["tables"][number]
        cells = (column[at] for column in columns[number])
        return {
            key: value(kind, cell)
            for key, kind, cell in zip(table["keys"], table["kinds"], cells, strict=True)
        }

    return row(*packed["root"])


def summed(steps: list[int | None]) -> list[int | None]:
    """References from the distances between them."""
    totals = accumulate(step or 0 for step in steps)
    return [None if step is None else total for step, total in zip(steps, totals, strict=True)]
