"""Fuzzes one target until told to stop: `python -m tests.fuzz.one TARGET [libFuzzer's options]`.

Any exception is a crash. A reader's input always reaches it: its magic is written where it must stand.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import atheris

PACKAGES = {"isa": "wavefit.isa", "profiles": "wavefit.profiles", "gate": "wavefit.gate"}
"""What is watched for coverage, by the first word of a target's name; all of wavefit takes seconds."""
WATCHED = PACKAGES.get(sys.argv[1].split()[0].rstrip(","), "wavefit.kernels")

with atheris.instrument_imports(include=[WATCHED], enable_loader_override=False):
    import wavefit.kernels.amd.columns  # noqa: F401  # else the first input pays for importing NumPy
    from wavefit.kernels.backing import Memory, Stream
    from wavefit.kernels.bounds import Bounds, Reading
    from wavefit.kernels.open import read
    from wavefit.kernels.registry import Reader, readers
    from wavefit.kernels.source import Source

    known = {reader.what: reader for reader in readers()}
    if sys.argv[1] not in known:
        from tests.fuzz.targets import ALL

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


def target(name: str) -> Callable[[bytes], None]:
    """What takes the bytes: a reader of kernels, or a Target."""
    if name in known:
        return lambda data: fuzzed(known[name], data)
    return next(each.run for each in ALL if each.name == name)


def main() -> None:
    atheris.Setup([sys.argv[0], *sys.argv[2:]], target(sys.argv[1]))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
