"""Answers of the feed room as text and as documents. Holds no arithmetic but that of units and widths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wavefit.feed import Compared, Curve, Errors, Feed, MemoryCurve, MemoryFeed, Point, Roofline, Trap
from wavefit.report.names import counted, printable

Json = dict[str, Any]
_BAR = 24
_KB = 1e3


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
    yield f"{name}: {known.instruction}, ILP {found.ilp}, {counted(found.waves, 'wave')} a SIMD"
    yield f"  {_share(found.utilisation)} of the matrix unit, est."
    yield f"  needs {found.needed_in_flight} in flight (latency {known.latency:g} / interval " + (
        f"{known.interval:g} cycles), has {found.waves} x {found.ilp} = {found.in_flight}: "
        + (f"{found.missing} short" if found.missing else "fed")
    )
    yield f"  Little's law alone: {found.bound:.0%}"
    if found.flops is not None:
        of_peak = "" if found.of_peak is None else f", {found.of_peak:.0%} of the chip's peak for the type"
        yield f"  est. {_flops(found.flops)}{of_peak}"
    if found.alone:
        yield f"  for {found.alone:.0%} of the time fewer waves are left: the starved ones end last"
    if found.ways:
        yield ""
    for way in found.ways:
        gains = f"est. {way.utilisation:.0%}" if way.possible else "not possible"
        yield f"  next     {way.words}: {gains}"
    yield from _rests(found.assumptions)


def _sweep(found: Sweep) -> Iterator[str]:
    unit = "TFLOP/s" if any(point.flops for curve in found.curves for point in curve.points) else "busy"
    yield f"{found.chip}: {found.instruction}, est. {unit} by waves a SIMD and ILP"
    yield ""
    rows = [("waves", "occupancy", *(f"ILP {curve.ilp}" for curve in found.curves))]
    for points in zip(*(curve.points for curve in found.curves), strict=True):
        first = points[0]
        rows.append((str(first.waves), f"{first.occupancy:.0%}", *(_point(point) for point in points)))
    yield from _columns(rows)
    for curve in found.curves:
        if why := next((point.why for point in curve.points if point.why), None):
            yield f"  -  {why}"


def _point(point: Point) -> str:
    if point.utilisation is None:
        return "-"
    return f"{point.utilisation:.0%}" if point.flops is None else f"{point.flops / 1e12:.1f}"


def _memory(found: MemoryFeed) -> Iterator[str]:
    shape = f"{counted(found.outstanding, 'load')} of {found.vector_bytes} bytes a lane"
    waves = f"{counted(found.waves, 'wave')} a SIMD x {shape}"
    yield f"{found.chip}: {found.level.name}, {waves}, {found.cus} CUs"
    yield f"  {_share(found.share)} of {_bytes(found.level.bandwidth)}: est. {_bytes(found.bytes_per_second)}"
    yield f"  needs {found.needed_bytes / _KB:,.0f} KB in flight ({found.level.latency_ns:.4g} ns x " + (
        f"{_bytes(found.level.bandwidth)}), has {found.bytes_in_flight / _KB:,.0f} KB"
    )
    yield f"  {found.bytes_per_cu / _KB:,.1f} KB a CU, {found.bytes_per_wave:,.0f} bytes a wave"
    yield f"  a wave waits est. {found.latency_ns:,.0f} ns for its loads"
    yield from _rests(found.assumptions)


def _memory_sweep(found: MemorySweep) -> Iterator[str]:
    yield f"{found.chip}: {found.level}, est. GB/s by waves a SIMD and bytes a lane x loads in flight"
    yield ""
    rows = [("waves", *(f"{curve.vector_bytes} B x {curve.outstanding}" for curve in found.curves))]
    longest = max((curve.points for curve in found.curves), key=len, default=())
    for at, point in enumerate(longest):
        rates = (
            f"{curve.points[at].bytes_per_second / 1e9:,.0f}" if at < len(curve.points) else "-"
            for curve in found.curves
        )
        rows.append((str(point.waves), *rates))
    yield from _columns(rows)
    yield from _rests(dict.fromkeys(line for curve in found.curves for line in curve.points[0].assumptions))


def _overlay(found: Overlay) -> Iterator[str]:
    yield f"{found.chip}: measured, est., error"
    yield f"  from {printable(found.file)}"
    yield ""
    for each in found.rows:
        name, amount = printable(each.row.label, longest=40), _amount(each.row.amount, each)
        if each.estimate is None or each.error is None:
            yield f"  {name:<40} {amount:>13}  no est.: {printable(each.why or '')}"
        else:
            yield f"  {name:<40} {amount:>13} {_amount(each.estimate, each):>13} {each.error:>+7.1%}"
    yield ""
    for errors in found.errors:
        subject = printable(errors.subject or "unknown", longest=40)
        if errors.mean is None:
            yield f"  {subject}: none of {counted(errors.rows, 'row')} has an est."
        else:
            yield (
                f"  {subject}: mean {errors.mean:.1%}, median {errors.median:.1%}, worst {errors.worst:.1%}, "
                f"{errors.estimated} of {counted(errors.rows, 'row')}"
            )
    yield from _rests(found.assumptions)


def _trap(found: Trap) -> Iterator[str]:
    yield f"{found.chip}: {found.instruction}, more waves against larger tiles"
    yield ""
    header = ("waves", "registers", "wave tile", "CU tile", "FLOP/byte", "unit", "est. TFLOP/s", "by", "")
    rows = [header]
    for point in found.points:
        rows.append(
            (
                str(point.waves), str(point.registers), _tile(point.wave_tile), _tile(point.cu_tile),
                f"{point.intensity:.0f}", f"{point.utilisation:.0%}", f"{point.flops / 1e12:,.0f}", point.by,
                "<" if point is found.best else "",
            )
        )  # fmt: skip
    yield from _columns(rows)
    yield ""
    yield f"  peaks at {counted(found.best.waves, 'wave')} a SIMD: est. {_flops(found.best.flops)}"
    yield from _rests(found.assumptions)


def _roofline(found: Roofline) -> Iterator[str]:
    roofs = found.roofs
    yield f"{found.chip}: {found.type}, {_flops(roofs[0].peak)} at {roofs[0].clock_mhz:g} MHz, dense"
    for roof in roofs:
        yield f"  {roof.level:<8} {_bytes(roof.bandwidth):>11}: balanced at {roof.balance:,.0f} FLOP a byte"
    for tile in found.tiles:
        yield (
            f"  tile {tile.m} x {tile.n}: {tile.intensity:,.0f} FLOP a byte, est. at most "
            f"{_flops(tile.flops)}, under {tile.by}"
        )


def _tile(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def _share(share: float) -> str:
    filled = min(_BAR, round(share * _BAR))
    return f"{share:.0%} [{'#' * filled}{'.' * (_BAR - filled)}]"


def _flops(flops: float) -> str:
    return f"{flops / 1e12:,.1f} TFLOP/s"


def _bytes(rate: float) -> str:
    return f"{rate / 1e12:.2f} TB/s"


def _amount(amount: float, of: Compared) -> str:
    return f"{amount / 1e12:,.1f} TFLOP/s" if of.row.ilp else f"{amount / 1e9:,.1f} GB/s"


def _rests(lines: Iterable[str]) -> Iterator[str]:
    yield from (f"  rests on {line}" for line in lines)


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows:
        yield "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
