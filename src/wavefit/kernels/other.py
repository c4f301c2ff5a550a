"""What a file is that no reader knows: so that the error says more than "unknown"."""

from __future__ import annotations

import codecs

from wavefit.kernels.elf import Elf
from wavefit.kernels.source import BadFile, Source

UNREAD = {
    b"__CLANG_OFFLOAD_BUNDLE__": "clang offload bundle",
    b"CCOB": "compressed clang offload bundle",
    b"\x10\xff\x10\xad": "offload packager file",
    b"!<arch>\n": "archive",
    b"!<thin>\n": "thin archive",
    b"PK\x03\x04": "zip archive or wheel",
    b"MZ": "Windows executable or library",
    b"\x1f\x8b": "gzip data",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"\xfd7zXZ\x00": "xz data",
    b"BZh": "bzip2 data",
}
"""Formats that can hold kernels, by magic. A reader in `formats/` for one of them goes first."""

MACHINES = {3: "x86", 8: "MIPS", 21: "PowerPC", 40: "Arm", 62: "x86-64", 183: "AArch64", 243: "RISC-V",
            258: "LoongArch"}  # fmt: skip
"""e_machine of hosts, from the ELF registry."""
NVIDIA = 190
DEVICE_SECTIONS = (".hip_fatbin", ".hipFatB", ".llvm.offloading", ".nv_fatbin", "__CLANG_OFFLOAD_BUNDLE__")


def described(source: Source) -> BadFile:
    """NoKernels for what holds no kernel; a plain BadFile for what may hold some and is not read."""
    if source.size == 0:
        return source.nothing("empty file")
    head = source.head(4096)
    if head.startswith(b"\x7fELF"):
        return _elf(source, head)
    for magic, words in UNREAD.items():
        if head.startswith(magic):
            return source.bad(0, f"{words}: not read by this version")
    if _is_text(head):
        return source.nothing("text, not a code object")
    return source.nothing(f"not a code object (begins with {head[:8].hex(' ')})")


def _elf(source: Source, head: bytes) -> BadFile:
    if len(head) < 20:
        return source.bad(0, f"an ELF file cut off after {len(head)} bytes")
    machine = int.from_bytes(head[18:20], "big" if head[5] == 2 else "little")
    if machine == NVIDIA:
        return source.bad(0, "NVIDIA cubin: not read by this version")
    name = f"ELF for {MACHINES.get(machine, f'machine {machine}')}"
    try:
        holders = [
            section.name for section in Elf(source).named() if section.name.startswith(DEVICE_SECTIONS)
        ]
    except BadFile:
        holders = []  # of another class or byte order, or damaged: no matter, it is not for a GPU
    if holders:
        return source.bad(None, f"{name} with device code in {holders[0]}: not read by this version")
    return source.nothing(f"{name}, no device code")


def _is_text(head: bytes) -> bool:
    try:
        text, _ = codecs.utf_8_decode(head, "strict", False)  # not final: the last character may be cut
    except UnicodeDecodeError:
        return False
    return text.translate(dict.fromkeys(map(ord, "\t\n\r\f"))).isprintable()
