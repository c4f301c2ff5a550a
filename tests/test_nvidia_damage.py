"""Any damage to NVIDIA's formats gives kernels or one error each, and never more than it can hold."""

from __future__ import annotations

import tracemalloc

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.nvidia_files import DATA, content, found
from wavefit.kernels import BadFile
from wavefit.model import Kernel

SEEDS = [
    content("sm_75_01.cubin"),
    content("sm_90a_05_cuda12.9.cubin"),
    content("sm_120_02.cubin"),
    *(
        (DATA / name).read_bytes()
        for name in ("lz4.fatbin", "zstd.fatbin", "host.o", "lto.fatbin", "spend.ptx")
    ),
]
BOUNDED = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LARGEST = 32
"""Bytes held at most for each byte of input."""


def total(data: bytes) -> None:
    items = found(data)
    assert items, "silence: neither a kernel nor an error"
    for item in items:
        assert isinstance(item, Kernel | BadFile)
        assert str(item).isprintable()


@BOUNDED
@given(st.sampled_from(SEEDS), st.data())
def test_a_truncated_file(seed: bytes, data: st.DataObject) -> None:
    total(seed[: data.draw(st.integers(0, len(seed)))])


@BOUNDED
@given(st.sampled_from(SEEDS), st.data())
def test_changed_bytes(seed: bytes, data: st.DataObject) -> None:
    changed = bytearray(seed)
    places = st.tuples(st.integers(0, len(seed) - 1), st.integers(0, 255))
    for at, value in data.draw(st.lists(places, max_size=12)):
        changed[at] = value
    total(bytes(changed))


@BOUNDED
@given(st.sampled_from(SEEDS), st.data())
def test_changed_numbers_in_headers(seed: bytes, data: st.DataObject) -> None:
    changed = bytearray(seed)
    headers = int.from_bytes(seed[40:48], "little") if seed.startswith(b"\x7fELF") else 0
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(
            st.one_of(st.integers(0, 120), st.integers(min(headers, len(seed) - 8), len(seed) - 8))
        )
        value = data.draw(
            st.sampled_from([0, 1, 2, 64, 0xFFFF, 2**31, 2**32 - 1, 2**63, 2**64 - 1, len(seed)])
        )
        changed[at : at + 8] = value.to_bytes(8, "little")
    total(bytes(changed))


@BOUNDED
@given(st.binary(max_size=300), st.integers(0, 0xFFFFFFFF), st.integers(0, 5))
def test_any_fat_binary_entry(body: bytes, flags: int, kind: int) -> None:
    header = kind.to_bytes(2, "little") + b"\x01\x01" + (64).to_bytes(4, "little")
    header += (
        len(body).to_bytes(8, "little")
        + len(body).to_bytes(4, "little")
        + bytes(8)
        + (90).to_bytes(4, "little")
    )
    header += bytes(8) + flags.to_bytes(8, "little") + bytes(8) + (1000).to_bytes(8, "little")
    entry = header + body
    total(b"\x50\xed\x55\xba\x01\x00\x10\x00" + len(entry).to_bytes(8, "little") + entry)


@BOUNDED
@given(st.text(alphabet="ab.,{}();/*'\n\t 0x", max_size=120))
def test_any_ptx(text: str) -> None:
    total(f".version 8.0\n.target sm_80\n.entry {text}".encode())


def held(data: bytes) -> int:
    """The most bytes held at once while the kernels pass by."""
    tracemalloc.start()
    try:
        found(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_bombs_hold_no_more_than_a_small_multiple_of_their_size() -> None:
    many = 40_000
    bombs = {
        "entries without a body": b".version 8.0\n.target sm_80\n" + b".entry a " * many,
        "open comments": b".version 8.0\n.target sm_80\n" + b"/* .entry a" * many,
        "open quotes": b"ptxas info : " + b"Compiling entry function 'a" * many,
        "functions on one line": b" STACK:" + b" Function a" * many,
        "empty entries": b"\x50\xed\x55\xba\x01\x00\x10\x00"
        + (64 * many).to_bytes(8, "little")
        + (b"\x02\x00\x01\x01\x40" + bytes(59)) * many,
    }
    for name, bomb in bombs.items():
        assert held(bomb) < LARGEST * len(bomb), name


def test_many_attribute_sections_over_the_same_bytes_are_refused() -> None:
    """Each kernel's attributes are read once: bytes that many sections share would be read for each."""
    data = bytearray(content("sm_80_05.cubin"))
    headers = int.from_bytes(data[40:48], "little")
    count = int.from_bytes(data[60:62], "little")
    grown = 0
    for number in range(count):
        at = headers + 64 * number
        if int.from_bytes(data[at + 4 : at + 8], "little") == 0x70000000:
            data[at + 24 : at + 32] = (0).to_bytes(8, "little")
            data[at + 32 : at + 40] = (len(data) - 64).to_bytes(8, "little")
            grown += 1
    assert grown > 1
    (error,) = found(bytes(data))
    assert isinstance(error, BadFile)
    assert "overlap" in error.cause
