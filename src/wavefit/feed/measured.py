"""Measured rows laid over the model: read them from CSV, estimate each, and set a null model beside.

A file is known by its header: `wavefit bench`'s own, or the shape of a published sweep. Lines that begin
with # are for people.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, isfinite
from pathlib import Path

from wavefit.chips import Chip, Target
from wavefit.feed.facts import fact, title
from wavefit.feed.memory import feed_memory
from wavefit.feed.model import Timing
from wavefit.feed.simulate import INSTRUCTIONS, simulate
from wavefit.feed.timing import timing
from wavefit.matrix.errors import MatrixError
from wavefit.occupancy.question import as_chip
from wavefit.occupancy.result import BadQuestion

Of = str | Chip | Target
Cells = Mapping[str, str]
_MOST_CHAINS = 256
_MOST_WORK = 1 << 20
"""What a file may ask of the simulation."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement. `amount` is FLOP/s of the chip for an `instruction`, else bytes/s read.

    `waves` are per SIMD. `work` is how many instructions each wave issued, where the file says.
    """

    amount: float
    waves: int
    instruction: str | None = None
    ilp: int = 0
    vector_bytes: int = 0
    outstanding: int = 0
    cus: int | None = None
    work: int | None = None
    line: int = 0

    @property
    def label(self) -> str:
        """What was measured, in a few words."""
        if self.ilp:
            return f"{self.instruction or ''} ilp {self.ilp}, {self.waves} waves/SIMD".strip()
        where = f", {self.cus} CUs" if self.cus else ""
        return f"{self.vector_bytes} B x {self.outstanding} loads, {self.waves} waves/SIMD{where}"


@dataclass(frozen=True, slots=True)
class Compared:
    """A row with what the model estimates for it; `estimate` is None where `why` says there is none."""

    row: Row
    estimate: float | None
    why: str | None = None

    @property
    def error(self) -> float | None:
        """(estimate - measured) / measured."""
        return None if self.estimate is None else self.estimate / self.row.amount - 1


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
    if row.waves < 1 or row.ilp < 0 or (not row.ilp and row.vector_bytes < 1):
        raise ValueError(f"{row.waves} waves, ilp {row.ilp}, {row.vector_bytes} bytes")
    return row


def compare(of: Of, rows: Iterable[Row], *, instruction: str | None = None) -> tuple[Compared, ...]:
    """Every row beside the est. of the same chip, instruction and shape.

    `instruction` is for rows that name none (default: what the chip's own Facts were measured with).
    """
    chip = as_chip(of)
    default = instruction or _measured_with(chip)
    slots, timings = chip.target.unit().wave_slots, dict[str, Timing | str]()

    def estimate(row: Row) -> Compared:
        try:
            if not row.ilp:
                return Compared(row, _memory(chip, row))
            name = row.instruction or default
            if name is None:
                return Compared(row, None, f"which instruction of {title(chip)} this is must be given")
            if name not in timings:
                timings[name] = _timing(chip, name)
            known = timings[name]
            if isinstance(known, str):
                return Compared(row, None, known)
            if row.waves > slots or row.ilp > _MOST_CHAINS:
                return Compared(row, None, f"{title(chip)} has {slots} wave slots a SIMD; ilp {row.ilp}")
            return _flops(known, row)
        except (BadQuestion, MatrixError) as error:
            return Compared(row, None, str(error))

    return tuple(estimate(row) for row in rows)


def null_model(rows: Iterable[Row], set_on: Callable[[Row], bool]) -> Callable[[Row], float]:
    """c x min(1, W x K / L'): the two constants by least squares of the relative error on some of the rows.

    What a model must beat to be an explanation. Raises ValueError where no row is set on.
    """
    used = [row for row in rows if set_on(row)]
    if not used:
        raise ValueError("a null model needs rows to set its constants on")
    best, found = float("inf"), (0.0, 1.0)
    for step in range(100, 1601):
        needed = step / 100
        shares = [min(1.0, row.waves * row.ilp / needed) / row.amount for row in used]
        scale = sum(shares) / sum(share * share for share in shares)
        off = sum((scale * share - 1) ** 2 for share in shares)
        if off < best - 1e-12:
            best, found = off, (scale, needed)
    scale, needed = found
    return lambda row: scale * min(1.0, row.waves * row.ilp / needed)


def _measured_with(chip: Chip) -> str | None:
    found = fact(chip, "feed.measured_with")
    return str(found[1].value) if found else None


def _timing(chip: Chip, name: str) -> Timing | str:
    try:
        known = timing(chip, name)
    except MatrixError as error:
        return str(error)
    return known if known.peak is not None else f"{title(chip)} is a target, not a chip"


def _flops(known: Timing, row: Row) -> Compared:
    loop = known.loop(row.ilp)
    # What was measured did fit, whatever registers the kernel took: only the timing is asked here.
    run = simulate(loop, row.waves, min(row.work or INSTRUCTIONS, _MOST_WORK), known.arbitration)
    return Compared(row, run.busy(known.held) * (known.peak or 0))


def _memory(chip: Chip, row: Row) -> float:
    return feed_memory(
        chip, waves=row.waves, vector_bytes=row.vector_bytes, outstanding=row.outstanding, cus=row.cus
    ).bytes_per_second


# One reader a header


def _bench(cells: Cells, _: int) -> Row | None:
    work = int(cells["instructions"] or 0) or None
    if cells["experiment"] == "matrix":
        return Row(
            float(cells["flops"]),
            int(cells["waves_per_simd"]),
            cells["instruction"],
            int(cells["ilp"]),
            work=work,
        )
    if cells["experiment"] == "read":
        return Row(
            float(cells["bytes_per_second"]), int(cells["waves_per_simd"]),
            vector_bytes=int(cells["vector_bytes"]), outstanding=int(cells["outstanding"]),
            cus=int(cells["cus_in_use"]),
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
