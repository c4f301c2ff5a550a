"""JSON packed small: equal parts stand once, objects of the same keys in columns, all of it compressed.

Ten thousand kernels repeat themselves: the same limits, steps, sentences, curves. Each object is a row of the
table of its keys, each list and text an entry of a pool, and a row met before is referred to by its number.
`script/unpack.js` is the other half.
"""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass, field
from typing import Any

Json = Any
Kind = Any
"""What a column holds: None (plain values), "t" (texts), ["r", table] (rows) or ["l", list pool] (lists)."""


@dataclass(slots=True)
class _Table:
    keys: tuple[str, ...]
    kinds: list[Kind]
    rows: dict[tuple[Any, ...], int] = field(default_factory=dict)


@dataclass(slots=True)
class _Lists:
    kind: Kind = None
    items: dict[tuple[Any, ...], int] = field(default_factory=dict)


class Mixed(TypeError):
    """One key holds values of several kinds; a bug of whoever made the document."""


class _Packer:
    def __init__(self) -> None:
        self.tables: list[_Table] = []
        self.lists: list[_Lists] = []
        self.texts: list[dict[str, int]] = []
        self._met: dict[int, int] = {}  # the document outlives the packer: no two objects have one id
        self._of_keys: dict[tuple[str, ...], int] = {}
        self._of_place: dict[tuple[str, str], int] = {}

    def row(self, value: dict[str, Json]) -> int:
        """The number of an object in the table of its keys. One that many share is packed once."""
        if id(value) in self._met:
            return self._met[id(value)]
        keys = tuple(value)
        table = self.tables[self.table(keys)]
        cells = []
        for at, (key, each) in enumerate(value.items()):
            kind, cell = self.cell(key, each)
            if each is not None:
                table.kinds[at] = _same(table.kinds[at], kind, key)
            cells.append(cell)
        found = self._met[id(value)] = table.rows.setdefault(tuple(cells), len(table.rows))
        return found

    def table(self, keys: tuple[str, ...]) -> int:
        if keys not in self._of_keys:
            self._of_keys[keys] = len(self.tables)
            self.tables.append(_Table(keys, ["?"] * len(keys)))
        return self._of_keys[keys]

    def cell(self, key: str, value: Json) -> tuple[Kind, Any]:
        """A value as it stands in its column, and the kind of it. `key` chooses the pools."""
        if isinstance(value, dict):
            return ["r", self.table(tuple(value))], self.row(value)
        if isinstance(value, (list, tuple)):
            return self._list(key, value)
        if isinstance(value, str):
            at = self._place("t", key, self.texts, dict)
            return ["t", at], self.texts[at].setdefault(value, len(self.texts[at]))
        return None, value

    def _list(self, key: str, value: list[Json] | tuple[Json, ...]) -> tuple[Kind, int]:
        at = self._place("l", key, self.lists, lambda: _Lists("?"))
        pool, cells = self.lists[at], []
        for each in value:
            kind, cell = self.cell(f"{key}[]", each)
            pool.kind = _same(pool.kind, kind, key)
            cells.append(cell)
        return ["l", at], pool.items.setdefault(tuple(cells), len(pool.items))

    def _place(self, sort: str, key: str, pools: list[Any], make: Any) -> int:
        if (sort, key) not in self._of_place:
            self._of_place[sort, key] = len(pools)
            pools.append(make())
        return self._of_place[sort, key]


def _same(known: Kind, kind: Kind, key: str) -> Kind:
    if known not in ("?", kind):
        raise Mixed(f"{key}: {known} and {kind}")
    return kind


def packed(document: dict[str, Json]) -> dict[str, Json]:
    """The document in tables and pools. Raises Mixed where a key holds values of several kinds."""
    packer = _Packer()
    root = packer.row(document)
    return {
        "root": [packer.table(tuple(document)), root],
        "texts": [list(pool) for pool in packer.texts],
        "lists": [{"kind": _known(pool.kind), "items": list(pool.items)} for pool in packer.lists],
        "tables": [
            {
                "keys": table.keys,
                "kinds": [_known(kind) for kind in table.kinds],
                "columns": [
                    _steps(column) if _known(kind) else list(column)
                    for kind, column in zip(table.kinds, zip(*table.rows, strict=True), strict=True)
                ],
            }
            for table in packer.tables
        ],
    }


def _known(kind: Kind) -> Kind:
    return None if kind == "?" else kind


def _steps(references: tuple[int | None, ...]) -> list[int | None]:
    """Each number as its distance from the one before: what is new counts up, which packs to nothing."""
    before, found = 0, list[int | None]()
    for each in references:
        found.append(None if each is None else each - before)
        before = before if each is None else each
    return found


def compressed(document: dict[str, Json]) -> str:
    """The packed document as text for a page: gzip in base64. The same document gives the same text."""
    text = json.dumps(packed(document), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)).decode()
