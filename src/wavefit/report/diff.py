"""Two builds side by side, as text, as Markdown for a pull request, and as one document."""

from __future__ import annotations

from typing import Any

from wavefit.gate.diff import Cliff, Diff, Difference, Moved
from wavefit.gate.fields import Value, value
from wavefit.gate.rows import Row
from wavefit.report.language import counted, retold, say
from wavefit.report.names import printable
from wavefit.report.paint import paint
from wavefit.report.rows import Build
from wavefit.report.wrap import hung, listed, pad

Json = dict[str, Any]

MOST_ROWS = 50
"""Of a Markdown table: GitHub cuts a comment at 65,536 characters."""
_VERDICT = 9
_INDENT = " " * 10
COLOURS = {
    "broken": "broken", "worse": "poor", "better": "good", "cheaper": "good", "costlier": "fair",
    "changed": "fair",
}  # fmt: skip
"""Of each verdict of a diff."""
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;=+-/%")


def diff_document(diff: Diff, before: Build, after: Build) -> Json:
    """The document `wavefit.diff/1`."""
    return {
        "schema": "wavefit.diff/1",
        "before": before.path,
        "after": after.path,
        "changed": [_difference(each) for each in diff.changed],
        "unchanged": diff.unchanged,
        "added": [kernel(row) for row in diff.added],
        "removed": [kernel(row) for row in diff.removed],
        "errors": {"before": list(before.errors), "after": list(after.errors)},
    }


def kernel(row: Row) -> Json:
    """Which kernel, and where it is."""
    keys = ("name", "symbol", "file", "member", "target")
    return {key: getattr(row, key) for key in keys}


def cliff_json(cliff: Cliff) -> Json:
    """One cliff: the resource, what it asks, the edge between, and what it alone admits."""
    return {
        "resource": cliff.resource,
        "from": cliff.before,
        "to": cliff.after,
        "edge": cliff.edge,
        "waves_per_simd": list(cliff.waves_per_simd),
        "binds": cliff.binds,
    }


def _difference(of: Difference) -> Json:
    return {
        **kernel(of.after),
        "was": kernel(of.before),
        "matched_by": of.how,
        "verdict": of.verdict,
        "moved": [{"field": m.field, "before": m.before, "after": m.after} for m in of.moved],
        "cliffs": [cliff_json(cliff) for cliff in of.cliffs],
    }


def diff_text(diff: Diff) -> str:
    """A count, then a paragraph for each kernel that changed, the most harm first."""
    lines = [paint(line, "strong") for line in hung("", summary(diff))]
    for each in diff.changed:
        told_by = "" if each.how == "symbol" else say(", matched by {how}", how=say(each.how))
        head = f"{pad(say(each.verdict), _VERDICT)} "
        lines.append("")
        lines += [paint(line, COLOURS[each.verdict]) for line in hung(head, _titled(each.after, told_by))]
        lines += hung(" " * len(_INDENT), listed(map(moved, each.moved)))
        lines += [line for cliff in each.cliffs for line in hung(_INDENT, mark(cliff), hang=12)]
    for word, rows in (("new", diff.added), ("gone", diff.removed)):
        lines += [""] * bool(rows)
        for row in rows:
            lines += hung(f"{pad(say(word), _VERDICT)} ", _titled(row))
    return "\n".join(lines)


def _titled(row: Row, more: str = "") -> str:
    return f"{printable(row.name)} ({printable(row.target)}{more})"


def summary(diff: Diff) -> str:
    """How many kernels changed, did not, came and went, in one line."""
    worse = sum(each.verdict in ("broken", "worse") for each in diff.changed)
    changed = say("{kernels} changed", kernels=counted(len(diff.changed), "kernel"))
    if worse:
        changed += say(" ({number} for the worse)", number=worse)
    numbers = ((diff.unchanged, "did not"), (len(diff.added), "new"), (len(diff.removed), "gone"))
    return say(", ").join([changed, *(f"{number} {say(word)}" for number, word in numbers if number)])


def moved(of: Moved) -> str:
    """One field, before and after."""
    return f"{of.field} {shown(of.before)} -> {shown(of.after)}"


def mark(cliff: Cliff) -> str:
    """One cliff in words."""
    text = say("cliff: {cliff}", cliff=retold(str(cliff)))
    return printable(text if cliff.binds else say("{text} (does not bind)", text=text))


def shown(of: Value) -> str:
    """A value of a report in a message."""
    if of is None:
        return say("unknown")
    if isinstance(of, str):
        return printable(of)
    return f"{of:.6g}" if isinstance(of, float) else str(of)


def diff_markdown(diff: Diff) -> str:
    """A table for a pull request. Nothing that a name holds can become markup, a link or a mention."""
    lines = [f"**wavefit**: {summary(diff)}"]
    if diff.changed:
        lines += ["", "| | kernel | target | waves/SIMD | what changed |", "| --- | --- | --- | --- | --- |"]
    for each in diff.changed[:MOST_ROWS]:
        told = [_told(m) for m in each.moved if m.field != "waves_per_simd"]
        told += [code(mark(cliff), 300) for cliff in each.cliffs]
        cells = (
            each.verdict,
            code(each.after.name),
            code(each.after.target),
            _waves(each),
            "<br>".join(told),
        )
        lines.append(f"| {' | '.join(cells)} |")
    if len(diff.changed) > MOST_ROWS:
        lines += ["", f"and {len(diff.changed) - MOST_ROWS} more"]
    for word, rows in (("new", diff.added), ("gone", diff.removed)):
        more = f" and {len(rows) - MOST_ROWS} more" if len(rows) > MOST_ROWS else ""
        if rows:
            lines += ["", f"{word}: {', '.join(code(row.name) for row in rows[:MOST_ROWS])}{more}"]
    return "\n".join(lines)


def _waves(of: Difference) -> str:
    was, now = (value(row, "waves_per_simd") for row in (of.before, of.after))
    return _cell(now) if was == now else f"{_cell(was)} → {_cell(now)}"


def _told(of: Moved) -> str:
    return f"{of.field} {_cell(of.before)} → {_cell(of.after)}"


def _cell(of: Value) -> str:
    return code(of) if isinstance(of, str) else shown(of)


def code(text: str, longest: int = 100) -> str:
    """A text as code in Markdown, on one line, with every character that could be markup as a reference."""
    inert = (
        char if char in _SAFE or ord(char) > 127 else f"&#{ord(char)};" for char in printable(text, longest)
    )
    return f"<code>{''.join(inert)}</code>"
