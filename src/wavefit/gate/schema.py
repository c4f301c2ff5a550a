"""The JSON Schemas (2020-12) of every document, kept as data beside this file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from importlib.resources import files
from typing import Any

Json = dict[str, Any]

_PREFIX = "urn:wavefit:schema:"
_SHARED = "common"


class NoSchema(LookupError):
    """No document has this name; one line with near names."""


def names() -> list[str]:
    """Every document, such as `wavefit.fit/1`."""
    folder = files(__package__) / "schemas"
    stems = sorted(
        entry.name.removesuffix(".json") for entry in folder.iterdir() if entry.name.endswith(".json")
    )
    return [f"wavefit.{'/'.join(stem.rsplit('-', 1))}" for stem in stems if stem != _SHARED]


def schema(name: str) -> Json:
    """The schema of a document by its name (`wavefit.fit/1`, or `fit` for its newest), in one piece.

    The schemas that it refers to are in its `$defs`, each under its own `$id`. Raises NoSchema.
    """
    found = _load(_stem(name))
    others = {each["$id"]: each for each in _referred(found)}
    defs = {**found.get("$defs", {}), **{id_.removeprefix(_PREFIX): each for id_, each in others.items()}}
    return {**found, "$defs": defs} if defs else found


def _stem(name: str) -> str:
    known = {document: document.removeprefix("wavefit.").replace("/", "-") for document in names()}
    short = {document.removeprefix("wavefit.").split("/")[0]: stem for document, stem in known.items()}
    wanted = name if name.startswith("wavefit.") else f"wavefit.{name}"
    stem = known.get(wanted) or short.get(name)
    if stem is None:
        near = get_close_matches(name, short, n=2)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(short)}"
        raise NoSchema(f"no document {name[:80]!r}; {hint}")
    return stem


def _load(stem: str) -> Json:
    text = (files(__package__) / "schemas" / f"{stem}.json").read_text(encoding="utf-8")
    loaded: Json = json.loads(text)
    return loaded


def _referred(found: Json) -> Iterator[Json]:
    """Every other schema that this one needs, directly or through others."""
    seen, waiting = {found["$id"]}, [found]
    while waiting:
        for target in sorted(_references(waiting.pop()) - seen):
            seen.add(target)
            other = _load(target.removeprefix(_PREFIX).replace(":", "-"))
            waiting.append(other)
            yield other


def _references(node: Any) -> set[str]:
    """The `$id` of each schema outside this one that it refers to."""
    if isinstance(node, dict):
        ref = node.get("$ref")
        own = {ref.split("#")[0]} if isinstance(ref, str) and ref.startswith(_PREFIX) else set()
        return own.union(*map(_references, node.values()))
    return set().union(*map(_references, node)) if isinstance(node, list) else set()
