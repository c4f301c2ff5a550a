"""Numbers as tools and spreadsheets write them: thousands separators, decimal commas, damaged times."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

_LOCAL = re.compile(r"[+-]?\d[\d.,' \u00a0\u202f]*(?:[eE][+-]?\d+)?%?")
_GROUPS = str.maketrans("", "", "' \u00a0\u202f%")


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

    Not a number and infinities are none: no counter is.
    """
    text = text.strip()
    if not _LOCAL.fullmatch(text):
        return None
    text = text.translate(_GROUPS)
    other = "," if decimal == "." else "."
    try:
        value = float(text.replace(other, "").replace(decimal, "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def count(text: str, decimal: str = ".") -> int | None:
    """A whole number that is not negative; None where the text is none (or empty, as for a missing cell)."""
    try:
        value = int(text)
    except ValueError:
        found = number(text, decimal)
        if found is None or not found.is_integer():
            return None
        value = int(found)
    return value if value >= 0 else None


def time(text: str) -> int | None:
    """A timestamp in nanoseconds; None for one rounded by a spreadsheet (`8.1097E+14`) or for no number.

    Half nanoseconds are the mean over passes that a tool wrote itself.
    """
    try:
        return int(text)
    except ValueError:
        whole, _, half = text.partition(".")
        return int(whole) if whole.isdecimal() and half.isdecimal() else None
