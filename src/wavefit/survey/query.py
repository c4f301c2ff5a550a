"""The common questions over the Parquet of a survey, asked with DuckDB; names are parameters, never SQL.

DuckDB and not Polars: both read partitioned Parquet a row group at a time; DuckDB takes 70 MB installed
against 180, is imported in half the time, and takes file names and numbers as parameters of a statement.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wavefit.survey.arrow import SCHEMA
from wavefit.survey.places import is_url, reached

SHOWN = "file, member, name, target, threads"
_ROWS = "read_parquet(?, union_by_name=true)"


class BadQuery(ValueError):
    """A question that cannot be asked of these files; one line says why."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question: what it asks, its SQL, and the parameters that it takes after the files."""

    about: str
    sql: str
    parameters: tuple[str, ...] = ()
    files: int = 1


@dataclass(frozen=True, slots=True)
class Found:
    """The answer: names of the columns and rows, in the order asked for; `total` before the limit."""

    question: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int


_CHANGED = ("total_vgprs", "sgprs", "lds", "scratch", "vgpr_spills", "workgroups")


_PLAIN = "regexp_replace({}, '[0-9a-f]{{8,}}|[0-9]+', '#', 'g')"
"""A name without numbers, which versions, dates and offsets are."""


def _raw(columns: str) -> str:
    return (
        "select target, name, parse_filename(file) as file_name, coalesce(member, '') as member_name, "
        f"threads, {columns} from {_ROWS}"
    )


def _side(raw: str) -> str:
    """One build, by what a kernel is recognised: its target, name and place; the place is its file's name, or
    that without numbers where only one build has such a file, and the member without numbers."""
    file = f"if(file_name in (from shared), file_name, {_PLAIN.format('file_name')})"
    return (
        f"select *, row_number() over (partition by target, name, place order by file_name, member_name, "
        f"threads, lds, total_vgprs) as nth from (select *, {file} || '/' || "
        f"{_PLAIN.format('member_name')} as place from {raw})"
    )


_PAIRS = ", ".join(f'a.{name} as "{name} before", b.{name} as "{name}"' for name in _CHANGED)
_DIFFERS = " or ".join(f"a.{name} is distinct from b.{name}" for name in _CHANGED)
_COLUMNS = ", ".join(_CHANGED)

QUESTIONS = {
    "near": Question(
        "kernels that some vector registers fewer give a workgroup more",
        f"select vgprs_to_gain, total_vgprs, workgroups, waves_per_simd, {SHOWN} from {_ROWS} "
        "where vgprs_to_gain between 1 and ? order by vgprs_to_gain, file, member, name, threads",
        ("near",),
    ),
    "spills": Question(
        "kernels that spill registers",
        f"select vgpr_spills, sgpr_spills, scratch, total_vgprs, {SHOWN} from {_ROWS} "
        "where vgpr_spills > 0 or sgpr_spills > 0 "
        "order by coalesce(vgpr_spills, 0) + coalesce(sgpr_spills, 0) desc, file, member, name, threads",
    ),
    "limiters": Question(
        "what binds, by target",
        "select target, coalesce(binding, 'no Fit') as binding, count(*) as kernels, "
        f"round(avg(occupancy), 3) as occupancy from {_ROWS} group by all "
        "order by kernels desc, target, binding",
    ),
    "cannot-launch": Question(
        "kernels that cannot launch at the size they are surveyed at",
        f"select binding, total_vgprs, lds, {SHOWN} from {_ROWS} where workgroups = 0 "
        "order by file, member, name, threads",
    ),
    "changed": Question(
        "kernels that changed, and those that only one build has",
        f"with old as ({_raw(_COLUMNS)}), new as ({_raw(_COLUMNS)}), "
        "shared as (select file_name from old intersect select file_name from new), "
        f"a as ({_side('old')}), b as ({_side('new')}) "
        "select case when a.nth is null then 'added' when b.nth is null then 'removed' else 'changed' end "
        f"as change, {_PAIRS}, coalesce(a.name, b.name) as name, coalesce(a.target, b.target) as target, "
        "coalesce(a.file_name, b.file_name) as file "
        "from a full join b on (a.target = b.target and a.name is not distinct from b.name "
        "and a.place = b.place and a.nth = b.nth) "
        f"where a.nth is null or b.nth is null or {_DIFFERS} order by change, name, target, file",
        files=2,
    ),
}


def query(
    name: str, places: Sequence[str], *, near: int = 4, limit: int | None = None, urls: bool = False
) -> Found:
    """The answer to one of QUESTIONS over Parquet files or folders of parts; `changed` takes old and new.

    Raises BadQuery.
    """
    question = QUESTIONS.get(name)
    if question is None:
        raise BadQuery(f"no question {name!r}; there are {', '.join(QUESTIONS)}")
    if question.files > 1 and len(places) != question.files:
        raise BadQuery(f"{name} takes two surveys, the old one and the new one; {len(places)} given")
    try:
        import duckdb
    except ImportError as error:
        raise BadQuery("queries need DuckDB: pip install 'wavefit[query]'") from error
    groups = [[place] for place in places] if question.files > 1 else [list(places)]
    files = [[file for place in group for file in _files(place, urls)] for group in groups]
    values: list[Any] = [*files, *({"near": near}[key] for key in question.parameters)]
    with duckdb.connect(config={"autoinstall_known_extensions": False}) as connection:
        for url in {file for group in files for file in group if is_url(file)}:
            connection.register_filesystem(reached(url)[0])
        try:
            for file in (file for group in files for file in group[:1]):
                _check(connection, file)
            result = connection.execute(question.sql, values)
            columns = tuple(each[0] for each in result.description or ())
            rows = result.fetchmany(limit) if limit is not None else result.fetchall()
            total = len(rows)
            while limit is not None and (more := result.fetchmany(10_000)):
                total += len(more)
        except duckdb.Error as error:
            raise BadQuery(f"{places[0]}: {str(error).strip().splitlines()[0]}") from error
    return Found(name, columns, tuple(rows), total)


def _check(connection: Any, file: str) -> None:
    """That this is a survey's Parquet of the version that is read here."""
    said = connection.execute(
        "select decode(value) from parquet_kv_metadata(?) where decode(key) = 'wavefit'", [file]
    ).fetchone()
    if said is None or said[0] != SCHEMA:
        found = said[0] if said else "other Parquet"
        raise BadQuery(f"{file}: not a survey's rows ({SCHEMA}): {found}")


def _files(place: str, urls: bool) -> list[str]:
    """One file, or the parts in a folder."""
    if is_url(place):
        if not urls:
            raise BadQuery(f"{place}: a URL is read from the command line or Python only")
        fs, path = reached(place)
        if place.endswith(".parquet"):
            return [place]
        found = sorted(fs.unstrip_protocol(name) for name in fs.ls(path, detail=False) if _is_part(name))
    elif os.path.isdir(place):
        found = sorted(os.path.join(place, name) for name in os.listdir(place) if _is_part(name))
    elif os.path.exists(place):
        return [_literal(place)]
    else:
        raise BadQuery(f"{place}: No such file or directory")
    if not found:
        raise BadQuery(f"{place}: no Parquet files in it")
    return found if is_url(place) else list(map(_literal, found))


def _is_part(name: str) -> bool:
    return name.endswith(".parquet") and not os.path.basename(name).startswith((".", "_"))


def _literal(path: str) -> str:
    """The path with what DuckDB would take for a pattern put in brackets."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in path)
