"""`wavefit order`: in which order the tiles of a GEMM run, and what the caches make of it."""

from __future__ import annotations

import click

from wavefit.cli.options import echo_json, gemm_options, json_option

_ORDERS = ("1", "4", "8", "16", "8:64")


class Order(click.ParamType):  # type: ignore[type-arg]
    """GROUP or GROUP:CHUNK in tiles: 8, 8:64. 1 is row-major."""

    name = "group[:chunk]"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int | None]:
        group, colon, chunk = str(value).partition(":")
        try:
            return int(group), int(chunk) if colon else None
        except ValueError:
            return self.fail(f"{value!r} is not an order; write 8 or 8:64", param, ctx)


@click.command("order")
@click.option("--chip", required=True, help="The chip: its dies and caches.")
@gemm_options
@click.option("--dtype", default="bf16", show_default=True, help="Of A and B.")
@click.option("--tile", default="128x128x64", show_default=True, help="BLOCK_M x BLOCK_N x BLOCK_K.")
@click.option("--order", "orders", type=Order(), multiple=True, help="GROUP or GROUP:CHUNK; may be repeated.")
@click.option("--svg", help="Draw the first order to FILE: the tile grid by die and time.")
@json_option
def command(
    chip: str,
    m: int,
    n: int,
    k: int,
    dtype: str,
    tile: str,
    orders: tuple[tuple[int, int | None], ...],
    svg: str | None,
    as_json: bool,
) -> None:
    """Tile order, group size and die mapping: cache hits, bytes from memory, est. time."""
    from wavefit.report.tile_order import order_svg
    from wavefit.report.tiles import order_name, orders_document, orders_text
    from wavefit.tiles import order as walk
    from wavefit.tiles.orders import compare

    sizes = tile.lower().split("x")
    if len(sizes) != 3 or not all(size.isdigit() for size in sizes):
        raise click.UsageError(f"--tile {tile}: write 128x256x64")
    block = dict(zip(("block_m", "block_n", "block_k"), map(int, sizes), strict=True))
    asked = orders or tuple(Order().convert(each, None, None) for each in _ORDERS)
    made = [walk.Order(group_m=group, chunk=chunk) for group, chunk in asked]
    found = compare(chip, m=m, n=n, k=k, dtype=dtype, tile=block, orders=made)
    if svg:
        first = found.orders[0]
        with open(svg, "w", encoding="utf-8") as file:
            file.write(order_svg(first.traffic.walk, title=order_name(first.order), animate=True))
    if as_json:
        echo_json(orders_document(found))
    else:
        click.echo(orders_text(found))
