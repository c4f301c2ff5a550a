"""Is it fed: Little's law for the matrix unit and for memory, simulated and held against measurements."""

from wavefit.feed.compare import Compared, Errors, compare, null_model, summed_up
from wavefit.feed.curves import Curve, MemoryCurve, Point, feed_curves, memory_curves
from wavefit.feed.matrix import feed
from wavefit.feed.measured import Row, read_measured
from wavefit.feed.memory import Level, MemoryFeed, feed_memory, memory_level
from wavefit.feed.model import Feed, Loop, Timing, Way
from wavefit.feed.roofline import Roof, Roofline, Under, balance, intensity, roofline, under
from wavefit.feed.simulate import Run, simulate, sweep
from wavefit.feed.timing import timing
from wavefit.feed.trap import Trap, TrapPoint, trap
from wavefit.room import callable_as

__all__ = [
    "Compared", "Curve", "Errors", "Feed", "Level", "Loop", "MemoryCurve", "MemoryFeed", "Point", "Roof",
    "Roofline", "Row", "Run", "Timing", "Trap", "TrapPoint", "Under", "Way", "balance", "compare", "feed",
    "feed_curves", "feed_memory", "intensity", "memory_curves", "memory_level", "null_model",
    "read_measured", "roofline", "simulate", "summed_up", "sweep", "timing", "trap", "under",
]  # fmt: skip

callable_as(__name__, feed)
