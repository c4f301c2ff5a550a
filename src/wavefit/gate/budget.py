"""Budgets: which rules hold for which kernels, from the command line and from a TOML file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from wavefit.gate.parser import parse
from wavefit.gate.rows import Row
from wavefit.gate.rule import BadRule, Rule

EVERY = "*"


class BadBudget(ValueError):
    """A budget file that cannot be used. One line: file, place, cause."""


@dataclass(frozen=True, slots=True)
class Budget:
    """One rule for the kernels whose name matches a pattern of `*`, `?` and `[...]`."""

    rule: Rule
    kernels: str = EVERY

    def covers(self, row: Row) -> bool:
        """Whether it is about this kernel."""
        return self.kernels == EVERY or fnmatchcase(row.name, self.kernels)


def plain(rules: Iterable[str]) -> list[Budget]:
    """Rules for every kernel, as the command line gives them. Raises BadRule."""
    return [Budget(parse(rule)) for rule in rules]


def read(content: bytes, name: str) -> list[Budget]:
    """The budgets of a TOML file. Raises BadBudget.

        [rules]
        "*" = ["vgpr_spills == 0"]
        "gemm_*" = ["total_vgprs <= 128", "waves_per_simd >= baseline"]

    Every pattern that covers a kernel counts, not only the first.
    """
    table = _toml(content, name)
    rules = table.pop("rules", None)
    if table or not isinstance(rules, dict) or not rules:
        extra = f"; there is {', '.join(sorted(table))}" if table else ""
        raise BadBudget(f"{name}: needs one table [rules], from kernel patterns to lists of rules{extra}")
    found = []
    for pattern, texts in rules.items():
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise BadBudget(f"{name}: rules.{pattern!r} is not a list of rules")
        try:
            found += [Budget(parse(text), pattern) for text in texts]
        except BadRule as why:
            raise BadBudget(f"{name}: rules.{pattern!r}: {why}") from None
    return found


def _toml(content: bytes, name: str) -> dict[str, Any]:
    from wavefit.toml import loads

    try:
        return loads(content.decode())
    except RecursionError:
        raise BadBudget(f"{name}: nested too deep") from None
    except ValueError as why:  # not TOML, or not UTF-8
        raise BadBudget(f"{name}: {why}") from None
