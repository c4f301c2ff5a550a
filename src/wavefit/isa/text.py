"""Assembly text, as compilers write it and as llvm-objdump prints it, to the Listings of its functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from wavefit.isa.form import form
from wavefit.isa.model import Form, Listing, Op
from wavefit.names import printable

MOST = 1 << 24
"""Lines of one text; real kernels have thousands."""

_LABEL = re.compile(r'^(?P<name>"[^"]+"|[\w.$@]+):')
_PRINTED_LABEL = re.compile(r"^[0-9a-f]{8,16} <(?P<name>.+)>:\s*$")
_PRINTED = re.compile(r"//\s*(?P<at>[0-9A-Fa-f]{6,16}):\s*(?P<words>(?:[0-9A-Fa-f]{8}\s*)+)")
_LOC = re.compile(r"^\s*\.loc\s+\d+\s+(?P<line>\d+)\s+\d+[^;]*(?:;\s*(?P<file>[^:\s]+):)?")
_TYPE = re.compile(r"^\s*\.type\s+(?P<name>[^,\s]+),\s*[@%]function")
_SIZE = re.compile(r"^\s*\.size\s+(?P<name>[^,\s]+),")
_KERNEL = re.compile(r"^\s*\.amdhsa_kernel\s+(?P<name>\S+)")
_TARGET = re.compile(r'\.amdgcn_target\s+"[^"]*?(?P<target>gfx\w+)')
_WORD = re.compile(r"^(?:[a-z][\w.]*|<unknown>|\.long)(?:\s|$)")
_BRANCHES = frozenset(("branch", "call"))


@dataclass
class _Function:
    name: str
    ops: list[Op] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    waiting: list[tuple[int, str]] = field(default_factory=list)
    """Where a branch stands among `ops`, and the label that it names."""


def target_of(text: str) -> str | None:
    """The target that a text names, None where it names none."""
    found = _TARGET.search(text)
    return found["target"] if found else None


def kernels_of(text: str) -> tuple[str, ...]:
    """Names of the kernels that a compiler's text declares."""
    return tuple(_KERNEL.findall(text)) if ".amdhsa_kernel" in text else _kernels(text.splitlines())


def _kernels(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(match["name"] for line in lines if (match := _KERNEL.match(line)))


def listings(text: str, target: str, by: str = "text") -> Iterator[Listing]:
    """The functions of a text for a target, each with its instructions in order.

    An instruction's place is its address where the text prints one, else its number in the function.
    """
    return (found for found in _functions(text, target, by) if found.ops)


def _functions(text: str, target: str, by: str) -> Iterator[Listing]:
    function: _Function | None = None
    declared: set[str] = set()
    source: str | None = None
    for stripped in _lines(text):
        if match := _PRINTED_LABEL.match(stripped):
            if function:
                yield _listing(function, by)
            function = _Function(match["name"])
            continue
        if match := _LABEL.match(stripped):
            name = match["name"].strip('"')
            if name in declared or (function is None and not name.startswith(".L")):
                if function:
                    yield _listing(function, by)
                function = _Function(name)
            elif function:
                function.labels[name] = len(function.ops)
            stripped = stripped[match.end() :].strip()
            if not stripped or stripped[0] in ";/":
                continue
        if stripped[0] == "." and not stripped.startswith(".long"):
            source = _directive(stripped, declared, source)
            if function and (match := _SIZE.match(stripped)) and match["name"] == function.name:
                yield _listing(function, by)
                function = None
            continue
        if function is not None and _WORD.match(stripped):
            _add(function, stripped, target, source)
    if function:
        yield _listing(function, by)


def _lines(text: str) -> Iterator[str]:
    """Lines that may say something of code; kernel metadata, in a language of their own, are left out."""
    metadata = False
    for number, line in enumerate(text.splitlines()):
        if number > MOST:
            raise ValueError(f"more than {MOST} lines of assembly")
        stripped = line.strip()
        if stripped.startswith(".amdgpu_metadata"):
            metadata = True
        elif stripped.startswith(".end_amdgpu_metadata"):
            metadata = False
        elif stripped and stripped[0] not in ";#" and not metadata:
            yield stripped


def _directive(line: str, declared: set[str], source: str | None) -> str | None:
    """Takes in what a directive says; gives the line of source that the next instructions come from."""
    if match := _TYPE.match(line):
        declared.add(match["name"])
    elif match := _LOC.match(line):
        return f"{match['file'] or ''}:{match['line']}".lstrip(":") if match["line"] != "0" else None
    return source


def _add(function: _Function, line: str, target: str, source: str | None) -> None:
    printed = _PRINTED.search(line)
    end = re.search(r"\s*(?:;|//)", line)
    said = form(line[: end.start()] if end else line, target)
    at, size = len(function.ops), None
    if printed:
        at, size = int(printed["at"], 16), 4 * len(printed["words"].split())
    goes: int | None = None
    if said.kind in _BRANCHES and said.operands:
        label = said.operands[-1]
        distance = displacement(label)
        if distance is None:
            function.waiting.append((len(function.ops), label))
        elif printed:
            goes = at + 4 + 4 * distance
    function.ops.append(Op(at, said, size, goes, source))


def displacement(operand: str) -> int | None:
    """The signed distance, in words, that a branch to a plain number means; None for a label."""
    try:
        value = int(operand, 0)
    except ValueError:
        return None
    return value - (1 << 16) if 0x8000 <= value < 0x10000 else value


def _listing(function: _Function, by: str) -> Listing:
    """The finished function: labels become places, and what was not understood is counted."""
    ops = function.ops
    for at, label in function.waiting:
        place = function.labels.get(label)
        if place is not None and place < len(ops):
            ops[at] = replace(ops[at], target=ops[place].at)
    return Listing(function.name, tuple(ops), by, tuple(unread(op.form for op in ops)))


def unread(forms: Iterable[Form]) -> Iterator[str]:
    """One sentence for each mnemonic that no rule knows, with how often it stands there."""
    found: dict[str, int] = {}
    for each in forms:
        if each.kind == "unknown":
            found[each.name] = found.get(each.name, 0) + 1
    for name, count in sorted(found.items(), key=lambda item: -item[1]):
        yield f"{printable(name)}: {count} not understood; what they read and write is not known"
