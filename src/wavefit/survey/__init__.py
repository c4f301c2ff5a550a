"""Many files: one row a kernel, what it spends and what fits, and a summary of them all."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wavefit.survey.options import Options
    from wavefit.survey.run import survey, survey_parts
    from wavefit.survey.summary import Summary
    from wavefit.survey.table import COLUMNS, Table

__all__ = ["COLUMNS", "Options", "Summary", "Table", "survey", "survey_parts"]

_HOMES = {
    "COLUMNS": "table", "Options": "options", "Summary": "summary", "Table": "table", "survey": "run",
    "survey_parts": "run",
}  # fmt: skip


def __getattr__(name: str) -> object:
    """Each name comes when it is first used: workers are started before NumPy is loaded here."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"wavefit.survey.{_HOMES[name]}"), name)
