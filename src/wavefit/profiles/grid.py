"""A grid on a whole chip: rounds, the tail, which units are busy, dies and partitions. Pure arithmetic.

A workgroup goes to the next die in turn, and there to a unit with room. So the fullest die decides how
many rounds there are. What one unit holds at once is the Fit's business and comes in as `resident`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

PARTITIONS = {"SPX": 1, "DPX": 2, "TPX": 3, "QPX": 4}
"""Compute partitions and into how many devices they cut a chip; CPX makes each die one."""


@dataclass(frozen=True, slots=True)
class Array:
    """The units (CUs, WGPs, SMs) that one launch spreads over, and on how many dies they are."""

    units: int
    dies: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.dies <= self.units:
            raise ValueError(f"{self.units} units on {self.dies} dies")

    @property
    def per_die(self) -> int:
        """Units of a die; of the smallest where they do not divide evenly."""
        return self.units // self.dies


def partitioned(whole: Array, mode: str) -> Array:
    """The part of a chip that one device of a compute partition mode is. Raises ValueError."""
    parts = whole.dies if mode == "CPX" else PARTITIONS.get(mode)
    if not parts or whole.dies % parts:
        raise ValueError(f"{whole.dies} dies cannot be run as {mode}")
    return Array(whole.units // parts, whole.dies // parts)


def partition_of(part: Array, whole: Array) -> str | None:
    """The mode in which a device of a chip is `part`; None where no mode makes such a part."""
    for mode in (*PARTITIONS, "CPX"):
        try:
            if partitioned(whole, mode) == part:
                return mode
        except ValueError:
            continue
    return None


@dataclass(frozen=True, slots=True)
class Spread:
    """How the workgroups of one launch fill an Array.

    `rounds` is how many times the fullest die is filled (2.25: a third round that is a quarter full),
    `efficiency` what share of the slots of those rounds is used. `busy_units` hold at least one workgroup. At
    most `resident` workgroups fit on a unit of the `array`.
    """

    workgroups: int
    resident: int
    array: Array

    @property
    def slots(self) -> int:
        """Workgroups that the array holds at once."""
        return self.resident * self.array.units

    @property
    def _die_slots(self) -> int:
        return self.resident * self.array.per_die

    @property
    def on_fullest_die(self) -> int:
        """Workgroups that the fullest die runs in all."""
        return -(-self.workgroups // self.array.dies)

    @property
    def rounds(self) -> Fraction:
        """How many times the fullest die is filled; the last time perhaps in part."""
        return Fraction(self.on_fullest_die, self._die_slots)

    @property
    def whole_rounds(self) -> int:
        """The same, a part of a round counted as one."""
        return -(-self.rounds.numerator // self.rounds.denominator)

    @property
    def efficiency(self) -> Fraction:
        """Share of the slots of the whole rounds that is used, 0 to 1."""
        return self.rounds / self.whole_rounds

    @property
    def last_round(self) -> int:
        """Workgroups of the fullest die's last round, where it is not full; else 0."""
        return self.on_fullest_die % self._die_slots

    @property
    def busy_units(self) -> int:
        """Units that hold at least one workgroup."""
        return min(self.workgroups, self.array.units)

    @property
    def mean_resident(self) -> Fraction:
        """Workgroups a unit, over all units, when most are resident: no average over time can be higher."""
        return min(Fraction(self.resident), Fraction(self.workgroups, self.array.units))

    @property
    def most_resident(self) -> int:
        """Workgroups on the fullest unit of an even spread: what an average over busy units can reach."""
        return min(self.resident, -(-self.on_fullest_die // self.array.per_die))

    def over_all_units(self) -> Fraction:
        """Workgroups a unit over time (est.), if all last equally long: idle units of the tail count."""
        return Fraction(self.workgroups, self.array.units * self.whole_rounds)

    def over_busy_units(self) -> Fraction:
        """The same over the time that units are busy (est.): a unit leaves when its share is done."""
        each, more = divmod(self.workgroups, self.array.units)
        turns = more * -(-(each + 1) // self.resident) + (self.array.units - more) * -(-each // self.resident)
        return Fraction(self.workgroups, turns)
