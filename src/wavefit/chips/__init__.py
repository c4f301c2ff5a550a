"""Chips and targets as data: every number a Fact with its source."""

from wavefit.chips.load import bare, chip, products, published, target, targets, with_readings
from wavefit.chips.model import SOFT, STATUSES, Chip, ChipNotFound, Fact, Target, Unit

__all__ = [
    "SOFT", "STATUSES", "Chip", "ChipNotFound", "Fact", "Target", "Unit",
    "bare", "chip", "products", "published", "target", "targets", "with_readings",
]  # fmt: skip
