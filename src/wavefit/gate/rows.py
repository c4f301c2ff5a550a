"""Kernels of a report as typed rows: what diff and gate work on, whether just read or from a saved report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

import msgspec

SCHEMA = "wavefit.report/1"


class BadDocument(ValueError):
    """A file that should be a report's document and is not. One line that says why."""


class Limit(msgspec.Struct, frozen=True):
    """One resource of a Fit."""

    resource: str
    budget: int | None = None
    requested: int | None = None
    allocated: int | None = None
    granule: int | None = None
    waves_per_simd: int | float | None = None
    workgroups: int | None = None


class Change(msgspec.Struct, frozen=True, rename={"from_": "from"}):
    """One resource from what it is to what makes the difference."""

    resource: str
    from_: int
    to: int


class Step(msgspec.Struct, frozen=True):
    """Changes made together, and what is resident after them."""

    changes: tuple[Change, ...]
    workgroups: int
    waves: int
    occupancy: float


class Answer(msgspec.Struct, frozen=True, tag_field="schema", tag="wavefit.fit/1"):
    """A Fit as its document says it."""

    target: str
    wave: int
    unit: str
    threads: int
    max_waves: int
    waves_per_simd: int | float
    occupancy: float
    chip: str | None = None
    view: str = "hardware"
    mode: str | None = None
    workgroups: int | None = None
    why: str | None = None
    waves: int | None = None
    limits: tuple[Limit, ...] = ()
    binding: tuple[str, ...] = ()
    next_steps: tuple[Step, ...] = ()
    losses: tuple[Step, ...] = ()
    slack: dict[str, int] = {}
    assumptions: tuple[str, ...] = ()

    def limit(self, resource: str) -> Limit | None:
        """The limit of one resource, where the Fit has it."""
        return next((limit for limit in self.limits if limit.resource == resource), None)


class Span(msgspec.Struct, frozen=True, tag_field="schema", tag="wavefit.fit-range/1"):
    """Fits over a range of workgroup sizes."""

    threads: tuple[int, int]
    low: Answer
    high: Answer


class Row(msgspec.Struct, frozen=True):
    """One kernel of a report. None is what the report does not know."""

    name: str
    target: str
    symbol: str = ""
    file: str = ""
    member: str | None = None
    vgprs: int | None = None
    agprs: int | None = None
    total_vgprs: int | None = None
    allocated_vgprs: int | None = None
    sgprs: int | None = None
    allocated_sgprs: int | None = None
    lds: int | None = None
    lds_dynamic: int | None = None
    scratch: int | None = None
    vgpr_spills: int | None = None
    sgpr_spills: int | None = None
    max_threads: int | None = None
    required_threads: int | None = None
    wave: int | None = None
    mode: str | None = None
    dynamic_stack: bool | None = None
    fit: Answer | Span | None = None

    @property
    def answer(self) -> Answer | None:
        """The Fit; over a range of workgroup sizes the one with the fewest waves."""
        return self.fit.low if isinstance(self.fit, Span) else self.fit

    @property
    def place(self) -> str:
        """The file, and the member of it."""
        return f"{self.file}[{self.member}]" if self.member else self.file


class Problem(msgspec.Struct, frozen=True):
    """A file or member that could not be read, or a kernel that has no Fit."""

    file: str
    cause: str
    member: str | None = None
    offset: int | None = None

    def __str__(self) -> str:
        at = "" if self.offset is None else f"+{self.offset:#x}"
        inside = f"[{self.member or ''}{at}]" if self.member or at else ""
        return f"{self.file}{inside}: {self.cause}"


class Report(msgspec.Struct, frozen=True, tag_field="schema", tag=SCHEMA):
    """A report's document."""

    kernels: tuple[Row, ...]
    errors: tuple[Problem, ...] = ()


def convert(document: Mapping[str, Any]) -> Report:
    """A report's document as this process made it."""
    return msgspec.convert(document, Report)


def parse(content: bytes, name: str) -> Report:
    """A saved `wavefit.report/1`. Unknown keys are passed over. Raises BadDocument.

    By Python's reader, since names of files may hold halves of surrogate pairs, which msgspec refuses.
    """
    try:
        return convert(json.loads(content, parse_float=_finite, parse_constant=_finite))
    except RecursionError:
        cause = "nested too deep"
    except ValueError as error:  # not JSON, not UTF-8, or of another shape
        cause = str(error)
    raise BadDocument(f"{name}: not a {SCHEMA} document: {cause}")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is no number")
    return number
