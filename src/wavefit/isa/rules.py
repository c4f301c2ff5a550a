"""What an instruction does, looked up by its mnemonic in `data/rules.csv`."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from wavefit.isa.registers import special

KINDS = (
    "matrix", "valu", "salu", "scalar", "vector", "image", "lds", "wait", "barrier", "branch", "jump",
    "call", "end", "nop", "control", "export", "padding", "unknown",
)  # fmt: skip
"""Classes of instructions. `scalar`, `vector`, `image` and `lds` touch memory; `unknown` is not guessed."""

_SUFFIX = re.compile(r"(?:_e32|_e64|_sdwa|_dpp8?|_vopd|_gfx\w+|_vi)+$")


@dataclass(frozen=True, slots=True)
class Rule:
    """One row: the class, how many leading operands are written, which keep a part, what is implied."""

    kind: str
    defs: int
    keeps: tuple[int, ...]
    reads: int
    writes: int
    space: str
    action: str


UNKNOWN = Rule("unknown", 0, (), 0, 0, "", "")


def bare(mnemonic: str) -> str:
    """The mnemonic without the suffix of its encoding: `v_add_f32` of `v_add_f32_e32`."""
    return _SUFFIX.sub("", mnemonic)


@lru_cache(maxsize=1 << 14)
def rule(name: str, target: str) -> Rule:
    """The rule of a bare mnemonic on a target; UNKNOWN where no row says anything."""
    for match, targets, found in _rows():
        if match.fullmatch(name) and (targets is None or targets.fullmatch(target)):
            return found
    return UNKNOWN


@lru_cache(maxsize=1)
def _rows() -> tuple[tuple[re.Pattern[str], re.Pattern[str] | None, Rule], ...]:
    text = files("wavefit.isa").joinpath("data", "rules.csv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return tuple(
        (
            re.compile(row["match"]),
            re.compile(row["targets"]) if row["targets"] else None,
            Rule(
                kind=row["kind"],
                defs=int(row["defs"]),
                keeps=tuple(map(int, row["keeps"].split())),
                reads=special(row["reads"]),
                writes=special(row["writes"]),
                space=row["space"],
                action=row["action"],
            ),
        )
        for row in csv.DictReader(lines)
    )
