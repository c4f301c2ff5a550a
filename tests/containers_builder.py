"""A small writer of the things that code objects live in, after the formats' own documents."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"


def bundle(entries: Mapping[str, bytes], *, align: int = 4096) -> bytes:
    """A plain offload bundle."""
    size = len(MAGIC) + 8 + sum(24 + len(name) for name in entries)
    table, body = b"", b""
    for name, content in entries.items():
        start = -(-(size + len(body)) // align) * align
        body += b"\0" * (start - size - len(body)) + content
        table += struct.pack("<QQQ", start, len(content), len(name)) + name.encode()
    return MAGIC + struct.pack("<Q", len(entries)) + table + body


def compressed(
    plain: bytes, *, version: int = 3, declared: int | None = None, total: int | None = None
) -> bytes:
    """A compressed one, with zlib; `declared` and `total` as it shall lie about them."""
    packed = zlib.compress(plain)
    declared = len(plain) if declared is None else declared
    sizes = {1: "<I", 2: "<II", 3: "<QQ"}[version]
    header = 8 + struct.calcsize(sizes) + 8
    total = header + len(packed) if total is None else total
    numbers = (declared,) if version == 1 else (total, declared)
    return b"CCOB" + struct.pack("<HH", version, 0) + struct.pack(sizes, *numbers) + b"\0" * 8 + packed


def packager(image: bytes, *, version: int = 1, **strings: str) -> bytes:
    """An offload packager file."""
    text, places = b"\0", []
    for pair in strings.items():
        for word in pair:
            places.append(len(text))
            text += word.encode() + b"\0"
    at = 72 + 8 * len(places)
    start = -(-(at + len(text)) // 8) * 8
    head = struct.pack("<IIQQQ", 0xAD10FF10, version, start + len(image), 32, 40)
    head += struct.pack("<HHIQQQQ", 1, 4, 0, 72, len(strings), start, len(image))
    head += b"".join(struct.pack("<Q", at + place) for place in places)
    return (head + text).ljust(start, b"\0") + image


def host_elf(
    sections: Sequence[tuple[str, bytes]], *, flags: int = 2, kind: int = 1, machine: int = 62, cut: int = 0
) -> bytes:
    """An ELF file for a host with these sections (of data, if their flags are 2); `cut` bytes are missing."""
    names, body, headers, at = b"\0", b"", b"\0" * 64, 64
    for name, content in [*sections, (".shstrtab", b"")]:
        start = -(-at // 4096) * 4096
        place = len(names)
        names += name.encode() + b"\0"
        if name == ".shstrtab":
            content, kind, flags = names, 3, 0
        body += b"\0" * (start - at) + content
        at = start + len(content)
        headers += struct.pack("<IIQQQQIIQQ", place, kind, flags, start, start, len(content), 0, 0, 1, 0)
    head = b"\x7fELF\x02\x01\x01" + b"\0" * 9
    count = len(sections) + 2
    head += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, at, 0, 64, 56, 0, 64, count, count - 1)
    whole = head + body + headers
    return whole[: len(whole) - cut]


def host_pe(sections: Sequence[tuple[bytes, bytes]], *, flags: int = 0x40000040) -> bytes:
    """A Windows library with these sections."""
    body, table, at = b"", b"", 1024
    for name, content in sections:
        content = content.ljust(-(-len(content) // 512) * 512, b"\0")
        table += struct.pack("<8sIIIIIIHHI", name, len(content), 4096, len(content), at, 0, 0, 0, 0, flags)
        body += content
        at += len(content)
    head = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x80)
    head = head.ljust(0x80, b"\0") + b"PE\0\0"
    head += struct.pack("<HHIIIHH", 0x8664, len(sections), 0, 0, 0, 240, 0x2022) + b"\0" * 240 + table
    return head.ljust(1024, b"\0") + body


def ar(members: Sequence[tuple[str, bytes]], *, bsd: bool = False) -> bytes:
    """A static archive with long names as GNU or BSD write them."""
    table, out = b"", b""
    for name, content in members:
        if bsd:
            header, content = f"#1/{len(name)}", name.encode() + content
        elif len(name) > 15:
            header = f"/{len(table)}"
            table += name.encode() + b"/\n"
        else:
            header = name + "/"
        out += _member(header, content)
    return b"!<arch>\n" + _member("/", b"\0" * 4) + (_member("//", table) if table else b"") + out


def _member(name: str, content: bytes) -> bytes:
    return (
        f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode()
        + content
        + b"\n" * (len(content) % 2)
    )


def tar(members: Mapping[str, bytes], mode: str = "w", form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar archive, packed as `mode` says (`w:gz`)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()
