"""Answers of the tiles room as text and as documents. Holds no arithmetic but that of units and widths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from wavefit.report.names import counted, printable
from wavefit.tiles.order import Order
from wavefit.tiles.orders import Ordered, Orders
from wavefit.tiles.rank import Pruned, Ranking, Tile
from wavefit.tiles.triton import Verified

Json = dict[str, Any]
_HEAD = "  # tile          waves stages group est. time TFLOP/s LDS est.      regs w/SIMD"


def tiles_text(found: Ranking, *, top: int = 10, verified: Sequence[Verified] = ()) -> str:
    """The best tiles for a terminal, what could not launch, what the est. rests on."""
    return "\n".join(_tiles(found, top, verified))


def tiles_document(found: Ranking, *, top: int | None = None, verified: Sequence[Verified] = ()) -> Json:
    """The document `wavefit.tiles/1`: tiles best first, seconds est., LDS as [low, high] bytes."""
    asked = found.problem
    return {
        "schema": "wavefit.tiles/1",
        "chip": found.chip.name,
        "target": found.chip.target.name,
        "m": asked.m, "n": asked.n, "k": asked.k, "dtype": asked.dtype,
        "tiles": [_tile(tile) for tile in found.tiles[:top]],
        "pruned": [{**each.config, "why": each.why} for each in found.pruned],
        "verified": [_verified(each) for each in verified],
        "advice": list(found.advice),
        "assumptions": list(found.assumptions),
    }  # fmt: skip


def orders_text(found: Orders) -> str:
    """Orders of one tile side by side: hits by level, bytes from memory, est. time."""
    return "\n".join(_orders(found))


def orders_document(found: Orders) -> Json:
    """The document `wavefit.order/1`: per order hit rates (0 to 1), bytes, est. seconds."""
    asked = found.problem
    return {
        "schema": "wavefit.order/1",
        "chip": found.chip.name,
        "m": asked.m, "n": asked.n, "k": asked.k, "dtype": asked.dtype,
        "tile": dict(found.tile),
        "resident": found.resident,
        "orders": [_ordered(each) for each in found.orders],
        "assumptions": list(found.assumptions),
    }  # fmt: skip


def _tile(tile: Tile) -> Json:
    fit = tile.fit
    return {
        "block_m": tile.block_m, "block_n": tile.block_n, "block_k": tile.block_k,
        "warps": tile.warps, "stages": tile.stages, "group_m": tile.group_m, "split_k": tile.split_k,
        "seconds": tile.seconds, "bound": tile.bound, "programs": tile.programs,
        "lds": list(tile.lds), "registers": tile.registers, "spilled": tile.spilled,
        "workgroups": fit.workgroups, "waves_per_simd": fit.waves_per_simd, "binding": list(fit.binding),
    }  # fmt: skip


def _verified(each: Verified) -> Json:
    return {
        **{name: getattr(each.tile, name) for name in ("block_m", "block_n", "block_k", "warps", "stages")},
        "lds": each.lds,
        "registers": each.registers,
        "spills": each.spills,
        "workgroups": None if each.fit is None else each.fit.workgroups,
        "waves_per_simd": None if each.fit is None else each.fit.waves_per_simd,
        "error": each.error,
    }


def _ordered(each: Ordered) -> Json:
    traffic = each.traffic
    return {
        "group_m": each.order.group_m,
        "chunk": each.order.chunk,
        "l2_hits": traffic.l2_hits,
        "last_hits": traffic.last_hits,
        "requested": traffic.requested, "filled": traffic.filled, "memory": traffic.memory,
        "unique": traffic.unique, "written": traffic.written,
        "seconds": list(each.seconds), "memory_seconds": each.memory_seconds,
    }  # fmt: skip


def _tiles(found: Ranking, top: int, verified: Sequence[Verified]) -> Iterator[str]:
    asked = found.problem
    chip = found.chip.name or found.chip.target.name
    yield f"{chip}: C[{asked.m}, {asked.n}] over K {asked.k} in {asked.dtype}"
    yield ""
    yield _HEAD
    for at, tile in enumerate(found.tiles[:top], 1):
        yield _row(at, tile, asked.flops)
    if not found.tiles:
        yield "  no tile of these launches"
    if verified:
        yield from ("", "  compiled, without a GPU")
        yield from (_compiled(each) for each in verified)
    if found.pruned:
        yield from ("", f"  {counted(len(found.pruned), 'tile')} cannot launch, such as")
        yield from list(dict.fromkeys(f"    {_config(each)}: {each.why}" for each in found.pruned))[:3]
    if found.advice or found.assumptions:
        yield ""
    yield from (f"  {line}" for line in (*found.advice, *found.assumptions))


def _row(at: int, tile: Tile, flops: float) -> str:
    name = f"{tile.block_m}x{tile.block_n}x{tile.block_k}" + (f" /{tile.split_k}" if tile.split_k > 1 else "")
    low, high = tile.lds
    lds = f"{low}" if low == high else f"{low}-{high}"
    spill = f"+{tile.spilled}" if tile.spilled else ""
    return (
        f"{at:>3} {name:<13} {tile.warps:>5} {tile.stages:>6} {tile.group_m:>5} {_time(tile.seconds):>9} "
        f"{flops / tile.seconds / 1e12:>7,.0f} {lds:<13} {f'{tile.registers}{spill}':<5}"
        f"{tile.fit.waves_per_simd:>6g}"
    )


def _config(each: Pruned) -> str:
    config = each.config
    size = "x".join(str(config[name]) for name in ("block_m", "block_n", "block_k"))
    return f"{size}, {config['warps']} waves, {counted(config['stages'], 'stage')}"


def _compiled(each: Verified) -> str:
    tile = each.tile
    head = f"    {tile.block_m}x{tile.block_n}x{tile.block_k}, {tile.warps} waves, {tile.stages} stages"
    if each.fit is None:
        return f"{head}: {printable(each.error or 'no kernel')}"
    spills = "spills not said" if each.spills is None else counted(each.spills, "spill")
    launch = f"{each.fit.waves_per_simd:g} waves/SIMD" if each.fit.workgroups else "cannot launch"
    return f"{head}: LDS {each.lds}, {each.registers} registers, {spills}, {launch}"


def _orders(found: Orders) -> Iterator[str]:
    asked, tile = found.problem, found.tile
    size = f"{tile['block_m']}x{tile['block_n']}x{tile['block_k']}"
    yield f"{found.chip.name}: C[{asked.m}, {asked.n}] over K {asked.k} in {asked.dtype}, tiles of {size}"
    yield ""
    yield "  order                      L2 hits last-level from memory         est. time"
    for each in found.orders:
        traffic = each.traffic
        last = "-" if traffic.last_hits is None else f"{traffic.last_hits:.1%}"
        yield (
            f"  {order_name(each.order):<26} {traffic.l2_hits:>7.1%} {last:>10} "
            f"{traffic.memory / 1e9:>8.2f} GB {_time(each.seconds[0]):>9}-{_time(each.seconds[1])}"
        )
    yield ""
    yield "  est. time: from all of memory's time hidden to none of it"
    yield from (f"  {line}" for line in found.assumptions)


def order_name(order: Order) -> str:
    """An order in words: row-major, groups of 8, groups of 8 in chunks of 64."""
    name = "row-major" if order.group_m == 1 else f"groups of {order.group_m}"
    return name if order.chunk is None else f"{name}, chunks of {order.chunk}"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-4 else f"{seconds * 1e6:.2f} us"
