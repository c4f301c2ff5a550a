"""A gate's breaches as SARIF 2.1.0, which code-scanning services read."""

from __future__ import annotations

import hashlib
import os
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from wavefit.gate.budget import EVERY, Budget
from wavefit.gate.check import Check, Gate
from wavefit.report.gate import reason
from wavefit.report.names import printable
from wavefit.report.rows import Build

Json = dict[str, Any]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
HELP = (
    "The message says what the kernel spends, which resource binds, and the next step that gains waves. "
    "wavefit report FILE --explain shows the arithmetic, each constant with its source."
)


def sarif(gate: Gate, build: Build) -> Json:
    """One run: a rule for each budget, a result for each breach, a notification for what was not read."""
    budgets = list({rule_id(budget): budget for budget in gate.budgets}.values())
    index = {rule_id(budget): at for at, budget in enumerate(budgets)}
    driver = {
        "name": "wavefit",
        "version": version("wavefit"),
        "rules": [_rule(budget) for budget in budgets],
    }
    notices = [{"level": "warning", "message": _message(error)} for error in build.errors]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notices}],
                "results": [_result(check, index) for check in gate.breaches],
            }
        ],
    }


def rule_id(budget: Budget) -> str:
    """The rule as written, after the pattern of the kernels it is for."""
    where = "" if budget.kernels == EVERY else f"{budget.kernels}: "
    return printable(where + budget.rule.text)


def _rule(budget: Budget) -> Json:
    every = "Every kernel" if budget.kernels == EVERY else f"Every kernel named {budget.kernels}"
    return {
        "id": rule_id(budget),
        "shortDescription": _message(f"{every} keeps {budget.rule.text}"),
        "fullDescription": _message(f"{every} keeps {budget.rule.text}: a rule of `wavefit gate`"),
        "help": {"text": HELP},
        "defaultConfiguration": {"level": "error"},
    }


def _result(check: Check, index: dict[str, int]) -> Json:
    row, rule = check.row, rule_id(check.budget)
    name, whole = printable(row.name), "::".join(filter(None, (row.member, row.symbol or row.name)))
    same = "\0".join((rule, row.target, row.symbol or row.name, os.path.basename(row.file), row.member or ""))
    return {
        "ruleId": rule,
        "ruleIndex": index[rule],
        "level": "error",
        "message": _message(f"{row.name}: {check.budget.rule.text}: {reason(check)}"),
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": uri(row.file)}, "region": {"startLine": 1}},
                "logicalLocations": [
                    {"name": name, "fullyQualifiedName": printable(whole), "kind": "function"}
                ],
            }
        ],
        "partialFingerprints": {
            "wavefit/v1": hashlib.sha256(same.encode("utf-8", "surrogatepass")).hexdigest()
        },
        "properties": {"target": printable(row.target), "undecided": check.held is None},
    }


def uri(path: str) -> str:
    """A file as a URI: relative to here where it is below, as code-scanning services ask."""
    here, absolute = os.path.join(os.getcwd(), ""), os.path.abspath(path)
    if absolute.startswith(here):
        return _quoted(absolute[len(here) :])
    return "file://" + "/" * (os.sep != "/") + _quoted(absolute)


def _quoted(path: str) -> str:
    """A path's own bytes; of a name that no file system gave, whatever bytes it has."""
    plain = path.replace(os.sep, "/")
    try:
        return quote(plain.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return quote(plain.encode("utf-8", "surrogatepass"))


def _message(text: str) -> Json:
    """Plain text: braces doubled (they mark placeholders), and no `](` of a link."""
    plain = printable(text, longest=2000).replace("{", "{{").replace("}", "}}")
    return {"text": plain.replace("](", "] (")}
