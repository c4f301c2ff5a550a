"""A small writer of AMD code objects, for what no compiler at hand produces."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

ENTRY: dict[str, Any] = {
    ".name": "k", ".symbol": "k.kd", ".vgpr_count": 37, ".sgpr_count": 13, ".group_segment_fixed_size": 0,
    ".private_segment_fixed_size": 0, ".max_flat_workgroup_size": 256, ".wavefront_size": 64,
}  # fmt: skip


def descriptor(
    vgpr_field: int = 9, sgpr_field: int = 1, rsrc1: int = 0, rsrc3: int = 0, **said: int
) -> bytes:
    """64 bytes; `lds`, `scratch` and `properties` as given."""
    rsrc1 |= vgpr_field | sgpr_field << 6
    head = struct.pack("<II36x", said.get("lds", 0), said.get("scratch", 0))
    return head + struct.pack("<IIIH6x", rsrc3, rsrc1, 0, said.get("properties", 0))


def metadata(*entries: Mapping[str, Any], target: str | None = "amdgcn-amd-amdhsa--gfx950") -> bytes:
    said: dict[str, Any] = {"amdhsa.version": [1, 2], "amdhsa.kernels": entries}
    return msgspec.msgpack.encode(said if target is None else {**said, "amdhsa.target": target})


def note(content: bytes, owner: bytes = b"AMDGPU\0", kind: int = 32) -> bytes:
    head = struct.pack("<III", len(owner), len(content), kind)
    return head + owner + b"\0" * (-len(owner) % 4) + content + b"\0" * (-len(content) % 4)


def code_object(
    notes: bytes,
    descriptors: Mapping[str, bytes],
    *,
    flags: int = 0x54F,
    abi: int = 3,
    os_abi: int = 64,
    machine: int = 224,
    kind: int = 1,
    data_section: str = "",
    extra: Sequence[tuple[int, bytes]] = (),
) -> bytes:
    """An ELF file with a note section, a section of descriptors and a symbol for each.

    `kind` is the symbols' type (10 for V2's), `data_section` the name of the descriptors' section,
    `extra` further sections as type and content.
    """
    names, data = b"\0" + data_section.encode() + b"\0", b""
    symbols = b"\0" * 24
    for name, content in descriptors.items():
        symbols += struct.pack("<IBBHQQ", len(names), 0x10 | kind, 0, 2, 0x1000 + len(data), len(content))
        names += name.encode() + b"\0"
        data += content
    parts: list[tuple[int, bytes, int, int]] = [
        (7, notes, 0, 0),
        (1, data, 0x1000, 0),
        (11, symbols, 0, 4),
        (3, names, 0, 0),
    ]
    parts += [(section, content, 0, 4) for section, content in extra]
    at, headers, body = 64, b"\0" * 64, b""
    for section, content, address, link in parts:
        name_at = 1 if section == 1 else 0
        headers += struct.pack("<IIQQQQIIQQ", name_at, section, 0, address, at, len(content), link, 0, 4, 0)
        body += content
        at += len(content)
    head = b"\x7fELF\x02\x01\x01" + bytes([os_abi, abi]) + b"\0" * 7
    head += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, at, flags, 64, 56, 0, 64, len(parts) + 1, 4)
    return head + body + headers
