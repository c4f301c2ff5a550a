"""What a survey found, counted as it goes: by target, by limiter, spills, cannot launch, near a cliff."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wavefit.survey.table import Table

NUMBERS = ("kernels", "errors", "duplicates", "spilling", "cannot_launch", "no_fit", "near")
"""What it counts in whole numbers."""


@dataclass(slots=True)
class Summary:
    """Counts of kernels. `near` are those within `within` vector registers of gaining a workgroup."""

    within: int = 4
    kernels: int = 0
    files: set[str] = field(default_factory=set)
    errors: int = 0
    duplicates: int = 0
    by_target: Counter[str] = field(default_factory=Counter)
    by_binding: Counter[str] = field(default_factory=Counter)
    spilling: int = 0
    cannot_launch: int = 0
    no_fit: int = 0
    near: int = 0

    def add(self, table: Table) -> None:
        """Counts the rows of one Table, unless that was done where it was made."""
        columns = table.columns
        counts = getattr(columns, "counts", None)
        if counts and counts["within"] == self.within:
            self.merge(Summary.of_counts(counts))
            return
        self.kernels += len(table)
        self.files.update(columns["file"])
        self.by_target.update(columns["target"])
        self.by_binding.update(name or "no Fit" for name in columns["binding"])
        self.spilling += int(((columns["vgpr_spills"] > 0) | (columns["sgpr_spills"] > 0)).sum())
        self.cannot_launch += int((columns["workgroups"] == 0).sum())
        self.no_fit += int((columns["workgroups"] < 0).sum())
        gain = columns["vgprs_to_gain"]
        self.near += int(((gain > 0) & (gain <= self.within)).sum())

    def merge(self, other: Summary) -> None:
        """Adds what another one counted."""
        self.files |= other.files
        self.by_target += other.by_target
        self.by_binding += other.by_binding
        for name in NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def counts(self) -> dict[str, Any]:
        """Everything in it as plain data."""
        said = {name: getattr(self, name) for name in (*NUMBERS, "within")}
        return {
            **said,
            "files": sorted(self.files),
            "by_target": self.by_target,
            "by_binding": self.by_binding,
        }

    @staticmethod
    def of(tables: Iterable[Table], within: int) -> Summary:
        """That of some Tables."""
        made = Summary(within=within)
        for each in tables:
            made.add(each)
        return made

    @staticmethod
    def of_counts(said: dict[str, Any]) -> Summary:
        """The Summary of which `counts` gave these."""
        counted = {name: Counter(said[name]) for name in ("by_target", "by_binding")}
        return Summary(**{**said, **counted, "files": set(said["files"])})

    def to_dict(self) -> dict[str, Any]:
        """The document `wavefit.survey/1`."""
        return {
            "schema": "wavefit.survey/1",
            "kernels": self.kernels,
            "files": len(self.files),
            "errors": self.errors,
            "duplicates": self.duplicates,
            "by_target": dict(self.by_target.most_common()),
            "by_binding": dict(self.by_binding.most_common()),
            "spilling": self.spilling,
            "cannot_launch": self.cannot_launch,
            "no_fit": self.no_fit,
            "near": self.near,
            "within": self.within,
        }


class Unique:
    """Keeps the first of kernels that are the same for the same target: symbol and every number alike."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def first(self, table: Table) -> Table:
        """The rows that were not met before."""
        columns = [
            table.columns["symbol"],
            table.columns["name"],
            table.columns["target"],
            table.columns["mode"],
        ]
        columns += [
            c.tolist() for n, c in table.columns.items() if isinstance(c, np.ndarray) and c.dtype == np.int64
        ]
        keep = np.zeros(len(table), bool)
        for index, row in enumerate(zip(*columns, strict=True)):
            key = hash(row)
            if key not in self._seen:
                self._seen.add(key)
                keep[index] = True
        return table.where(keep)
