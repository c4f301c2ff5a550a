"""Some rooms answer one main question of their own name: `wavefit.matrix(...)` asks the package itself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType


def callable_as(room: str, question: Callable[..., object]) -> None:
    """Makes the package named `room` callable as its main function, whichever is imported first."""

    class Room(ModuleType):
        __call__ = staticmethod(question)

    sys.modules[room].__class__ = Room
