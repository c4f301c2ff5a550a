"""The ILP x occupancy and read-bandwidth experiments: sources, builds, and runs where a GPU is."""

from wavefit.experiments.build import Built, Plan, build, plan, write_sources
from wavefit.experiments.run import Outcome, bench, join, run

__all__ = ["Built", "Outcome", "Plan", "bench", "build", "join", "plan", "run", "write_sources"]
