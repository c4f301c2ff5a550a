"""What to do next with a kernel, and why: one ranked list, which may be empty."""

from wavefit.advise.case import Case, cases
from wavefit.advise.model import Advice
from wavefit.advise.rules import RULES, advise, ranked
from wavefit.room import callable_as

__all__ = ["RULES", "Advice", "Case", "advise", "cases", "ranked"]

callable_as(__name__, advise)
