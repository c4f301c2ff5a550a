"""`wavefit bench`: writes, compiles and, where the chip is present, runs the feed experiments."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path

import click

from wavefit.cli.cluster import bench as bench_there
from wavefit.cli.cluster import cluster_options, joined
from wavefit.cli.options import complain, echo_json, json_option


@click.command("bench")
@click.option("--chip", "chips", multiple=True, help="For which chip; default: the GPUs of this machine.")
@click.option("--target", "targets", multiple=True, help="For which target: gfx950, sm_90.")
@click.option("--out", default="wavefit-bench", show_default=True, help="Folder for sources, builds, CSV.")
@click.option("--quick", is_flag=True, help="Fewer points (CUDA).")
@cluster_options
@json_option
def command(
    chips: tuple[str, ...],
    targets: tuple[str, ...],
    out: str,
    quick: bool,
    as_json: bool,
    **cluster: str | None,
) -> None:
    """Is the unit fed, measured: ILP x occupancy, and read bandwidth, as one CSV.

    Says what was built with which compiler, what could not be and why. Lay the CSV over the model with
    `wavefit feed --chip C --measured FILE`.
    """
    from wavefit.chips import chip
    from wavefit.experiments import bench
    from wavefit.report.bench import bench_document, bench_text

    named = dict.fromkeys(chip(name).target.name for name in (*chips, *targets))
    with joined(**cluster) or nullcontext() as crew:
        if crew and not named:
            raise click.UsageError("--cluster needs --chip or --target: nobody knows which GPUs are there")
        wanted, folder = tuple(named), Path(out)
        done = bench_there(crew, folder, wanted, quick) if crew else bench(folder, wanted, quick=quick)
    used = {kind: _compiler(kind) for kind in dict.fromkeys(each.kind for each in done.built)}
    if as_json:
        echo_json(bench_document(done, used))
    else:
        click.echo(bench_text(done, used))
    if not any(each.path for each in done.built):
        complain(f"{out}: the sources are there, but nothing could be compiled")
        raise click.exceptions.Exit(2)


def _compiler(kind: str) -> str | None:
    """The compiler that builds this kind of source here."""
    from wavefit.experiments.build import CLANGS

    if kind == "gluon":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return f"Triton {version('triton')}"
        except PackageNotFoundError:
            return None
    names = {"cuda": ("nvcc",), "hip-host": ("hipcc",)}.get(kind, CLANGS)
    return next((path for name in names if (path := shutil.which(name))), None)
