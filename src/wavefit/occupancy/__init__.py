"""The mathematics: whichever resource runs out first, exactly, and what the next step costs."""

from wavefit.occupancy.fit import fit
from wavefit.occupancy.result import BadQuestion, Change, Fit, FitRange, Limit, Step

__all__ = ["BadQuestion", "Change", "Fit", "FitRange", "Limit", "Step", "fit"]
