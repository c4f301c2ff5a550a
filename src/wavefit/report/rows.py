"""From paths to the rows that diff and gate work on: saved reports, or kernels read now."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wavefit.gate.rows import SCHEMA, BadDocument, Row, convert, parse
from wavefit.report.build import build
from wavefit.report.names import printable

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


def load(paths: Sequence[str], chip: str | None, launch: Mapping[str, Any]) -> list[Build]:
    """The build at each path: the file of `wavefit report --json`, or anything that holds kernels.

    A saved report keeps the chip and launch that it was made with; `chip` and `launch` are for the others.
    Raises BadDocument for a JSON file that is something else, and for a build without kernels.
    """
    saved = [path.endswith(".json") and os.path.isfile(path) for path in paths]
    asked = chip is not None or any(said is not None for said in launch.values())
    if asked and all(saved):
        raise BadDocument(f"{paths[0]}: a saved report keeps the chip and launch that it was made with")
    return [
        _saved(path) if is_saved else _build(path, chip, launch)
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


def _build(path: str, chip: str | None, launch: Mapping[str, Any]) -> Build:
    found = convert(build([path], chip=chip, **launch).to_dict())
    errors = tuple(map(str, found.errors))
    if not found.kernels:
        raise BadDocument(errors[0] if errors else f"{path}: no kernels")
    return Build(path, found.kernels, errors)
