"""`wavefit chips`: what is known of a chip, with sources."""

from __future__ import annotations

import click

from wavefit.cli.options import echo_json, json_option


@click.command("chips")
@click.argument("name", required=False)
@click.option("--check", is_flag=True, help="Validate the data files; exit 1 on a problem.")
@click.option("--rosetta", is_flag=True, help="AMD's and NVIDIA's words for the same things.")
@json_option
def command(name: str | None, check: bool, rosetta: bool, as_json: bool) -> None:
    """Every chip and target, or every Fact of one with its source."""
    if rosetta:
        from wavefit.report.rosetta import rosetta_document, rosetta_text

        echo_json(rosetta_document()) if as_json else click.echo(rosetta_text())
        return
    if check:
        _check(as_json)
        return
    from wavefit.chips import chip, products, targets
    from wavefit.report.chips import chip_document, chip_text, list_document, list_text

    if name is not None:
        found = chip(name)
        if as_json:
            echo_json(chip_document(found))
        else:
            click.echo(chip_text(found))
    elif as_json:
        echo_json(list_document(products(), targets()))
    else:
        click.echo(list_text(products(), targets()))


def _check(as_json: bool) -> None:
    from wavefit.chips.check import check
    from wavefit.report.language import say

    problems = check()
    if as_json:
        echo_json({"schema": "wavefit.chips-check/1", "problems": problems})
    else:
        click.echo("\n".join(problems) or say("every page of the chips is in order"))
    if problems:
        raise click.exceptions.Exit(1)
