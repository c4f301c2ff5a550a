"""What LLVM's assembler and throughput model say of matrix instructions.

Mnemonics are read out of the assembler's own match table (the strings of libLLVM), so nothing can be
missed that it knows; which target has one, and with how many registers for each operand, is found by
assembling every width; cycles are what llvm-mca prints.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

TRIPLE = "amdgcn-amd-amdhsa"
WIDTHS = (1, 2, 4, 6, 8, 12, 16)
RESULTS = (1, 2, 4, 8, 16, 32)
NAME = re.compile(
    r"v_(?P<family>mfma|smfmac|wmma|swmmac)(?:_(?P<scale>scale16|scale))?_(?P<out>f64|f32|i32|bf16f32|bf16|f16)_"
    r"(?P<m>\d+)x(?P<n>\d+)x(?P<k>\d+)(?:_(?P<blocks>\d+)b)?_?(?P<types>[a-z].*)"
)
FORMATS: dict[str, dict[str, tuple[str, ...]]] = {
    "mfma": {"fp8/bf8": ("0", "1"), "fp6/bf6": ("2", "3"), "fp4": ("4",)},
    "wmma": {
        "fp8/bf8": ("MATRIX_FMT_FP8", "MATRIX_FMT_BF8"),
        "fp6/bf6": ("MATRIX_FMT_FP6", "MATRIX_FMT_BF6"),
        "fp4": ("MATRIX_FMT_FP4",),
    },
}
"""Codes of the operand formats of f8f6f4 instructions, by the width class that shares registers."""

SAFE_BASES = {"d": 0, "a": 64, "b": 96, "c": 128, "index": 160, "scale_a": 164, "scale_b": 168}


@dataclass(frozen=True)
class Form:
    """One way to write one instruction: a mnemonic, formats of A and B where they are free, widths."""

    name: str
    a_format: str
    b_format: str
    d: int
    a: int
    b: int
    c: int


class NoLlvm(RuntimeError):
    """LLVM 22's tools are not installed."""


def tool(name: str) -> str:
    """Path of an LLVM tool, `-22` first. Raises NoLlvm."""
    for candidate in (f"{name}-22", name):
        if found := shutil.which(candidate):
            return found
    raise NoLlvm(f"{name}-22 is not on PATH (Debian: apt install llvm-22)")


def version() -> str:
    """LLVM's version as the assembler prints it."""
    text = subprocess.run([tool("llvm-mc"), "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"LLVM version (\S+)", text)
    return found[1] if found else "unknown"


@lru_cache(maxsize=1)
def mnemonics() -> tuple[str, ...]:
    """Every matrix mnemonic of the assembler's match table, where each stands behind its length."""
    blob = _library().read_bytes()
    found = set()
    for hit in re.finditer(rb"v_(?:mfma|smfmac|wmma|swmmac)_[a-z0-9_]+", blob):
        text = hit.group().decode()
        if blob[hit.start() - 1] == len(text) and NAME.fullmatch(text):
            found.add(text)
    return tuple(sorted(found))


def _library() -> Path:
    binary = tool("llvm-mc")
    linked = subprocess.run(["ldd", binary], capture_output=True, text=True, check=False).stdout
    library = re.search(r"=> (\S*libLLVM\S*)", linked)
    return Path(library[1] if library else binary).resolve()


def parts(name: str) -> re.Match[str]:
    """A mnemonic's parts: family, scale, out, m, n, k, blocks, types."""
    found = NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"not a matrix mnemonic: {name}")
    return found


def forms(name: str) -> Iterator[Form]:
    """Every way to write an instruction that could be right."""
    family = parts(name)["family"]
    formats = tuple(FORMATS[family]) if "f8f6f4" in name else ("",)
    for a_format, b_format, d, a, b in itertools.product(formats, formats, RESULTS, WIDTHS, WIDTHS):
        for c in {"wmma": (d, 2 * d)}.get(family, (d,)):
            yield Form(name, a_format, b_format, d, a, b, c)


def text(form: Form, target: str, a_code: int = 0, b_code: int = 0) -> str:
    """The assembly of a form. `a_code`, `b_code` choose among the formats of one width class."""
    family, scale = parts(form.name).group("family", "scale")
    # gfx908 keeps accumulators in their own file and the instruction takes no other.
    file = "a" if target == "gfx908" else "v"
    operands = [_range(file, "d", form.d), _range("v", "a", form.a), _range("v", "b", form.b)]
    if family in ("smfmac", "swmmac"):
        wide_index = "128" in form.name and family == "swmmac"
        operands.append(_range("v", "index", 2 if wide_index else 1))
    else:
        operands.append(_range(file, "c", form.c))
    if scale:
        width = 2 if scale == "scale16" else 1
        operands += [_range("v", "scale_a", width), _range("v", "scale_b", width)]
    line = f"{form.name} {', '.join(operands)}"
    if not form.a_format:
        return line
    a = FORMATS[family][form.a_format][a_code]
    b = FORMATS[family][form.b_format][b_code]
    keys = ("cbsz", "blgp") if family == "mfma" else ("matrix_a_fmt", "matrix_b_fmt")
    opsel = " op_sel_hi:[0,0,0]" if scale and family == "mfma" else ""
    return f"{line}{opsel} {keys[0]}:{a} {keys[1]}:{b}"


def _range(file: str, operand: str, width: int) -> str:
    first = SAFE_BASES[operand]
    return f"{file}{first}" if width == 1 else f"{file}[{first}:{first + width - 1}]"


def assemble(lines: Sequence[str], target: str, wave: int) -> list[str | None]:
    """The instruction the assembler prints back for each line, None where it refuses the line."""
    command = [tool("llvm-mc"), f"-triple={TRIPLE}", f"-mcpu={target}", *_wave(target, wave), "-"]
    run = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    refused = {int(line) for line in re.findall(r"<stdin>:(\d+):\d+: error", run.stderr)}
    printed = [line.strip() for line in run.stdout.splitlines() if line.strip().startswith("v_")]
    if len(printed) + len(refused) != len(lines):
        raise RuntimeError(f"{target}: {len(lines)} lines, {len(printed)} assembled, {len(refused)} refused")
    answers = iter(printed)
    return [None if number in refused else next(answers) for number in range(1, len(lines) + 1)]


def _wave(target: str, wave: int) -> tuple[str, ...]:
    """Options for a wave size: gfx9 has no other than 64, later targets assemble for 32 unless told."""
    other = wave == 64 and not target.startswith("gfx9")
    return ("-mattr=+wavefrontsize64,-wavefrontsize32",) if other else ()


def known(target: str) -> tuple[str, ...]:
    """Mnemonics that a target has under any widths: the assembler complains of operands, not of the GPU."""
    names = mnemonics()
    command = [tool("llvm-mc"), f"-triple={TRIPLE}", f"-mcpu={target}", "-"]
    run = subprocess.run(command, input="\n".join(names) + "\n", capture_output=True, text=True, check=False)
    refused = dict(re.findall(r"<stdin>:(\d+):\d+: error: (.*)", run.stderr))
    absent = ("not supported on this GPU", "invalid instruction")
    return tuple(
        name
        for number, name in enumerate(names, 1)
        if not any(word in refused.get(str(number), "") for word in absent)
    )


def accepted(target: str, wave: int) -> dict[Form, str]:
    """Every form that assembles for a target, with the mnemonic that it stands for.

    Several mnemonics may stand for one instruction (old spellings); the printed one is the name.
    """
    tries = [form for name in known(target) for form in forms(name)]
    answers = assemble([text(form, target) for form in tries], target, wave)
    return {form: answer.split()[0] for form, answer in zip(tries, answers, strict=True) if answer}


def throughput(lines: Sequence[str], target: str, wave: int) -> list[float]:
    """llvm-mca's reciprocal throughput of each line, in the model's own cycles."""
    chip = (f"-mtriple={TRIPLE}", f"-mcpu={target}", *_wave(target, wave))
    command = [tool("llvm-mca"), *chip, "-instruction-tables", "--json", "-"]
    run = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True, check=True)
    views = json.loads(run.stdout)["CodeRegions"][0]["InstructionInfoView"]["InstructionList"]
    return [float(view["RThroughput"]) for view in views]
