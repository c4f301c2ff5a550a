"""Why a kernel achieved less than its ceiling: a closed list, what is certain first, estimates marked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wavefit.profiles.grid import Spread

GRANULE = "granule"
DYNAMIC_LDS = "dynamic LDS"
GRID = "grid too small"
TAIL = "tail"
LAUNCH = "launch and drain"
REGISTERS = "profiler's register bug"
HIDDEN = "registers unknown"
LIMITER = "limiter"
CLOCK = "clock"
UNEXPLAINED = "unexplained"
ABOVE = "above the ceiling"
CODES = (GRANULE, DYNAMIC_LDS, GRID, TAIL, LAUNCH, REGISTERS, HIDDEN, LIMITER, CLOCK, UNEXPLAINED, ABOVE)
"""Every reason there is. ABOVE is no reason but an error: a wrong chip, a wrong code object, or our bug."""

WRONG = "a wrong chip, a wrong code object, or a bug of wavefit"
AGREES = 0.03
"""Of the ceiling: what counters differ by when nothing is lost (three kernels on MI250: 0.2 to 1.1 %)."""
SHORT = 1e-3
"""Seconds. AMD calls metrics of kernels under about a millisecond unreliable."""
SHORT_WORKGROUP = 100e-6
"""Seconds a workgroup lives (est.), under which handing over its place shows; on H200 places stood empty for
a fifth to a third of the time with workgroups of 5 to 20 us."""
SLOW = 0.95
"""Of the highest clock."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason: its `code` of CODES, its `text`, and how much occupancy (0 to 1) it takes, if known.

    `estimated` marks a share that rests on workgroups of equal length.
    """

    code: str
    text: str
    share: float | None = None
    estimated: bool = False

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What the gap is explained from; waves a unit, None where unknown.

    `ceiling` is the Fit's, `at_most` true where fewer may fit, since the output does not show all registers.
    `most` is the highest of any dispatch. `over` is `busy` or `all`: the units that
    `achieved` is an average of.
    """

    unit: str
    slots: int
    waves_each: int
    ceiling: int
    spread: Spread | None
    over: str
    achieved: float | None
    most: float | None
    seconds: float | None
    at_most: bool = False

    @property
    def grid_ceiling(self) -> float:
        """The most that this grid can reach, on the same basis as `achieved`."""
        if self.spread is None:
            return self.ceiling
        resident = self.spread.most_resident if self.over == "busy" else self.spread.mean_resident
        return float(resident * self.waves_each)

    @property
    def with_tail(self) -> float:
        """The same over time (est.), with a last round that is not full."""
        if self.spread is None:
            return self.ceiling
        busy = self.over == "busy"
        mean = self.spread.over_busy_units() if busy else self.spread.over_all_units()
        return min(float(mean * self.waves_each), self.grid_ceiling)


def gap(seen: Seen) -> Iterator[Reason]:
    """The reasons for the way from the ceiling down to what was achieved, the certain ones first.

    The shares add up to the gap, or to less.
    """
    tolerance = AGREES * seen.ceiling
    if not seen.ceiling:
        yield Reason(ABOVE, f"it ran, though nothing fits: {WRONG}")
        return
    if seen.most is not None and seen.most > seen.ceiling + tolerance:
        yield Reason(
            ABOVE,
            f"{seen.most:.2f} waves a {seen.unit} were measured where {seen.ceiling} fit: {WRONG}",
        )
        return
    floor = seen.achieved or 0.0
    level: float = seen.ceiling
    if level - floor <= tolerance:
        return
    if level - seen.grid_ceiling > tolerance:
        yield _grid(seen, level - max(seen.grid_ceiling, floor))
        level = seen.grid_ceiling
    if seen.at_most:  # what fits is not known, so neither are its rounds, nor what is missing to it
        if seen.achieved is not None and level - floor > tolerance:
            yield _hidden(seen)
        return
    if level - seen.with_tail > tolerance and seen.spread is not None and seen.spread.rounds > 1:
        yield _tail(seen, level - max(seen.with_tail, floor))
    left = seen.with_tail - floor
    if seen.achieved is not None and left > tolerance:
        yield _launch(seen, left) or Reason(
            UNEXPLAINED,
            "neither the grid nor its tail nor launch and drain: uneven work, or waits at barriers",
            left / seen.slots,
        )


def _grid(seen: Seen, takes: float) -> Reason:
    assert seen.spread is not None
    spread = seen.spread
    units = f"{spread.array.units} {seen.unit}s"
    if spread.busy_units < spread.array.units:
        units = f"{spread.busy_units} of {units}"
    share = float(spread.mean_resident * seen.waves_each) / seen.slots
    grid = f"{spread.workgroups} workgroup{'s' * (spread.workgroups != 1)}"
    text = (
        f"{grid} on {units}, where {spread.slots} fit at once: at most {share:.1%} of the chip's wave slots"
    )
    return Reason(GRID, text, takes / seen.slots)


def _tail(seen: Seen, takes: float) -> Reason:
    assert seen.spread is not None
    spread = seen.spread
    die = " of a die" if spread.array.dies > 1 else ""
    text = (
        f"{float(spread.rounds):.2f} rounds take {spread.whole_rounds}: "
        f"the last one fills {spread.last_round} of {spread.slots // spread.array.dies} places{die}"
    )
    return Reason(TAIL, text, takes / seen.slots, estimated=True)


def _hidden(seen: Seen) -> Reason:
    text = (
        f"this output does not report every vector register: at most {seen.ceiling} waves a {seen.unit} fit, "
        f"and fewer do if there are more"
    )
    return Reason(HIDDEN, text)


def _launch(seen: Seen, left: float) -> Reason | None:
    share = left / seen.slots
    if seen.seconds is None:
        return None
    if seen.seconds < SHORT:
        text = f"the kernel runs {seen.seconds * 1e6:.1f} us; ramp and drain weigh in one so short"
        return Reason(LAUNCH, text, share, estimated=True)
    rounds = seen.spread.whole_rounds if seen.spread is not None else 1
    lives = seen.seconds / rounds
    if lives < SHORT_WORKGROUP:
        text = f"a workgroup lives about {lives * 1e6:.0f} us (est.); its place stands empty while it drains"
        return Reason(LAUNCH, text, share, estimated=True)
    return None
