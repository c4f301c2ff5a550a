"""Numbers as tools and spreadsheets write them: thousands separators, decimal commas, damaged times.

A number that no tool can mean (not finite, negative, beyond its field) is a BadNumber, never a value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

_SPACES = " \u00a0\u2007\u2009\u202f"
_MARKS = f"'\u2019{_SPACES}"
_LOCAL = re.compile(rf"[+-]?\d[\d.,{_MARKS}]*(?:[eE][+-]?\d+)?%?")
_GROUPS = str.maketrans("", "", f"{_MARKS}%")
_QUOTED_COMMA = re.compile(rb'"[+-]?\d[^"A-Za-z]*,[^"A-Za-z]*"')
MISSING = frozenset(("", "-", "n/a", "na", "none", "null"))
"""What stands, in any case, where a tool has no number."""

LARGEST = (1 << 63) - 1
"""Of grids and times: the tools keep them in 64 bits, SQLite with a sign."""
LARGEST_SIZE = (1 << 32) - 1
"""Of registers, LDS, scratch and workgroups: a dispatch packet holds them in at most 32 bits."""
LARGEST_VALUE = float(1 << 64)
"""Of counters."""
SHOWN = 40
"""Characters of a bad number that are repeated."""


class BadNumber(ValueError):
    """A number that cannot be meant; the text says which, and why."""

    def __init__(self, found: object, why: str, column: str = "") -> None:
        self.found, self.why = str(found)[:SHOWN], why
        super().__init__(f"{column}{': ' * bool(column)}{self.found!r} {why}")

    def of(self, column: str) -> BadNumber:
        """The same, said with the column (or field) that holds it."""
        return BadNumber(self.found, self.why, column)


def decimal_mark(samples: Iterable[str]) -> str:
    """`.` or `,`, whichever the numbers of one file prove; `.` where nothing tells.

    A mark proves itself as the decimal one when it is the last of two kinds, or stands once before a
    number of digits other than three; a mark that repeats separates thousands.
    """
    votes = {".": 0, ",": 0}
    for sample in samples:
        text = sample.strip()
        if _LOCAL.fullmatch(text):
            proven = _proven(text.translate(_GROUPS))
            if proven:
                votes[proven] += 1
    return "," if votes[","] > votes["."] else "."


def quotes_commas(line: bytes) -> bool:
    """True where a line has a quoted number with a comma in it: only then can a table of commas be local."""
    return _QUOTED_COMMA.search(line) is not None


def _proven(text: str) -> str | None:
    dots, commas = text.count("."), text.count(",")
    if dots and commas:
        return "." if text.rindex(".") > text.rindex(",") else ","
    mark, other, count = (".", ",", dots) if dots else (",", ".", commas)
    if not count:
        return None
    if count > 1:
        return other
    digits = re.split("[eE]", text.partition(mark)[2])[0]
    return None if len(digits) == 3 else mark


def number(text: str, decimal: str = ".") -> float | None:
    """A number with optional thousands separators; None where the text is none.

    Raises BadNumber for one that is not finite: no counter is.
    """
    text = text.strip()
    if not _LOCAL.fullmatch(text):
        if text.lstrip("+-").lower() in ("nan", "inf", "infinity"):
            raise BadNumber(text, "is not finite")
        return None
    plain = text.translate(_GROUPS)
    other = "," if decimal == "." else "."
    try:
        value = float(plain.replace(other, "").replace(decimal, "."))
    except ValueError:
        return None
    if not math.isfinite(value):
        raise BadNumber(text, "is not finite")
    return value


def quantity(text: str, decimal: str = ".") -> float | None:
    """What a counter counted; None where the text is no number. Raises BadNumber."""
    found = number(text, decimal)
    try:
        return None if found is None else counted(found)
    except BadNumber as error:
        raise BadNumber(text.strip(), error.why) from None


def counted(value: object) -> float:
    """A number as what a counter may show. Raises BadNumber, also for what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadNumber(value, "is no number")
    if 0 <= value < LARGEST_VALUE:
        return float(value)
    raise BadNumber(value, _why(value, "64 bits"))


def whole(text: str, decimal: str = ".", largest: int = LARGEST_SIZE) -> int | None:
    """A whole number that is not negative; None for an empty cell. Raises BadNumber for any other text."""
    try:
        return bounded(int(text), largest)
    except BadNumber:
        raise
    except ValueError:
        pass  # not plain, or thousands of digits
    found = number(text, decimal)
    if found is None:
        if text.strip().lower() in MISSING:
            return None
        raise BadNumber(text, "is no number")
    if found >= largest:  # before it is made an integer of hundreds of digits
        raise BadNumber(text, _why(found, f"{largest.bit_length()} bits"))
    if not found.is_integer():
        raise BadNumber(text, "is no whole number")
    return bounded(int(found), largest)


def bounded(value: object, largest: int = LARGEST_SIZE) -> int:
    """A whole number that a field of a record may hold. Raises BadNumber, also for what is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadNumber(value, "is no whole number")
    if 0 <= value <= largest:
        return value
    raise BadNumber(value, _why(value, f"{largest.bit_length()} bits"))


def _why(value: float, field: str) -> str:
    if not math.isfinite(value):
        return "is not finite"
    return "is negative" if value < 0 else f"is more than {field} hold"


def count(text: str, decimal: str = ".") -> int | None:
    """A whole number that is not negative; None where the text is none, good or bad: for mere labels."""
    try:
        return whole(text, decimal, LARGEST)
    except BadNumber:
        return None


def time(text: str) -> int | None:
    """A timestamp in nanoseconds; None for one rounded by a spreadsheet (`8.1097E+14`) or for no number.

    Half nanoseconds are the mean over passes that a tool wrote itself. Raises BadNumber.
    """
    plain, _, half = text.partition(".")
    try:
        return bounded(int(plain), LARGEST) if not half or half.isdecimal() else None
    except BadNumber:
        raise
    except ValueError:
        return None
