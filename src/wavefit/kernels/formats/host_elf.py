"""Host libraries, executables and objects (ELF) that carry device code in a section.

Compilers use `.hip_fatbin`, `.hipFatB`, `.llvm.offloading` and `__CLANG_OFFLOAD_BUNDLE__*`; some libraries
embed code objects in `.rodata` or `.data`. So every section of data is searched, whatever its name.
"""

from __future__ import annotations

from collections.abc import Iterator

from wavefit.kernels.blobs import blobs, blobs_of
from wavefit.kernels.elf import SHF_ALLOC, SHF_EXECINSTR, Elf, Section
from wavefit.kernels.other import machine_name
from wavefit.kernels.registry import reader
from wavefit.kernels.source import BadFile, Source

SHT_PROGBITS, SHT_LLVM_OFFLOADING = 1, 0x6FFF4C0B
HEADER = 64
GPUS = (190, 224)
"""e_machine of NVIDIA and AMD, whose files are no hosts."""


def _is_host(source: Source) -> bool:
    return source.starts(b"\x02\x01", at=4) and source.size >= HEADER and source.u16(18) not in GPUS


@reader("ELF file for a host", magic=b"\x7fELF", when=_is_host, forward=True, container=True)
def host(source: Source) -> Iterator[Source | BadFile]:
    """The blobs of its sections; of the whole file where it has none that can be read.

    A file that is read while it is unpacked is searched as it comes: its sections stand at the end.
    """
    processor = machine_name(source.u16(18))
    regions = []
    found = damage = False
    if not source.forward:
        try:
            regions = [(s.offset, s.size, s.name) for s in Elf(source).named() if _is_data(s)]
        except BadFile as bad:
            damage = True
            yield bad
    for blob in blobs_of(source, regions) if regions else blobs(source, HEADER):
        found = True
        yield blob
    if not (found or damage):
        raise source.nothing(f"ELF for {processor}, no device code")


def _is_data(section: Section) -> bool:
    if section.type == SHT_LLVM_OFFLOADING or section.name.startswith("__CLANG_OFFLOAD_BUNDLE__"):
        return True
    return section.type == SHT_PROGBITS and section.flags & (SHF_ALLOC | SHF_EXECINSTR) == SHF_ALLOC
