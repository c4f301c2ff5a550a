"""What a gate found, as text and as one document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wavefit.gate.check import Check, Gate
from wavefit.gate.diff import SPENT, Cliff, changes, cliffs
from wavefit.gate.rows import Answer
from wavefit.report.diff import cliff_json, kernel, moved, shown
from wavefit.report.language import counted, retold, say
from wavefit.report.names import printable
from wavefit.report.paint import on_terminal, paint
from wavefit.report.rows import Build
from wavefit.report.wrap import hung

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
    """One line a breach (wrapped on a terminal only); then how much was checked."""
    for breach in gate.breaches:
        line = breach_line(breach)
        yield from (paint(part, "poor") for part in (hung("", line, hang=4) if on_terminal() else [line]))
    broken, skipped = len(gate.breaches), sum(check.skipped for check in gate.checks)
    text = say(
        "{kernels}, {checks}: {result}", kernels=counted(gate.kernels, "kernel"),
        checks=counted(len(gate.checks), "check"),
        result=say("{number} broken", number=broken) if broken else say("all kept"),
    )  # fmt: skip
    if skipped:
        text += say(", {number} skipped: not in the baseline", number=skipped)
    yield paint(text, "broken" if broken else "good")


def notes(gate: Gate) -> Iterator[str]:
    """What a person should know of a gate that says nothing about a kernel."""
    for pattern in dict.fromkeys(budget.kernels for budget in gate.idle):
        yield say("no kernel matches the budget's pattern {pattern}", pattern=repr(printable(pattern)))


def breach_line(check: Check) -> str:
    """File, kernel, rule, reason: one line however long, as compilers write them and editors read them."""
    place, name = printable(check.row.place, longest=500), printable(check.row.name)
    return f"{place}: {name}: {printable(check.budget.rule.text)}: {reason(check)}"


def reason(check: Check) -> str:
    """The values that broke the rule; where it is about waves, what took them and what gives them back."""
    tested = {field for field, _ in check.budget.rule.matches()}
    values = {str(f): check.values[str(f)] for f in check.budget.rule.fields() if f not in tested}
    parts = [say("{name} is {value}", name=name, value=shown(value)) for name, value in values.items()]
    if check.held is None:
        parts.insert(0, say("cannot be decided"))
    answer = check.row.answer
    if answer is not None and any(name in _OF_WAVES for name in values):
        parts += _about_waves(check, answer)
    return "; ".join(parts) or say("does not hold")


def crossed(check: Check) -> tuple[Cliff, ...]:
    """The cliffs between the baseline and now."""
    return () if check.before is None else tuple(cliffs(check.before, check.row))


def _about_waves(check: Check, answer: Answer) -> Iterator[str]:
    if answer.why:
        yield printable(say("cannot launch: {why}", why=retold(answer.why)), longest=500)
    elif answer.binding:
        yield say("bound by {what}", what=printable(say(" and ").join(answer.binding)))
    if check.before is not None:
        yield from map(moved, changes(check.before, check.row, SPENT))
    yield from (printable(retold(str(cliff))) for cliff in crossed(check) if cliff.binds)
    for step in answer.next_steps[:1]:
        steps = (f"{change.resource} {change.from_} -> {change.to}" for change in step.changes)
        text = say(
            "next: {steps} gives {waves} waves a {unit}, {share} %", steps=say(" and ").join(steps),
            waves=step.waves, unit=answer.unit, share=f"{step.occupancy * 100:.4g}",
        )  # fmt: skip
        yield printable(text)
