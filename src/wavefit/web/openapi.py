"""The OpenAPI document: the JSON Schemas of our documents as components of it."""

from __future__ import annotations

from typing import Any

from wavefit.gate.schema import schema

Json = dict[str, Any]
Responses = dict[int | str, Json]
_PREFIX = "urn:wavefit:schema:"
_HOME = "#/components/schemas/"
_ALONE = ("$schema", "$id")

ERROR_REF: Json = {"$ref": _HOME + "error-1"}


def documents(*names: str) -> Responses:
    """What a route answers with: one of the named documents, or one line of error."""
    refs = [{"$ref": _HOME + name} for name in names]
    found: Json = refs[0] if len(refs) == 1 else {"oneOf": refs}
    refused = {"content": _json(ERROR_REF)}
    return {
        200: {"description": "The document.", "content": _json(found)},
        403: {"description": "Without the token."},
        422: {"description": "What cannot be asked, in one line.", **refused},
    }


def _json(found: Json) -> Json:
    return {"application/json": {"schema": found}}


def components(names: list[str]) -> Json:
    """Every named document's schema, with those they refer to, as components."""
    found: Json = {}
    for name in (*names, "error-1"):
        whole = schema("wavefit." + name.replace("-1", "/1"))
        others = {key: each for key, each in whole.get("$defs", {}).items() if "$id" in each}
        own = {key: each for key, each in whole.get("$defs", {}).items() if "$id" not in each}
        parts = {name: {**whole, "$defs": own}, **{_name(key): each for key, each in others.items()}}
        for key, part in parts.items():
            bare = {field: value for field, value in part.items() if field not in _ALONE}
            found[key] = _moved(bare, _HOME + key)
    return found


def _name(id_: str) -> str:
    return id_.removeprefix(_PREFIX).replace(":", "-")


def _moved(node: Any, home: str) -> Any:
    """The schema with its references as they are from the OpenAPI document's root."""
    if isinstance(node, list):
        return [_moved(item, home) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: _ref(value, home) if key == "$ref" else _moved(value, home) for key, value in node.items()}


def _ref(target: str, home: str) -> str:
    if target.startswith("#"):
        return home + target[1:]
    id_, _, rest = target.partition("#")
    return _HOME + _name(id_) + rest
