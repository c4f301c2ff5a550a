"""`wavefit tiles`: which GEMM tile instead."""

from __future__ import annotations

from contextlib import nullcontext

import click

from wavefit.cli.cluster import cluster_options, joined
from wavefit.cli.options import echo_json, gemm_options, json_option


@click.command("tiles")
@click.option("--chip", required=True, help="MI300X, MI355X, BW1000, H200 and others of their kind.")
@gemm_options
@click.option("--dtype", required=True, help="Of A and B: bf16, fp16, fp8, int8.")
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="How many to show.")
@click.option("--verify", is_flag=True, help="Compile those with Triton, without a GPU.")
@cluster_options
@json_option
def command(
    chip: str,
    m: int,
    n: int,
    k: int,
    dtype: str,
    top: int,
    verify: bool,
    as_json: bool,
    **cluster: str | None,
) -> None:
    """GEMM tiles ranked by est. time: block sizes, warps, stages, group size; what each spends and fits."""
    from wavefit.report.tiles import tiles_document, tiles_text
    from wavefit.tiles.rank import rank

    found = rank(chip, m=m, n=n, k=k, dtype=dtype)
    compiled = []
    if verify:
        from wavefit.cli.cluster import verify as compile_there
        from wavefit.tiles import triton

        with joined(**cluster) or nullcontext() as crew:
            problem = {"m": m, "n": n, "k": k, "dtype": dtype}
            tiles = found.tiles[:top]
            compiled = compile_there(crew, tiles, problem) if crew else triton.verify(tiles, dtype)
    if as_json:
        echo_json(tiles_document(found, top=top, verified=compiled))
    else:
        click.echo(tiles_text(found, top=top, verified=compiled))
