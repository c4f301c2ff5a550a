"""What the faces call things: names as they may be shown, counts in words, columns of a terminal."""

from wavefit.names import LONGEST, printable, width
from wavefit.report.language import counted

__all__ = ["LONGEST", "counted", "printable", "width"]
