"""What the hardware is told of one kernel: the 64-byte descriptor, or V2's `amd_kernel_code_t`.

Layouts and bits: LLVM AMDGPU user guide, "Kernel Descriptor" and "Code Object V2"; checked on objects
of every code object version against what LLVM's own disassembler prints.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from wavefit.chips.model import Target

SIZE = 64
V2_SIZE = 256
_FIELDS = struct.Struct("<II36xIIIH6x")
_V2_FIELDS = struct.Struct("<48xII4xII16xHH15xB")


class Descriptor(NamedTuple):
    """The fields that speak of resources. Bytes of LDS are a workgroup's, of scratch a work-item's."""

    lds: int
    scratch: int
    rsrc1: int
    rsrc3: int | None
    wave: int
    dynamic_stack: bool | None
    vgprs: int | None = None
    """As counted, not encoded: only V2 keeps that here."""
    sgprs: int | None = None

    def allocated_vgprs(self, target: Target, wave: int) -> int | None:
        """VGPRs that it encodes; None where the target's encoding is not known."""
        file = target.vgpr.files.get(wave)
        if file is None or file.encode_granule is None:
            return None
        return ((self.rsrc1 & 0x3F) + 1) * file.encode_granule

    def allocated_sgprs(self, target: Target) -> int | None:
        """SGPRs that it encodes; None where the hardware takes a fixed number or nothing is known.

        The field counts in 8; a target that allocates in 16 ignores its lowest bit (gfx9).
        """
        granule = target.sgpr.encode_granule
        if granule is None or target.sgpr.limits == "never":
            return None
        return ((self.rsrc1 >> 6 & 0xF) * 8 // granule + 1) * granule

    def accumulator_offset(self, target: Target) -> int | None:
        """Where the AGPRs begin in a unified file; None on a target without one, whose rsrc3 is not this."""
        if self.rsrc3 is None or target.vgpr.accumulator != "unified":
            return None
        return ((self.rsrc3 & 0x3F) + 1) * target.vgpr.accumulator_granule

    def wgp_mode(self) -> bool:
        """Bit 29, for targets that have the two modes: it means something else on others."""
        return bool(self.rsrc1 >> 29 & 1)


def descriptor(data: bytes) -> Descriptor:
    """The descriptor in these SIZE bytes."""
    lds, scratch, rsrc3, rsrc1, _, properties = _FIELDS.unpack(data)
    return Descriptor(
        lds=lds,
        scratch=scratch,
        rsrc1=rsrc1,
        rsrc3=rsrc3,
        wave=32 if properties >> 10 & 1 else 64,
        dynamic_stack=bool(properties >> 11 & 1),
    )


def descriptor_v2(data: bytes) -> Descriptor:
    """The `amd_kernel_code_t` in these V2_SIZE bytes."""
    rsrc1, _, scratch, lds, sgprs, vgprs, log_wave = _V2_FIELDS.unpack_from(data)
    return Descriptor(
        lds=lds,
        scratch=scratch,
        rsrc1=rsrc1,
        rsrc3=None,
        wave=1 << min(log_wave, 31),
        dynamic_stack=None,
        vgprs=vgprs,
        sgprs=sgprs,
    )
