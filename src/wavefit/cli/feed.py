"""`wavefit feed`: is the matrix unit, or the memory, kept busy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from wavefit.cli.options import echo_json, json_option

if TYPE_CHECKING:
    from wavefit.report.feed import Answer

_ILPS = (1, 2, 4, 8)


class Tile(click.ParamType):  # type: ignore[type-arg]
    """A tile as 256x128."""

    name = "MxN"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        try:
            rows, columns = (int(part) for part in str(value).lower().split("x"))
        except ValueError:
            return self.fail(f"{value!r} is not a tile; write 256x128", param, ctx)
        return rows, columns


@click.command("feed")
@click.option("--chip", required=True, help="A chip or target: MI355X, gfx950, BW1000, H200, sm_90.")
@click.option("--instruction", help="A matrix instruction by its mnemonic: see `wavefit matrix`.")
@click.option("--ilp", type=int, help="Independent chains a wave.")
@click.option("--waves", type=int, help="Waves a SIMD.")
@click.option("--registers", type=int, help="Registers a lane that the kernel spends.")
@click.option("--interval", type=float, help="Cycles between two instructions, in place of the known.")
@click.option("--latency", type=float, help="Cycles from one to the next of its chain.")
@click.option("--clock", "clock_mhz", type=float, help="MHz, in place of the known clock.")
@click.option("--sweep", is_flag=True, help="Curves over ILP x waves.")
@click.option("--memory", is_flag=True, help="Bytes in flight: one shape, or curves without --waves.")
@click.option("--level", default="memory", show_default=True, help="memory, l2 or lds.")
@click.option("--vector-bytes", type=int, help="Bytes a lane of one load.")
@click.option("--outstanding", type=int, help="Loads in flight.")
@click.option("--cus", type=int, help="CUs in use; default: all.")
@click.option("--latency-ns", type=float, help="The level's latency, in place of the known.")
@click.option("--bandwidth", type=float, help="The level's bandwidth, bytes/s.")
@click.option("--lane-bytes", type=float, help="Bytes a lane that the compiled code keeps in flight.")
@click.option("--measured", metavar="FILE", help="A CSV of `wavefit bench`, laid over the model.")
@click.option("--trap", is_flag=True, help="From many waves with small tiles to few with large ones.")
@click.option("--other", type=int, help="Of the trap: registers a lane for addresses.")
@click.option("--exposed", type=float, help="Of the trap: cycles a wave stands still in each step.")
@click.option("--reuse", type=float, help="Of the trap: CUs that a byte from memory serves.")
@click.option("--roofline", "type_", metavar="TYPE", help="Machine balance for a type: bf16, fp8, mxfp8.")
@click.option("--tile", "tiles", type=Tile(), multiple=True, help="A tile under the roofline: 256x128.")
@click.option("--plot", metavar="FILE", help="A chart of the answer: FILE.svg, .png or .html.")
@click.option("--theme", default="light", show_default=True, help="Of an .svg or .png: light or dark.")
@json_option
def command(plot: str | None, theme: str, as_json: bool, **asked: Any) -> None:
    """Is the matrix unit fed: parallelism in flight against latency x rate, est.

    With --memory the same of memory: bytes in flight against latency x bandwidth.
    """
    from wavefit.report.feed import feed_text

    found = _answer(asked)
    if plot is not None:
        from wavefit.report import charts

        charts.save(charts.feed_chart(found), plot, theme=theme)
    if as_json:
        echo_json(found.to_dict())
    else:
        click.echo(feed_text(found))


def _answer(asked: dict[str, Any]) -> Answer:
    """What was asked for, from the library."""
    kinds = {"measured": _measured, "trap": _trap, "type_": _roofline, "memory": _memory}
    wanted = [kind for kind in kinds if asked[kind]]
    if len(wanted) > 1:
        names = " and ".join("--" + kind.replace("type_", "roofline") for kind in wanted)
        raise click.UsageError(f"{names}: one at a time")
    make: Callable[[dict[str, Any]], Answer] = kinds[wanted[0]] if wanted else _matrix
    return make(asked)


def _matrix(asked: dict[str, Any]) -> Answer:
    from wavefit.feed import feed, feed_curves
    from wavefit.report.feed import Sweep

    name, ilp, waves = _needed(asked, "instruction"), asked["ilp"], asked["waves"]
    known = {key: asked[key] for key in ("interval", "latency", "clock_mhz")}
    if asked["sweep"]:
        curves = feed_curves(asked["chip"], name, ilps=_ILPS if ilp is None else (ilp,), **known)
        return Sweep(curves[0].chip or asked["chip"], curves[0].instruction, curves)
    if ilp is None or waves is None:
        raise click.UsageError("give --ilp and --waves, or --sweep")
    return feed(asked["chip"], name, ilp=ilp, waves=waves, registers=asked["registers"], **known)


def _memory(asked: dict[str, Any]) -> Answer:
    from wavefit.feed import feed_memory, memory_curves
    from wavefit.feed.curves import SHAPES
    from wavefit.report.feed import MemorySweep

    shape = {key: asked[key] for key in ("waves", "vector_bytes", "outstanding")}
    known = {key: asked[key] for key in ("level", "latency_ns", "bandwidth")}
    if not asked["sweep"] and all(count is not None for count in shape.values()):
        return feed_memory(asked["chip"], **shape, cus=asked["cus"], lane_bytes=asked["lane_bytes"], **known)
    if shape["waves"] is not None:
        raise click.UsageError("give --vector-bytes and --outstanding with --waves")
    one = shape["vector_bytes"], shape["outstanding"]
    curves = memory_curves(asked["chip"], shapes=SHAPES if None in one else (one,), **known)
    return MemorySweep(curves[0].points[0].chip, asked["level"], curves)


def _measured(asked: dict[str, Any]) -> Answer:
    from wavefit.chips import chip
    from wavefit.feed import compare, read_measured, summed_up
    from wavefit.report.feed import Overlay

    of = chip(asked["chip"])
    rows = read_measured(asked["measured"], simds=of.target.unit().simds)
    found = compare(of, rows, instruction=asked["instruction"])
    return Overlay(of.name or of.target.name, asked["measured"], found, summed_up(found))


def _trap(asked: dict[str, Any]) -> Answer:
    from wavefit.feed import trap

    given = {key: asked[key] for key in ("other", "exposed", "reuse") if asked[key] is not None}
    return trap(asked["chip"], _needed(asked, "instruction"), **given)


def _roofline(asked: dict[str, Any]) -> Answer:
    from wavefit.feed import roofline

    return roofline(asked["chip"], asked["type_"], tiles=asked["tiles"], clock_mhz=asked["clock_mhz"])


def _needed(asked: dict[str, Any], option: str) -> str:
    if not asked[option]:
        raise click.UsageError(f"give --{option}: see `wavefit matrix {asked['chip']}`")
    return str(asked[option])
