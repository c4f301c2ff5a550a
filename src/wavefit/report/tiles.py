"""Answers of the tiles room as text and as documents. Holds no arithmetic but that of units and widths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from wavefit.report.language import counted, retold, say
from wavefit.report.names import printable
from wavefit.report.paint import paint
from wavefit.report.wrap import hung, listed, table
from wavefit.tiles.order import Order
from wavefit.tiles.orders import Ordered, Orders
from wavefit.tiles.rank import Pruned, Ranking, Tile
from wavefit.tiles.shape import Problem
from wavefit.tiles.triton import Verified

Json = dict[str, Any]
HEADS = ("#", "tile", "waves", "stages", "group", "est. time", "TFLOP/s", "LDS est.", "regs", "w/SIMD")
ORDER_HEADS = ("order", "L2 hits", "last-level", "from memory", "est. time")


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
    yield paint(_problem(found.chip.name or found.chip.target.name, asked), "strong")
    yield ""
    rows = [_row(at, tile, asked.flops) for at, tile in enumerate(found.tiles[:top], 1)]
    lines = table([tuple(map(say, HEADS)), *rows], "><>>>>><<>", indent=0, gap=2)
    yield paint(lines[0], "quiet")
    yield from lines[1:]
    if not found.tiles:
        yield "  " + say("no tile of these launches")
    if verified:
        yield from ("", "  " + say("compiled, without a GPU"))
        for each in verified:
            yield from hung("    ", _compiled(each), hang=6)
    if found.pruned:
        yield ""
        yield "  " + say("{tiles} cannot launch, such as", tiles=counted(len(found.pruned), "tile"))
        for text in list(
            dict.fromkeys(_config(each) + say(": ") + retold(each.why) for each in found.pruned)
        )[:3]:
            yield from hung("    ", text, hang=6)
    if found.advice or found.assumptions:
        yield ""
    for line in (*found.advice, *found.assumptions):
        yield from hung("  ", retold(line), hang=4)


def _problem(chip: str, asked: Problem) -> str:
    return say("{chip}: C[{m}, {n}] over K {k} in {dtype}", chip=chip, m=asked.m, n=asked.n, k=asked.k,
               dtype=asked.dtype)  # fmt: skip


def _row(at: int, tile: Tile, flops: float) -> tuple[str, ...]:
    name = f"{tile.block_m}x{tile.block_n}x{tile.block_k}" + (f" /{tile.split_k}" if tile.split_k > 1 else "")
    low, high = tile.lds
    spill = f"+{tile.spilled}" if tile.spilled else ""
    return (
        str(at), name, str(tile.warps), str(tile.stages), str(tile.group_m), _time(tile.seconds),
        f"{flops / tile.seconds / 1e12:,.0f}", f"{low}" if low == high else f"{low}-{high}",
        f"{tile.registers}{spill}", f"{tile.fit.waves_per_simd:g}",
    )  # fmt: skip


def _config(each: Pruned) -> str:
    config = each.config
    return _launch([config[name] for name in ("block_m", "block_n", "block_k", "warps", "stages")])


def _launch(numbers: Sequence[int]) -> str:
    """Block sizes, waves, stages."""
    *sizes, warps, stages = numbers
    return listed(("x".join(map(str, sizes)), counted(warps, "wave"), counted(stages, "stage")))


def _compiled(each: Verified) -> str:
    tile = each.tile
    head = _launch([tile.block_m, tile.block_n, tile.block_k, tile.warps, tile.stages])
    if each.fit is None:
        return head + say(": ") + printable(each.error or say("no kernel"))
    launch = say("{waves} waves/SIMD", waves=f"{each.fit.waves_per_simd:g}")
    return say(
        "{head}: LDS {lds}, {registers} registers, {spills}, {launch}", head=head, lds=each.lds,
        registers=each.registers,
        spills=say("spills not said") if each.spills is None else counted(each.spills, "spill"),
        launch=launch if each.fit.workgroups else say("cannot launch"),
    )  # fmt: skip


def _orders(found: Orders) -> Iterator[str]:
    tile = found.tile
    size = f"{tile['block_m']}x{tile['block_n']}x{tile['block_k']}"
    problem = _problem(str(found.chip.name), found.problem)
    yield paint(say("{problem}, tiles of {size}", problem=problem, size=size), "strong")
    yield ""
    rows = [tuple(map(say, ORDER_HEADS))]
    for each in found.orders:
        traffic = each.traffic
        last = "-" if traffic.last_hits is None else f"{traffic.last_hits:.1%}"
        time = f"{_time(each.seconds[0])}-{_time(each.seconds[1])}"
        memory = f"{traffic.memory / 1e9:.2f} GB"
        rows.append((order_name(each.order), f"{traffic.l2_hits:.1%}", last, memory, time))
    lines = table(rows, "<>>>>", gap=2)
    yield paint(lines[0], "quiet")
    yield from lines[1:]
    yield ""
    yield from hung("  ", say("est. time: from all of memory's time hidden to none of it"), hang=4)
    for line in found.assumptions:
        yield from hung("  ", retold(line), hang=4)


def order_name(order: Order) -> str:
    """An order in words: row-major, groups of 8, groups of 8 in chunks of 64."""
    name = say("row-major") if order.group_m == 1 else say("groups of {number}", number=order.group_m)
    return name if order.chunk is None else say("{name}, chunks of {chunk}", name=name, chunk=order.chunk)


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3f} ms" if seconds >= 1e-4 else f"{seconds * 1e6:.2f} us"
