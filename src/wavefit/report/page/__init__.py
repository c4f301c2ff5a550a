"""Pages that need nothing else: a report's, and the overview of a survey."""

from wavefit.report.page.advice import Advised, advised
from wavefit.report.page.build import page

__all__ = ["Advised", "advised", "page"]
