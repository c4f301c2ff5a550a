"""From kernels to columns: what each spends as its file says, and its Fit, computed for all rows at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wavefit.kernels.bulk import Rows
from wavefit.kernels.rows import MODES, NUMBERS
from wavefit.model import Kernel
from wavefit.survey.fits import add_fits

Ints = npt.NDArray[np.int64]

TEXTS = ("file", "member", "name", "symbol", "target", "mode", "threads_from", "binding")
COUNTS = (
    *NUMBERS, "lds_dynamic", "required_threads", "side_threads", "threads", "workgroups", "waves",
    "vgprs_to_gain", "vgprs_to_lose",
)  # fmt: skip
COLUMNS = (
    "file", "member", "name", "symbol", "target", "vgprs", "agprs", "total_vgprs", "allocated_vgprs", "sgprs",
    "allocated_sgprs", "lds", "lds_dynamic", "scratch", "vgpr_spills", "sgpr_spills", "max_threads",
    "required_threads", "wave", "mode", "threads", "threads_from", "workgroups", "waves", "waves_per_simd",
    "occupancy", "binding", "vgprs_to_gain", "vgprs_to_lose",
)  # fmt: skip
"""Names as in a report, then: `threads_from` is what the workgroup size was taken from; `vgprs_to_gain` fewer
vector registers gain a workgroup where they alone bind, `vgprs_to_lose` more lose one."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows by column (COLUMNS): lists of text, int64 with -1 for not known, float64 with nan for no Fit."""

    columns: Mapping[str, Any]

    def __len__(self) -> int:
        rows: int | None = getattr(self.columns, "rows", None)
        return len(self.columns["vgprs"]) if rows is None else rows

    def records(self) -> Iterator[dict[str, Any]]:
        """One dictionary a row, None for what is not known."""
        values = [_plain(self.columns[name]) for name in COLUMNS]
        for row in zip(*values, strict=True):
            yield dict(zip(COLUMNS, row, strict=True))

    def where(self, keep: npt.NDArray[np.bool_]) -> Table:
        """The rows that are kept."""
        if keep.all():
            return self
        picked = {
            name: column[keep]
            if isinstance(column, np.ndarray)
            else [v for v, k in zip(column, keep, strict=True) if k]
            for name, column in self.columns.items()
        }
        return Table(picked)


def _plain(column: Any) -> list[Any]:
    if not isinstance(column, np.ndarray):
        return list(column)
    if column.dtype == np.float64:
        return [None if value != value else value for value in column.tolist()]
    return [None if value < 0 else value for value in column.tolist()]


def table(items: Sequence[Rows | Kernel]) -> Table:
    """The Table of many kernels, in their order."""
    columns: dict[str, Any] = {name: [] for name in ("file", "member", "name", "symbol", "target", "mode")}
    numbers: dict[str, list[Ints]] = {
        name: [] for name in (*NUMBERS, "lds_dynamic", "required_threads", "side_threads")
    }
    for block in _blocks(items):
        for name in columns:
            columns[name] += block[name]
        for name, parts in numbers.items():
            parts.append(block[name])
    joined = {
        name: np.concatenate(parts) if parts else np.empty(0, np.int64) for name, parts in numbers.items()
    }
    add_fits(columns, joined)
    side = joined.pop("side_threads")
    columns["threads_from"] = _threads_from(joined["required_threads"], side, joined["max_threads"])
    return Table({**columns, **joined})


def _blocks(items: Iterable[Rows | Kernel]) -> Iterator[dict[str, Any]]:
    """Each Rows as it is, runs of single Kernels together."""
    run: list[Kernel] = []
    for item in items:
        if isinstance(item, Kernel):
            run.append(item)
            continue
        if run:
            yield _of_kernels(run)
            run = []
        if len(item):
            yield _of_rows(item)
    if run:
        yield _of_kernels(run)


def _of_rows(rows: Rows) -> dict[str, Any]:
    count, code = len(rows), rows.code
    required = [-1 if size is None else size[0] * size[1] * size[2] for size in rows.required_sizes]
    absent = np.full(count, -1, np.int64)
    return {
        **{name: rows.columns[name] for name in NUMBERS},
        "file": [code.file] * count,
        "member": [code.member] * count,
        "name": rows.names,
        "symbol": rows.symbols,
        "target": [code.target] * count,
        "mode": [MODES[mode + 1] for mode in rows.columns["mode"].tolist()],
        "required_threads": np.array(required, np.int64),
        "lds_dynamic": absent,
        "side_threads": absent,
    }


def _of_kernels(kernels: list[Kernel]) -> dict[str, Any]:
    texts = {
        name: [getattr(kernel, name) for kernel in kernels] for name in ("file", "member", "name", "symbol")
    }
    names = (*NUMBERS, "lds_dynamic", "required_threads", "side_threads")
    numbers = {
        name: np.array([_or_absent(getattr(kernel, name)) for kernel in kernels], np.int64) for name in names
    }
    return {
        **texts,
        **numbers,
        "target": [kernel.target for kernel in kernels],
        "mode": [kernel.mode for kernel in kernels],
    }


def _or_absent(value: int | None) -> int:
    return -1 if value is None else min(value, 1 << 62)


def _threads_from(required: Ints, side: Ints, most: Ints) -> list[str | None]:
    words = np.select([required > 0, side > 0, most > 0], ["required", "side file", "largest"], "")
    return [word or None for word in words.tolist()]
