"""Tables to a file as they come: CSV, JSON lines or Parquet, by the name's ending."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import IO, Any, Protocol

from wavefit.survey.arrow import schema, to_arrow
from wavefit.survey.table import COLUMNS, Table

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class CannotWrite(ValueError):
    """No such format, or its library is not installed; one line says what to do."""


class Writer(Protocol):
    """What takes one Table after the other."""

    def write(self, table: Table) -> None: ...

    def close(self) -> None: ...


class Output(AbstractContextManager["Output"]):
    """A file that is complete or absent: written beside its name and renamed at the end."""

    def __init__(self, path: str) -> None:
        ending = os.path.splitext(path)[1].lower()
        kinds: dict[str, Callable[[str], Writer]] = {".csv": _Csv, ".jsonl": _JsonLines, ".parquet": _Parquet}
        if ending not in kinds:
            raise CannotWrite(f"{path}: write to .csv, .jsonl or .parquet")
        self._path, self._part = path, f"{path}.part"
        self._writer: Writer = kinds[ending](self._part)

    def write(self, table: Table) -> None:
        """Adds the rows of one Table."""
        self._writer.write(table)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()
        if kind is None:
            os.replace(self._part, self._path)
        else:
            os.unlink(self._part)


class _Csv:
    """Text that a spreadsheet would take for a formula begins with an apostrophe."""

    def __init__(self, path: str) -> None:
        self._file: IO[str] = open(path, "w", encoding="utf-8", newline="", errors="backslashreplace")  # noqa: SIM115
        self._csv = csv.writer(self._file)
        self._csv.writerow(COLUMNS)

    def write(self, table: Table) -> None:
        self._csv.writerows([_cell(value) for value in row.values()] for row in table.records())

    def close(self) -> None:
        self._file.close()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        text = value.replace("\0", "\\x00")
        return f"'{text}" if text.startswith(_FORMULA) else text
    return "" if value is None else value


class _JsonLines:
    def __init__(self, path: str) -> None:
        self._file: IO[str] = open(path, "w", encoding="ascii")  # noqa: SIM115

    def write(self, table: Table) -> None:
        self._file.writelines(json.dumps(row) + "\n" for row in table.records())

    def close(self) -> None:
        self._file.close()


class _Parquet:
    def __init__(self, path: str) -> None:
        try:
            import pyarrow.parquet as pq
        except ImportError as error:
            raise CannotWrite("Parquet needs pyarrow: pip install 'wavefit[survey]'") from error
        self._writer = pq.ParquetWriter(path, schema(), compression="zstd", compression_level=1)

    def write(self, table: Table) -> None:
        self._writer.write_table(to_arrow(table))

    def close(self) -> None:
        self._writer.close()
