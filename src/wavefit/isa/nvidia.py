"""NVIDIA's code: what nvdisasm prints of a cubin, in the same model. Registers R are `v`, UR are `s`."""

from __future__ import annotations

import csv
import re
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

from wavefit.isa.child import ChildError, run
from wavefit.isa.form import split
from wavefit.isa.loops import Code
from wavefit.isa.model import Form, Listing, Memory, Op
from wavefit.isa.registers import NAMED, Misread, span
from wavefit.isa.text import unread
from wavefit.isa.tools import INSTALL_NVIDIA, NoDisassembler, nvdisasm
from wavefit.kernels import BadFile
from wavefit.kernels.open import read
from wavefit.kernels.source import Source
from wavefit.model import Kernel

_FUNCTION = re.compile(r"^\s*\.type\s+(\S+),@function")
_REGISTERS = re.compile(r"SHI_REGISTERS=(\d+)")
_TARGET = re.compile(r"\.target\s+sm_(\d+)|EF_CUDA_SM(\d+)")
_LABEL = re.compile(r"^(\.?[\w$.]+):\s*$")
_LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*(?:/\*.*)?$")
_GUARD = re.compile(r"^@(!?U?P\w+)\s+")
_REGISTER = re.compile(r"(?<![\w.])(UR|UP|R|P)(\d+)(?:\.(64|128))?\b")
_PLACE = re.compile(r"`\(([^)]+)\)|(?<![\w])0x([0-9a-f]+)\s*$")
_BITS = re.compile(r"\.(?:[USBF])?(8|16|32|64|128|256)(?:\.|$)")
_SHAPE = re.compile(r"\.64x(\d+)x\d+")
_UNCONDITIONAL = "BRA"


def cubin(source: Source, wanted: str | None) -> Iterator[Code | BadFile]:
    """Every kernel of a cubin, by nvdisasm. Raises NoDisassembler, ChildError."""
    program = nvdisasm()
    if program is None:
        raise NoDisassembler(INSTALL_NVIDIA)
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(source.read(0, source.size))
        file.flush()
        done = run([program, "-c", file.name])
    if done.died:
        raise ChildError(f"nvdisasm {done.died}: {done.complaint}")
    spent: dict[str, Kernel] = {}
    for item in read(source):
        if isinstance(item, Kernel):
            spent[item.symbol] = item
        elif isinstance(item, BadFile):
            yield item
    for kernel, listing in sass(done.output.decode("utf-8", "replace")):
        if kernel.name in spent and (wanted is None or wanted in kernel.name):
            yield Code(spent[kernel.name], listing)


def sass(text: str) -> Iterator[tuple[Kernel, Listing]]:
    """The functions of what `nvdisasm -c` prints, each with what it spends as far as the text says."""
    found = _TARGET.search(text)
    target = f"sm_{found[1] or found[2]}" if found else ""
    name, vgprs = None, None
    rows: list[tuple[int, str]] = []
    labels: dict[str, int] = {}
    waiting: list[str] = []
    for line in text.splitlines():
        if match := _FUNCTION.match(line):
            if name and rows:
                yield _function(name, target, vgprs, rows, labels)
            name, rows, labels, waiting = match[1], [], {}, []
        elif match := _REGISTERS.search(line):
            vgprs = int(match[1])
        elif match := _LABEL.match(line.strip()):
            waiting.append(match[1])
        elif name and (match := _LINE.match(line)):
            at = int(match[1], 16)
            labels.update(dict.fromkeys(waiting, at))
            waiting = []
            rows.append((at, match[2]))
    if name and rows:
        yield _function(name, target, vgprs, rows, labels)


def _function(
    name: str, target: str, vgprs: int | None, rows: list[tuple[int, str]], labels: dict[str, int]
) -> tuple[Kernel, Listing]:
    ops = []
    for at, text in rows:
        said = form(text)
        place = _PLACE.search(text) if said.kind in ("branch", "call") else None
        goes = None
        if place:
            goes = labels.get(place[1]) if place[1] else int(place[2], 16)
        ops.append(Op(at, said, 16, goes))
    listing = Listing(name, tuple(ops), "nvdisasm", tuple(unread(op.form for op in ops)))
    return Kernel(target, name=name, symbol=name, vgprs=vgprs, wave=32), listing


@lru_cache(maxsize=1 << 16)
def form(text: str) -> Form:
    """The Form of one instruction of SASS. A predicated branch is named with its `@`."""
    guard = _GUARD.match(text)
    body = text[guard.end() :] if guard else text
    mnemonic, _, rest = body.partition(" ")
    base = mnemonic.split(".")[0]
    row = _row(base)
    if row is None:
        return Form(text, base, "unknown")
    operands, modifiers = split(rest)
    try:
        masks = [_registers(operand, mnemonic, at) for at, operand in enumerate(operands)]
        reads = _registers(guard[1], "", 1) if guard else 0
    except Misread as why:
        return Form(f"{text} ({why})", base, "unknown")
    defs, kind = int(row["defs"]), row["kind"]
    while (
        kind in ("valu", "salu")
        and defs < len(operands)
        and re.fullmatch(r"U?P(\d|T)", operands[defs])
        and defs < 3
    ):
        defs += 1  # results that are predicates follow the first
    writes = 0
    for at, mask in enumerate(masks):
        if at < defs:
            writes |= mask
        else:
            reads |= mask
    chosen = bool(guard) or (kind == "branch" and len(operands) > 1)
    if chosen and kind in ("end", "branch"):
        kind, base = ("control" if kind == "end" else kind), f"@{base}"
    accumulates = 0
    if kind == "matrix":  # C is the last operand that is as wide as D
        accumulates = next(
            (mask for mask in reversed(masks[1:]) if mask.bit_count() == writes.bit_count()), 0
        )
    name = "s_branch" if base == _UNCONDITIONAL else mnemonic if kind == "matrix" else base
    return Form(
        text, name, kind, reads, writes, operands, modifiers, _memory(base, mnemonic, row), {}, accumulates
    )


def _registers(operand: str, mnemonic: str, at: int) -> int:
    """The registers of an operand; how many start at the one that is named, its place says."""
    found = 0
    for match in _REGISTER.finditer(operand):
        file, number = match[1], int(match[2])
        if file in ("P", "UP"):
            found |= NAMED.get(f"{file.lower()}{number}", 0)
            continue
        wide = int(match[3] or 32) // 32 if match[3] else 1
        if file == "R" and "[" not in operand:
            wide = max(wide, _width(mnemonic, at))
        found |= span("v" if file == "R" else "s", number, wide)
    return found


def _width(mnemonic: str, at: int) -> int:
    """32-bit registers of an operand, by the mnemonic: SASS names only the first."""
    base = mnemonic.split(".")[0]
    if base.endswith("MMA"):
        if shape := _SHAPE.search(
            mnemonic
        ):  # a warpgroup's: 64 x n over 128 lanes, and 32 bytes of a row of A
            return 4 if at == 1 else int(shape[1]) // (2 if ".F32" in mnemonic else 4)
        results = 2 if base == "HMMA" and ".F32" not in mnemonic else 4
        return (results, 4, 2, results)[at] if at < 4 else 1
    if (at == 0 and base.startswith(("LD", "ATOM"))) or (base.startswith("ST") and at == 1):
        if base in ("LDSM", "STSM"):
            return int(mnemonic[-1]) if mnemonic[-1].isdigit() else 1
        bits = _BITS.search(f"{mnemonic}.")
        return max(1, int(bits[1]) // 32) if bits else 1
    return 1


def _memory(base: str, mnemonic: str, row: dict[str, str]) -> Memory | None:
    if not row["space"]:
        return None
    bits = _BITS.search(f"{mnemonic}.")
    size: int | None = int(bits[1]) // 8 if bits else 4
    if base in ("LDSM", "STSM"):
        size = 4 * int(mnemonic[-1]) if mnemonic[-1].isdigit() else 4
    if base.startswith("U") or row["space"] in ("image", "tensor"):
        size = None
    past = base in ("LDGSTS",) or base.startswith(("UTMA", "UBLK"))
    return Memory(row["space"], row["action"], size, to_lds=past, returns=base.startswith("ATOM"))


@lru_cache(maxsize=1024)
def _row(base: str) -> dict[str, str] | None:
    return next((row for match, row in _rows() if match.fullmatch(base)), None)


@lru_cache(maxsize=1)
def _rows() -> tuple[tuple[re.Pattern[str], dict[str, str]], ...]:
    text = files("wavefit.isa").joinpath("data", "sass.csv").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return tuple((re.compile(row["match"]), row) for row in csv.DictReader(lines))
