"""`wavefit survey`: trees, libraries, wheels, caches; one row a kernel."""

from __future__ import annotations

import contextlib
import sys

import click

from wavefit.cli.options import echo_json, json_option


@click.command("survey")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--out", help="One row a kernel to FILE.parquet, .csv or .jsonl.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--target", "targets", multiple=True, help="Only kernels for this target; may be repeated.")
@click.option("--unique", is_flag=True, help="The same kernel for the same target counts once.")
@click.option(
    "--near", type=click.IntRange(1), default=4, show_default=True, help="What counts as near a wave."
)
@click.option("--max-unpacked", help="What one packed stream may unpack to: 8G.")
@click.option("--strict", is_flag=True, help="Exit 1 when a file or member could not be read.")
@json_option
def command(
    paths: tuple[str, ...],
    out: str | None,
    jobs: int,
    targets: tuple[str, ...],
    unique: bool,
    near: int,
    max_unpacked: str | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Every kernel under the paths: what it spends and what fits, and a summary of all."""
    from wavefit.kernels import BadFile
    from wavefit.report.names import printable
    from wavefit.report.survey import Bar, bounds, summary_text
    from wavefit.survey import Options, Summary, survey
    from wavefit.survey.summary import Unique
    from wavefit.survey.write import Output

    summary, first = Summary(within=near), Unique() if unique else None
    bar = Bar(list(paths)) if sys.stderr.isatty() else None
    options = Options(jobs=jobs, targets=targets, bounds=bounds(max_unpacked))
    with Output(out) if out else contextlib.nullcontext() as output:
        for found in survey(list(paths), options, bar):
            if isinstance(found, BadFile):
                summary.errors += 1
                click.echo(f"wavefit: {printable(str(found), longest=500)}", err=True)
                continue
            kept = first.first(found) if first else found
            summary.duplicates += len(found) - len(kept)
            summary.add(kept)
            if output is not None:
                output.write(kept)
    if bar:
        bar.close()
    if as_json:
        echo_json(summary.to_dict())
    elif summary.kernels:
        click.echo(summary_text(summary, out))
    if summary.errors:
        click.echo(f"wavefit: {summary.errors} could not be read", err=True)
    if not summary.kernels:
        raise click.exceptions.Exit(2)
    raise click.exceptions.Exit(1 if strict and summary.errors else 0)
