"""From paths to a Report: every kernel read and fitted, what breaks kept as errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wavefit.chips import ChipNotFound
from wavefit.chips import chip as find_chip
from wavefit.kernels import kernels
from wavefit.model import Kernel
from wavefit.occupancy import BadQuestion, fit
from wavefit.report.document import Answer, Report, split


def build(
    paths: Iterable[str], *, pattern: str | None = None, chip: str | None = None, **launch: Any
) -> Report:
    """The Report of all kernels in the paths whose name contains `pattern`. Raises ChipNotFound."""
    on = None if chip is None else find_chip(chip)
    found, errors = split(item for path in paths for item in kernels(path))
    chosen = [kernel for kernel in found if pattern is None or pattern in kernel.name]

    def answer(kernel: Kernel) -> Answer:
        try:
            return fit(kernel, chip=on, **launch)
        except BadQuestion as why:
            return why
        except ChipNotFound as why:
            return BadQuestion(str(why))

    return Report(tuple((kernel, answer(kernel)) for kernel in chosen), tuple(errors))
