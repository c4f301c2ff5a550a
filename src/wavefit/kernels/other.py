"""What a file is that no reader knows: so that the error says more than "unknown"."""

from __future__ import annotations

from wavefit.kernels.source import BadFile, Source
from wavefit.kernels.text import HEAD, is_text

UNREAD = {
    b"\xed\xab\xee\xdb": "RPM package",
    b"7z\xbc\xaf\x27\x1c": "7z archive",
    b"\x04\x22\x4d\x18": "lz4 data",
}
"""Formats that can hold kernels and have no reader, by magic."""

MACHINES = {3: "x86", 8: "MIPS", 21: "PowerPC", 40: "Arm", 62: "x86-64", 183: "AArch64", 243: "RISC-V",
            258: "LoongArch"}  # fmt: skip
"""e_machine of hosts, from the ELF registry."""


def described(source: Source) -> BadFile:
    """NoKernels for what holds no kernel; a plain BadFile for what may hold some and is not read."""
    head = source.head(HEAD)
    if not head:
        return source.nothing("empty file")
    if head.startswith(b"\x7fELF"):
        return _elf(source, head)
    for magic, words in UNREAD.items():
        if head.startswith(magic):
            return source.bad(0, f"{words}: not read by this version")
    if is_text(head):
        return source.nothing("text, not a code object")
    return source.nothing(f"not a code object (begins with {head[:8].hex(' ')})")


def _elf(source: Source, head: bytes) -> BadFile:
    if len(head) < 20:
        return source.bad(0, f"an ELF file cut off after {len(head)} bytes")
    machine = int.from_bytes(head[18:20], "big" if head[5] == 2 else "little")
    return source.nothing(f"ELF for {machine_name(machine)}, no device code")


def machine_name(machine: int) -> str:
    """A host processor by its e_machine."""
    return MACHINES.get(machine, f"machine {machine}")
