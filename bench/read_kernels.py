"""Times of reading one code object with many kernels, and why ELF and MessagePack are read as they are.

    python bench/read_kernels.py [KERNELS]       # needs the packages of the test extra, and msgpack

The object is compiled by LLVM (llvmlite) from empty kernels with four arguments. Beside the reader:
pyelftools over the same sections and symbols, and msgpack over the same metadata. If llvm-readelf-22
is installed, its time for `--notes`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import msgpack
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection, SymbolTableSection

from wavefit.kernels import kernels
from wavefit.kernels.amd.metadata import metadata
from wavefit.kernels.elf import SHT_SYMTAB, Elf
from wavefit.kernels.source import Memory, Source

KERNEL = """
define amdgpu_kernel void @kernel_with_a_long_name_{0:06d}(
    ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %n, i64 %m) {{
  store i32 {0}, ptr addrspace(1) %p
  ret void
}}
"""
TRIPLE = "amdgcn-amd-amdhsa"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2500
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "many.o")
        path.write_bytes(compiled(count))
        print(f"{count} kernels, {path.stat().st_size} bytes")
        source = Source(Memory(path.read_bytes()), path.stat().st_size, path.name)
        content = next(note.content for note in Elf(source).notes() if note.type == 32)
        timed("wavefit: kernels()", lambda: sum(1 for _ in kernels(path)))
        timed("  of it ELF and symbols", lambda: sum(1 for _ in Elf(source).symbols(SHT_SYMTAB)))
        timed("  of it metadata (msgspec)", lambda: len(metadata(content).kernels))
        timed("pyelftools: notes and symbols", lambda: with_pyelftools(path))
        timed("msgpack: unpackb", lambda: len(msgpack.unpackb(content.read(0, content.size))))
        if tool := shutil.which("llvm-readelf-22"):
            timed("llvm-readelf --notes", lambda: len(subprocess.check_output([tool, "--notes", path])))


def compiled(count: int) -> bytes:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(
        f'target triple = "{TRIPLE}"\n' + "".join(KERNEL.format(i) for i in range(count))
    )
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(cpu="gfx90a", opt=0)
    return bytes(machine.emit_object(module))


def with_pyelftools(path: Path) -> int:
    found = 0
    with path.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if isinstance(section, SymbolTableSection):
                found += sum(symbol.name.endswith(".kd") for symbol in section.iter_symbols())
            if isinstance(section, NoteSection):
                found += sum(1 for _ in section.iter_notes())
    return found


def timed(what: str, call: Callable[[], int], repeat: int = 3) -> None:
    """Prints the best of some runs, in milliseconds."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    print(f"{what:32}{best * 1e3:9.1f} ms")


if __name__ == "__main__":
    main()
