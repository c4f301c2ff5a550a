"""What a rule says of one kernel: true, false, or unknown where the report does not know enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wavefit.gate.fields import Value, value
from wavefit.gate.rows import Row
from wavefit.gate.rule import ARITHMETIC, Binary, Field, Literal, Node, Unary


@dataclass(frozen=True, slots=True)
class Case:
    """One kernel, the same kernel in the baseline where it is there, and the answers of all patterns."""

    row: Row
    before: Row | None = None
    matches: Mapping[tuple[str, str], bool] | None = None
    """(pattern, text) -> whether it matches."""

    def value(self, field: Field) -> Value:
        """What the report says of a field; None = unknown."""
        row = self.before if field.of_baseline else self.row
        return None if row is None else value(row, field.name)


def holds(tree: Node, case: Case) -> bool | None:
    """Whether a condition holds; None where an unknown value decides it."""
    answer = evaluate(tree, case)
    return answer if isinstance(answer, bool) else None


def evaluate(tree: Node, case: Case) -> Value:
    """The value of a tree. Unknown is Kleene's: it decides nothing that the known side does not."""
    match tree:
        case Literal(value=literal):
            return literal
        case Field():
            return case.value(tree)
        case Unary("not", of):
            inner = evaluate(of, case)
            return None if inner is None else not inner
        case Unary(_, of):
            number = _number(evaluate(of, case))
            return None if number is None else -number
        case Binary("and" | "or" | "->" as sign, left, right):
            return _joined(sign, evaluate(left, case), right, case)
        case Binary("=~" | "!~" as sign, left, right):
            return _matched(sign, evaluate(left, case), evaluate(right, case), case)
        case Binary(sign, left, right) if sign in ARITHMETIC:
            return _arithmetic(sign, _number(evaluate(left, case)), _number(evaluate(right, case)))
    return _compared(tree, case)


def _joined(sign: str, left: Value, right: Node, case: Case) -> Value:
    decides = sign == "or"  # the value of the left side that needs no right one
    if sign == "->":
        left, decides = (None if left is None else not left), True
    if left is decides:
        return decides
    other = evaluate(right, case)
    return other if left is not None or other is decides else None


def _matched(sign: str, text: Value, pattern: Value, case: Case) -> Value:
    if text is None or case.matches is None:
        return None
    found = case.matches.get((str(pattern), str(text)))
    return None if found is None else found is (sign == "=~")


def _number(value: Value) -> int | float | None:
    return None if isinstance(value, str) else value


def _arithmetic(sign: str, left: int | float | None, right: int | float | None) -> int | float | None:
    if left is None or right is None or (sign == "/" and right == 0):
        return None
    try:
        match sign:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
        return left / right
    except OverflowError:  # a whole number too large to meet a fraction
        return None


def _compared(tree: Binary, case: Case) -> bool | None:
    left, right = evaluate(tree.left, case), evaluate(tree.right, case)
    asks_unknown = any(isinstance(side, Literal) and side.value is None for side in (tree.left, tree.right))
    if tree.sign in ("==", "!=") and (asks_unknown or None not in (left, right)):
        return (left == right) is (tree.sign == "==")
    a, b = _number(left), _number(right)
    if a is None or b is None:
        return None
    return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}.get(tree.sign)
