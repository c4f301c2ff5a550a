"""Rules held against every kernel of a build, beside a baseline where there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wavefit.gate.budget import Budget
from wavefit.gate.evaluate import Case, holds
from wavefit.gate.fields import Value
from wavefit.gate.pairs import pair
from wavefit.gate.patterns import matches
from wavefit.gate.rows import Row
from wavefit.gate.rule import BadRule


@dataclass(frozen=True, slots=True)
class Check:
    """One rule on one kernel: held (True), broken (False), or not to be decided (None).

    `skipped` where the rule asks for a baseline that does not have the kernel.
    """

    budget: Budget
    row: Row
    before: Row | None
    held: bool | None
    values: Mapping[str, Value]
    skipped: bool = False

    @property
    def is_breach(self) -> bool:
        """A rule that cannot be decided is not kept."""
        return not self.held and not self.skipped


@dataclass(frozen=True, slots=True)
class Gate:
    """Every check, in the order of the kernels."""

    budgets: tuple[Budget, ...]
    kernels: int
    checks: tuple[Check, ...]

    @property
    def breaches(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if check.is_breach)

    @property
    def idle(self) -> tuple[Budget, ...]:
        """Budgets that cover no kernel: perhaps a pattern with a slip in it."""
        used = {id(check.budget) for check in self.checks}
        return tuple(budget for budget in self.budgets if id(budget) not in used)


def gate(budgets: Sequence[Budget], rows: Sequence[Row], baseline: Sequence[Row] | None = None) -> Gate:
    """Holds each budget against each kernel that it covers.

    Raises BadRule where a rule asks for a baseline and none is given, or for a pattern that is no
    regular expression or takes too long.
    """
    if baseline is None:
        for budget in budgets:
            if budget.rule.needs_baseline:
                raise BadRule(f"rule {budget.rule.text!r}: needs a baseline, and none is given")
    old = {id(each.after): each.before for each in pair(baseline or (), rows).pairs}
    cases = [Case(row, old.get(id(row))) for row in rows]
    asked = [(budget, case) for case in cases for budget in budgets if budget.covers(case.row)]
    met = [(pattern, case.value(field)) for budget, case in asked for field, pattern in budget.rule.matches()]
    found = matches((pattern for pattern, _ in met), (text for _, text in met if isinstance(text, str)))
    checks = (_check(budget, Case(case.row, case.before, found)) for budget, case in asked)
    return Gate(tuple(budgets), len(rows), tuple(checks))


def _check(budget: Budget, case: Case) -> Check:
    skipped = case.before is None and budget.rule.needs_baseline
    values = {str(field): case.value(field) for field in budget.rule.fields()}
    held = None if skipped else holds(budget.rule.tree, case)
    return Check(budget, case.row, case.before, held, values, skipped)
