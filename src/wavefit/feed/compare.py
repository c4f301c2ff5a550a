"""Measured rows laid over the model: estimate each, sum up the errors, and set a null model beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from statistics import mean, median

from wavefit.chips import Chip, Target
from wavefit.feed.facts import fact, number, title
from wavefit.feed.measured import Row
from wavefit.feed.memory import MemoryFeed, feed_memory
from wavefit.feed.model import Json, Timing
from wavefit.feed.simulate import INSTRUCTIONS, simulate
from wavefit.feed.timing import timing
from wavefit.matrix.errors import MatrixError
from wavefit.occupancy.question import as_chip
from wavefit.occupancy.result import BadQuestion

Of = str | Chip | Target
_MOST_CHAINS = 256
_MOST_WORK = 1 << 20
"""What a file may ask of the simulation."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A row with what the model estimates for it; `estimate` is None where `why` says there is none.

    `subject` is the instruction, or the level of memory, that the estimate is of; `occupancy` (0 to 1) is
    of the wave slots, `in_flight` the bytes that the row's loads keep in flight, of all CUs in use.
    """

    row: Row
    estimate: float | None
    why: str | None = None
    subject: str = ""
    occupancy: float | None = None
    in_flight: float | None = None
    assumptions: tuple[str, ...] = ()

    @property
    def error(self) -> float | None:
        """(estimate - measured) / measured."""
        return None if self.estimate is None else self.estimate / self.row.amount - 1

    def to_dict(self) -> Json:
        """The row as a JSON object: FLOP/s of an instruction, bytes/s of a read."""
        row = self.row
        return {
            "line": row.line,
            "label": row.label,
            "subject": self.subject,
            "ilp": row.ilp or None,
            "waves": row.waves,
            "occupancy": self.occupancy,
            "vector_bytes": row.vector_bytes or None,
            "outstanding": row.outstanding or None,
            "cus": row.cus,
            "measured": row.amount,
            "estimate": self.estimate,
            "error": self.error,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class Errors:
    """The absolute relative errors of one subject's rows. None where no row of it has an estimate."""

    subject: str
    rows: int
    estimated: int
    mean: float | None
    median: float | None
    worst: float | None

    def to_dict(self) -> Json:
        """The errors as a JSON object."""
        keys = ("subject", "rows", "estimated", "mean", "median", "worst")
        return {key: getattr(self, key) for key in keys}


def compare(of: Of, rows: Iterable[Row], *, instruction: str | None = None) -> tuple[Compared, ...]:
    """Every row beside the est. of the same chip, instruction and shape.

    At the clock that was counted with the row, where there is one. Reads that go over no more data than
    the L2 holds are read from there, and are compared with it. `instruction` is for rows that name none
    (default: what the chip's own Facts were measured with).
    """
    chip = as_chip(of)
    default = instruction or _measured_with(chip)
    slots, timings = chip.target.unit().wave_slots, dict[str, Timing | str]()

    def estimate(row: Row) -> Compared:
        if not row.ilp:
            return _memory(chip, row)
        name = row.instruction or default
        if name is None:
            return Compared(row, None, f"which instruction of {title(chip)} this is must be given")
        if name not in timings:
            timings[name] = _timing(chip, name)
        known = timings[name]
        if isinstance(known, str):
            return Compared(row, None, known, name)
        if row.waves > slots or row.ilp > _MOST_CHAINS:
            return Compared(row, None, f"{title(chip)} has {slots} wave slots a SIMD; ilp {row.ilp}", name)
        return _flops(known, row)

    def occupied(found: Compared) -> Compared:
        return replace(found, occupancy=found.row.waves / slots) if slots else found

    return tuple(occupied(estimate(row)) for row in rows)


def summed_up(found: Iterable[Compared]) -> tuple[Errors, ...]:
    """The errors of each subject, in the order in which they come."""
    by_subject: dict[str, list[Compared]] = {}
    for each in found:
        by_subject.setdefault(each.subject, []).append(each)
    return tuple(_errors(subject, rows) for subject, rows in by_subject.items())


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


def _errors(subject: str, rows: list[Compared]) -> Errors:
    off = [abs(each.error) for each in rows if each.error is not None]
    if not off:
        return Errors(subject, len(rows), 0, None, None, None)
    return Errors(subject, len(rows), len(off), mean(off), median(off), max(off))


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
    if row.clock_mhz is not None:
        known = replace(known, clock_mhz=row.clock_mhz)
    loop = known.loop(row.ilp)
    # What was measured did fit, whatever registers the kernel took: only the timing is asked here.
    run = simulate(loop, row.waves, min(row.work or INSTRUCTIONS, _MOST_WORK), known.arbitration)
    estimate = run.busy(known.held) * (known.peak or 0)
    return Compared(row, estimate, subject=known.instruction, assumptions=known.assumptions)


def _memory(chip: Chip, row: Row) -> Compared:
    holds = number(chip, "cache.l2_bytes") or 0
    level = "l2" if row.passed is not None and row.passed <= holds else "memory"
    kept = float(row.vector_bytes * row.outstanding) if row.all_in_flight else None

    def ask(level: str) -> MemoryFeed:
        return feed_memory(
            chip, waves=row.waves, vector_bytes=row.vector_bytes, outstanding=row.outstanding, cus=row.cus,
            level=level, lane_bytes=kept,
        )  # fmt: skip

    try:
        found = ask(level)
    except (BadQuestion, MatrixError) as error:
        read = (row.passed or 0) / 1e6
        stays = f"its {read:.0f} MB stay in the L2 of {holds / 1e6:.0f}; " if level == "l2" else ""
        return Compared(row, None, f"{stays}{error}", level)
    return Compared(
        row, found.bytes_per_second, subject=level, in_flight=found.bytes_in_flight,
        assumptions=found.assumptions,
    )  # fmt: skip
