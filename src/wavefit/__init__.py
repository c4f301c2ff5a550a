"""wavefit: how many waves of a compiled GPU kernel fit, what stops the next one, and by how much."""

from __future__ import annotations

TYPE_CHECKING = False  # what `typing` would say, without importing it
if TYPE_CHECKING:
    from wavefit.advise import advise
    from wavefit.chips import Chip, ChipNotFound, Fact, Target, chip
    from wavefit.feed import feed, feed_memory
    from wavefit.isa import code
    from wavefit.kernels import BadFile, kernels
    from wavefit.matrix import matrix
    from wavefit.model import Kernel, Launch
    from wavefit.occupancy import BadQuestion, Fit, FitRange
    from wavefit.occupancy.fit import fit
    from wavefit.occupancy.sweep import sweep
    from wavefit.profiles import measurements
    from wavefit.profiles.confirm import confirm
    from wavefit.tiles.rank import rank_tiles

_HOMES = {
    "advise": ("advise",),
    "chips": ("Chip", "ChipNotFound", "Fact", "Target", "chip"),
    "feed": ("feed", "feed_memory"),
    "isa": ("code",),
    "kernels": ("BadFile", "kernels"),
    "matrix": ("matrix",),
    "model": ("Kernel", "Launch"),
    "profiles": ("confirm", "measurements"),
    "occupancy": ("BadQuestion", "Fit", "FitRange", "fit"),
    "occupancy.sweep": ("sweep",),
    "tiles.rank": ("rank_tiles",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BadFile", "BadQuestion", "Chip", "ChipNotFound", "Fact", "Fit", "FitRange", "Kernel", "Launch",
    "Target", "advise", "chip", "code", "confirm", "feed", "feed_memory", "fit", "kernels", "matrix",
    "measurements", "rank_tiles", "sweep",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Each public name comes with its room when it is first used, so that importing costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'wavefit' has no attribute {name!r}")
    from importlib import import_module

    room = import_module(f"wavefit.{_HOME[name]}")
    value: object = room if name == _HOME[name] else getattr(room, name)  # such rooms can be called
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
