"""`wavefit report`: every kernel in the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from wavefit.cli.options import complain, echo_json, json_option, language_given, launch_options

if TYPE_CHECKING:
    from wavefit.report.document import Report


@click.command("report")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--chip", help="A product to fit on, such as MI355X; default: each kernel's own target.")
@launch_options
@click.option("--kernel", "pattern", help="Only kernels whose name contains this.")
@click.option("--explain", is_flag=True, help="The arithmetic, each constant with its source.")
@click.option("--html", metavar="FILE", help="One page that needs no network, instead of the text.")
@click.option("--strict", is_flag=True, help="Exit 1 when a file or member could not be read.")
@json_option
def command(
    paths: tuple[str, ...],
    pattern: str | None,
    explain: bool,
    html: str | None,
    strict: bool,
    as_json: bool,
    **launch: Any,
) -> None:
    """What each kernel spends, how many waves fit, what binds, what the next step costs.

    The workgroup size is what the kernel requires, else its side file's, else its largest.
    """
    from wavefit.report.build import build

    report = build(paths, pattern=pattern, **launch)
    refused = report.refused
    if html is not None and report.kernels:
        _write(html, report, paths, pattern, launch)
    if as_json and len(refused) < len(report.kernels):
        echo_json(report.to_dict())
    elif html is None and len(refused) < len(report.kernels):
        from wavefit.report.kernels import report_text

        click.echo(report_text(report, explain=explain))
    for cause in dict.fromkeys((*map(str, report.errors), *refused)):
        complain(cause)
    if not report.kernels and not report.errors:
        complain(f"no kernel's name contains {pattern!r}")
    if len(refused) == len(report.kernels):
        raise click.exceptions.Exit(2)
    if report.errors or refused:
        complain(f"{len(report.errors)} could not be read, {len(refused)} not answered")
        raise click.exceptions.Exit(1 if strict else 0)


def _write(
    html: str, report: Report, paths: tuple[str, ...], pattern: str | None, launch: dict[str, Any]
) -> None:
    """The page; in the language of --lang where that was given, else in the browser's."""
    from wavefit.report.page import advised, page

    options = dict(launch)
    chip = options.pop("chip")
    advice = advised(paths, len(report.kernels), pattern=pattern, chip=chip, launch=options)
    text = page(report, launch=options, advised=advice, chosen=language_given())
    with open(html, "w", encoding="utf-8") as file:
        file.write(text)
