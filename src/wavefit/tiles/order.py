"""The order in which tiles run, and what of it the caches see: L2 of each die, last-level cache, memory.

Traffic saved is not time saved: a result carries est. times beside its hit rates.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wavefit.chips import Chip
from wavefit.feed.facts import number
from wavefit.occupancy import BadQuestion
from wavefit.tiles.shape import Floats, Ints, Problem


@dataclass(frozen=True, slots=True)
class Order:
    """How program ids become tiles. Everything counts in tiles.

    `group_m`: rows of a group that is walked column by column (1: row-major); the last group may have
    fewer rows and is walked with those. `chunk`: so many consecutive tiles go to one die, where the
    hardware deals programs to dies in turn (None: no remap, the die follows from the id).
    """

    group_m: int = 1
    chunk: int | None = None


def tile_of(ids: Ints, tiles_m: int, tiles_n: int, group_m: int = 1) -> tuple[Ints, Ints]:
    """Row and column of the tile of each program id, in groups of `group_m` rows walked column by column."""
    group, inside = np.divmod(ids, group_m * tiles_n)
    column, line = np.divmod(inside, group_m)
    if short := tiles_m % group_m:
        last = group == tiles_m // group_m
        column[last], line[last] = np.divmod(inside[last], short)
    return group * group_m + line, column


def remapped(ids: Ints, total: int, dies: int, chunk: int | None) -> Ints:
    """Program ids so renumbered that each die, dealt every `dies`-th id, gets `chunk` consecutive ones.

    Ids behind the last whole block of dies x chunk stay as they are.
    """
    if chunk is None or dies == 1:
        return ids
    block = dies * chunk
    whole = total // block * block
    turn, die = np.divmod(ids, dies)
    turn, inside = np.divmod(turn, chunk)
    return np.where(ids < whole, turn * block + die * chunk + inside, ids)


@dataclass(frozen=True, slots=True)
class Caches:
    """Where tiles run: dies that are dealt programs in turn, and what each level holds, in bytes."""

    dies: int
    slots: int
    """Workgroups resident on one die."""
    l2: float
    """Of one die."""
    last: float
    """Last-level cache of the chip; 0: none, what misses the L2 goes to memory."""


def caches(chip: Chip, resident: int = 1) -> Caches:
    """The Caches of a product with `resident` workgroups a CU. Raises BadQuestion for a bare target."""
    cus, l2 = number(chip, "compute.cus"), number(chip, "cache.l2_bytes")
    if cus is None or l2 is None:
        raise BadQuestion(f"{chip.name or chip.target.name}: an order needs a product with known CUs and L2")
    dies = int(number(chip, "compute.dies") or 1)
    return Caches(dies, int(cus) // dies * resident, l2 / dies, float(number(chip, "cache.mall_bytes") or 0))


MOST_TILES = 1 << 22
"""Every tile is played: more would take gigabytes. A square of 65536 in blocks of 32 is still played."""


@dataclass(frozen=True, slots=True)
class Walk:
    """Every tile in dispatch order: row, column, die and round (how many waves of tiles ran before it)."""

    tiles_m: int
    tiles_n: int
    row: Ints
    column: Ints
    die: Ints
    round: Ints


@dataclass(frozen=True, slots=True)
class Traffic:
    """What the caches see of a Walk. Bytes; hit rates from 0 to 1, None where a level gets no request."""

    walk: Walk
    requested: float
    """What all tiles read."""
    filled: float
    """What the L2s fetched."""
    memory: float
    """What memory delivered."""
    unique: float
    """A and B once."""
    written: float

    @property
    def l2_hits(self) -> float:
        """Share of the requested bytes found in the die's L2."""
        return 1 - self.filled / self.requested

    @property
    def last_hits(self) -> float | None:
        """Share of the L2's misses found in the last-level cache; None where the chip has none."""
        return 1 - self.memory / self.filled if self.memory != self.filled else None


def walk(tiles_m: int, tiles_n: int, order: Order, where: Caches) -> Walk:
    """Dispatch of a grid of tiles: ids dealt to the dies in turn, each die full before its next round."""
    if tiles_m < 1 or tiles_n < 1 or order.group_m < 1 or (order.chunk is not None and order.chunk < 1):
        raise BadQuestion("an order needs at least one tile, and group_m and chunk from 1 on")
    if (tiles := tiles_m * tiles_n) > MOST_TILES:
        raise BadQuestion(f"{tiles} tiles: an order is played for at most {MOST_TILES}; take larger tiles")
    ids: Ints = np.arange(tiles, dtype=np.int32)
    moved = remapped(ids, len(ids), where.dies, order.chunk)
    row, column = tile_of(moved, tiles_m, tiles_n, order.group_m)
    return Walk(tiles_m, tiles_n, row, column, ids % where.dies, ids // (where.dies * where.slots))


def simulate(asked: Problem, block_m: int, block_n: int, order: Order, where: Caches) -> Traffic:
    """Reads of all tiles through the caches: tiles of a round on one die share what they read.

    A panel (the rows of A or the columns of B of a tile, all of K) is fetched once a round and die. It is
    still there in a later round if all that was read since fits the cache (LRU by panel); a round that
    is itself larger leaves nothing, since its tiles stream K together. Cost is linear in tiles.
    """
    path = walk(-(-asked.m // block_m), -(-asked.n // block_n), order, where)
    depth = asked.k * asked.bytes
    sizes = np.concatenate([np.full(path.tiles_m, block_m * depth), np.full(path.tiles_n, block_n * depth)])
    tiles = len(path.row)
    touched = _Touched.both(path, where)
    rounds = int(path.round[-1]) + 1
    missed = touched.take(~_hits(touched, sizes, where.dies, rounds, where.l2))
    filled = float(sizes[missed.panel].sum())
    memory = filled
    if where.last:
        shared = missed.of_chip(rounds)
        lost = ~_hits(shared, sizes, 1, rounds, where.last)
        memory = float(sizes[shared.panel[lost]].sum())
    return Traffic(
        walk=path,
        requested=tiles * (block_m + block_n) * depth,
        filled=filled,
        memory=memory,
        unique=(asked.m + asked.n) * depth,
        written=asked.m * asked.n * asked.out_bytes,
    )


@dataclass(frozen=True, slots=True)
class _Touched:
    """Each panel once for every die and round that reads it. Panels of B are numbered behind those of A."""

    die: Ints
    round: Ints
    panel: Ints

    @classmethod
    def both(cls, path: Walk, where: Caches) -> _Touched:
        """What the tiles read of A and of B."""
        halves = [cls._of(path, where, panel) for panel in (path.row, path.tiles_m + path.column)]
        return cls(*(np.concatenate(parts) for parts in zip(*halves, strict=True)))

    @staticmethod
    def _of(path: Walk, where: Caches, panel: Ints) -> tuple[Ints, Ints, Ints]:
        """The panels of each die's round side by side, sorted to drop repeats."""
        lanes = where.dies * where.slots
        rounds = -(-len(panel) // lanes)
        padded = np.full(rounds * lanes, -1, dtype=np.int32)
        padded[: len(panel)] = panel
        rows = np.sort(padded.reshape(rounds, where.slots, where.dies).transpose(0, 2, 1), axis=2)
        first = rows >= 0
        first[:, :, 1:] &= rows[:, :, 1:] != rows[:, :, :-1]
        at, die, lane = np.nonzero(first)
        return die, at, rows[at, die, lane].astype(np.int64)

    def take(self, rows: npt.NDArray[np.bool_]) -> _Touched:
        """These of them."""
        return _Touched(self.die[rows], self.round[rows], self.panel[rows])

    def of_chip(self, rounds: int) -> _Touched:
        """Each panel once for every round in which some die reads it."""
        once = np.unique(self.panel * rounds + self.round)
        return _Touched(np.zeros_like(once), once % rounds, once // rounds)


def _hits(read: _Touched, sizes: Floats, dies: int, rounds: int, capacity: float) -> npt.NDArray[np.bool_]:
    """Which panels are still in the cache of their die since an earlier round (LRU by panel).

    What was read since a panel's last round is counted as that round's panels and, of each round after
    it, those that the round before had not: exact as long as panels do not come and go.
    """
    key = read.die * len(sizes) + read.panel
    order = np.lexsort((read.round, key))
    at = np.where(np.diff(key[order], prepend=-1) == 0, np.roll(read.round[order], 1), -1)
    before = np.empty_like(at)
    before[order] = at
    slot = read.die * rounds + read.round
    lanes = dies * rounds
    bytes_ = sizes[read.panel]
    whole = np.bincount(slot, weights=bytes_, minlength=lanes)
    again = before == read.round - 1
    fresh = np.bincount(slot, weights=np.where(again & (before >= 0), 0, bytes_), minlength=lanes)
    grown = np.cumsum(fresh.reshape(dies, rounds), axis=1).ravel()
    since = read.die * rounds + np.maximum(before, 0)
    between = whole[since] + grown[np.maximum(slot - 1, 0)] - grown[since]
    found: npt.NDArray[np.bool_] = (before >= 0) & (np.maximum(between, whole[slot]) <= capacity)
    return found
