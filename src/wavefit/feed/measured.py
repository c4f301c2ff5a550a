"""Measured rows read from CSV. A file is known by its header: `wavefit bench`'s own, or a published sweep's.

Lines that begin with # are for people.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil, isfinite
from pathlib import Path

from wavefit.occupancy.result import BadQuestion

Cells = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement. `amount` is FLOP/s of the chip for an `instruction`, else bytes/s read.

    `waves` are per SIMD. `work` is how many instructions each wave issued, `clock_mhz` the clock that was
    counted during the run, `passed` the bytes that one pass over the data reads, where the file says.
    """

    amount: float
    waves: int
    instruction: str | None = None
    ilp: int = 0
    vector_bytes: int = 0
    outstanding: int = 0
    cus: int | None = None
    work: int | None = None
    clock_mhz: float | None = None
    passed: float | None = None
    all_in_flight: bool = False
    """The code is known to keep every one of `outstanding` loads in flight, whatever a plain loop does."""
    line: int = 0

    @property
    def label(self) -> str:
        """What was measured, in a few words."""
        if self.ilp:
            return f"{self.instruction or ''} ilp {self.ilp}, {self.waves} waves/SIMD".strip()
        where = f", {self.cus} CUs" if self.cus else ""
        return f"{self.vector_bytes} B x {self.outstanding} loads, {self.waves} waves/SIMD{where}"


def read_measured(path: str | Path, *, simds: int = 4) -> tuple[Row, ...]:
    """The measurements of a CSV file. `simds` per CU turn warps of a CU into waves of a SIMD.

    Raises BadQuestion naming file, line and cause.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        cause = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise BadQuestion(f"{path}: {cause}") from error
    numbered = [(at, line) for at, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    table = csv.DictReader(line for _, line in numbered)
    found: list[Row] = []
    at = numbered[0][0] if numbered else 1
    try:
        columns = set(table.fieldnames or ())
        reader = next((read for needs, read in _SHAPES if needs <= columns), None)
        if reader is None:
            has = ", ".join(sorted(columns))[:200].encode("unicode_escape").decode() or "it is empty"
            raise BadQuestion(f"{path}: no known columns in its header ({has})")
        for (at, _), cells in zip(numbered[1:], table, strict=False):
            row = reader(cells, simds)
            if row is not None:
                found.append(replace(_sound(row), line=at))
    except (KeyError, ValueError, TypeError, OverflowError, csv.Error) as error:
        if isinstance(error, BadQuestion):
            raise
        raise BadQuestion(f"{path}:{at}: not a row of this table: {error}") from error
    return tuple(found)


def _sound(row: Row) -> Row:
    """The row, if its numbers can be a measurement. Raises ValueError."""
    if not (isfinite(row.amount) and row.amount > 0):
        raise ValueError(f"a rate of {row.amount}")
    if row.clock_mhz is not None and not (isfinite(row.clock_mhz) and row.clock_mhz > 0):
        raise ValueError(f"a clock of {row.clock_mhz} MHz")
    if row.waves < 1 or row.ilp < 0 or (not row.ilp and row.vector_bytes < 1):
        raise ValueError(f"{row.waves} waves, ilp {row.ilp}, {row.vector_bytes} bytes")
    return row


# One reader a header


def _bench(cells: Cells, _: int) -> Row | None:
    waves = int(cells["waves_per_simd"])
    if cells["experiment"] == "matrix":
        return Row(
            float(cells["flops"]), waves, cells["instruction"], int(cells["ilp"]),
            work=int(cells["instructions"] or 0) or None, clock_mhz=float(cells["clock_mhz"] or 0) or None,
        )  # fmt: skip
    if cells["experiment"] == "read":
        rate = float(cells["bytes_per_second"])
        return Row(
            rate, waves, vector_bytes=int(cells["vector_bytes"]), outstanding=int(cells["outstanding"]),
            cus=int(cells["cus_in_use"]), passed=rate * float(cells["median_ms"] or 0) / 1e3 or None,
            all_in_flight=True,
        )  # fmt: skip
    return None


def _published_ilp(cells: Cells, _: int) -> Row:
    # Eight slots a SIMD on the chip it was published for; resident waves are the next whole number.
    waves = max(1, ceil(float(cells["achieved_occupancy_pct"]) / 100 * 8))
    return Row(float(cells["pflops"]) * 1e15, waves, ilp=int(cells["ilp"]))


def _warps_ilp(cells: Cells, simds: int) -> Row:
    ilp, waves = int(cells["ilp"]), int(cells["warps_per_sm"]) // simds
    return Row(float(cells["tflops"]) * 1e12, waves, cells["instr"], ilp, work=65536)


def _warps_read(cells: Cells, simds: int) -> Row:
    return Row(
        float(cells["gbytes_per_s"]) * 1e9, int(cells["warps_per_sm"]) // simds,
        vector_bytes=int(cells["vector_bytes"]), outstanding=int(cells["outstanding"]),
    )  # fmt: skip


def _workgroups_read(cells: Cells, _: int) -> Row:
    # As published: one workgroup of four waves a CU, four 16-byte loads in flight a lane.
    return Row(
        float(cells["gbytes_per_s"]) * 1e9, 1, vector_bytes=16, outstanding=4, cus=int(cells["workgroups"])
    )


_SHAPES: tuple[tuple[frozenset[str], Callable[[Cells, int], Row | None]], ...] = (
    (frozenset({"experiment", "waves_per_simd", "flops", "bytes_per_second"}), _bench),
    (frozenset({"ilp", "achieved_occupancy_pct", "pflops"}), _published_ilp),
    (frozenset({"instr", "ilp", "warps_per_sm", "tflops"}), _warps_ilp),
    (frozenset({"vector_bytes", "outstanding", "warps_per_sm", "gbytes_per_s"}), _warps_read),
    (frozenset({"workgroups", "gbytes_per_s"}), _workgroups_read),
)
