"""`wavefit fit`: one what-if."""

from __future__ import annotations

from typing import Any

import click

from wavefit.cli.options import echo_json, json_option, launch_options, spend_options


@click.command("fit")
@click.option("--chip", required=True, help="A chip or target: MI355X, gfx950, BW1000, H200, sm_90.")
@spend_options
@launch_options
@click.option("--view", default="hardware", show_default=True, help="Whose rules: see `wavefit views`.")
@click.option("--barriers", type=int, help="NVIDIA: named barriers of one block.")
@click.option("--carveout", type=int, help="NVIDIA: preferred share of shared memory, percent.")
@click.option("--explain", is_flag=True, help="The arithmetic, each constant with its source.")
@click.option("--plot", metavar="FILE", help="The curves, in FILE.svg, .png or .html.")
@click.option("--against", multiple=True, metavar="CHIP", help="Of --plot: another chip over the first.")
@click.option("--theme", default="light", show_default=True, help="Of an .svg or .png: light or dark.")
@json_option
def command(
    chip: str,
    view: str,
    explain: bool,
    plot: str | None,
    against: tuple[str, ...],
    theme: str,
    as_json: bool,
    **numbers: Any,
) -> None:
    """How many waves fit for these numbers, what binds, what the next step costs.

    A resource that is not given does not limit.
    """
    from wavefit.occupancy import fit

    found = fit(chip, view=view, **numbers)
    if plot is not None:
        from wavefit.report import charts

        others = [fit(other, view=view, **numbers) for other in against]
        charts.save(charts.occupancy(found, *others), plot, theme=theme)
    elif against:
        raise click.UsageError("--against goes with --plot")
    if as_json:
        echo_json(found.to_dict())
        return
    from wavefit.report.text import fit_text

    click.echo(fit_text(found, explain=explain))
