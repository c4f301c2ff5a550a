"""What a rule may name: the report's fields, their kinds, and their values in a row."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, get_type_hints

from wavefit.gate.rows import Answer, Limit, Row

Kind = Literal["number", "text", "truth"]
Value = int | float | str | bool | None
"""None is unknown."""

RESOURCES = ("vgpr", "sgpr", "lds", "slots", "workgroups", "scratch", "threads")
_KINDS: dict[type, Kind] = {int: "number", float: "number", str: "text", bool: "truth"}


@cache
def fields() -> dict[str, Kind]:
    """Every name with its kind: a kernel's own, its Fit's, and `slack.` and `limits.` by resource."""
    named = {**_scalars(Row), **_scalars(Answer), "binding": "text"}
    limits = {key: kind for key, kind in _scalars(Limit).items() if key != "resource"}
    slack = {f"slack.{resource}": "number" for resource in RESOURCES}
    of_limits = {f"limits.{name}.{key}": kind for name in RESOURCES for key, kind in limits.items()}
    return {**named, **slack, **of_limits}  # type: ignore[dict-item]


def value(row: Row, name: str) -> Value:
    """What a row says of a field of `fields()`; None where it does not know.

    Where a kernel and its Fit both have a name (`wave`, `mode`), the Fit's counts: it is what was asked.
    """
    answer = row.answer
    first, *rest = name.split(".")
    if answer is None:
        return None if rest else getattr(row, first, None)
    match first, rest:
        case "binding", []:
            return " and ".join(answer.binding)
        case "slack", [resource]:
            return answer.slack.get(resource)
        case "limits", [resource, key]:
            limit = answer.limit(resource)
            return None if limit is None else getattr(limit, key)
    own = getattr(answer, first, None)
    return getattr(row, first, None) if own is None else own


def _scalars(of: type[Any]) -> dict[str, Kind]:
    """Its fields that hold one number, text or truth."""
    found: dict[str, Kind] = {}
    for name, hint in get_type_hints(of).items():
        kinds = {_KINDS.get(part) for part in getattr(hint, "__args__", (hint,)) if part is not type(None)}
        if len(kinds) == 1 and (kind := kinds.pop()):
            found[name] = kind
    return found
