"""`wavefit advise`: the decision procedure."""

from __future__ import annotations

import click

from wavefit.cli.options import Size, complain, echo_json, json_option


@click.command("advise")
@click.argument("path")
@click.option("--kernel", help="Only kernels whose name contains this.")
@click.option("--chip", help="A product to judge it on, such as MI355X; default: the kernel's own target.")
@click.option("--threads", type=int, help="Workgroup size it is launched with.")
@click.option("--lds-dynamic", type=Size(), help="LDS given at launch.")
@click.option("--grid", type=int, help="Workgroups of the launch.")
@json_option
def command(
    path: str,
    kernel: str | None,
    chip: str | None,
    threads: int | None,
    lds_dynamic: int | None,
    grid: int | None,
    as_json: bool,
) -> None:
    """What to do next and why, or that there is nothing to do."""
    from wavefit.advise import Case, cases
    from wavefit.kernels import BadFile
    from wavefit.report.advise import advise_text, document

    found = cases(path, chip=chip, kernel=kernel, threads=threads, lds_dynamic=lds_dynamic, grid=grid)
    judged = [case for case in found if isinstance(case, Case)]
    errors = [case for case in found if isinstance(case, BadFile)]
    if as_json:
        echo_json(document(judged, errors))
    else:
        click.echo(advise_text(judged))
    for error in errors:
        complain(error)
