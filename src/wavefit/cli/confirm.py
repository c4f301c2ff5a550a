"""`wavefit confirm`: theory beside measurement."""

from __future__ import annotations

import sys

import click

from wavefit.cli.options import complain, echo_json, json_option
from wavefit.report.language import say


@click.command("confirm")
@click.argument("trace")
@click.option("--kernels", help="A file or folder of compiled kernels, joined by name.")
@click.option("--chip", help="The chip, where the trace does not name it.")
@click.option("--strict", is_flag=True, help="Exit 1 when a file could not be read.")
@json_option
def command(trace: str, kernels: str | None, chip: str | None, strict: bool, as_json: bool) -> None:
    """Per kernel of a profile: the ceiling, the ceiling for its grid, what was achieved, and why less.

    TRACE is a file or folder of rocprofv3, rocprof, rocprofiler-compute, rocpd, hipprof or Nsight Compute.
    Exit 1 when more was measured than fits: wrong chip, wrong code object, or our bug.
    """
    from wavefit.profiles import confirm
    from wavefit.report.confirm import confirm_document, confirm_lines

    found = confirm(trace, kernels=kernels, chip=chip, progress=_progress() if sys.stderr.isatty() else None)
    if as_json:
        echo_json(confirm_document(found))
    else:
        for line in confirm_lines(found):
            click.echo(line)
    for error in found.errors:
        complain(error)
    if not len(found):
        raise click.exceptions.Exit(2)
    raise click.exceptions.Exit(1 if found.wrong or (strict and found.errors) else 0)


class _progress:  # noqa: N801
    """A line on the terminal that says how much of which file is read."""

    def __init__(self) -> None:
        self.shown = ""

    def __call__(self, file: str, done: int, total: int) -> None:
        amount = say("{done} dispatches", done=done)
        if total:
            amount = say("{done} of {total} MB", done=f"{done / 1e6:.0f}", total=f"{total / 1e6:.0f}")
        text = f"\r{file[-50:]} {amount}\x1b[K"
        if text != self.shown:
            click.echo(text, nl=False, err=True)
            self.shown = text
        if total and done >= total:
            click.echo("\r\x1b[K", nl=False, err=True)
