"""Freezes what LLVM 22's tables say instructions read and write: tests/data/isa/llvm22.csv.gz and mnemonics.

    python tools/isa_llvm.py tests/data/isa

Needs clang++-22 and the headers of llvm-22-dev. Random words are decoded for each target, two of every
opcode are kept; the mnemonics are those of LLVM's assembler.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

TARGETS = (
    ("gfx803", ""), ("gfx900", ""), ("gfx908", ""), ("gfx90a", ""), ("gfx942", ""), ("gfx950", ""),
    ("gfx1010", ""), ("gfx1100", ""), ("gfx1100", "+wavefrontsize64"), ("gfx1200", "+real-true16"),
    ("gfx1250", "+real-true16"),
)  # fmt: skip
WORDS, SEEDS, MOST = 2_500_000, (7, 9), 1
COLUMNS = ("target", "features", "text", "writes", "reads")
LIBRARY = "/usr/lib/llvm-22/lib/libLLVM.so.22.1"
KNOWN = b"v_mfma_f32_16x16x128_f8f6f4"
"""A mnemonic that no other string of the library ends with."""


def built(folder: Path) -> Path:
    """The C++ half, compiled."""
    flags = subprocess.run(
        ["llvm-config-22", "--cxxflags"], capture_output=True, text=True, check=True
    ).stdout.split()
    source, out = Path(__file__).with_name("isa_llvm.cpp"), folder / "isa_llvm"
    command = [
        "clang++-22",
        "-O1",
        *flags,
        str(source),
        "-o",
        str(out),
        "-L/usr/lib/llvm-22/lib",
        "-lLLVM-22",
    ]
    subprocess.run(command, check=True)
    return out


def rows(program: Path) -> Iterator[tuple[str, ...]]:
    """One row an opcode and target, in the order in which they were met."""
    for target, features in TARGETS:
        seen: dict[str, int] = {}
        for seed in SEEDS:
            command = [str(program), target, features, str(WORDS), str(seed), str(MOST)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            for line in done.stdout.splitlines():
                opcode, text, writes, reads = line.split("\t")
                form = text.split()[0] if text.startswith("image_") else opcode  # thousands of address forms
                seen[form] = seen.get(form, 0) + 1
                if seen[form] <= MOST:
                    yield target, features, text, runs(writes), runs(reads)


def runs(words: str) -> str:
    """Registers with neighbours together: `VGPR4-7 SCC`."""
    numbered: dict[str, list[int]] = {}
    others = []
    for word in words.split():
        match = re.fullmatch(r"(VGPR|SGPR|AGPR|TTMP)(\d+)(?:_gfx9plus|_vi|_LO16|_HI16)?", word)
        if match:
            numbered.setdefault(match[1], []).append(int(match[2]))
        else:
            others.append(word)
    said = []
    for file, numbers in numbered.items():
        for _, group in groupby(enumerate(sorted(set(numbers))), lambda pair: pair[1] - pair[0]):
            run = [number for _, number in group]
            said.append(f"{file}{run[0]}" + (f"-{run[-1]}" if len(run) > 1 else ""))
    return " ".join([*said, *others])


def mnemonics(library: bytes) -> set[str]:
    """Every mnemonic of the assembler's table: words with their length before them, one after the other."""
    found: set[str] = set()
    word = re.compile(rb"[a-z0-9_.]+")
    for match in re.finditer(re.escape(KNOWN), library):
        start = match.start() - 1
        if library[start] != len(KNOWN):
            continue
        while size := next(
            (
                n
                for n in range(1, 64)
                if library[start - 1 - n] == n and word.fullmatch(library[start - n : start])
            ),
            0,
        ):
            start -= size + 1
        while (size := library[start]) and word.fullmatch(text := library[start + 1 : start + 1 + size]):
            found.add(text.decode())
            start += size + 1
    return found


def main(folder: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows(built(Path(place))))
    Path(folder, "llvm22.csv.gz").write_bytes(gzip.compress(out.getvalue().encode(), 9, mtime=0))
    words = "\n".join(sorted(mnemonics(Path(LIBRARY).read_bytes()))) + "\n"
    Path(folder, "mnemonics.txt.gz").write_bytes(gzip.compress(words.encode(), 9, mtime=0))


if __name__ == "__main__":
    main(sys.argv[1])
