"""Blocks of xz unpacked by threads: the bytes, the kernels and the errors of liblzma's one stream."""

import lzma
import random
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavefit.kernels.backing import File, Memory
from wavefit.kernels.bounds import Bounds, Reading
from wavefit.kernels.bulk import find
from wavefit.kernels.source import BadFile, Source
from wavefit.kernels.unpack import PIECE, Unpacked
from wavefit.kernels.xz_blocks import Ahead, blocks

PACKED = Path(__file__).parent / "data" / "kernels" / "blocks.tar.xz"
"""`tar c` of four code objects of this folder, through `xz --block-size=4096`."""


def source(data: bytes, bounds: Bounds | None = None) -> Source:
    return Source(Memory(data), len(data), "f", reading=Reading(bounds))


def made(data: bytes, threads: int, bounds: Bounds | None = None) -> tuple[bytes, str]:
    """What comes out, and what is then said to be wrong."""
    whole = source(data, bounds)
    unpack = Unpacked(whole, "xz", again=True)
    found = blocks(whole) if threads > 1 else []
    pull = Ahead(unpack, found, threads) if found else unpack
    out = b""
    try:
        while piece := pull(1 << 16):
            out += piece
    except BadFile as bad:
        return out, str(bad)
    return out, ""


def test_the_blocks_are_those_that_xz_lists():
    if not (tool := shutil.which("xz")):
        pytest.skip("needs xz")
    said = subprocess.run(
        [tool, "-lvv", "--robot", PACKED], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split("\t") for line in said.splitlines() if line.startswith("block")]
    with PACKED.open("rb") as handle:
        data = File(handle)
        found = blocks(Source(data, data.size, "f"))
    assert [(b.at, b.padded, b.unpacked) for b in found] == [(int(r[4]), int(r[6]), int(r[7])) for r in rows]
    assert len(found) > 4


def test_the_bytes_are_those_of_liblzma():
    data = PACKED.read_bytes()
    assert blocks(source(data))
    assert made(data, 2) == (lzma.decompress(data), "")


@pytest.mark.parametrize(
    "data",
    [
        PACKED.read_bytes() + bytes(4),
        PACKED.read_bytes() + PACKED.read_bytes(),
        lzma.compress(b"one block"),
        lzma.compress(b""),
        PACKED.read_bytes()[:-1],
        b"",
    ],
)
def test_what_is_not_one_stream_of_several_blocks_is_left_to_liblzma(data: bytes):
    assert blocks(source(data)) == []


@given(st.integers(0, PACKED.stat().st_size - 1), st.integers(1, 255))
def test_damage_gives_the_same_error(at: int, change: int):
    """And at most a piece more before it: liblzma drops what it made in the call that fails."""
    data = bytearray(PACKED.read_bytes())
    data[at] ^= change
    (one, error), (two, other) = made(bytes(data), 1), made(bytes(data), 3)
    assert error == other
    assert two.startswith(one)
    assert len(two) - len(one) <= PIECE


def test_bounds_are_kept():
    data = PACKED.read_bytes()
    out, said = made(data, 2, Bounds(unpacked=10_000))
    assert "limit 9.8 KiB" in said
    assert len(out) < 20_000
    assert "limit" in made(data, 2, Bounds(ratio=1, unquestioned=0))[1]


def test_a_library_in_a_package_is_the_same_with_threads(tmp_path: Path):
    file = tmp_path / "p.tar.xz"
    data = bytearray(PACKED.read_bytes())
    for change in (None, random.Random(1).randrange(len(data))):
        if change is not None:
            data[change] ^= 0x40
        file.write_bytes(data)
        one, two = (list(map(str, find(str(file), threads=count))) for count in (1, 2))
        assert one == two
        assert one


def number(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    low, high = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + number(high) if high else bytes([low])


SPLIT = st.tuples(st.integers(1, 266), st.integers(0, 1 << 40), st.integers(0, 1 << 40)).map(
    lambda sizes: b"".join(map(number, (2, 4 * sizes[0], sizes[1], 4 * (267 - sizes[0]), sizes[2])))
)
"""Two records that share the bytes of one block."""


@given(st.one_of(st.binary(max_size=200), SPLIT), st.integers(0, 9))
def test_any_index_with_a_right_checksum_ends_in_what_liblzma_says(records: bytes, zeros: int):
    """Numbers of any length, more records than there are blocks, sizes that are not theirs."""
    head, body = PACKED.read_bytes()[:12], PACKED.read_bytes()[12:1080]
    index = b"\0" + records + bytes(zeros)
    index += bytes(-len(index) % 4)
    index += zlib.crc32(index).to_bytes(4, "little")
    foot = (len(index) // 4 - 1).to_bytes(4, "little") + head[6:8]
    data = head + body + index + zlib.crc32(foot).to_bytes(4, "little") + foot + b"YZ"
    assert made(data, 2) == made(data, 1)
