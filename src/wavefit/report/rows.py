"""From paths to the rows that diff and gate work on: saved reports, or kernels read now."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

from wavefit.gate.rows import SCHEMA, BadDocument, Row, convert, parse
from wavefit.kernels import NoKernels
from wavefit.report.build import build
from wavefit.report.document import error_row
from wavefit.report.names import printable
from wavefit.survey.pieces import Piece, Walk, pieces

MOST_BYTES = 1 << 30
"""Of a saved report: some 300,000 kernels."""


@dataclass(frozen=True, slots=True)
class Build:
    """Every kernel of a build, and what could not be read of it, one line each."""

    path: str
    rows: tuple[Row, ...]
    errors: tuple[str, ...]

    def warnings(self) -> Iterator[str]:
        """What could not be read, and how many."""
        for error in self.errors:
            yield printable(error, longest=500)
        if self.errors:
            yield f"{printable(self.path)}: {len(self.errors)} could not be read"


def load(
    paths: Sequence[str], chip: str | None, launch: Mapping[str, Any], workers: Executor | None = None
) -> list[Build]:
    """The build at each path: the file of `wavefit report --json`, or anything that holds kernels.

    A saved report keeps the chip and launch that it was made with; `chip` and `launch` are for the others.
    `workers` read a build's files together; their paths must be the same there.
    Raises BadDocument for a JSON file that is something else, and for a build without kernels.
    """
    saved = [path.endswith(".json") and os.path.isfile(path) for path in paths]
    asked = chip is not None or any(said is not None for said in launch.values())
    if asked and all(saved):
        raise BadDocument(f"{paths[0]}: a saved report keeps the chip and launch that it was made with")
    return [
        _saved(path) if is_saved else _build(path, chip, launch, workers)
        for path, is_saved in zip(paths, saved, strict=True)
    ]


def _saved(path: str) -> Build:
    if os.path.getsize(path) > MOST_BYTES:
        raise BadDocument(f"{path}: not a {SCHEMA} document: larger than {MOST_BYTES} bytes")
    with open(path, "rb") as file:
        found = parse(file.read(), path)
    if not found.kernels:
        raise BadDocument(f"{path}: no kernels")
    return Build(path, found.kernels, tuple(map(str, found.errors)))


def _build(path: str, chip: str | None, launch: Mapping[str, Any], workers: Executor | None) -> Build:
    spread = workers and os.path.isdir(path)
    document = _spread(path, chip, launch, workers) if workers and spread else _read([path], chip, launch)
    found = convert(document)
    errors = tuple(map(str, found.errors))
    if not found.kernels:
        raise BadDocument(errors[0] if errors else f"{path}: no kernels")
    return Build(path, found.kernels, errors)


def _read(paths: Sequence[str], chip: str | None, launch: Mapping[str, Any], *, named: bool = True) -> Any:
    """A report's document; of files that were not asked for by name, those without a kernel say nothing."""
    found = build(paths, chip=chip, **launch)
    if not named:
        found = replace(found, errors=tuple(e for e in found.errors if not isinstance(e, NoKernels)))
    return found.to_dict()


def _part(paths: Sequence[str], chip: str | None, launch: Mapping[str, Any]) -> Any:
    """What a worker does with some files of a folder."""
    return _read(paths, chip, launch, named=False)


def _spread(path: str, chip: str | None, launch: Mapping[str, Any], workers: Executor) -> Any:
    """The document of a folder, its files read by several workers, in their order."""
    groups, listing = [], []
    for piece in pieces([path]):
        if isinstance(piece, Piece | Walk):
            files = piece.files if isinstance(piece, Piece) else (piece.file,)
            groups.append([file.name for file in files])
        else:
            listing.append(error_row(piece))
    count = len(groups)
    parts = list(workers.map(_part, groups, [chip] * count, [dict(launch)] * count))
    rows = {key: [row for part in parts for row in part[key]] for key in ("kernels", "errors")}
    return {"schema": SCHEMA, "kernels": rows["kernels"], "errors": [*rows["errors"], *listing]}
