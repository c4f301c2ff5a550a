"""`wavefit report`: every kernel in the files."""

from __future__ import annotations

from typing import Any

import click

from wavefit.cli.options import echo_json, json_option, launch_options


@click.command("report")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--chip", help="A product to fit on, such as MI355X; default: each kernel's own target.")
@launch_options
@click.option("--kernel", "pattern", help="Only kernels whose name contains this.")
@click.option("--explain", is_flag=True, help="The arithmetic, each constant with its source.")
@click.option("--strict", is_flag=True, help="Exit 1 when a file or member could not be read.")
@json_option
def command(
    paths: tuple[str, ...], pattern: str | None, explain: bool, strict: bool, as_json: bool, **launch: Any
) -> None:
    """What each kernel spends, how many waves fit, what binds, what the next step costs.

    The workgroup size is what the kernel requires, else its side file's, else its largest.
    """
    from wavefit.report.build import build
    from wavefit.report.names import printable

    report = build(paths, pattern=pattern, **launch)
    refused = report.refused
    if as_json and len(refused) < len(report.kernels):
        echo_json(report.to_dict())
    elif len(refused) < len(report.kernels):
        from wavefit.report.kernels import report_text

        click.echo(report_text(report, explain=explain))
    for cause in dict.fromkeys((*map(str, report.errors), *refused)):
        click.echo(f"wavefit: {printable(cause, longest=500)}", err=True)
    if not report.kernels and not report.errors:
        click.echo(f"wavefit: no kernel's name contains {pattern!r}", err=True)
    if len(refused) == len(report.kernels):
        raise click.exceptions.Exit(2)
    if report.errors or refused:
        click.echo(f"wavefit: {len(report.errors)} could not be read, {len(refused)} not answered", err=True)
        raise click.exceptions.Exit(1 if strict else 0)
