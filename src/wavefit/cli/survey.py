"""`wavefit survey`: trees, libraries, wheels, caches; one row a kernel."""

from __future__ import annotations

import contextlib
import os
import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import click

from wavefit.cli.cluster import cluster_options, joined
from wavefit.cli.options import Size, complain, echo_json, json_option, language_given

if TYPE_CHECKING:
    from wavefit.report.charts.survey import Distributions
    from wavefit.report.survey import Bar
    from wavefit.survey import Options, Summary
    from wavefit.survey.crew import Crew

NAMES = ("near", "spills", "changed", "limiters", "cannot-launch")


@click.command("survey")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--out", help="One row a kernel to FILE.parquet, .csv or .jsonl; DIR/ or URL/: parts, resumable."
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--target", "targets", multiple=True, help="Only kernels for this target; may be repeated.")
@click.option("--unique", is_flag=True, help="The same kernel for the same target counts once.")
@click.option(
    "--near", type=click.IntRange(1), default=4, show_default=True, help="What counts as near a wave."
)
@click.option("--max-unpacked", type=Size(), help="What one packed stream may unpack to: 8G.")
@click.option("--strict", is_flag=True, help="Exit 1 when a file or member could not be read.")
@click.option("--query", type=click.Choice(NAMES), help="Ask a survey's Parquet (PATH...; changed: OLD NEW).")
@click.option(
    "--limit", type=click.IntRange(0), default=20, show_default=True, help="Rows of a query; 0 = all."
)
@click.option("--html", metavar="FILE", help="An overview as one page that needs no network.")
@cluster_options
@json_option
def command(
    paths: tuple[str, ...],
    out: str | None,
    jobs: int,
    targets: tuple[str, ...],
    unique: bool,
    near: int,
    max_unpacked: int | None,
    strict: bool,
    query: str | None,
    limit: int,
    html: str | None,
    as_json: bool,
    **cluster: str | None,
) -> None:
    """Every kernel under the paths: what it spends and what fits, and a summary of all.

    A path may be a URL that fsspec opens: s3://bucket/folder, gs://, https://, zip://*::https://...
    """
    if query:
        _ask(query, paths, near, limit or None, as_json)
        return
    parts = out if out and out.endswith("/") else None
    if parts and unique:
        raise click.UsageError("--unique compares all rows: it needs one FILE, not parts in a folder")
    if parts and html:
        raise click.UsageError("--html looks at every row, which parts in a folder keep from it; name a FILE")
    hired = _hired(jobs, **cluster)  # first: it loads while this process does
    from wavefit.kernels.bounds import Bounds
    from wavefit.report.survey import Bar, summary_text
    from wavefit.survey import Options, Summary

    bar = Bar(list(paths)) if sys.stderr.isatty() else None
    bounds = None if max_unpacked is None else Bounds(unpacked=max_unpacked)
    options = Options(jobs, targets, bounds, urls=True, parts=parts, within=near)
    summary = Summary(within=near)
    seen = _seen() if html else None
    with hired as crew:
        if parts:
            _to_parts(paths, options, summary, bar, crew)
        else:
            _to_file(paths, options, summary, bar, crew, out, unique, seen)
    if bar:
        bar.close()
    if html and seen is not None and summary.kernels:
        from wavefit.report.page.survey import overview

        with open(html, "w", encoding="utf-8") as file:
            file.write(overview(summary, seen, chosen=language_given()))
    if as_json:
        echo_json(summary.to_dict())
    elif summary.kernels:
        click.echo(summary_text(summary, out))
    if summary.errors:
        complain(f"{summary.errors} could not be read")
    if not summary.kernels:
        raise click.exceptions.Exit(2)
    raise click.exceptions.Exit(1 if strict and summary.errors else 0)


def _hired(jobs: int, **cluster: str | None) -> AbstractContextManager[Crew | None]:
    """The cluster asked for, else processes of this machine; None where this one does it all."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of which none is used; each costs start-up
    from wavefit.survey.crew import Processes, keep_memory

    if crew := joined(**cluster):
        return crew
    if jobs > 1:
        return Processes(jobs)
    keep_memory()
    return contextlib.nullcontext()


def _seen() -> Distributions:
    from wavefit.report.charts.survey import Distributions

    return Distributions()


def _to_file(
    paths: tuple[str, ...],
    options: Options,
    summary: Summary,
    bar: Bar | None,
    crew: Crew | None,
    out: str | None,
    unique: bool,
    seen: Distributions | None,
) -> None:
    """Rows to one file, or to none."""
    from wavefit.kernels import BadFile
    from wavefit.survey import survey
    from wavefit.survey.summary import Unique
    from wavefit.survey.write import Output

    first = Unique() if unique else None
    with Output(out) if out else contextlib.nullcontext() as output:
        for found in survey(list(paths), options, bar, crew):
            if isinstance(found, BadFile):
                summary.errors += 1
                complain(found)
                continue
            kept = first.first(found) if first else found
            summary.duplicates += len(found) - len(kept)
            summary.add(kept)
            if seen is not None:
                seen.add(kept)
            if output is not None:
                output.write(kept)


def _to_parts(
    paths: tuple[str, ...], options: Options, summary: Summary, bar: Bar | None, crew: Crew | None
) -> None:
    """Rows to many files, which whoever reads them writes."""
    from wavefit.survey import survey_parts

    for answer in survey_parts(list(paths), options, bar, crew):
        for bad in answer.found:
            summary.errors += 1
            complain(bad)
        if answer.summary:
            summary.merge(answer.summary)


def _ask(name: str, paths: tuple[str, ...], near: int, limit: int | None, as_json: bool) -> None:
    from wavefit.report.query import query_document, query_text
    from wavefit.survey.query import query

    found = query(name, paths, near=near, limit=limit, urls=True)
    if as_json:
        echo_json(query_document(found))
    else:
        click.echo(query_text(found))
