"""Every public name says what it is, in what units, and what it raises."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import wavefit as wf
from wavefit.advise import Advice
from wavefit.feed import Feed, MemoryFeed
from wavefit.isa import Code
from wavefit.matrix import Instruction
from wavefit.occupancy.sweep import Sweep
from wavefit.profiles import Confirmations, Measurements
from wavefit.profiles.model import Measurement
from wavefit.tiles.rank import Tile

RETURNED = (
    Feed,
    MemoryFeed,
    Instruction,
    Tile,
    Sweep,
    Measurements,
    Measurement,
    Confirmations,
    Code,
    Advice,
)
"""What the public functions give, beside the public classes."""

OBVIOUS = {"path", "subject", "of", "chip", "name", "instruction"}
"""Parameters that the first sentence is about, whatever they are called."""


def function(name: str) -> Callable[..., Any]:
    """The public function; some stand as a package that can be called."""
    found = getattr(wf, name)
    return typing.cast(Callable[..., Any], getattr(found, name) if isinstance(found, ModuleType) else found)


CLASSES = [name for name in wf.__all__ if isinstance(getattr(wf, name), type)]
FUNCTIONS = sorted(set(wf.__all__) - set(CLASSES))


def parts(hint: object) -> Iterator[type]:
    """The classes that a type hint speaks of."""
    if isinstance(hint, type):
        yield hint
    for inner in typing.get_args(hint):
        yield from parts(inner)


def hints(of: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(of)
    except NameError:  # imported for type checkers only
        return {}


def reachable() -> list[type]:
    """Public classes and all that their attributes lead to."""
    found: list[type] = []
    left: list[type] = [*(getattr(wf, name) for name in CLASSES), *RETURNED]
    while left:
        cls = left.pop()
        if cls in found or not cls.__module__.startswith("wavefit."):
            continue
        found.append(cls)
        given = [*hints(cls).values()]
        given += [hints(p.fget).get("return") for p in vars(cls).values() if isinstance(p, property)]
        left += [inner for hint in given for inner in parts(hint)]
    return sorted(found, key=lambda cls: (cls.__module__, cls.__name__))


def fields_without_words(cls: type) -> list[str]:
    """Fields that neither the class's docstring names nor a string after them describes."""
    tree = ast.parse(inspect.getsource(sys.modules[cls.__module__]))
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == cls.__name__)
    body = next(nodes).body
    told = cls.__doc__ or ""
    found = []
    for at, line in enumerate(body):
        if not isinstance(line, ast.AnnAssign) or not isinstance(line.target, ast.Name):
            continue
        after = body[at + 1] if at + 1 < len(body) else None
        described = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        name = line.target.id
        if not (described or name.startswith("_") or re.search(rf"\b{name}s?\b", told)):
            found.append(name)
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_names_what_it_takes(name: str) -> None:
    told = inspect.getdoc(function(name)) or ""
    first = told.partition("\n")[0]
    assert len(first.split()) >= 5
    assert first.endswith(".")
    taken = set(inspect.signature(function(name)).parameters) - OBVIOUS
    if name == "rank_tiles":
        taken -= {"m", "n", "k"}  # in its formula
    assert [each for each in sorted(taken) if not re.search(rf"`{each}`", told)] == []


WRONG: dict[str, list[Callable[[], object]]] = {
    "chip": [lambda: wf.chip("MI3555X")],
    "fit": [lambda: wf.fit("MI3555X", vgprs=8), lambda: wf.fit("MI355X", vgprs=8, total_vgprs=8)],
    "sweep": [lambda: wf.sweep("MI3555X", threads=64), lambda: wf.sweep("MI355X", threads=np.array([0]))],
    "matrix": [
        lambda: wf.matrix("MI3555X"),
        lambda: wf.matrix("gfx803"),
        lambda: wf.matrix("MI355X", type="fp5"),
    ],
    "feed": [
        lambda: wf.feed("MI3555X", instruction="x", ilp=1, waves=1),
        lambda: wf.feed("MI355X", instruction="x", ilp=1, waves=1),
        lambda: wf.feed("MI355X", instruction="v_mfma_f32_16x16x128_f8f6f4", ilp=1, waves=99),
        lambda: wf.feed("BW1000", instruction="v_mmac_16x16x4_f32", ilp=1, waves=1),
    ],
    "feed_memory": [
        lambda: wf.feed_memory("MI3555X", waves=1, vector_bytes=4, outstanding=1),
        lambda: wf.feed_memory("MI355X", waves=1, vector_bytes=4, outstanding=1),
        lambda: wf.feed_memory("H200", waves=99, vector_bytes=4, outstanding=1),
    ],
    "rank_tiles": [
        lambda: wf.rank_tiles("MI3555X", m=64, n=64, k=64, dtype="bf16"),
        lambda: wf.rank_tiles("MI355X", m=0, n=64, k=64, dtype="bf16"),
    ],
    "measurements": [lambda: wf.measurements("not there")],
    "confirm": [lambda: wf.confirm("not there")],
    "advise": [lambda: wf.advise("not there")],
}
"""Questions that each function refuses."""


@pytest.mark.parametrize(("name", "ask"), [(name, ask) for name, asks in WRONG.items() for ask in asks])
def test_a_function_names_what_it_raises(name: str, ask: Callable[[], object]) -> None:
    with pytest.raises((LookupError, ValueError, wf.BadFile)) as caught:
        ask()
    told = inspect.getdoc(function(name)) or ""
    assert type(caught.value).__name__ in told.partition("Raises")[2], caught.value


@pytest.mark.parametrize("name", ["kernels", "code"])
def test_what_is_yielded_instead_of_raised_is_named(name: str) -> None:
    found = list(function(name)("not there"))
    assert [type(each).__name__ for each in found] == ["BadFile"]
    assert "BadFile" in (inspect.getdoc(function(name)) or "")


@pytest.mark.parametrize("cls", reachable(), ids=lambda cls: f"{cls.__module__}.{cls.__name__}")
def test_a_class_and_its_methods_say_what_they_are(cls: type) -> None:
    told = cls.__doc__ or ""
    if dataclasses.is_dataclass(cls):
        assert not told.startswith(f"{cls.__name__}("), "only what dataclass writes"
    assert told.strip().partition("\n")[0]
    silent = []
    for name, member in vars(cls).items():
        plain = getattr(member, "fget", None) or getattr(member, "func", None) or member
        if not name.startswith("_") and inspect.isfunction(plain) and not plain.__doc__:
            silent.append(name)
    assert silent == []


@pytest.mark.parametrize(
    "cls", [*(getattr(wf, name) for name in CLASSES), *RETURNED], ids=lambda cls: cls.__name__
)
def test_a_class_names_its_fields(cls: type) -> None:
    assert fields_without_words(cls) == []
