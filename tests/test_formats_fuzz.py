"""Any file, whatever it begins like, gives kernels or errors: never another exception, never silence."""

from __future__ import annotations

from functools import lru_cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.seeds import seeds
from wavefit.kernels import BadFile
from wavefit.kernels.backing import Memory, Stream
from wavefit.kernels.bounds import OPEN, Bounds, Reading
from wavefit.kernels.open import Found, read
from wavefit.kernels.registry import readers
from wavefit.kernels.rows import Rows
from wavefit.kernels.source import Source
from wavefit.model import Kernel

BOUNDS = Bounds(unpacked=8 << 20, altogether=32 << 20, unquestioned=1 << 20, held=4 << 20, small=1 << 14)
BOUNDED = settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NUMBERS = (0, 1, 7, 0xFF, 0xFFFF, 2**31, 2**32 - 1, 2**63, 2**64 - 1)


@lru_cache
def begun() -> list[bytes]:
    return [seed for seed in seeds() if len(seed) < 20_000]


def total(data: bytes, *, by_rows: bool = False) -> list[Found]:
    found = list(read(Source(Memory(data), len(data), "f", reading=Reading(BOUNDS, by_rows=by_rows))))
    assert found, "silence: neither a kernel nor an error"
    for item in found:
        assert isinstance(item, Kernel | BadFile | Rows)
        assert isinstance(item, Rows) or str(item).isprintable()
    return found


def as_stream(data: bytes, piece: int) -> list[Found]:
    left = [data]

    def pull(count: int) -> bytes:
        take = min(count, piece)
        given, left[0] = left[0][:take], left[0][take:]
        return given

    return list(read(Source(Stream(pull), OPEN, "f", reading=Reading(BOUNDS))))


def changed(data: st.DataObject) -> bytes:
    """A sound file with some bytes, some numbers, its end or its middle changed."""
    whole = bytearray(data.draw(st.sampled_from(begun())))
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, max(0, len(whole) - 8)))
        how = data.draw(st.integers(0, 3))
        if how == 0:
            whole[at : at + 1] = bytes([data.draw(st.integers(0, 255))])
        elif how == 1:
            size = data.draw(st.sampled_from((2, 4, 8)))
            whole[at : at + size] = (data.draw(st.sampled_from(NUMBERS)) % 256**size).to_bytes(size, "little")
        elif how == 2:
            del whole[at : at + data.draw(st.integers(1, 64))]
        else:
            whole[at:at] = whole[: data.draw(st.integers(1, 64))]
    return bytes(whole[: data.draw(st.integers(0, len(whole)) | st.just(len(whole)))])


@BOUNDED
@given(st.data())
def test_changed_files(data: st.DataObject) -> None:
    file = changed(data)
    total(file)
    total(file, by_rows=True)


@BOUNDED
@given(st.data(), st.sampled_from((1, 13, 512, 1 << 16)))
def test_changed_files_as_streams(data: st.DataObject, piece: int) -> None:
    assert as_stream(changed(data), piece)


@pytest.mark.parametrize("reader", readers(), ids=lambda reader: reader.what)
def test_nothing_but_a_magic(reader: object) -> None:
    """A reader that believes its magic and looks no further before it reads on."""
    magic, at = reader.magic, reader.at  # type: ignore[attr-defined]
    for tail in (b"", b"\0", b"\0" * 4096, b"\xff" * 4096, magic * 500):
        assert total(b"\0" * at + magic + tail)


@BOUNDED
@given(st.sampled_from(readers()), st.binary(max_size=300))
def test_any_bytes_behind_a_magic(reader: object, tail: bytes) -> None:
    magic, at = reader.magic, reader.at  # type: ignore[attr-defined]
    total(b"\0" * at + magic + tail)


WORDS = st.sampled_from(
    [
        ".amdhsa_kernel ",
        ".end_amdhsa_kernel",
        ".amdgpu_metadata",
        ".end_amdgpu_metadata",
        ".amdgcn_target ",
        "---",
        "...",
        "File: ",
        "\n.amdhsa_next_free_vgpr ",
        ".amdhsa_next_free_sgpr ",
        ".amdhsa_accum_offset ",
        "AMDGPU Metadata:",
        "AMD HSA Metadata:",
        "k",
        "\nAMD HSA ISA Name:",
        "amdhsa.kernels:",
        "  - .name: k",
        "    .symbol: k",
        "Kernels:",
        '"amdgcn-amd-amdhsa--gfx950"',
        "1",
        "0x10",
        "\nmax(a, b)",
        "\n",
        "\n",
        "\n",
        " ",
        "\t",
        "remark: Function Name: k",
        "remark:     VGPRs: 4",
        "\n [-Rpass-analysis=kernel-resource-usage]",
    ]
)


@BOUNDED
@given(st.lists(WORDS, max_size=40))
def test_any_text_of_the_words_that_matter(words: list[str]) -> None:
    total("".join(words).encode())
