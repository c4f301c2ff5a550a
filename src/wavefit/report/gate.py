"""What a gate found, as text and as one document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wavefit.gate.check import Check, Gate
from wavefit.gate.diff import SPENT, Cliff, changes, cliffs
from wavefit.gate.rows import Answer
from wavefit.report.diff import cliff_json, kernel, moved, shown
from wavefit.report.names import counted, printable
from wavefit.report.rows import Build

Json = dict[str, Any]

_OF_WAVES = frozenset(("occupancy", "waves", "waves_per_simd", "workgroups"))


def gate_document(gate: Gate, build: Build, baseline: str | None) -> Json:
    """The document `wavefit.gate/1`."""
    idle = gate.idle
    return {
        "schema": "wavefit.gate/1",
        "path": build.path,
        "baseline": baseline,
        "passed": not gate.breaches,
        "kernels": gate.kernels,
        "checks": len(gate.checks),
        "skipped": sum(check.skipped for check in gate.checks),
        "rules": [
            {"rule": budget.rule.text, "kernels": budget.kernels, "covers_none": budget in idle}
            for budget in gate.budgets
        ],
        "breaches": [_breach(check) for check in gate.breaches],
        "errors": list(build.errors),
    }


def _breach(check: Check) -> Json:
    return {
        **kernel(check.row),
        "rule": check.budget.rule.text,
        "kernels": check.budget.kernels,
        "undecided": check.held is None,
        "values": dict(check.values),
        "cliffs": [cliff_json(cliff) for cliff in crossed(check)],
        "reason": reason(check),
    }


def gate_lines(gate: Gate) -> Iterator[str]:
    """One line a breach; then how much was checked."""
    yield from map(breach_line, gate.breaches)
    broken, skipped = len(gate.breaches), sum(check.skipped for check in gate.checks)
    new = f", {skipped} skipped: not in the baseline" if skipped else ""
    what = f"{counted(gate.kernels, 'kernel')}, {counted(len(gate.checks), 'check')}"
    yield f"{what}: {f'{broken} broken' if broken else 'all kept'}{new}"


def notes(gate: Gate) -> Iterator[str]:
    """What a person should know of a gate that says nothing about a kernel."""
    for pattern in dict.fromkeys(budget.kernels for budget in gate.idle):
        yield f"no kernel matches the budget's pattern {printable(pattern)!r}"


def breach_line(check: Check) -> str:
    """File, kernel, rule, reason."""
    place, name = printable(check.row.place, longest=500), printable(check.row.name)
    return f"{place}: {name}: {printable(check.budget.rule.text)}: {reason(check)}"


def reason(check: Check) -> str:
    """The values that broke the rule; where it is about waves, what took them and what gives them back."""
    tested = {field for field, _ in check.budget.rule.matches()}
    values = {str(f): check.values[str(f)] for f in check.budget.rule.fields() if f not in tested}
    parts = [f"{name} is {shown(value)}" for name, value in values.items()]
    if check.held is None:
        parts.insert(0, "cannot be decided")
    answer = check.row.answer
    if answer is not None and any(name in _OF_WAVES for name in values):
        parts += _about_waves(check, answer)
    return "; ".join(parts) or "does not hold"


def crossed(check: Check) -> tuple[Cliff, ...]:
    """The cliffs between the baseline and now."""
    return () if check.before is None else tuple(cliffs(check.before, check.row))


def _about_waves(check: Check, answer: Answer) -> Iterator[str]:
    if answer.why:
        yield printable(f"cannot launch: {answer.why}", longest=500)
    elif answer.binding:
        yield f"bound by {printable(' and '.join(answer.binding))}"
    if check.before is not None:
        yield from map(moved, changes(check.before, check.row, SPENT))
    yield from (printable(str(cliff)) for cliff in crossed(check) if cliff.binds)
    for step in answer.next_steps[:1]:
        steps = " and ".join(f"{change.resource} {change.from_} -> {change.to}" for change in step.changes)
        yield printable(
            f"next: {steps} gives {step.waves} waves a {answer.unit}, {step.occupancy * 100:.4g} %"
        )
