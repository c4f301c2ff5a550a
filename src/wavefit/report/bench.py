"""What a bench did, as text and as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from wavefit.experiments import Built, Outcome
from wavefit.report.language import counted, retold, say
from wavefit.report.names import printable
from wavefit.report.wrap import hung

Json = dict[str, Any]


def bench_document(done: Outcome, compilers: Mapping[str, str | None]) -> Json:
    """The document `wavefit.bench/1`: every build with its compiler or why there is none, and the CSV."""
    return {
        "schema": "wavefit.bench/1",
        "built": [_built(each, compilers) for each in done.built],
        "not_run": list(done.skipped),
        "csv": None if done.csv is None else str(done.csv),
        "rows": done.rows,
    }


def bench_text(done: Outcome, compilers: Mapping[str, str | None]) -> str:
    """What was built with which compiler, what was not and why, what did not run, where the CSV is."""
    return "\n".join(_lines(done, compilers))


def _built(each: Built, compilers: Mapping[str, str | None]) -> Json:
    return {
        "kind": each.kind,
        "target": each.target,
        "waves": None if each.plan is None else each.plan.waves,
        "lds": None if each.plan is None else each.plan.lds,
        "path": None if each.path is None else str(each.path),
        "compiler": compilers.get(each.kind) if each.path else None,
        "why": each.why,
    }


def _lines(done: Outcome, compilers: Mapping[str, str | None]) -> Iterator[str]:
    for each in done.built:
        text = retold(each.line)
        if each.path:
            text = say("{built} with {compiler}", built=text, compiler=compilers.get(each.kind))
        yield from hung("", printable(text, longest=500), hang=2)
    for why in done.skipped:
        yield from hung("", printable(say("not run: {why}", why=retold(why)), longest=500), hang=2)
    if done.csv is None:
        yield say("no CSV: nothing was run")
    else:
        yield f"{done.csv}: {counted(done.rows, 'row')}"
