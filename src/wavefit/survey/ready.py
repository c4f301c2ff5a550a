"""Everything that reading a piece imports and loads: workers that are made from here begin with it."""

from __future__ import annotations

import contextlib

from wavefit.chips import targets
from wavefit.kernels import formats
from wavefit.survey import arrow, work
from wavefit.survey.crew import keep_memory

__all__ = ["arrow", "formats", "work"]

keep_memory()
targets()
with contextlib.suppress(ImportError):
    import pyarrow.compute
    import pyarrow.ipc  # noqa: F401

    arrow.schema()
