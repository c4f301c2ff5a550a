"""Fuzzes one reader until told to stop: `python -m tests.fuzz.one READER [libFuzzer's options]`.

Any exception is a crash. The input always reaches the reader: its magic is written where it must stand.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["wavefit.kernels"], enable_loader_override=False):
    import wavefit.kernels.amd.columns  # noqa: F401  # else the first input pays for importing NumPy
    from wavefit.kernels.backing import Memory, Stream
    from wavefit.kernels.bounds import Bounds, Reading
    from wavefit.kernels.open import read
    from wavefit.kernels.registry import Reader, readers
    from wavefit.kernels.source import Source

BOUNDS = Bounds(unpacked=32 << 20, altogether=64 << 20, unquestioned=4 << 20, held=16 << 20, small=1 << 16)


def fuzzed(reader: Reader, data: bytes) -> None:
    """Reads the input singly, by rows, and as a stream; what is said must be printable."""
    at, magic = reader.at, reader.magic
    data = data[:at].ljust(at, b"\0") + magic + data[at + len(magic) :]
    for by_rows in (False, True):
        for item in read(Source(Memory(data), len(data), "f", reading=Reading(BOUNDS, by_rows=by_rows))):
            assert str(item).isprintable()
    left = [data]

    def pull(count: int) -> bytes:
        given, left[0] = left[0][: min(count, 1000)], left[0][min(count, 1000) :]
        return given

    for _ in read(Source(Stream(pull), len(data) + 10, "f", reading=Reading(BOUNDS))):
        pass


def main() -> None:
    reader = next(reader for reader in readers() if reader.what == sys.argv[1])
    atheris.Setup([sys.argv[0], *sys.argv[2:]], lambda data: fuzzed(reader, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
