"""`make accuracy`, feed: the room's estimates beside what was measured, and a null model beside that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median

from wavefit.feed import feed
from wavefit.feed.compare import Compared, compare, null_model
from wavefit.feed.measured import Row, read_measured
from wavefit.feed.memory import memory_level
from wavefit.feed.simulate import simulate
from wavefit.feed.timing import timing
from wavefit.occupancy.question import as_chip

DATA = Path(__file__).parent / "data" / "feed"
MMA, FMA = "mma.m16n8k16.bf16", "fma.f32"


@dataclass(frozen=True)
class Sweep:
    """One measured file: its chip, which rows set the constants, which rows count."""

    name: str
    chip: str
    file: str
    counts: Callable[[Row], bool]
    set_on: Callable[[Row], bool]
    set_by: str

    def rows(self) -> list[Row]:
        return [row for row in read_measured(DATA / self.file) if self.counts(row)]

    def compared(self) -> list[Compared]:
        return list(compare(self.chip, self.rows()))

    def null(self) -> Callable[[Row], float]:
        """min(in flight / needed, 1) x a constant; of memory min(bytes / latency, the most that was seen)."""
        rows = self.rows()
        if rows[0].ilp:
            return null_model(rows, self.set_on)
        chip = as_chip(self.chip)
        latency, most = memory_level(chip, "memory").latency_ns, max(row.amount for row in rows)
        lanes, simds, cus = chip.target.default_wave, chip.target.unit().simds, chip.value("compute.cus")

        def plain(row: Row) -> float:
            loads = lanes * row.vector_bytes * row.outstanding * row.waves * simds
            return min(most, loads * (row.cus or int(str(cus))) / latency * 1e9)

        return plain


H200_READ_SET = {(4, 1, 1), (16, 1, 1), (4, 2, 1), (4, 1, 16), (16, 4, 16)}


def in_cache(row: Row) -> bool:
    """Whether a read went over no more data than the H200's L2 holds."""
    holds = as_chip("H200").value("cache.l2_bytes")
    return row.passed is not None and isinstance(holds, int) and row.passed <= holds


SWEEPS = {
    "mma": Sweep(
        "H200 mma", "H200", "mma_fma_ilp_sweep.csv",
        lambda row: row.instruction == MMA, lambda row: row.ilp == 1,
        "the clock on ilp 1 at one warp; latency, interval, unrolling from ptxas; the branch from fma ilp 1",
    ),
    "fma": Sweep(
        "H200 fma", "H200", "mma_fma_ilp_sweep.csv",
        lambda row: row.instruction == FMA, lambda row: row.ilp == 1,
        "the branch on ilp 1 at one warp; the rest from ptxas; runs of 50 to 700 us, some of which is launch",
    ),
    "second mma": Sweep(
        "H200 mma, second run", "H200", "h200_feed_run.csv",
        lambda row: row.instruction == MMA, lambda row: row.ilp == 1,
        "nothing: all ILPs of a second run, at the clock that it counted",
    ),
    "second fma": Sweep(
        "H200 fma, second run", "H200", "h200_feed_run.csv",
        lambda row: row.instruction == FMA, lambda row: row.ilp == 1,
        "nothing; at 1 to 3 chains operands are read anew (feed/timing.py), which the est. leaves out",
    ),
    "second read": Sweep(
        "H200 read, second run", "H200", "h200_feed_run.csv",
        lambda row: not row.ilp and not in_cache(row), lambda row: False,
        "nothing; the two rows of one CU, whose 33 MB stay in the L2, are left out",
    ),
    "mfma": Sweep(
        "MI355X mfma", "MI355X", "mfma_ilp_sweep.csv", lambda row: True, lambda row: row.ilp in (1, 8),
        "latency, loop overhead and clock on ILP 1 and ILP 8",
    ),
    "read": Sweep(
        "H200 read", "H200", "hbm_read_bytes_in_flight.csv", lambda row: True,
        lambda row: (row.vector_bytes, row.outstanding, row.waves) in H200_READ_SET,
        "five points: 4 B x 1, 16 B x 1, 4 B x 2 at 4 warps a SM; 4 B x 1, 16 B x 4 at 64",
    ),
    "groups": Sweep(
        "BW1000 read", "BW1000", "hbm_read_by_workgroups.csv", lambda row: True, lambda row: row.cus == 80,
        "latency as published, the queue as on the H200, the bandwidth on 80 workgroups",
    ),
}  # fmt: skip


def errors(sweep: Sweep, among: Callable[[Row], bool] = lambda row: True) -> list[float]:
    """Absolute relative errors of the rows that count; a row without an estimate counts as 1."""
    found = [each for each in sweep.compared() if among(each.row)]
    return [1.0 if each.error is None else abs(each.error) for each in found]


def null_errors(sweep: Sweep, among: Callable[[Row], bool] = lambda row: True) -> list[float]:
    """The same of the null model."""
    null = sweep.null()
    return [abs(null(row) / row.amount - 1) for row in sweep.rows() if among(row)]


def every(_: Row) -> bool:
    return True


Line = tuple[str, str, str, str]


def _line(
    name: str, found: list[float], null: list[float], limit: str, of: Callable[[list[float]], float]
) -> Line:
    return name, f"{of(found):.1%}", limit, f"null model {of(null):.1%}, {len(found)} points"


def _gluon(mfma: Sweep) -> Line:
    """The article's other version: Triton unrolls the loop eight times (seen by compiling)."""
    known = timing("MI355X", "v_mfma_f32_16x16x128_f8f6f4")
    loop = replace(known.loop(8), length=64)
    flops, reached = simulate(loop, 1, 16384, known.arbitration).busy(known.held) * (known.peak or 0), 4.97e15
    plain = mfma.null()(Row(reached, 1, ilp=8))
    note = f"null model {abs(plain / reached - 1):.1%}, 1 point, used for nothing"
    return "MI355X Gluon, 4.97 PFLOP/s published", f"{abs(flops / reached - 1):.1%}", "-", note


def rows() -> list[Line]:
    """(name, est. error, limit, note) of every figure that the project quotes for this room."""
    mma, fma, mfma, read, groups = (SWEEPS[key] for key in ("mma", "fma", "mfma", "read", "groups"))

    def tested(row: Row) -> bool:
        return not mfma.set_on(row)

    def few(row: Row) -> bool:
        return (row.cus or 0) <= 16

    def many(row: Row) -> bool:
        return not few(row)

    again, fma_again, read_again = (SWEEPS[f"second {key}"] for key in ("mma", "fma", "read"))

    def fed(row: Row) -> bool:
        return row.ilp >= 4

    made: list[Line] = []
    for sweep, among, what, limits in (
        (mma, every, "", ("4 %", "14 %")),
        (again, every, "", ("4 %", "14 %")),
        (fma, every, "", ("reported", "reported")),
        (fma_again, fed, ", ILP 4 to 8", ("reported", "reported")),
        (fma_again, every, "", ("reported", "reported")),
        (mfma, tested, " ILP 2 and 4", ("3.5 %", "9 %")),
        (mfma, mfma.set_on, " ILP 1 and 8, used", ("-", "3 %")),
        (mfma, every, " all", ("-", "-")),
    ):
        found, null = errors(sweep, among), null_errors(sweep, among)
        made.append(_line(f"{sweep.name}{what}: mean", found, null, limits[0], mean))
        made.append(_line(f"{sweep.name}{what}: worst", found, null, limits[1], max))
    for sweep in (read, read_again):
        found, null = errors(sweep), null_errors(sweep)
        made.append(_line(f"{sweep.name}: median", found, null, "8 %", median))
        made.append(_line(f"{sweep.name}: mean", found, null, "-", mean))
        made.append(_line(f"{sweep.name}: worst", found, null, "25 %", max))
    for among, what, limit in ((few, "up to 16 workgroups", "8 %"), (many, "above 16 workgroups", "12 %")):
        made.append(
            _line(f"BW1000 read {what}: worst", errors(groups, among), null_errors(groups, among), limit, max)
        )
    made.append(_gluon(mfma))
    needed = feed("BW1000", "v_mmac_f32_16x16x16_bf16", ilp=1, waves=1).needed_in_flight
    made.append(("BW1000 MMAC needed in flight", str(needed), "6", "44 cycles over 8"))
    made += [(f"{sweep.name}: constants", "set on", "-", sweep.set_by) for sweep in SWEEPS.values()]
    return made
