"""A rule as a tree: what the parser builds, the evaluator reads, and messages quote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wavefit.gate.fields import Kind


class BadRule(ValueError):
    """A rule that cannot be read. One line: the rule, the column, what was expected."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, a text, or `unknown` (None)."""

    value: int | float | str | None
    kind: Kind | None


@dataclass(frozen=True, slots=True)
class Field:
    """A field of the kernel, or of the same kernel in the baseline."""

    name: str
    kind: Kind
    of_baseline: bool = False

    def __str__(self) -> str:
        return f"baseline.{self.name}" if self.of_baseline else self.name


@dataclass(frozen=True, slots=True)
class Unary:
    """`not` a truth, or `-` a number."""

    sign: str
    of: Node

    @property
    def kind(self) -> Kind:
        return "truth" if self.sign == "not" else "number"


@dataclass(frozen=True, slots=True)
class Binary:
    """Two sides and the sign between them."""

    sign: str
    left: Node
    right: Node

    @property
    def kind(self) -> Kind:
        return "number" if self.sign in ARITHMETIC else "truth"


Node = Literal | Field | Unary | Binary

ARITHMETIC = ("+", "-", "*", "/")
COMPARISONS = ("<=", ">=", "==", "!=", "=~", "!~", "<", ">")
LOGIC = ("->", "and", "or")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its text as written, and its tree, which is a truth."""

    text: str
    tree: Node

    @property
    def needs_baseline(self) -> bool:
        """Whether it compares with the same kernel of an earlier report."""
        return any(field.of_baseline for field in self.fields())

    def fields(self) -> list[Field]:
        """Every field that it names, once, in order."""
        return list(dict.fromkeys(node for node in walk(self.tree) if isinstance(node, Field)))

    def matches(self) -> Iterator[tuple[Field, str]]:
        """Every field that is held against a pattern, with the pattern."""
        for node in walk(self.tree):
            if isinstance(node, Binary) and node.sign in ("=~", "!~"):
                assert isinstance(node.left, Field)
                assert isinstance(node.right, Literal)
                yield node.left, str(node.right.value)


def walk(tree: Node) -> Iterator[Node]:
    """Every node, left to right."""
    yield tree
    match tree:
        case Unary(of=of):
            yield from walk(of)
        case Binary(left=left, right=right):
            yield from walk(left)
            yield from walk(right)
