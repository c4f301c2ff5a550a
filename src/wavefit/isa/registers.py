"""Sets of registers as whole numbers: one bit for each 32-bit register that code can name.

A set is an int, so that union, difference and counting stay as fast as the machine's own; `names`
turns one back into words. Vector, accumulator and scalar registers come first, then those with names.
"""

from __future__ import annotations

import re
from functools import lru_cache

VECTORS, ACCUMULATORS, SCALARS, TRAPS = 1024, 256, 128, 16
_A = VECTORS
_S = _A + ACCUMULATORS
_T = _S + SCALARS
_NAMED = _T + TRAPS

VECTOR = (1 << VECTORS) - 1
ACCUMULATOR = ((1 << ACCUMULATORS) - 1) << _A
SCALAR = ((1 << SCALARS) - 1) << _S

_SINGLE = (
    "vcc_lo", "vcc_hi", "exec_lo", "exec_hi", "scc", "m0", "flat_scratch_lo", "flat_scratch_hi",
    "xnack_mask_lo", "xnack_mask_hi", "tba_lo", "tba_hi", "tma_lo", "tma_hi",
    *(f"p{number}" for number in range(7)), *(f"up{number}" for number in range(7)),
)  # fmt: skip
_PAIRS = ("vcc", "exec", "flat_scratch", "xnack_mask", "tba", "tma")
_FILES = {"v": (0, VECTORS), "a": (_A, ACCUMULATORS), "s": (_S, SCALARS), "ttmp": (_T, TRAPS)}

NAMED = {name: 1 << (_NAMED + at) for at, name in enumerate(_SINGLE)}
NAMED |= {pair: NAMED[f"{pair}_lo"] | NAMED[f"{pair}_hi"] for pair in _PAIRS}
NAMED |= {f"src_{name}": NAMED[name] for name in ("scc", "vccz", "execz") if name in NAMED}
NAMED |= {"src_vccz": NAMED["vcc"], "src_execz": NAMED["exec"]}

NOTHING = frozenset((
    "off", "null", "src_lds_direct", "lds_direct", "src_shared_base", "src_shared_limit",
    "src_private_base", "src_private_limit", "src_pops_exiting_wave_id", "src_flat_scratch_base_lo",
    "src_flat_scratch_base_hi", "src_shared_base_lo", "src_private_base_lo", "src_shared_limit_lo",
    "src_private_limit_lo",
))  # fmt: skip
"""Operands that are words but no register that code can write."""

_REGISTER = re.compile(
    r"(?<![\w.])(?:"
    r"(?P<file>v|a|s|ttmp)(?:(?P<one>\d{1,4})|\[(?P<first>\d{1,4})(?::(?P<last>\d{1,4}))?\])(?:\.[lh]\b)?"
    r"(?:[ ]?/\*(?P<high>v\d{1,4}|v\[\d{1,4}:\d{1,4}\])\*/)?"
    r"|(?P<name>[a-z][a-z_]*[a-z0-9]))(?![\w])",
)


class Misread(ValueError):
    """An operand that no rule of the assembly language explains."""


def span(file: str, first: int, count: int = 1) -> int:
    """`count` registers of the file v, a, s or ttmp. Raises Misread past its end."""
    start, size = _FILES[file]
    if first < 0 or count < 1 or first + count > size:
        raise Misread(f"register {file}[{first}:{first + count - 1}] does not exist")
    return ((1 << count) - 1) << (start + first)


@lru_cache(maxsize=1 << 16)
def registers(operand: str) -> int:
    """The registers that one operand names; 0 for constants, labels and words that name none."""
    found = 0
    for match in _REGISTER.finditer(operand):
        file = match["file"]
        if file is None:
            found |= NAMED.get(match["name"], 0)
        elif match["high"]:
            found |= registers(match["high"])
        elif match["one"]:
            found |= span(file, int(match["one"]))
        else:
            first = int(match["first"])
            last = int(match["last"] or first)
            found |= span(file, first, last - first + 1)
    return found


def special(words: str) -> int:
    """The registers that these words name, separated by blanks. Raises KeyError."""
    found = 0
    for word in words.split():
        found |= NAMED[word]
    return found


def names(mask: int) -> tuple[str, ...]:
    """The registers of a set in words, neighbours together: `v[2:5]`, `s4`, `vcc`."""
    said: list[str] = []
    for file, (start, size) in _FILES.items():
        rest = (mask >> start) & ((1 << size) - 1)
        at = 0
        while rest:
            skip = (rest & -rest).bit_length() - 1
            rest >>= skip
            at += skip
            run = ((rest + 1) & ~rest).bit_length() - 1
            said.append(f"{file}{at}" if run == 1 else f"{file}[{at}:{at + run - 1}]")
            rest >>= run
            at += run
    pairs = [pair for pair in _PAIRS if mask & NAMED[pair] == NAMED[pair]]
    rest = mask & ~sum(NAMED[pair] for pair in pairs)
    return (*said, *pairs, *(name for name in _SINGLE if rest & NAMED[name]))


def vectors(mask: int) -> int:
    """How many vector registers are in a set, accumulators not counted."""
    return (mask & VECTOR).bit_count()


def accumulators(mask: int) -> int:
    """How many accumulator registers are in a set."""
    return (mask & ACCUMULATOR).bit_count()


def scalars(mask: int) -> int:
    """How many numbered scalar registers are in a set."""
    return (mask & SCALAR).bit_count()
