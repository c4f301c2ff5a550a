"""Many files: one row a kernel, what it spends and what fits, and a summary of them all."""

from wavefit.survey.run import Options, survey
from wavefit.survey.summary import Summary
from wavefit.survey.table import COLUMNS, Table

__all__ = ["COLUMNS", "Options", "Summary", "Table", "survey"]
