"""The reference of the Python names, from the code: signatures, docstrings, fields."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import griffe
from tools.docs_words import code, plain, table, word

import wavefit as wf
from wavefit.gate.schema import schema

QUESTIONS = (
    "fit", "kernels", "sweep", "chip", "matrix", "feed", "feed_memory", "code", "advise", "rank_tiles",
    "measurements", "confirm",
)  # fmt: skip
"""What can be asked, in the order in which a reader needs it; the test holds it against `wf.__all__`."""

ANSWERS = {
    "Fit": "occupancy.result", "FitRange": "occupancy.result", "Limit": "occupancy.result",
    "Step": "occupancy.result", "Change": "occupancy.result", "Sweep": "occupancy.sweep",
    "Kernel": "model", "Launch": "model", "Chip": "chips.model", "Target": "chips.model",
    "Fact": "chips.model", "Instruction": "matrix.model", "Feed": "feed.model", "MemoryFeed": "feed.memory",
    "Code": "isa.loops", "Loop": "isa.loops", "Chain": "isa.chains", "Advice": "advise.model",
    "Tile": "tiles.rank", "Measurements": "profiles.open", "Measurement": "profiles.model",
    "Confirmations": "profiles.confirmation", "Confirmation": "profiles.confirmation",
    "BadFile": "kernels.source", "BadQuestion": "occupancy.result", "ChipNotFound": "chips.model",
}  # fmt: skip
"""What comes back, and the module that defines it."""


def api(language: str) -> str:
    """A section a name: the questions, then the answers and errors."""
    made = [_function(name) for name in QUESTIONS]
    made += [_class(name, module, language) for name, module in ANSWERS.items()]
    return "\n".join(made)


def _function(name: str) -> str:
    asked: Any = getattr(wf, name)
    if isinstance(asked, ModuleType):
        asked = type(asked).__call__
    doc = inspect.getdoc(asked) or ""
    return f"## {name} {{ #{name} }}\n\n```py\nwf.{name}{_signature(asked)}\n```\n\n{_prose(doc)}\n"


def _signature(asked: Any) -> str:
    """The parameters, one a line where they are many."""
    signature = inspect.signature(asked)
    parameters = signature.parameters.values()
    parts = [_parameter(each) for each in parameters]
    named = [each.kind is inspect.Parameter.KEYWORD_ONLY for each in parameters]
    if any(named):
        parts.insert(named.index(True), "*")
    line = f"({', '.join(parts)}) -> {signature.return_annotation}"
    lines = "".join(f"    {part},\n" for part in parts)
    return line if len(line) < 80 else f"(\n{lines}) -> {signature.return_annotation}"


def _parameter(each: inspect.Parameter) -> str:
    """`name: type = default`; annotations are texts."""
    default = "" if each.default is inspect.Parameter.empty else f" = {each.default!r}"
    return f"{each.name}: {each.annotation}{default}"


def _class(name: str, module: str, language: str) -> str:
    found = _described(module, name)
    says = _in_schema(name)
    rows = []
    for member in _members(found):
        kind, meaning = _field(member)
        rows.append([code(member.name), kind, meaning or plain(says.get(member.name, ""))])
    heads = [word("name", language), word("type", language), word("meaning", language)]
    fields = f"\n{table(heads, rows)}" if rows else ""
    doc = found.docstring.value if found.docstring else ""
    return f"## {name} {{ #{name.lower()}-class }}\n\n{_prose(inspect.cleandoc(doc))}\n{fields}"


def _described(module: str, name: str) -> griffe.Class:
    """The class as griffe reads it, without running anything."""
    path = Path(wf.__file__).parent / f"{module.replace('.', '/')}.py"
    text = path.read_text(encoding="utf-8")
    found = griffe.visit(module.rpartition(".")[2], filepath=path, code=text)[name]
    assert isinstance(found, griffe.Class)
    return found


def _in_schema(name: str) -> dict[str, str]:
    """What the JSON Schema of a class's document says of its keys; attributes have the same names."""
    found = schema("report" if name == "Kernel" else "fit")
    within = {"Fit": found, "Kernel": found.get("$defs", {}).get("kernel", {})}
    node = within.get(name) or found.get("$defs", {}).get(name.lower(), {})
    return {key: each.get("description", "") for key, each in node.get("properties", {}).items()}


def _members(of: griffe.Class) -> Iterator[griffe.Attribute | griffe.Function]:
    for member in of.members.values():
        if member.name.startswith("_") or isinstance(member, griffe.Alias | griffe.Class | griffe.Module):
            continue
        if isinstance(member, griffe.Attribute | griffe.Function):
            yield member


def _field(member: griffe.Attribute | griffe.Function) -> tuple[str, str]:
    says = member.docstring.value if member.docstring else ""
    if isinstance(member, griffe.Function):
        parameters = ", ".join(each.name for each in member.parameters if each.name != "self")
        return code(f"({parameters}) -> {member.returns}"), plain(" ".join(says.split()))
    return code(str(member.annotation)) if member.annotation else "", plain(" ".join(says.split()))


def _prose(doc: str) -> str:
    return "\n\n".join(plain(" ".join(part.split())) for part in doc.split("\n\n"))
