"""`wavefit matrix`: the matrix instructions of a chip, their peaks and register layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wavefit.cli.options import complain, echo_json, json_option

if TYPE_CHECKING:
    from wavefit.chips import Chip
    from wavefit.matrix import Instruction


@click.command("matrix")
@click.argument("chip")
@click.option("--type", "type_", help="Only those that take this type: fp16, bf16, fp8, e4m3, int8, fp64.")
@click.option("--instruction", "name", help="Everything about one, by its mnemonic.")
@click.option(
    "--layout",
    "operand",
    type=click.Choice("ABCD", case_sensitive=False),
    help="Its registers: element to register.lane.",
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
    from wavefit.matrix import layout, packed_fp32, peaks
    from wavefit.report import matrix as show

    of = find_chip(chip)
    if operand is None and svg:
        raise click.UsageError("--svg shows a --layout")
    if operand is not None and name is None:
        raise click.UsageError("--layout needs --instruction")
    if clock_mhz is not None and of.name is None:
        raise click.UsageError(f"{of.target.name} is a target: peaks need a product's CUs")
    found = _instructions(of, type_, name)
    if operand is not None:
        of_operand = layout(found[0], operand)
        if as_json:
            echo_json(show.layout_json(of_operand))
        else:
            text = show.layout_svg if svg else show.layout_csv if as_csv else show.layout_text
            click.echo(text(of_operand).rstrip("\n"))
        return
    known = peaks(of, clock_mhz=clock_mhz) if of.name and (clock_mhz or of.value("clock.peak_mhz")) else ()
    if type_ is not None:
        known = tuple(peak for peak in known if peak.rate.type == type_)
    packed = packed_fp32(of)
    if as_json:
        echo_json(show.document(of.name or of.target.name, found, known, packed))
    elif as_csv:
        click.echo(show.instructions_csv(found).rstrip("\n"))
    elif name is not None:
        click.echo(show.instruction_text(found[0]))
    else:
        parts = [show.instructions_text(found)] if found else []
        parts += [show.peaks_text(known)] if known else []
        click.echo("\n\n".join([*parts, show.packed_text(packed)]))


def _instructions(of: Chip, type_: str | None, name: str | None) -> tuple[Instruction, ...]:
    """What is asked of the table; none, said on the way, where only the rates of a chip are known."""
    from wavefit.matrix import InstructionNotFound, NoMatrix, instruction, matrix

    try:
        found = matrix(of, type_)
    except NoMatrix as why:
        if of.name is None or type_ or name:
            raise
        complain(why)
        return ()
    if name is None:
        return found
    one = instruction(of, name)
    if type_ is not None and one.name not in {each.name for each in found}:
        raise InstructionNotFound(name, f"{of.target.name} for {type_}", [each.name for each in found])
    return (one,)
