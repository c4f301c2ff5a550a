"""`wavefit doctor`: which optional parts are here."""

from __future__ import annotations

import click

from wavefit.cli.options import echo_json, json_option


@click.command("doctor")
@json_option
def command(as_json: bool) -> None:
    """Which optional parts are here: packages, compilers, profilers, GPUs. None is needed for a fit."""
    from wavefit.environment import about, parts
    from wavefit.report.doctor import doctor_document, doctor_text

    if as_json:
        echo_json(doctor_document(about(), parts()))
    else:
        click.echo(doctor_text(about(), parts()))
