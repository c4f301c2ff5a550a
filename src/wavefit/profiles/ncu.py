"""Nsight Compute: `ncu --csv`, the details page (a row a metric) and the raw page (a row a launch)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from wavefit.profiles.devices import Devices
from wavefit.profiles.dialects import dialect
from wavefit.profiles.model import Device, Measurement, Problem, Reported
from wavefit.profiles.numerals import LARGEST, MISSING, BadNumber, bounded, number, quantity, whole
from wavefit.profiles.table import Table, with_decimal_mark

_DETAILS = {
    "Theoretical Active Warps per SM": "sm__maximum_warps_avg_per_active_cycle",
    "Theoretical Occupancy": "sm__maximum_warps_per_active_cycle_pct",
    "Achieved Active Warps Per SM": "sm__warps_active.avg.per_cycle_active",
    "Achieved Occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "Block Limit SM": "launch__occupancy_limit_blocks",
    "Block Limit Registers": "launch__occupancy_limit_registers",
    "Block Limit Shared Mem": "launch__occupancy_limit_shared_mem",
    "Block Limit Warps": "launch__occupancy_limit_warps",
    "Block Limit Barriers": "launch__occupancy_limit_barriers",
    "Registers Per Thread": "launch__registers_per_thread",
    "Static Shared Memory Per Block": "launch__shared_mem_per_block_static",
    "Dynamic Shared Memory Per Block": "launch__shared_mem_per_block_dynamic",
    "Shared Memory Configuration Size": "launch__shared_mem_config_size",
    "Block Size": "launch__block_size",
    "Grid Size": "launch__grid_size",
    "# SMs": "launch__sm_count",
    "Waves Per SM": "launch__waves_per_multiprocessor",
    "Duration": "gpu__time_duration.sum",
    "SM Frequency": "smsp__cycles_elapsed.avg.per_second",
    "Compute (SM) Throughput": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
}
"""Names on the details page, and the metric each of them shows."""

_COUNTED = frozenset(_DETAILS.values())
_NANOSECONDS = {"n": 1.0, "u": 1e3, "m": 1e6, "": 1e9}
_LETTERS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_TIME = re.compile(r"(n|u|m|)s(?:econd)?")
_SCALED = re.compile(r"([KMGT])(byte|hz)(/\w+)?", re.IGNORECASE)
_SIDES = re.compile(r"-?\d+")
WAVE = 32


@dataclass(slots=True)
class _Launch:
    row: int
    cells: Mapping[str, str]
    metrics: dict[str, float] = field(default_factory=dict)
    name: str | None = None
    """The chip, where the page holds its attributes."""


def details(table: Table, devices: Devices) -> Iterator[Measurement | Problem]:
    """A Measurement a launch of the details page; metrics under the names that the raw page has."""
    table = with_decimal_mark(table, but="cc")
    now: _Launch | None = None
    for found in table.rows(needed=table.names.index("metricvalue") + 1):
        if isinstance(found, Problem):
            yield found
            continue
        row, cells = found
        cell = dict(zip(table.names, cells, strict=True))
        if now is None or cell["id"] != now.cells["id"]:
            if now is not None:
                yield from _measurement(table.file, now)
            now = _Launch(row, cell)
        title = _DETAILS.get(cell["metricname"], cell["metricname"])
        try:
            value = _value(cell["metricvalue"], cell.get("metricunit", ""), table.decimal, title)
        except BadNumber as error:
            yield Problem(table.file, str(error.of(cell["metricname"])), row=row)
            continue
        if value is not None:
            now.metrics[title] = value
    if now is not None:
        yield from _measurement(table.file, now)


def raw(table: Table, devices: Devices) -> Iterator[Measurement | Problem]:
    """A Measurement a launch of the raw page; the row under the header holds the units."""
    table = with_decimal_mark(table, but="cc")
    units = [""] * len(table.header)
    for found in table.rows():
        if isinstance(found, Problem):
            yield found
            continue
        row, cells = found
        launch = _Launch(row, dict(zip(table.names, cells, strict=True)))
        if not launch.cells["id"]:
            units = cells
            continue
        for title, unit, text in zip(table.header, units, cells, strict=True):
            try:
                value = _value(text, unit, table.decimal, title)
            except BadNumber as error:
                yield Problem(table.file, str(error.of(title)), row=row)
                continue
            if value is not None:
                launch.metrics[title] = value
            elif title.endswith("device__attribute_display_name"):
                launch.name = text
        yield from _measurement(table.file, launch)


def _value(text: str, unit: str, decimal: str, title: str) -> float | None:
    """A metric in base units: bytes, hertz, nanoseconds; None where it is text.

    Raises BadNumber: no metric is beyond what floats hold, and those that are used here are counted.
    """
    if title not in _COUNTED:
        value = number(text, decimal)
    else:
        value = quantity(text, decimal)
        if value is None and text.strip().lower() not in MISSING:
            raise BadNumber(text, "is no number")
    if value is None:
        return None
    scaled, moment = _SCALED.fullmatch(unit), _TIME.fullmatch(unit)
    if scaled:
        scale = _LETTERS[scaled[1].upper()]
        return _roundest(value * scale, scale / 200) if scaled[2].lower() == "byte" else value * scale
    if moment:
        return value * _NANOSECONDS[moment[1]]
    return value


def _measurement(file: str, launch: _Launch) -> Iterator[Measurement | Problem]:
    """The Measurement of a launch; a Problem where its sizes cannot be meant."""
    cells, metrics = launch.cells, launch.metrics
    try:
        number = whole(cells["id"], largest=LARGEST)
        reported = _reported(cells, metrics, launch.name)
    except BadNumber as error:
        yield Problem(file, str(error), row=launch.row)
        return
    lasted = metrics.get("gpu__time_duration.sum")
    end = None if lasted is None else round(lasted)
    start = None if end is None else 0
    yield Measurement(reported, file, launch.row, number, start, end, (metrics,))


def _reported(cells: Mapping[str, str], metrics: Mapping[str, float], name: str | None) -> Reported:
    """What was launched. Raises BadNumber."""

    def size(title: str) -> int | None:
        try:
            return bounded(int(metrics[title])) if title in metrics else None
        except BadNumber as error:
            raise error.of(title) from None

    threads = _sides(cells.get("blocksize", ""), "Block Size") or size("launch__block_size")
    blocks = _sides(cells.get("gridsize", ""), "Grid Size") or size("launch__grid_size")
    static = size("launch__shared_mem_per_block_static")
    dynamic = size("launch__shared_mem_per_block_dynamic")
    capability = cells.get("cc", "").replace(".", "")
    khz = metrics.get("device__attribute_clock_rate")
    device = Device(
        target=f"sm_{capability}" if capability.isdigit() else None,
        name=name,
        units=size("launch__sm_count") or size("device__attribute_multiprocessor_count"),
        clock=int(khz / 1e3) if khz else None,
    )
    return Reported(
        tool="Nsight Compute",
        kernel=cells["kernelname"],
        agent=cells.get("device", ""),
        device=device if device.target or device.name else None,
        threads=threads,
        workgroups=blocks,
        vgprs=size("launch__registers_per_thread"),
        lds=None if static is None else static + (dynamic or 0),
        lds_static=static,
        wave=WAVE,
    )


def _sides(text: str, title: str) -> int | None:
    """The product of `(256, 1, 1)`. Raises BadNumber."""
    product = 1
    sides = _SIDES.findall(text)
    try:
        for side in sides:
            product = bounded(product * (whole(side) or 0), LARGEST)
    except BadNumber as error:
        raise error.of(title) from None
    return product if sides else None


def _roundest(value: float, slack: float) -> float:
    """The roundest size that shows as this value: ncu scales with two decimals (32.77 Kbyte is 32768)."""
    for power in range(30, 0, -1):
        near = round(value / (1 << power)) << power
        if abs(near - value) <= slack:
            return near
    return round(value)


DIALECTS = (
    dialect("ncu details", "id kernelname metricname metricvalue", read=details),
    dialect("ncu raw", "id kernelname blocksize gridsize cc", read=raw),
)
