"""Many files: one row a kernel, what it spends and what fits, and a summary of them all."""

from wavefit.survey.options import Options
from wavefit.survey.run import survey, survey_parts
from wavefit.survey.summary import Summary
from wavefit.survey.table import COLUMNS, Table

__all__ = ["COLUMNS", "Options", "Summary", "Table", "survey", "survey_parts"]
