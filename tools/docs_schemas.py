"""The reference of the documents, from their JSON Schemas: every key with type and meaning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tools.docs_words import code, plain, table, word

from wavefit.gate.schema import names, schema

Json = dict[str, Any]
_DOCUMENT = "urn:wavefit:schema:"


@dataclass(frozen=True)
class Node:
    """A schema with the document that its references start from, and the whole that holds all documents."""

    value: Json
    document: Json
    whole: Json

    def at(self, value: Json) -> Node:
        """A schema inside this one."""
        return replace(self, value=value)

    @property
    def reference(self) -> str:
        return str(self.value.get("$ref", ""))

    @property
    def leads_away(self) -> bool:
        """Whether it is another whole document, which has its own section."""
        return self.reference.startswith(_DOCUMENT) and "#" not in self.reference

    @property
    def resolved(self) -> Node:
        """What the reference leads to: in this document, in another, or among what they share."""
        if not self.reference or self.leads_away:
            return self
        name, _, inside = self.reference.removeprefix(_DOCUMENT).partition("#/$defs/")
        document = self.whole["$defs"][name] if name else self.document
        return replace(self, value=document["$defs"][inside], document=document)

    @property
    def either(self) -> list[Node]:
        """What it may be, where it may be several things."""
        return [self.at(each) for each in self.value.get("oneOf") or self.value.get("anyOf") or []]


def schemas(language: str) -> str:
    """A section a document, in alphabetical order."""
    return "\n".join(_section(name, language) for name in names())


def _section(name: str, language: str) -> str:
    found = schema(name)
    heads = [word(each, language) for each in ("key", "type", "meaning")]
    rows = list(_rows(Node(found, found, found), "", language, ()))
    short = name.removeprefix("wavefit.").partition("/")[0]
    return (
        f"## {name} {{ #{short} }}\n\n{plain(found.get('description', ''))}\n\n"
        f"```sh\nwavefit schema {short}\n```\n\n{table(heads, rows)}"
    )


def _rows(node: Node, path: str, language: str, above: tuple[str, ...]) -> Iterator[list[str]]:
    """A row a key, those inside it after it."""
    for key, value in node.value.get("properties", {}).items():
        one, at = node.at(value), f"{path}{key}"
        says = value.get("description") or one.resolved.value.get("description", "")
        yield [code(at), _kind(one, language), plain(says)]
        yield from _within(one, at, language, above)


def _within(node: Node, at: str, language: str, above: tuple[str, ...]) -> Iterator[list[str]]:
    """The keys of an object, of the items of a list, or of the values of a map."""
    if node.reference in above or node.leads_away:
        return
    seen = (*above, node.reference) if node.reference else above
    inner = node.resolved
    yield from _rows(inner, f"{at}.", language, seen)
    for each in inner.either:
        yield from _within(each, at, language, seen)
    for key, mark in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(inner.value.get(key), dict):
            yield from _within(inner.at(inner.value[key]), f"{at}{mark}", language, seen)


def _kind(node: Node, language: str) -> str:
    """The type in a few words; another document as a link."""
    if node.leads_away:
        document = node.reference.removeprefix(_DOCUMENT).split(":")[0]
        return f"[{document}](#{document})"
    between, inner = f" {word('or', language)} ", node.resolved
    value = inner.value
    if "const" in value:
        return code(str(value["const"]))
    if "enum" in value:
        return ", ".join(code("null" if each is None else str(each)) for each in value["enum"])
    if inner.either:
        return between.join(dict.fromkeys(_kind(each, language) for each in inner.either))
    kinds = value.get("type", "")
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    if "array" in kinds and isinstance(value.get("items"), dict):
        of = _kind(inner.at(value["items"]), language)
        kinds[kinds.index("array")] = f"array of {of}" if of else "array"
    return between.join(kinds)
