"""Tables as Arrow holds them: what is written as Parquet, and how rows go from one process to another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from wavefit.survey.fits import RATIOS
from wavefit.survey.table import COLUMNS, TEXTS, Table

FEW = frozenset(TEXTS) - {"name", "symbol"}
"""Texts that repeat: kept once each."""
SCHEMA = "wavefit.survey-rows/1"


@lru_cache(maxsize=1)
def schema() -> Any:
    """The columns of a survey, their types, and the version of both in the metadata."""
    import pyarrow as pa

    def kind(name: str) -> Any:
        if name in TEXTS:
            return pa.dictionary(pa.int32(), pa.string()) if name in FEW else pa.string()
        return pa.float64() if name in RATIOS else pa.int64()

    return pa.schema([pa.field(name, kind(name)) for name in COLUMNS], metadata={"wavefit": SCHEMA})


def to_arrow(table: Table, *, escape: bool = True) -> Any:
    """The same rows, null for what is not known; halves of surrogate pairs escaped or UnicodeEncodeError."""
    import pyarrow as pa

    if isinstance(table.columns, ArrowColumns):
        return table.columns.arrow
    arrays = []
    for field in schema():
        column = table.columns[field.name]
        if isinstance(column, np.ndarray):
            arrays.append(_numbers(column, field.type))
            continue
        try:
            made = _texts(column)
        except UnicodeEncodeError:
            if not escape:
                raise
            made = _texts([_clean(value) for value in column])
        arrays.append(made.dictionary_encode() if field.name in FEW else made)
    return pa.Table.from_arrays(arrays, schema=schema())


def _numbers(column: Any, kind: Any) -> Any:
    """An Arrow array of a column's own bytes: `pyarrow.array` would import pandas first."""
    import pyarrow as pa

    known = column == column if column.dtype == np.float64 else column >= 0
    bits = pa.py_buffer(np.packbits(known, bitorder="little"))
    return pa.Array.from_buffers(kind, len(column), [bits, pa.py_buffer(np.ascontiguousarray(column))])


def _texts(values: Any) -> Any:
    from pyarrow.lib import StringBuilder

    builder = StringBuilder()
    builder.append_values(values)
    return builder.finish()


def _clean(value: str | None) -> str | None:
    """Names are bytes of a file: lone surrogates have no UTF-8."""
    return value if value is None or value.isascii() else value.encode("utf-8", "backslashreplace").decode()


class ArrowColumns(Mapping[str, Any]):
    """The columns of a Table that came as Arrow: each is made when it is asked for.

    `rows` is how many there are. `counts` are those of its Summary, made where the columns were, so that none
    need be made here for it.
    """

    def __init__(self, arrow: Any, counts: dict[str, Any] | None = None) -> None:
        self.arrow, self.rows, self.counts = arrow, arrow.num_rows, counts
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._column(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COLUMNS)

    def __len__(self) -> int:
        return len(COLUMNS)

    def _column(self, name: str) -> Any:
        column = self.arrow.column(name)
        if name in FEW:
            whole = column.unify_dictionaries().combine_chunks()
            chunk = whole.chunk(0) if hasattr(whole, "chunk") else whole
            words = np.array([*chunk.dictionary.to_pylist(), None], object)
            return words[chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)].tolist()
        if name in TEXTS:
            return column.to_pylist()
        return column.fill_null(np.nan if name in RATIOS else -1).to_numpy()


def packed(table: Table, counts: dict[str, Any]) -> bytes | Table:
    """A Table and its counts as bytes; as it is where Arrow is not installed or a name is no text."""
    try:
        import pyarrow as pa
    except ImportError:
        return table
    try:
        rows = to_arrow(table, escape=False)
    except UnicodeEncodeError:
        return table
    sink = pa.BufferOutputStream()
    told = schema().with_metadata({"counts": json.dumps(counts)})
    with pa.ipc.new_stream(sink, told, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_table(rows.replace_schema_metadata(told.metadata))
    return bytes(sink.getvalue())


def unpacked(sent: bytes | Table) -> Table:
    """The Table again."""
    if isinstance(sent, Table):
        return sent
    import pyarrow as pa

    rows = pa.ipc.open_stream(sent).read_all()
    counts = json.loads(rows.schema.metadata[b"counts"])
    return Table(ArrowColumns(rows.replace_schema_metadata(schema().metadata), counts))
