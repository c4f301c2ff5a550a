"""What results can do in a notebook and for data frames; how is the faces' business, which load when asked.

A result knows no face: these hooks name one, as a plug-in is named, and import nothing until they are called.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T", covariant=True)
_FACE = "wavefit.report.notebook"


class Shown:
    """A result that a notebook shows, and that becomes rows of a data frame."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(import_module(_FACE).html(self))

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        found: dict[str, str] = import_module(_FACE).mimebundle(self, include, exclude)
        return found

    def to_pandas(self) -> Any:
        """The result as a pandas DataFrame. Raises NoFrames, one line, where pandas is not installed."""
        return import_module(_FACE).to_pandas(self)

    def to_polars(self) -> Any:
        """The result as a Polars DataFrame. Raises NoFrames, one line, where Polars is not installed."""
        return import_module(_FACE).to_polars(self)

    def to_arrow(self) -> Any:
        """The result as a PyArrow Table. Raises NoFrames, one line, where PyArrow is not installed."""
        return import_module(_FACE).to_arrow(self)


class Listed(tuple[T, ...], Shown):
    """Several results: a tuple that a notebook shows as one table."""

    __slots__ = ()
