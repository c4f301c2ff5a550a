"""Kernel names: the many forms that tools give one symbol, and what of a mangled name is still legible."""

from __future__ import annotations

import re

_SUFFIXES = (" [clone .kd]", " (.kd)", ".kd")
_SOURCE_NAME = re.compile(r"[1-9]\d{0,3}")
_QUALIFIERS = re.compile(r"[rVKRO]*")
_ANONYMOUS = "(anonymous namespace)"
LONGEST = 1 << 16
"""Of a name that is taken apart; longer ones are compared as they are."""


def bare(name: str) -> str:
    """A kernel's name without what tools hang on it: ` [clone .kd]`, ` (.kd)`, `.kd`."""
    name = name.strip()
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            return name[: -len(suffix)]
    return name


def base(name: str) -> str:
    """The function's own name, out of a mangled or a demangled one: `_Z7vecCopyPd` -> `vecCopy`.

    Not a demangler: template arguments and types are left out, and the empty string is the answer where
    the form is not known.
    """
    name = bare(name)
    if len(name) > LONGEST:
        return ""
    return _mangled(name) if name.startswith("_Z") else _demangled(name)


def _mangled(name: str) -> str:
    at, nested = 2, False
    if name[at : at + 1] == "N":
        at, nested = _QUALIFIERS.match(name, at + 1).end(), True  # type: ignore[union-attr]
    if name[at : at + 1] == "L":  # internal linkage
        at += 1
    found = ""
    while True:
        if name.startswith("St", at):
            at += 2
        length = _SOURCE_NAME.match(name, at)
        if length is None:
            return found
        start, end = length.end(), length.end() + int(length[0])
        if end > len(name):
            return ""
        found, at = name[start:end], end
        if not nested:
            return found


def _demangled(name: str) -> str:
    name = name.replace(_ANONYMOUS, "anonymous")
    depth, kept = 0, []
    for letter in name:
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth = max(depth - 1, 0)
        elif letter == "(" and depth == 0:
            break
        elif depth == 0:
            kept.append(letter)
    last = "".join(kept).rsplit("::", 1)[-1].split()
    return last[-1] if last else ""
