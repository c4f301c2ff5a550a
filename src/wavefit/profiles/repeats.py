"""Dispatches that stand in one file more than once: repeated rows, other passes, other processes."""

from __future__ import annotations

from struct import Struct

from wavefit.profiles.model import Measurement

HIGHEST = 1 << 21
"""Numbers of dispatches that are remembered, each in 32 bytes."""
NEW, SAME, AGAIN = "new", "same", "again"

_MARKS = Struct("4q")
"""The launch, the names of the counters, the time, and the counters' values: hashes, to compare them."""


class Repeats:
    """What the dispatches of the file that is being read were, by the tool's own number of them.

    Numbers are a process's own. So the same number again is the same dispatch, unless it is another launch,
    or the same counters at another time: then another process went on writing in this file.
    """

    def __init__(self) -> None:
        self._file = ""
        self._seen = bytearray()

    def of(self, measurement: Measurement, launch: int) -> str:
        """NEW, SAME (all of it was there before), or AGAIN (the same dispatch, with something else).

        `launch` tells launches apart; it is not 0.
        """
        number = measurement.dispatch
        if number is None or number >= HIGHEST:
            return NEW
        if measurement.file != self._file:
            self._file, self._seen = measurement.file, bytearray()
        seen, at, passes = self._seen, _MARKS.size * number, measurement.passes
        if at >= len(seen):
            seen += bytes(_MARKS.size * (number // 8 + 1) + at - len(seen))
        counters = passes[0] if len(passes) == 1 else measurement.counters
        names, values = hash(tuple(counters)), hash(tuple(counters.values()))
        moment = hash((measurement.start, measurement.end))
        before = _MARKS.unpack_from(seen, at)
        _MARKS.pack_into(seen, at, launch, names, moment, values)
        if before[0] != launch:
            return NEW
        if before == (launch, names, moment, values):
            return SAME
        other_time = measurement.start is not None and before[2] != moment
        return NEW if other_time and before[1] == names else AGAIN
