"""What profilers saw, read from their own output, and held against the theory.

To add a tool, add a file with its DIALECTS (tables) or its reader, and name it in sniff.py.
"""

from wavefit.profiles.confirm import confirm
from wavefit.profiles.confirmation import Confirmation, Confirmations
from wavefit.profiles.model import Counters, Device, Measurement, Problem, ProfileError, Reported
from wavefit.profiles.open import Measurements, measurements
from wavefit.profiles.reasons import Reason

__all__ = [
    "Confirmation", "Confirmations", "Counters", "Device", "Measurement", "Measurements", "Problem",
    "ProfileError", "Reason", "Reported", "confirm", "measurements",
]  # fmt: skip
