"""One piece of advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wavefit.shown import Shown

Json = dict[str, Any]

ABOUT = {
    "launch": "it cannot launch",
    "spills": "registers spilled to scratch",
    "matrix": "a product that is not on the matrix unit",
    "rate": "a matrix instruction that runs at part of the rate",
    "packed": "plain FP32 where packed instructions exist",
    "vector": "vector instructions that take longer than the matrix work",
    "loads": "loads that start too late, or are too narrow",
    "chains": "too few independent accumulators",
    "waves": "a wave more feeds the matrix unit",
    "grid": "fewer workgroups than the chip holds",
    "vgpr": "a register cliff near by",
    "lds": "an LDS cliff near by",
    "shape": "a workgroup size that leaves slots empty",
    "fed": "the matrix unit is fed: occupancy is not the problem",
}
"""The words of `Advice.about`."""


@dataclass(frozen=True, slots=True)
class Advice(Shown):
    """One thing to do with a `kernel`, or to leave: what, on what evidence, how sure, at what price.

    `about` is a word of ABOUT. `confidence` is `exact` (read or counted) or `est.` (rests on the model of
    the loop). `gain` says what it brings, where that can be said.
    """

    kernel: str
    about: str
    what: str
    evidence: tuple[str, ...]
    confidence: str
    price: str
    gain: str | None = None

    def to_dict(self) -> Json:
        """The advice as a JSON object."""
        return {
            "kernel": self.kernel,
            "about": self.about,
            "what": self.what,
            "evidence": list(self.evidence),
            "confidence": self.confidence,
            "price": self.price,
            "gain": self.gain,
        }
