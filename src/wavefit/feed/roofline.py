"""Machine balance and arithmetic intensity: which roof a tile is under, at a chip's clock or another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wavefit.chips import Chip, Target
from wavefit.feed.facts import fact, title
from wavefit.feed.memory import LEVELS
from wavefit.feed.model import Json
from wavefit.matrix.errors import NotKnown, Refused
from wavefit.matrix.peaks import peak
from wavefit.matrix.read import element_types, meant
from wavefit.occupancy.question import as_chip
from wavefit.occupancy.result import BadQuestion

Of = str | Chip | Target


@dataclass(frozen=True, slots=True)
class Roof:
    """A chip's peak for a type over the bandwidth of one level: FLOP/s, bytes/s, and FLOP a byte."""

    chip: str
    type: str
    level: str
    peak: float
    bandwidth: float
    clock_mhz: float
    source: str

    @property
    def balance(self) -> float:
        """FLOP a byte at which the level and the matrix unit take equally long."""
        return self.peak / self.bandwidth

    def corners(self, low: float, high: float) -> tuple[tuple[float, float], ...]:
        """From one intensity to another as (FLOP a byte, FLOP/s): a slope up to the balance, then flat."""
        ridge = min(max(self.balance, low), high)
        return tuple((at, min(self.peak, at * self.bandwidth)) for at in (low, ridge, high))

    def to_dict(self) -> Json:
        """The roof as a JSON object."""
        keys = ("level", "peak", "bandwidth", "balance", "clock_mhz", "source")
        return {key: getattr(self, key) for key in keys}


@dataclass(frozen=True, slots=True)
class Under:
    """An m x n tile under its roofs: `flops` is est., the least; `by` names which (`matrix` or a level)."""

    m: int
    n: int
    intensity: float
    flops: float
    by: str
    roofs: tuple[Roof, ...]

    def to_dict(self) -> Json:
        """The result as a JSON object."""
        return {
            "m": self.m,
            "n": self.n,
            "intensity": self.intensity,
            "flops": self.flops,
            "by": self.by,
            "balance": {roof.level: roof.balance for roof in self.roofs},
        }


@dataclass(frozen=True, slots=True)
class Roofline:
    """The roofs of every level of a chip whose bandwidth is known, for one type, and tiles under them."""

    chip: str
    type: str
    roofs: tuple[Roof, ...]
    tiles: tuple[Under, ...]

    @property
    def span(self) -> tuple[float, float]:
        """Intensities that show every balance and tile, with room on both sides."""
        shown = [*(roof.balance for roof in self.roofs), *(tile.intensity for tile in self.tiles)]
        return min(shown) / 8, max(shown) * 4

    def to_dict(self) -> Json:
        """The result as a JSON object, schema `wavefit.roofline/1`."""
        return {
            "schema": "wavefit.roofline/1",
            "chip": self.chip,
            "type": self.type,
            "roofs": [roof.to_dict() for roof in self.roofs],
            "tiles": [tile.to_dict() for tile in self.tiles],
        }


def balance(of: Of, type: str, level: str = "memory", *, clock_mhz: float | None = None) -> Roof:  # noqa: A002
    """The machine balance of a chip for a type, dense, against one level: memory, l2 or lds.

    At `clock_mhz`, or the peak clock; the nominal bandwidth of memory where one is published, the measured
    one of a cache. Raises BadQuestion for an unknown level, NotKnown where peak or bandwidth is not public.
    """
    chip = as_chip(of)
    if level not in LEVELS:
        raise BadQuestion(f"unknown level {level!r}; there are {', '.join(LEVELS)}")
    measured_first = LEVELS[level][1]
    found = fact(chip, *reversed(measured_first))
    if found is None or not isinstance(found[1].value, int | float):
        raise NotKnown(f"{title(chip)}: the bandwidth of its {level} is not public")
    top = peak(chip, type, clock_mhz=clock_mhz)
    return Roof(
        top.chip, type, level, top.flops, float(found[1].value), float(top.clock_mhz), found[1].source
    )


def intensity(m: int, n: int, a: str, b: str | None = None) -> float:
    """FLOP a byte of an m x n tile, whatever its K: 2mn over the bytes of one step of K of A and B.

    `a` and `b` are element types (`fp8`, `mxfp8`, `bf16`); microscaled ones count a byte of scale for 32
    elements. What the accumulators cost to write is left out: it vanishes as K grows.
    """
    if m < 1 or n < 1:
        raise Refused(f"a tile of {m} x {n}: both must be at least 1")
    return 2 * m * n / (m * _bytes(a) + n * _bytes(b or a))


def under(
    of: Of,
    type: str,  # noqa: A002
    m: int,
    n: int,
    *,
    levels: tuple[str, ...] = ("memory",),
    clock_mhz: float | None = None,
) -> Under:
    """Which roof an m x n tile of a type is under, if every byte of its operands comes from each level once.

    Raises as `balance`.
    """
    each = intensity(m, n, type)
    roofs = tuple(balance(of, type, level, clock_mhz=clock_mhz) for level in levels)
    limits = {"matrix": roofs[0].peak, **{roof.level: each * roof.bandwidth for roof in roofs}}
    by = min(limits, key=limits.__getitem__)
    return Under(m, n, each, limits[by], by, roofs)


def roofline(
    of: Of,
    type: str,  # noqa: A002
    *,
    tiles: Iterable[tuple[int, int]] = (),
    clock_mhz: float | None = None,
) -> Roofline:
    """The machine balance of a chip for a type against each level, and (m, n) tiles under those roofs.

    Raises as `balance` where not even the memory's bandwidth or the peak is known.
    """
    chip = as_chip(of)
    roofs = [balance(chip, type, clock_mhz=clock_mhz)]
    for level in ("l2", "lds"):
        try:
            roofs.append(balance(chip, type, level, clock_mhz=clock_mhz))
        except NotKnown:
            continue
    levels = tuple(roof.level for roof in roofs)
    placed = tuple(under(chip, type, m, n, levels=levels, clock_mhz=clock_mhz) for m, n in tiles)
    return Roofline(title(chip), type, tuple(roofs), placed)


def _bytes(kind: str) -> float:
    bits = min(element_types()[name].bits for name in meant(kind))
    return bits / 8 + (1 / 32 if kind.lower().startswith("mx") else 0)
