"""Which kernel of one build is which of the other."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from wavefit.gate.rows import Row

How = Literal["symbol", "name", "launch", "position"]
Key = Callable[[Row], Hashable]

_HEX = re.compile(r"[0-9a-f]{8,}")
_SUFFIX = re.compile(r"\.(?:llvm\.)?\d+")


@dataclass(frozen=True, slots=True)
class Pair:
    """One kernel in both builds, and by what it was recognised."""

    before: Row
    after: Row
    how: How


@dataclass(frozen=True, slots=True)
class Paired:
    """All pairs, in the order of the second build, and what only one of the two has."""

    pairs: tuple[Pair, ...]
    added: tuple[Row, ...]
    removed: tuple[Row, ...]


def pair(before: Sequence[Row], after: Sequence[Row]) -> Paired:
    """Pairs by symbol, then by name without hashes, in each case within one target.

    Where several kernels share that (a Triton cache holds one for each configuration), they are told
    apart by their file, then by how they are launched, and where as many are left on both sides, by
    their order of launch size and registers. Of two builds for one target each, the target may differ.
    """
    ported = all(len({row.target for row in side}) == 1 for side in (before, after))
    old, new = dict(enumerate(before)), dict(enumerate(after))
    paths = _path_in(before), _path_in(after)
    found: dict[int, Pair] = {}
    keys: tuple[tuple[How, Key], ...] = (
        ("symbol", lambda row: ("" if ported else row.target, row.symbol or row.name)),
        ("name", lambda row: ("" if ported else row.target, plain(row.name))),
    )
    for how, key in keys:
        for ours, theirs in _shared(old, new, key, key):
            for a, b, told_by in _within(how, ours, theirs, paths):
                found[b] = Pair(old.pop(a), new.pop(b), told_by)
    return Paired(tuple(found[b] for b in sorted(found)), tuple(new.values()), tuple(old.values()))


def plain(name: str) -> str:
    """A name without what differs from build to build: hashes, and the numbers LLVM appends."""
    return _SUFFIX.sub("", _HEX.sub(lambda run: "#" if any(map(str.isdigit, run[0])) else run[0], name))


def _within(
    how: How, old: dict[int, Row], new: dict[int, Row], paths: tuple[Key, Key]
) -> Iterator[tuple[int, int, How]]:
    """Pairs of kernels that share a name."""
    if len(old) == len(new) == 1:
        (a,), (b,) = old, new
        yield a, b, how
        return
    for told_by, old_key, new_key in ((how, *paths), ("launch", _launch, _launch)):
        for ours, theirs in _shared(old, new, old_key, new_key):
            if len(ours) == len(theirs) == 1:
                (a,), (b,) = ours, theirs
                del old[a], new[b]
                yield a, b, told_by
    if len(old) == len(new):
        in_order = (sorted(rows, key=lambda at: _size(rows[at])) for rows in (old, new))
        for a, b in zip(*in_order, strict=True):
            yield a, b, "position"


def _shared(
    old: Mapping[int, Row], new: Mapping[int, Row], old_key: Key, new_key: Key
) -> list[tuple[dict[int, Row], dict[int, Row]]]:
    """The rows of both sides that have one key, for each key that both sides have."""
    ours, theirs = _groups(old, old_key), _groups(new, new_key)
    return [(ours[key], theirs[key]) for key in ours if key in theirs]


def _groups(rows: Mapping[int, Row], key: Key) -> dict[Hashable, dict[int, Row]]:
    groups: dict[Hashable, dict[int, Row]] = defaultdict(dict)
    for at, row in rows.items():
        groups[key(row)][at] = row
    return dict(groups)


def _path_in(rows: Sequence[Row]) -> Key:
    """A kernel's file from the folder that holds all of them, and its member."""
    try:
        root = os.path.commonpath({row.file for row in rows}) or "."
    except ValueError:  # no files, or on two drives
        root = "."
    return lambda row: (os.path.relpath(row.file or ".", root), row.member)


def _launch(row: Row) -> tuple[int | None, ...]:
    threads = row.answer.threads if row.answer else row.required_threads
    return threads, row.wave, row.lds, row.lds_dynamic


def _size(row: Row) -> tuple[int, ...]:
    threads, _, lds, dynamic = _launch(row)
    return threads or 0, (lds or 0) + (dynamic or 0), row.total_vgprs or 0, row.sgprs or 0
