"""`wavefit views`: the same question under every authority's rules."""

from __future__ import annotations

from typing import Any

import click

from wavefit.cli.options import complain, echo_json, json_option, launch_options, spend_options


@click.command("views")
@click.argument("path", required=False)
@click.option("--chip", help="A chip or target; for a file: a product of its target.")
@click.option("--kernel", "pattern", help="Of a file: the kernel whose name contains this.")
@spend_options
@launch_options
@json_option
def command(path: str | None, chip: str | None, pattern: str | None, as_json: bool, **numbers: Any) -> None:
    """The numbers (--chip with --vgprs and so on) or the kernels of a file under every view."""
    from wavefit.report.views import compare, views_document, views_text

    if path is None and chip is None:
        raise click.UsageError("give --chip with numbers, or a file")
    comparisons, errors = compare(path, chip, pattern, numbers)
    if as_json:
        echo_json(views_document(comparisons))
    else:
        click.echo("\n\n".join(views_text(comparison) for comparison in comparisons))
    for error in errors:
        complain(error)
