"""`wavefit code`: decoded loops."""

from __future__ import annotations

import click

from wavefit.cli.options import Size, complain, echo_json, json_option


@click.command("code")
@click.argument("path")
@click.option("--kernel", help="Only kernels whose name contains this.")
@click.option(
    "--chip", help="A product to time the loop on, such as MI355X; default: the kernel's own target."
)
@click.option("--threads", type=int, help="Workgroup size it is launched with.")
@click.option("--lds-dynamic", type=Size(), help="LDS given at launch.")
@click.option("--listing", is_flag=True, help="The instructions of the main loop, each with its chain.")
@json_option
def command(
    path: str,
    kernel: str | None,
    chip: str | None,
    threads: int | None,
    lds_dynamic: int | None,
    listing: bool,
    as_json: bool,
) -> None:
    """Decoded loops: matrix chains, loads, waits, what one iteration costs."""
    from wavefit.advise import Case, cases
    from wavefit.isa import NoDisassembler
    from wavefit.kernels import BadFile
    from wavefit.report.code import code_text, document

    found = cases(path, chip=chip, kernel=kernel, threads=threads, lds_dynamic=lds_dynamic)
    decoded = [case for case in found if isinstance(case, Case) and case.code]
    errors = [case for case in found if isinstance(case, BadFile)]
    if not decoded:
        raise NoDisassembler(next(case.why_no_code for case in found if isinstance(case, Case)))
    if as_json:
        echo_json(document(decoded, errors))
    else:
        click.echo(code_text(decoded, listing=listing))
    for error in errors:
        complain(error)
