"""The child: sets its own limits, then becomes another program or disassembles with LLVM's C API.

Run as a script, by its path, with the interpreter's -I: it knows nothing of wavefit, so that starting it
costs no more than Python does.

    worker.py MEMORY SECONDS PROGRAM ARGUMENTS...        becomes the program
    worker.py MEMORY SECONDS :llvm LIBRARY CPU FEATURES EVERY  reads code, writes its instructions

Code comes on standard input as records of an address, a size (both 8 bytes, little-endian) and the bytes.
Each instruction is one line: address and size in hexadecimal, then its text; `?` where there is none. They
are handed over EVERY so many, so that what came before a crash is not lost.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator

Step = Callable[..., int]
UNUSED = (41, 50)
"""Where the second and third operand of an 8-byte vector instruction stand, in bits."""
VOP3, EXEC = 0x35, 0x7E
"""The first six bits of an 8-byte vector instruction from GFX10 on, and EXEC as its destination."""
WIDEST = 20
"""Bytes of the longest instruction; what is not one is passed over a word at a time."""


def limit(memory: int, seconds: int) -> None:
    try:
        import resource
    except ImportError:  # a system without: the parent's clock is what is left
        return
    for which, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(which)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))


def disassemble(library: str, cpu: str, features: str, every: str) -> None:
    llvm = ctypes.CDLL(library)
    for part in ("TargetInfo", "TargetMC", "Disassembler"):
        getattr(llvm, f"LLVMInitializeAMDGPU{part}")()
    create, step = llvm.LLVMCreateDisasmCPUFeatures, llvm.LLVMDisasmInstruction
    create.restype, create.argtypes = (
        ctypes.c_void_p,
        [ctypes.c_char_p] * 3
        + [
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_void_p,
        ],
    )
    step.restype, step.argtypes = ctypes.c_size_t, [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t,
    ]  # fmt: skip
    context = create(b"amdgcn-amd-amdhsa", cpu.encode(), features.encode(), None, 0, None, None)
    if not context:
        raise SystemExit(f"LLVM has no disassembler for {cpu}")
    source, out = sys.stdin.buffer, sys.stdout
    text = ctypes.create_string_buffer(4096)
    while len(head := source.read(16)) == 16:
        address, size = int.from_bytes(head[:8], "little"), int.from_bytes(head[8:], "little")
        code = source.read(size)
        held = ctypes.create_string_buffer(code, len(code) + WIDEST)
        base, at, count, most = ctypes.addressof(held), 0, 0, int(every)
        while at < len(code):
            took = step(context, base + at, len(code) - at, address + at, text, len(text))
            if not took:
                took = again(step, context, code[at : at + 12], address + at, text)
            said = text.value.decode("ascii", "replace").strip() if took else "?"
            took = took or min(4, len(code) - at)
            out.write(f"{address + at:x} {took:x} {said}\n")
            at, count = at + took, count + 1
            if count % most == 0:
                out.flush()
        out.flush()


def again(step: Step, context: int, words: bytes, address: int, text: ctypes.Array[ctypes.c_char]) -> int:
    """Decodes 8 bytes (and a constant behind) that a compiler of another age wrote in its own way."""
    if len(words) < 8:
        return 0
    for word, start in same(int.from_bytes(words, "little")):
        held = ctypes.create_string_buffer(word.to_bytes(len(words), "little"), len(words) + WIDEST)
        took = step(context, ctypes.addressof(held), len(words), address, text, len(text))
        if took >= 8 and text.value.strip().startswith(start):
            return took
    return 0


def same(word: int) -> Iterator[tuple[int, bytes]]:
    """Other ways to write an instruction, each with what its text then begins with.

    Newer LLVM writes the constant 0 for operands that an instruction does not use, older 0. Comparisons that
    set EXEC alone name it as their destination; LLVM 14 left 0 there, which the C API takes for nothing.
    """
    for fields in (UNUSED[1:], UNUSED):
        if all(word >> field & 0x1FF == 0x80 for field in fields):
            yield word & ~sum(0x1FF << field for field in fields), b""
    if word >> 26 & 0x3F == VOP3 and not word & 0xFF:
        yield word | EXEC, b"v_cmpx_"


def main(arguments: list[str]) -> None:
    limit(int(arguments[0]), int(arguments[1]))
    if arguments[2] == ":llvm":
        disassemble(*arguments[3:7])
    else:
        os.execv(arguments[2], arguments[2:])


if __name__ == "__main__":
    main(sys.argv[1:])
