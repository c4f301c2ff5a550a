"""From a rule's text to its tree, by recursive descent; kinds are checked here, so that evaluation is total.

    rule        either [-> rule]                 if the left holds, so must the right
    either      both {or both}
    both        truth {and truth}
    truth       not truth | comparison
    comparison  sum [(< <= > >= == !=) sum]  or  FIELD (=~ !~) "PATTERN"
    sum         term {(+ -) term}
    term        value {(* /) value}
    value       - value | NUMBER | "TEXT" | unknown | FIELD | baseline[.FIELD] | ( rule )

`baseline` alone is the baseline's value of the one field on the other side of the comparison.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import NoReturn

from wavefit.gate.fields import Kind, fields
from wavefit.gate.rule import COMPARISONS, BadRule, Binary, Field, Literal, Node, Rule, Unary, walk

LONGEST = 4096
"""Characters of a rule."""
MOST_PIECES = 300
"""Numbers, words and signs of a rule: its tree is at most as deep, and is walked by recursion."""
DEEPEST = 20
"""Of brackets, `not`, `-` and `->` inside each other."""
MOST_DIGITS = 18

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?)(?P<unit>[KkMm](?:i?[Bb])?|%)?(?![\w.])
    |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<word>[A-Za-z_]\w*(?:\.\w+)*)
    |(?P<sign>->|[<>=!]=|[=!]~|[-+*/<>()])""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20}
_HERE = Field("", "number", of_baseline=True)
"""`baseline` without a field, until the comparison around it says which."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text: `number`, `text`, `word`, `sign` or `end`."""

    is_a: str
    text: str
    at: int
    unit: str = ""

    def __str__(self) -> str:
        return "the end" if self.is_a == "end" else repr(self.text)


def parse(text: str) -> Rule:
    """The Rule that a text says. Raises BadRule."""
    if len(text) > LONGEST:
        raise BadRule(f"rule {text[:40]!r}...: longer than {LONGEST} characters")
    parser = _Parser(text)
    tree = parser.rule()
    if parser.next.is_a != "end":
        parser.fail(f"expected the end, found {parser.next}")
    if tree.kind != "truth":
        parser.fail("not a condition; compare it with something", at=0)
    return Rule(text, tree)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        self.tokens = self._split()
        self.next = self.tokens.pop()

    def _split(self) -> list[Token]:
        """Tokens, the last first."""
        found, at = [], 0
        while at < len(self.text):
            piece = _TOKEN.match(self.text, at)
            if piece is None:
                self.fail(f"cannot read {self.text[at : at + 12]!r}", at=at)
            is_a = "number" if piece.lastgroup == "unit" else str(piece.lastgroup)
            if is_a != "space":
                found.append(Token(is_a, piece[0], at, piece["unit"] or ""))
            at = piece.end()
            if len(found) > MOST_PIECES:
                raise BadRule(f"rule {self.text[:40]!r}...: more than {MOST_PIECES} words and signs")
        return [*found, Token("end", "", at)][::-1]

    def fail(self, why: str, at: int | None = None) -> NoReturn:
        where = self.next.at if at is None else at
        raise BadRule(f"rule {self.text!r}: column {where + 1}: {why}")

    def take(self, *texts: str) -> Token | None:
        """The next token where it is one of these words or signs."""
        taken = self.next
        if taken.is_a not in ("word", "sign") or taken.text not in texts:
            return None
        self.next = self.tokens.pop()
        return taken

    def deeper(self, part: Callable[[], Node]) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(f"nested deeper than {DEEPEST}")
        node = part()
        self.depth -= 1
        return node

    def rule(self) -> Node:
        left = self.either()
        if sign := self.take("->"):
            return self.joined(sign, left, self.deeper(self.rule), "truth")
        return left

    def either(self) -> Node:
        return self.chain(("or",), self.both, "truth")

    def both(self) -> Node:
        return self.chain(("and",), self.truth, "truth")

    def truth(self) -> Node:
        if sign := self.take("not"):
            of = self.deeper(self.truth)
            if of.kind != "truth":
                self.fail("`not` needs a condition", at=sign.at)
            return Unary("not", of)
        return self.comparison()

    def comparison(self) -> Node:
        left = self.sum()
        sign = self.take(*COMPARISONS)
        if sign is None:
            return left
        right = self.sum()
        if also := self.take(*COMPARISONS):
            self.fail("one comparison at a time; join them with `and`", at=also.at)
        if sign.text in ("=~", "!~"):
            return self.pattern(sign, left, right)
        return self.compared(sign, self.placed(sign, left, right), self.placed(sign, right, left))

    def sum(self) -> Node:
        return self.chain(("+", "-"), self.term, "number")

    def term(self) -> Node:
        return self.chain(("*", "/"), self.value, "number")

    def chain(self, signs: tuple[str, ...], part: Callable[[], Node], kind: Kind) -> Node:
        left = part()
        while sign := self.take(*signs):
            left = self.joined(sign, left, part(), kind)
        return left

    def joined(self, sign: Token, left: Node, right: Node, kind: Kind) -> Node:
        """Two sides of the kind that the sign needs."""
        for side in (left, right):
            if side.kind != kind:
                needs = "conditions" if kind == "truth" else "numbers"
                self.fail(f"`{sign.text}` needs {needs} on both sides", at=sign.at)
        return Binary(sign.text, left, right)

    def pattern(self, sign: Token, left: Node, right: Node) -> Node:
        if not isinstance(left, Field) or left.kind != "text":
            self.fail(f"`{sign.text}` needs a text field on its left, such as name", at=sign.at)
        if not isinstance(right, Literal) or right.kind != "text":
            self.fail(f"`{sign.text}` needs a quoted pattern on its right", at=sign.at)
        return Binary(sign.text, left, right)

    def compared(self, sign: Token, left: Node, right: Node) -> Node:
        """Sides that can be compared: of one kind, ordered only where they are numbers."""
        kinds = {side.kind for side in (left, right)} - {None}
        if len(kinds) > 1:
            self.fail(f"`{sign.text}` between {' and '.join(sorted(map(str, kinds)))}", at=sign.at)
        if sign.text not in ("==", "!=") and (left.kind, right.kind) != ("number", "number"):
            self.fail(f"`{sign.text}` needs numbers", at=sign.at)
        return Binary(sign.text, left, right)

    def placed(self, sign: Token, side: Node, other: Node) -> Node:
        """The side with each bare `baseline` named after the one field on the other side."""
        if _HERE not in walk(side):
            return side
        named = {node for node in walk(other) if isinstance(node, Field) and not node.of_baseline}
        if len(named) != 1 or _HERE in walk(other):
            self.fail("`baseline` needs one field on the other side; or write baseline.FIELD", at=sign.at)
        field = replace(named.pop(), of_baseline=True)
        if side != _HERE and field.kind != "number":
            self.fail(f"baseline's {field.name} is not a number", at=sign.at)
        return _replaced(side, field)

    def value(self) -> Node:
        if self.take("("):
            node = self.deeper(self.rule)
            if self.take(")") is None:
                self.fail(f"expected ), found {self.next}")
            return node
        if sign := self.take("-"):
            of = self.deeper(self.value)
            if of.kind != "number":
                self.fail("`-` needs a number", at=sign.at)
            return Unary("-", of)
        token = self.next
        if token.is_a not in ("number", "text", "word") or token.text in ("and", "or", "not"):
            self.fail(f"expected a field, a number or a quoted text, found {token}")
        self.next = self.tokens.pop()
        if token.is_a == "number":
            return Literal(self.number(token), "number")
        if token.is_a == "text":
            quote = token.text[0]
            return Literal(token.text[1:-1].replace(f"\\{quote}", quote), "text")
        return self.named(token)

    def number(self, token: Token) -> int | float:
        digits = token.text.removesuffix(token.unit)
        if len(digits) > MOST_DIGITS:
            self.fail(f"a number of more than {MOST_DIGITS} digits", at=token.at)
        plain = float(digits) if "." in digits else int(digits, 0 if digits[:2].lower() == "0x" else 10)
        if token.unit == "%":
            return plain / 100
        return plain * _UNITS[token.unit[:1].lower()]

    def named(self, token: Token) -> Node:
        if token.text == "unknown":
            return Literal(None, None)
        if token.text == "baseline":
            return _HERE
        name = token.text.removeprefix("baseline.")
        kind = fields().get(name)
        if kind is None:
            near = get_close_matches(name, fields(), n=3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            self.fail(f"no field {name!r}{hint}", at=token.at)
        return Field(name, kind, of_baseline=name != token.text)


def _replaced(tree: Node, field: Field) -> Node:
    match tree:
        case Unary(sign, of):
            return Unary(sign, _replaced(of, field))
        case Binary(sign, left, right):
            return Binary(sign, _replaced(left, field), _replaced(right, field))
    return field if tree == _HERE else tree
