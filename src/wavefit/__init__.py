"""wavefit: how many waves of a compiled GPU kernel fit, what stops the next one, and by how much."""

from __future__ import annotations

import sys
from types import ModuleType

TYPE_CHECKING = False  # what `typing` would say, without importing it
if TYPE_CHECKING:
    from wavefit.chips import Chip, ChipNotFound, Fact, Target, chip
    from wavefit.kernels import BadFile, kernels
    from wavefit.model import Kernel, Launch
    from wavefit.occupancy import BadQuestion, Fit, FitRange, fit
    from wavefit.occupancy.sweep import sweep

_HOMES = {
    "chips": ("Chip", "ChipNotFound", "Fact", "Target", "chip"),
    "kernels": ("BadFile", "kernels"),
    "model": ("Kernel", "Launch"),
    "occupancy": ("BadQuestion", "Fit", "FitRange", "fit"),
    "occupancy.sweep": ("sweep",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "BadFile", "BadQuestion", "Chip", "ChipNotFound", "Fact", "Fit", "FitRange", "Kernel", "Launch",
    "Target", "chip", "fit", "kernels", "sweep",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Each public name comes with its room when it is first used, so that importing costs nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'wavefit' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"wavefit.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))


class _Public(ModuleType):
    """Some functions are named as the room they come from: importing a room does not hide its function."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Public
