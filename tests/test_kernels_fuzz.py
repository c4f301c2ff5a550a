"""Any byte string gives kernels or BadFile, never another exception, and never more than it can hold."""

from __future__ import annotations

import contextlib
import tracemalloc
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kernels_builder import ENTRY, code_object, descriptor, note
from wavefit.kernels import BadFile
from wavefit.kernels.amd.yaml_subset import parse
from wavefit.kernels.open import read
from wavefit.kernels.source import Memory, Source
from wavefit.model import Kernel

DATA = Path(__file__).parent / "data/kernels"
SEEDS = [
    (DATA / name).read_bytes()
    for name in (
        "clang14_cov2_gfx906.co",
        "clang14_cov3_gfx1030.co",
        "k_gfx950.co",
        "targets/gfx9-4-generic.o",
    )
]
BOUNDED = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LARGEST = 32
"""Bytes held at most for each byte of input."""


def total(data: bytes) -> list[Kernel | BadFile]:
    found = list(read(Source(Memory(data), len(data), "f")))
    assert found, "silence: neither a kernel nor an error"
    for item in found:
        assert isinstance(item, Kernel | BadFile)
        assert str(item).isprintable()
    return found


@BOUNDED
@given(st.sampled_from(SEEDS), st.data())
def test_a_truncated_object(seed: bytes, data: st.DataObject) -> None:
    total(seed[: data.draw(st.integers(0, len(seed)))])


@BOUNDED
@given(st.sampled_from(SEEDS), st.data())
def test_changed_bytes(seed: bytes, data: st.DataObject) -> None:
    changed = bytearray(seed)
    for at, value in data.draw(
        st.lists(st.tuples(st.integers(0, len(seed) - 1), st.integers(0, 255)), max_size=12)
    ):
        changed[at] = value
    total(bytes(changed))


@BOUNDED
@given(st.sampled_from(SEEDS), st.data())
def test_changed_headers(seed: bytes, data: st.DataObject) -> None:
    """Numbers as damage and malice choose them, in the header and the section headers."""
    changed = bytearray(seed)
    headers = int.from_bytes(seed[40:48], "little")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.one_of(st.integers(16, 56), st.integers(headers, len(seed) - 8)))
        value = data.draw(st.sampled_from([0, 1, 64, 0xFFFF, 2**31, 2**32 - 1, 2**63, 2**64 - 1, len(seed)]))
        changed[at : at + 8] = value.to_bytes(8, "little")
    total(bytes(changed))


@BOUNDED
@given(
    st.binary(max_size=400),
    st.sampled_from([b"", b"\x7fELF", b"\x7fELF\x02\x01\x01\x40" + b"\0" * 10 + b"\xe0\0"]),
)
def test_any_bytes(content: bytes, head: bytes) -> None:
    total(head + content)


SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner)
)


@BOUNDED
@given(
    st.dictionaries(
        st.sampled_from([*ENTRY, ".agpr_count", ".args", ".reqd_workgroup_size"]), VALUES, max_size=5
    )
)
def test_any_metadata_values(changes: dict[str, Any]) -> None:
    said = {"amdhsa.kernels": [{**ENTRY, **changes}], "amdhsa.target": "amdgcn-amd-amdhsa--gfx942"}
    total(code_object(note(msgspec.msgpack.encode(said)), {"k.kd": descriptor()}))


@BOUNDED
@given(st.binary(max_size=200))
def test_any_metadata_bytes(content: bytes) -> None:
    total(code_object(note(content), {"k.kd": descriptor()}))


@BOUNDED
@given(st.integers(0, 255), st.integers(0, 2**32 - 1), st.binary(min_size=64, max_size=64))
def test_any_descriptor_for_any_target(machine: int, flags: int, told: bytes) -> None:
    total(code_object(b"", {"k.kd": told}, flags=flags & 0xFFFFFF00 | machine))


@BOUNDED
@given(st.text(alphabet="ab:-[]{}'\"&*!|> \n\t,#19\\x", max_size=80))
def test_any_yaml(text: str) -> None:
    with contextlib.suppress(ValueError):
        parse(text)


def held(data: bytes) -> int:
    """The most bytes held at once while the kernels pass by."""
    tracemalloc.start()
    try:
        for _ in read(Source(Memory(data), len(data), "f")):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_bombs_hold_no_more_than_a_small_multiple_of_their_size() -> None:
    many = 5_000
    smallest = msgspec.msgpack.encode({".name": "k", ".symbol": "k"})
    bombs = {
        "lists that declare more than is there": b"\x81\xaeamdhsa.kernels" + b"\xdd\xff\xff\xff\xff" * many,
        "empty entries": b"\x81\xaeamdhsa.kernels\xdd" + many.to_bytes(4, "big") + b"\x80" * many,
        "smallest entries": b"\x81\xaeamdhsa.kernels\xdd" + many.to_bytes(4, "big") + smallest * many,
        "deep arguments": b"\x81\xa1x" + b"\x91" * many + b"\x80",
        "long string that ends early": b"\x81\xaeamdhsa.target\xdb\xff\xff\xff\xff" + b"x" * many,
    }
    for name, bomb in bombs.items():
        data = code_object(note(bomb), {})
        assert held(data) < LARGEST * len(data), name


def test_yaml_bombs_hold_no_more_than_a_small_multiple_of_their_size() -> None:
    many = 5_000
    bombs = {
        "keys": "".join(f"k{i:x}:\n" for i in range(many)),
        "lists": "Kernels:\n" + "  - 1\n" * many,
        "flow": "a: [" + "1," * many + "1]",
        "maps": "Kernels:\n" + "".join(f"  - a: {i:x}\n" for i in range(many)),
        "aliases": "a: &a [1]\n" + "".join(f"k{i}: &b{i} [*a, *a]\n" for i in range(100)),
    }
    for name, bomb in bombs.items():
        data = code_object(note(bomb.encode(), b"AMD\0", 10), {}, abi=0)
        assert held(data) < LARGEST * len(data), name
