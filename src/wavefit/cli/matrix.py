"""`wavefit matrix`: the matrix instructions of a chip, their peaks and register layouts."""

from __future__ import annotations

import click

from wavefit.cli.options import echo_json, json_option


@click.command("matrix")
@click.argument("chip")
@click.option("--type", "type_", help="Only those that take this type: fp16, bf16, fp8, e4m3, int8, fp64.")
@click.option("--instruction", "name", help="Everything about one, by its mnemonic.")
@click.option(
    "--layout", "operand", type=click.Choice("ABCD"), help="Its registers: element to register.lane."
)
@click.option("--svg", is_flag=True, help="The layout as a picture.")
@click.option("--clock", "clock_mhz", type=float, help="MHz for the peaks, in place of the published clock.")
@click.option("--csv", "as_csv", is_flag=True, help="Instructions, or the layout, as CSV.")
@json_option
def command(
    chip: str,
    type_: str | None,
    name: str | None,
    operand: str | None,
    svg: bool,
    clock_mhz: float | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Matrix instructions: shape, registers, cycles, rate; peaks; layouts."""
    from wavefit.chips import chip as find_chip
    from wavefit.matrix import instruction, layout, matrix, packed_fp32, peaks
    from wavefit.report import matrix as show

    of = find_chip(chip)
    if operand is not None and name is None:
        raise click.UsageError("--layout needs --instruction")
    found = matrix(of, type_) if name is None else (instruction(of, name),)
    if operand is not None:
        of_operand = layout(found[0], operand)
        if as_json:
            echo_json(show.layout_json(of_operand))
        else:
            text = show.layout_svg if svg else show.layout_csv if as_csv else show.layout_text
            click.echo(text(of_operand).rstrip("\n"))
        return
    known = peaks(of, clock_mhz=clock_mhz) if of.name and (clock_mhz or of.value("clock.peak_mhz")) else ()
    packed = packed_fp32(of)
    if as_json:
        echo_json(show.document(of.name or of.target.name, found, known, packed))
    elif as_csv:
        click.echo(show.instructions_csv(found).rstrip("\n"))
    elif name is not None:
        click.echo(show.instruction_text(found[0]))
    else:
        click.echo(show.instructions_text(found))
        if known:
            click.echo("\n" + show.peaks_text(known))
        click.echo("\n" + show.packed_text(packed))
