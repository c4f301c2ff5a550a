"""A survey as many Parquet files: one a piece, named by what it was made from, so that none is made twice."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from wavefit.kernels import BadFile, NoKernels
from wavefit.survey.options import Options
from wavefit.survey.places import CannotReach, Folder, Listed
from wavefit.survey.summary import Summary
from wavefit.survey.table import Table
from wavefit.survey.work import Answer

MANIFEST = "_survey.json"
ERRORS = "_errors.jsonl"
SCHEMA = "wavefit.survey-parts/1"
_PART = re.compile(r"(?P<key>[0-9a-f]{24})(?:-(?P<number>\d{6})(?P<end>-end)?)?\.parquet")
_KEY = b"wavefit.part"


def name_of(files: Iterable[Listed], options: Options, number: int | None = None, last: bool = False) -> str:
    """The name of a part: by path, size and stamp of what it was made from, and by what was asked."""
    key = key_of(files, options)
    return f"{key}.parquet" if number is None else f"{key}-{number:06}{'-end' if last else ''}.parquet"


def key_of(files: Iterable[Listed], options: Options) -> str:
    """What stands for these files as they are now, asked in this way."""
    said = [[file.name, file.size, file.stamp, file.named] for file in files]
    text = json.dumps([SCHEMA, *_asked(options).values(), said])
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:24]


def _asked(options: Options) -> dict[str, Any]:
    from importlib.metadata import version

    bounds = msgspec.to_builtins(options.bounds) if options.bounds else None
    return {
        "version": version("wavefit"), "targets": sorted(options.targets), "bounds": bounds,
        "within": options.within,
    }  # fmt: skip


def write_part(url: str, name: str, answer: Answer) -> None:
    """The rows of an Answer; what else it says stands in the file's metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from wavefit.survey.arrow import schema, to_arrow

    said = {
        "summary": answer.summary.counts() if answer.summary else None,
        "errors": [_error(each) for each in answer.found if isinstance(each, BadFile)],
        "spoken": answer.spoken,
        "size": answer.size,
    }
    of_part = schema().with_metadata({**schema().metadata, _KEY: json.dumps(said).encode("ascii")})
    rows = [to_arrow(each) for each in answer.found if isinstance(each, Table)]
    whole = pa.concat_tables(rows) if rows else schema().empty_table()
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, of_part, compression="zstd", compression_level=1) as writer:
        writer.write_table(whole.unify_dictionaries().replace_schema_metadata(of_part.metadata))
    Folder(url).write(name, sink.getvalue())


def recall(url: str, name: str) -> Answer:
    """What `write_part` was given, without the rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    said = json.loads(pq.read_schema(pa.BufferReader(Folder(url).read(name))).metadata[_KEY])
    errors = tuple(
        (NoKernels if each["nothing"] else BadFile)(
            each["file"], each["member"], each["offset"], each["cause"]
        )
        for each in said["errors"]
    )
    return Answer(errors, said["spoken"], said["size"], Summary.of_counts(said["summary"]))


def _error(bad: BadFile) -> dict[str, Any]:
    return {
        "file": bad.file, "member": bad.member, "offset": bad.offset, "cause": bad.cause,
        "nothing": isinstance(bad, NoKernels),
    }  # fmt: skip


@dataclass(slots=True)
class Parts:
    """The parts that are there already, and those that belong to this survey."""

    url: str
    options: Options
    known: dict[str, list[re.Match[str]]]
    """By key."""
    used: set[str] = field(default_factory=set)

    def part(self, files: tuple[Listed, ...]) -> str | None:
        """The part of some small files, where it is there."""
        name = name_of(files, self.options)
        self.used.add(name)
        return name if name.removesuffix(".parquet") in self.known else None

    def of_walk(self, file: Listed) -> tuple[list[str] | None, frozenset[int]]:
        """All parts of a large file in order where they are all there, and the numbers of those that are."""
        found = [match for match in self.known.get(key_of((file,), self.options), ()) if match["number"]]
        numbered = {int(match["number"]): match.string for match in found}
        last = next((int(match["number"]) for match in found if match["end"]), None)
        self.used.update(numbered.values())
        whole = last is not None and len(numbered) == last + 1
        return ([numbered[at] for at in sorted(numbered)] if whole else None), frozenset(numbered)

    def name(self, files: tuple[Listed, ...], number: int | None, last: bool = False) -> str:
        """The name of a part that is being made."""
        name = name_of(files, self.options, number, last)
        self.used.add(name)
        return name

    def finish(self, errors: Iterable[BadFile]) -> None:
        """Lists the errors, and takes away the parts of files that are no more as they were."""
        lines = "".join(
            json.dumps({k: v for k, v in _error(e).items() if k != "nothing"}) + "\n" for e in errors
        )
        folder = Folder(self.url)
        folder.write(ERRORS, lines.encode("ascii"))
        for name in folder.names():
            if _PART.fullmatch(name) and name not in self.used:
                folder.remove(name)


def opened(options: Options, paths: list[str]) -> Parts:
    """The folder of `options.parts`, made if need be. Raises CannotReach where it holds something else."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise CannotReach("Parquet needs pyarrow: pip install 'wavefit[survey]'") from error
    url = options.parts or ""
    folder = Folder(url)
    said = {"schema": SCHEMA, "paths": paths, **_asked(options)}
    names = folder.names()
    if MANIFEST in names:
        try:
            before = json.loads(folder.read(MANIFEST))
        except ValueError:
            before = None
        if before != json.loads(json.dumps(said)):
            raise CannotReach(f"{url}: holds another survey ({MANIFEST}); name another folder")
    elif any(name.endswith(".parquet") for name in names):
        raise CannotReach(f"{url}: holds Parquet files and no {MANIFEST}; name another folder")
    else:
        folder.write(MANIFEST, json.dumps(said).encode("ascii"))
    parts = Parts(url, options, defaultdict(list))
    for match in filter(None, map(_PART.fullmatch, names)):
        parts.known[match["key"]].append(match)
    return parts
