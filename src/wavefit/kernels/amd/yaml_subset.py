"""The YAML that compilers and LLVM's tools write kernel metadata in, and no more.

Block maps and lists, flow lists, plain and quoted scalars: what LLVM writes. No anchors, aliases,
tags or block scalars, so a note cannot grow while it is read, and no dependency on a YAML library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

Node = str | int | bool | list["Node"] | dict[str, "Node"]

DEEPEST = 16
_KEY = re.compile(r"(\.?[A-Za-z_][\w.]*) *:(?: +|$)", re.ASCII)
_SCALAR = re.compile(
    r"'((?:[^']|'')*)'|\"((?:[^\"\\]|\\.)*)\"|([^\s'\"\[\]{}&*!|>%@`#,-][^\[\]{}#]*|-?[0-9]+)"
)
_INTEGER = re.compile(r"-?[0-9]{1,20}", re.ASCII)
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")
_ESCAPED = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "f": "\f",
    "v": "\v",
}


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    indent: int
    text: str


def parse(text: str) -> Node:
    """The document as maps, lists, whole numbers, truth values and strings; empty keys are left out.

    Raises ValueError that names the line.
    """
    lines = _Lines(_lines(text))
    if lines.next is None:
        return {}
    node = _block(lines, lines.next.indent, 0)
    if lines.next is not None:
        raise _wrong(lines.next)
    return node


class _Lines:
    """Lines with one of them in view."""

    def __init__(self, lines: Iterator[_Line]) -> None:
        self._lines = lines
        self.next = next(lines, None)

    def take(self) -> None:
        self.next = next(self._lines, None)

    def replace(self, line: _Line) -> None:
        self.next = line


def _lines(text: str) -> Iterator[_Line]:
    for number, raw in enumerate(text.split("\n"), 1):
        content = raw.strip(" \r")  # a tab is no indent in YAML, and no key begins with one
        if content and content not in ("---", "...") and not content.startswith("#"):
            yield _Line(number, len(raw) - len(raw.lstrip(" ")), content)


def _block(lines: _Lines, indent: int, depth: int) -> Node:
    line = lines.next
    if line is None or depth > DEEPEST:
        raise ValueError(f"nested more than {DEEPEST} deep")
    return _list(lines, indent, depth) if line.text.startswith("- ") else _map(lines, indent, depth)


def _list(lines: _Lines, indent: int, depth: int) -> Node:
    items: list[Node] = []
    while (line := lines.next) and line.indent == indent and line.text.startswith("- "):
        content = line.text[2:].lstrip(" ")
        inner = _Line(line.number, indent + len(line.text) - len(content), content)
        if _KEY.match(content) or content.startswith("- "):
            lines.replace(inner)
            items.append(_block(lines, inner.indent, depth + 1))
        else:
            lines.take()
            items.append(_value(inner))
    return items


def _map(lines: _Lines, indent: int, depth: int) -> Node:
    items: dict[str, Node] = {}
    while (line := lines.next) and line.indent == indent and not line.text.startswith("- "):
        key = _KEY.match(line.text)
        if key is None:
            raise _wrong(line)
        lines.take()
        rest = line.text[key.end() :]
        if rest:
            items[key[1]] = _value(_Line(line.number, indent, rest))
        elif lines.next and (lines.next.indent > indent or lines.next.text.startswith("- ")):
            items[key[1]] = _block(lines, lines.next.indent, depth + 1)
    return items


def _value(line: _Line) -> Node:
    text = line.text
    if not text.startswith("["):
        return _scalar(line, text)
    if not text.endswith("]"):
        raise _wrong(line)
    inside = text[1:-1].strip()
    return [_scalar(line, part.strip()) for part in inside.split(",")] if inside else []


def _scalar(line: _Line, text: str) -> Node:
    found = _SCALAR.fullmatch(text)
    if found is None:
        raise _wrong(line)
    single, double, plain = found.groups()
    if single is not None:
        return str(single.replace("''", "'"))
    if double is not None:
        return _ESCAPE.sub(_unescaped, double)
    if _INTEGER.fullmatch(plain):
        return int(plain)
    return {"true": True, "false": False}.get(plain, plain)


def _unescaped(escape: re.Match[str]) -> str:
    what = escape[1]
    if len(what) > 1:
        code = int(what[1:], 16)
        return chr(code) if code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"
    return _ESCAPED.get(what, what)


def _wrong(line: _Line) -> ValueError:
    return ValueError(f"line {line.number} is not the YAML that compilers write here")
