"""A learned correction of the est. order: what a compiler turned out to be good at, as data with its error.

One page a chip under `priors/`; a chip without one is ranked by est. time alone. The page says what it
was learned from and how well it does on shapes it has not seen; `bench/tiles.py` learns it again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from wavefit.tiles.shape import Candidates, Floats, Problem
from wavefit.toml import loads

PAGES = Path(__file__).parent / "priors"
FEATURES = (
    "time", "size", "size_squared", "depth", "padding", "skew",
    "short_size", "short_size_squared", "short_depth", "across",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Gate:
    """Open (1) for problems that take no longer than `full_s`, closed (0) for those much longer.

    Near the time of a launch the est. times of all tiles are close, and small things decide.
    """

    full_s: float
    width_s: float
    short_k: int
    """K up to which the `short_` features count."""

    def __call__(self, seconds: float) -> float:
        """How far open, from 0 to 1."""
        return float(np.exp(-((max(seconds - self.full_s, 0) / self.width_s) ** 2)))


def features(gate: Gate, seconds: Floats, asked: Problem, tiles: Candidates) -> Floats:
    """What the correction is linear in, a column for each of FEATURES, all but `across` under the gate.

    `time`: log of the est. over the least; `size`: outputs over 1024 and `depth`: BLOCK_K over 128, in
    halvings; `padding`: BLOCK_K beyond K; `skew`: how far from square; `across`: long side against the
    problem's long side.
    """
    least = float(seconds.min())
    opened = gate(least)
    short = opened * (asked.k <= gate.short_k)
    size = (np.log2(tiles.block_m * tiles.block_n) - 10) / 3
    depth = np.log2(tiles.block_k) - 7
    aspect = np.log2(tiles.block_m / tiles.block_n)
    across = -np.clip(aspect, -1, 1) * np.log2(asked.m / asked.n) / 4
    under = [-np.log(seconds / least), size, size**2, depth, tiles.block_k > asked.k, np.abs(aspect)]
    columns = [opened * column for column in under]
    columns += [short * column for column in (size, size**2, depth)]
    return np.stack([*columns, across], axis=1)


@dataclass(frozen=True)
class Prior:
    """Weights of a log-linear correction of est. seconds."""

    source: str
    cross_validated: dict[str, tuple[float, ...]]
    """Share of held-out shapes whose tuned tile came in the first 1, 5, 10, by size of the problem."""
    like_bytes: float
    gate: Gate
    weights: Floats
    tiles: dict[tuple[int, int, int], tuple[float, float]]
    """What each known tile gains everywhere, and under the gate."""

    def corrected(self, seconds: Floats, asked: Problem, tiles: Candidates) -> Floats:
        """Est. seconds after the correction: same unit, for comparison with one another."""
        keys = zip(tiles.block_m.tolist(), tiles.block_n.tolist(), tiles.block_k.tolist(), strict=True)
        own = np.array([self.tiles.get(key, (0.0, 0.0)) for key in keys])
        gain = features(self.gate, seconds, asked, tiles) @ self.weights
        gain += own[:, 0] + self.gate(float(seconds.min())) * own[:, 1]
        return np.asarray(seconds * np.exp(-gain))


def prior(chip: str | None, element_bytes: float) -> Prior | None:
    """The Prior learned on a product with elements of this size, None where there is none."""
    found = _read(chip)
    return found if found is not None and found.like_bytes == element_bytes else None


@cache
def _read(chip: str | None) -> Prior | None:
    path = PAGES / f"{re.sub('[^a-z0-9]', '', (chip or '').lower())}.toml"
    if not path.is_file():
        return None
    page: dict[str, Any] = loads(path.read_text(encoding="utf-8"))
    return Prior(
        source=page["source"],
        cross_validated={part: tuple(values) for part, values in page["cross_validated"].items()},
        like_bytes=page["like_bytes"],
        gate=Gate(**page["gate"]),
        weights=np.array([page["weights"][name] for name in FEATURES]),
        tiles={(m, n, k): (everywhere, gated) for m, n, k, everywhere, gated in page["tiles"]["known"]},
    )
