"""From the bytes of functions to Listings, by whichever disassembler is here. All run in a child process."""

from __future__ import annotations

import csv
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from wavefit.isa.child import ChildError, Done, run
from wavefit.isa.form import form
from wavefit.isa.model import Form, Listing, Op
from wavefit.isa.text import displacement, listings, unread
from wavefit.isa.tools import INSTALL, NoDisassembler, libraries, objdumps

CRASHES = 32
"""So often is the library started again behind an instruction that it dies of."""

_UNKNOWN_TARGET = re.compile(r"not a recognized processor|has no disassembler")
_LABEL = "f"


@dataclass(frozen=True, slots=True)
class Function:
    """The bytes of one function, `at` its address."""

    name: str
    at: int
    code: bytes


def disassemble(
    functions: Sequence[Function], target: str, wave: int, elf: bytes | None = None
) -> list[Listing]:
    """The Listing of each function, in order.

    `target` is the chip's own name, `wave` lanes. `elf` is the code object they are from: llvm-objdump reads
    only whole ones. Raises NoDisassembler, or ChildError where every disassembler gave up.
    """
    trouble: ChildError | None = None
    for library in libraries():
        try:
            return by_library(library, functions, target, wave)
        except ChildError as why:
            trouble = why
    for program in objdumps() if elf else ():
        try:
            return by_objdump(program, functions, target, wave, elf or b"")
        except ChildError as why:
            trouble = why
    raise trouble or NoDisassembler(INSTALL)


def by_library(library: str, functions: Sequence[Function], target: str, wave: int) -> list[Listing]:
    """By LLVM's C API. An instruction that the library dies of is unknown, and the rest goes on."""
    name = os.path.basename(library)
    how = asked(target, wave)
    found = [_Rows(function) for function in functions]
    crashes = 0
    while any(rows.rest for rows in found):
        every = 1 if crashes % 2 else 64
        command = [":llvm", library, how.cpu, how.features, str(every)]
        done = run(command, b"".join(rows.record() for rows in found if rows.rest))
        if _UNKNOWN_TARGET.search(done.complaint):
            raise ChildError(f"{name} does not know {target}")
        _take(done, found)
        if not any(rows.rest for rows in found):
            break
        if done.died is None or not done.died.startswith("died of SIG") or crashes >= 2 * CRASHES:
            raise ChildError(f"{name} {done.died or 'stopped early'} on {target} code: {done.complaint}")
        if every == 1:
            next(rows for rows in found if rows.rest).skip()
        crashes += 1
    return [rows.listing(how, target, name) for rows in found]


def by_objdump(
    program: str, functions: Sequence[Function], target: str, wave: int, elf: bytes
) -> list[Listing]:
    """By llvm-objdump, which is given the whole code object."""
    how = asked(target, wave)
    name = os.path.basename(program)
    with tempfile.NamedTemporaryFile(suffix=".co") as file:
        file.write(elf)
        file.flush()
        options = [f"--mcpu={how.cpu}", *([f"--mattr={how.features}"] if how.features else ())]
        done = run([program, "-d", *options, file.name])
    if _UNKNOWN_TARGET.search(done.complaint):
        raise ChildError(f"{name} does not know {target}")
    if done.died:
        raise ChildError(f"{name} {done.died} on {target} code: {done.complaint}")
    ops: dict[int, Op] = {}
    for listing in listings(done.output.decode("utf-8", "replace"), target, name):
        ops.update((op.at, op) for op in listing.ops)
    return [_within(function, ops, name, how) for function in functions]


def _within(function: Function, ops: dict[int, Op], by: str, how: Asked) -> Listing:
    """The instructions that a function's bytes hold, out of a whole section's."""
    at, end = function.at, function.at + len(function.code)
    taken = []
    while at < end:
        op = ops.get(at)
        if op is None:
            at += 4
            continue
        taken.append(op)
        at += op.size or 4
    return _listing(function.name, taken, by, how)


def _listing(name: str, ops: Sequence[Op], by: str, how: Asked) -> Listing:
    said = (how.note,) if how.note else ()
    return Listing(name, tuple(ops), by, (*said, *unread(op.form for op in ops)))


class _Rows:
    """What has come back of one function: address, size and text of each instruction."""

    def __init__(self, function: Function) -> None:
        self.function, self.done = function, 0
        self.rows: list[tuple[int, int, str]] = []

    @property
    def rest(self) -> int:
        """Bytes that are still to be decoded."""
        return len(self.function.code) - self.done

    def record(self) -> bytes:
        """What the worker is told of the rest."""
        at = self.function.at + self.done
        return at.to_bytes(8, "little") + self.rest.to_bytes(8, "little") + self.function.code[self.done :]

    def take(self, at: int, size: int, text: str) -> bool:
        """Takes the next instruction in; False where it is not of this function."""
        if not self.rest or at != self.function.at + self.done or not 0 < size <= self.rest:
            return False
        self.rows.append((at, size, text))
        self.done += size
        return True

    def skip(self) -> None:
        """Passes over one word that the disassembler dies of."""
        self.take(self.function.at + self.done, min(4, self.rest), "?")

    def listing(self, how: Asked, target: str, by: str) -> Listing:
        ops = [_op(at, size, text, self.function, target) for at, size, text in self.rows]
        return _listing(self.function.name, ops, by, how)


def _take(done: Done, found: list[_Rows]) -> None:
    waiting = [rows for rows in found if rows.rest]
    for line in done.output.decode("ascii", "replace").split("\n")[:-1]:
        first, _, rest = line.partition(" ")
        size, _, text = rest.partition(" ")
        try:
            row = (int(first, 16), int(size, 16), text)
        except ValueError:
            continue
        while waiting and not waiting[0].take(*row):
            if waiting[0].rest:
                return
            waiting.pop(0)


def _op(at: int, size: int, text: str, function: Function, target: str) -> Op:
    if text == "?":
        start = at - function.at
        words = function.code[start : start + size]
        return Op(at, unknown(words), size)
    said = form(text, target)
    goes = None
    if said.kind in ("branch", "call") and said.operands:
        distance = displacement(said.operands[-1])
        goes = None if distance is None else at + 4 + 4 * distance
    return Op(at, said, size, goes)


@lru_cache(maxsize=4096)
def unknown(words: bytes) -> Form:
    """The Form of bytes that no disassembler knows: they are shown, and nothing is guessed."""
    text = " ".join(f"0x{int.from_bytes(words[at : at + 4], 'little'):08x}" for at in range(0, len(words), 4))
    return Form(f".long {text}", ".long", "unknown")


@dataclass(frozen=True, slots=True)
class Asked:
    """How LLVM is asked for a target: by what name, with which features, and what to know of the answer."""

    cpu: str
    features: str = ""
    note: str | None = None


@lru_cache(maxsize=256)
def asked(target: str, wave: int) -> Asked:
    """How LLVM is asked for a target and wave size."""
    for match, lanes, row in _rows():
        if lanes == wave and match.fullmatch(target):
            cpu = row["as"] or target
            note = row["note"].replace("{target}", target).replace("{as}", cpu)
            return Asked(cpu, ",".join(row["features"].split()), note or None)
    return Asked(target)


@lru_cache(maxsize=1)
def _rows() -> tuple[tuple[re.Pattern[str], int, dict[str, str]], ...]:
    text = files("wavefit.isa").joinpath("data", "targets.csv").read_text(encoding="utf-8")
    lines: Iterator[str] = (line for line in text.splitlines() if not line.startswith("#"))
    return tuple((re.compile(row["match"]), int(row["wave"]), row) for row in csv.DictReader(lines))
