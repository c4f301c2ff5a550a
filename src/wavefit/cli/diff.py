"""`wavefit diff`: two builds side by side."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import click

from wavefit.cli.cluster import CLUSTER, cluster_options, joined
from wavefit.cli.options import complain, echo_json, json_option, launch_options


@click.command("diff")
@click.argument("before")
@click.argument("after")
@click.option("--chip", help="A product to fit on, such as MI355X; default: each kernel's own target.")
@launch_options
@click.option("--markdown", is_flag=True, help="A table for a pull request.")
@click.option("--strict", is_flag=True, help="Exit 1 when a file or member could not be read.")
@cluster_options
@json_option
def command(
    before: str,
    after: str,
    chip: str | None,
    markdown: bool,
    strict: bool,
    as_json: bool,
    **launch: Any,
) -> None:
    """What changed in each kernel from one build to the other, the most harm first.

    A build is anything that holds kernels, or the file that `wavefit report --json` wrote.
    """
    from wavefit.gate.diff import diff
    from wavefit.report import diff as show
    from wavefit.report.rows import load

    cluster = {name: launch.pop(name) for name in CLUSTER}
    with joined(**cluster) or nullcontext() as crew:
        old, new = load((before, after), chip, launch, crew.reader() if crew else None)
    found = diff(old.rows, new.rows)
    if as_json:
        echo_json(show.diff_document(found, old, new))
    else:
        click.echo(show.diff_markdown(found) if markdown else show.diff_text(found))
    warnings = [*old.warnings(), *new.warnings()]
    for line in warnings:
        complain(line)
    if warnings and strict:
        raise click.exceptions.Exit(1)
