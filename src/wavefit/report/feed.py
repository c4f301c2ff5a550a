"""Answers of the feed room as text and as documents. Holds no arithmetic but that of units and widths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wavefit.feed import Compared, Curve, Errors, Feed, MemoryCurve, MemoryFeed, Point, Roofline, Trap
from wavefit.report.language import counted, retold, say
from wavefit.report.names import printable
from wavefit.report.paint import bar, paint
from wavefit.report.text import labelled, rests
from wavefit.report.wrap import beside, hung, pad, table, whole

Json = dict[str, Any]
_KB = 1e3
_LABEL = 38
"""Columns of what a measured row is about."""
TRAP = ("waves", "registers", "wave tile", "CU tile", "FLOP/byte", "unit", "est. TFLOP/s", "by")


@dataclass(frozen=True, slots=True)
class Sweep:
    """Curves of one instruction over ILP x waves."""

    chip: str
    instruction: str
    curves: tuple[Curve, ...]

    def to_dict(self) -> Json:
        """The document `wavefit.feed-sweep/1`."""
        curves = [curve.to_dict() for curve in self.curves]
        return {
            "schema": "wavefit.feed-sweep/1", "chip": self.chip, "instruction": self.instruction,
            "curves": curves,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class MemorySweep:
    """Curves of one level of memory over load shapes x waves."""

    chip: str
    level: str
    curves: tuple[MemoryCurve, ...]

    def to_dict(self) -> Json:
        """The document `wavefit.feed-memory-sweep/1`."""
        curves = [curve.to_dict() for curve in self.curves]
        return {
            "schema": "wavefit.feed-memory-sweep/1", "chip": self.chip, "level": self.level, "curves": curves,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Overlay:
    """A measured file laid over the model: each row, and the errors of each subject."""

    chip: str
    file: str
    rows: tuple[Compared, ...]
    errors: tuple[Errors, ...]

    def to_dict(self) -> Json:
        """The document `wavefit.feed-measured/1`. FLOP/s of instructions, bytes/s of reads."""
        return {
            "schema": "wavefit.feed-measured/1",
            "chip": self.chip,
            "file": self.file,
            "rows": [row.to_dict() for row in self.rows],
            "errors": [errors.to_dict() for errors in self.errors],
            "assumptions": list(self.assumptions),
        }

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the estimates rest on, each once."""
        return tuple(dict.fromkeys(line for row in self.rows for line in row.assumptions))


Answer = Feed | Sweep | MemoryFeed | MemorySweep | Overlay | Trap | Roofline


def feed_text(found: Answer) -> str:
    """Any answer of the feed room for a terminal of 80 columns."""
    lines: Iterator[str]
    if isinstance(found, Feed):
        lines = _feed(found)
    elif isinstance(found, Sweep):
        lines = _sweep(found)
    elif isinstance(found, MemoryFeed):
        lines = _memory(found)
    elif isinstance(found, MemorySweep):
        lines = _memory_sweep(found)
    elif isinstance(found, Overlay):
        lines = _overlay(found)
    elif isinstance(found, Trap):
        lines = _trap(found)
    else:
        lines = _roofline(found)
    return "\n".join(line.rstrip() for line in lines)


def _feed(found: Feed) -> Iterator[str]:
    known = found.timing
    name = f"{known.chip} ({known.target})" if known.chip else known.target
    waves = counted(found.waves, "wave")
    title = say(
        "{chip}: {instruction}, ILP {ilp}, {waves} a SIMD", chip=name, instruction=known.instruction,
        ilp=found.ilp, waves=waves,
    )  # fmt: skip
    yield from (paint(line, "strong") for line in hung("", title, hang=2))
    yield "  " + say("{share} of the matrix unit, est.", share=_share(found.utilisation))
    fed = say("{number} short", number=found.missing) if found.missing else say("fed")
    yield from hung("  ", say(
        "needs {needed} in flight (latency {latency} / interval {interval} cycles), "
        "has {waves} x {ilp} = {has}: {fed}", needed=found.needed_in_flight, latency=f"{known.latency:g}",
        interval=f"{known.interval:g}", waves=found.waves, ilp=found.ilp, has=found.in_flight, fed=fed,
    ))  # fmt: skip
    yield "  " + say("Little's law alone: {share}", share=f"{found.bound:.0%}")
    if found.flops is not None:
        rate = say("est. {rate}", rate=_flops(found.flops))
        if found.of_peak is not None:
            rate += say(", {share} of the chip's peak for the type", share=f"{found.of_peak:.0%}")
        yield "  " + rate
    if found.alone:
        text = "for {share} of the time fewer waves are left: the starved ones end last"
        yield from hung("  ", say(text, share=f"{found.alone:.0%}"))
    if found.ways:
        yield ""
    for way in found.ways:
        gains = say("est. {rate}", rate=f"{way.utilisation:.0%}") if way.possible else say("not possible")
        lines = labelled("next", retold(way.words) + say(": ") + whole(gains))
        yield from (paint(line, "good") if way.possible else line for line in lines)
    yield from rests(found.assumptions)


def _sweep(found: Sweep) -> Iterator[str]:
    busy = not any(point.flops for curve in found.curves for point in curve.points)
    title = say(
        "{chip}: {instruction}, est. {unit} by waves a SIMD and ILP", chip=found.chip,
        instruction=found.instruction, unit=say("busy") if busy else "TFLOP/s",
    )  # fmt: skip
    yield from (paint(line, "strong") for line in hung("", title, hang=2))
    yield ""
    rows = [(say("waves"), say("occupancy"), *(f"ILP {curve.ilp}" for curve in found.curves))]
    for points in zip(*(curve.points for curve in found.curves), strict=True):
        first = points[0]
        rows.append((str(first.waves), f"{first.occupancy:.0%}", *(_point(point) for point in points)))
    yield from _columns(rows)
    for curve in found.curves:
        if why := next((point.why for point in curve.points if point.why), None):
            yield from hung("  -  ", retold(why))


def _point(point: Point) -> str:
    if point.utilisation is None:
        return "-"
    return f"{point.utilisation:.0%}" if point.flops is None else f"{point.flops / 1e12:.1f}"


def _memory(found: MemoryFeed) -> Iterator[str]:
    title = say(
        "{chip}: {level}, {waves} a SIMD x {loads} of {width} bytes a lane, {cus} CUs", chip=found.chip,
        level=say(found.level.name), waves=counted(found.waves, "wave"), cus=found.cus,
        loads=counted(found.outstanding, "load"), width=found.vector_bytes,
    )  # fmt: skip
    yield from (paint(line, "strong") for line in hung("", title, hang=2))
    peak = _bytes(found.level.bandwidth)
    reached = _bytes(found.bytes_per_second)
    yield "  " + say(
        "{share} of {peak}: est. {reached}", share=_share(found.share), peak=peak, reached=reached
    )
    yield from hung("  ", say(
        "needs {needed} KB in flight ({latency} ns x {peak}), has {has} KB",
        needed=f"{found.needed_bytes / _KB:,.0f}", latency=f"{found.level.latency_ns:.4g}", peak=peak,
        has=f"{found.bytes_in_flight / _KB:,.0f}",
    ))  # fmt: skip
    yield "  " + say(
        "{cu} KB a CU, {wave} bytes a wave", cu=f"{found.bytes_per_cu / _KB:,.1f}",
        wave=f"{found.bytes_per_wave:,.0f}",
    )  # fmt: skip
    yield "  " + say("a wave waits est. {ns} ns for its loads", ns=f"{found.latency_ns:,.0f}")
    yield from rests(found.assumptions)


def _memory_sweep(found: MemorySweep) -> Iterator[str]:
    title = "{chip}: {level}, est. GB/s by waves a SIMD and bytes a lane x loads in flight"
    title = say(title, chip=found.chip, level=say(found.level))
    yield from (paint(line, "strong") for line in hung("", title, hang=2))
    yield ""
    rows = [(say("waves"), *(f"{curve.vector_bytes} B x {curve.outstanding}" for curve in found.curves))]
    longest = max((curve.points for curve in found.curves), key=len, default=())
    for at, point in enumerate(longest):
        rates = (
            f"{curve.points[at].bytes_per_second / 1e9:,.0f}" if at < len(curve.points) else "-"
            for curve in found.curves
        )
        rows.append((str(point.waves), *rates))
    yield from _columns(rows)
    lines = dict.fromkeys(line for curve in found.curves for line in curve.points[0].assumptions)
    yield from rests(tuple(lines))


def _overlay(found: Overlay) -> Iterator[str]:
    yield paint(say("{chip}: measured, est., error", chip=found.chip), "strong")
    yield from hung("  ", say("from {place}", place=printable(found.file)))
    yield ""
    for each in found.rows:
        name, amount = printable(each.row.label, longest=_LABEL), _amount(each.row.amount, each)
        head = f"  {pad(name, _LABEL)} {amount:>15} "
        if each.estimate is None or each.error is None:
            yield from beside(head, say("no est.: {why}", why=printable(retold(each.why or ""))))
        else:
            yield f"{head}{_amount(each.estimate, each):>15} {each.error:>+7.1%}"
    yield ""
    for errors in found.errors:
        subject = printable(errors.subject or say("unknown"), longest=_LABEL)
        rows = counted(errors.rows, "row")
        if errors.mean is None:
            text = say("{subject}: none of {rows} has an est.", subject=subject, rows=rows)
        else:
            text = say(
                "{subject}: mean {mean}, median {median}, worst {worst}, {estimated} of {rows}",
                subject=subject, mean=f"{errors.mean:.1%}", median=f"{errors.median:.1%}",
                worst=f"{errors.worst:.1%}", estimated=errors.estimated, rows=rows,
            )  # fmt: skip
        yield from hung("  ", text, hang=4)
    yield from rests(found.assumptions)


def _trap(found: Trap) -> Iterator[str]:
    title = say(
        "{chip}: {instruction}, more waves against larger tiles", chip=found.chip,
        instruction=found.instruction,
    )  # fmt: skip
    yield from (paint(line, "strong") for line in hung("", title, hang=2))
    yield ""
    rows = [(*map(say, TRAP), "")]
    for point in found.points:
        rows.append(
            (
                str(point.waves), str(point.registers), _tile(point.wave_tile), _tile(point.cu_tile),
                f"{point.intensity:.0f}", f"{point.utilisation:.0%}", f"{point.flops / 1e12:,.0f}",
                say(point.by), "<" if point is found.best else "",
            )
        )  # fmt: skip
    for line in _columns(rows):
        yield paint(line, "good") if line.endswith("<") else line
    yield ""
    waves, rate = counted(found.best.waves, "wave"), _flops(found.best.flops)
    yield "  " + say("peaks at {waves} a SIMD: est. {rate}", waves=waves, rate=rate)
    yield from rests(found.assumptions)


def _roofline(found: Roofline) -> Iterator[str]:
    roofs = found.roofs
    yield paint(
        say(
            "{chip}: {type}, {peak} at {clock} MHz, dense", chip=found.chip, type=found.type,
            peak=_flops(roofs[0].peak), clock=f"{roofs[0].clock_mhz:g}",
        ),
        "strong",
    )  # fmt: skip
    for roof in roofs:
        text = say("balanced at {balance} FLOP a byte", balance=f"{roof.balance:,.0f}")
        yield f"  {pad(say(roof.level), 8)} {_bytes(roof.bandwidth):>11}{say(': ')}{text}"
    for tile in found.tiles:
        text = say(
            "tile {m} x {n}: {intensity} FLOP a byte, est. at most {rate}, under {by}", m=tile.m, n=tile.n,
            intensity=f"{tile.intensity:,.0f}", rate=_flops(tile.flops), by=say(tile.by),
        )  # fmt: skip
        yield from hung("  ", text, hang=4)


def _tile(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def _share(share: float) -> str:
    return f"{share:.0%} {bar(share)}"


def _flops(flops: float) -> str:
    return f"{flops / 1e12:,.1f} TFLOP/s"


def _bytes(rate: float) -> str:
    return f"{rate / 1e12:.2f} TB/s"


def _amount(amount: float, of: Compared) -> str:
    return f"{amount / 1e12:,.1f} TFLOP/s" if of.row.ilp else f"{amount / 1e9:,.1f} GB/s"


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    return table(rows, ">" * len(rows[0]), gap=2)
