"""Files, folders, members: what is read, what is passed over, what is an error."""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from wavefit.kernels import BadFile, NoKernels, kernels, registry
from wavefit.kernels.backing import WINDOW, File, Memory
from wavefit.kernels.bounds import Bounds
from wavefit.kernels.open import read
from wavefit.kernels.other import described
from wavefit.kernels.source import Source
from wavefit.model import Kernel
from wavefit.names import printable

DATA = Path(__file__).parent / "data/kernels"
OBJECT = (DATA / "k_gfx950.co").read_bytes()


def only_error(path: Path | str) -> BadFile:
    (bad,) = kernels(path)
    assert isinstance(bad, BadFile), bad
    return bad


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "empty file"),
        (b"def kernel():\n    pass\n", "text, not a code object"),
        ("überall ✓\n".encode() * 1000, "text, not a code object"),
        (b"\x89PNG\r\n\x1a\n\0\0", "not a code object (begins with 89 50 4e 47 0d 0a 1a 0a)"),
    ],
)
def test_a_named_file_without_kernels_says_what_it_is(tmp_path: Path, content: bytes, cause: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    bad = only_error(path)
    assert isinstance(bad, NoKernels)
    assert str(bad) == f"{path}: {cause}"
    assert isinstance(only_error(tmp_path), NoKernels)  # in a folder it is passed over


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"\xed\xab\xee\xdb\3\0", "f[+0x0]: RPM package: not read by this version"),
        (b"7z\xbc\xaf\x27\x1c\0\4", "f[+0x0]: 7z archive: not read by this version"),
        (b"\x7fELF\x02\x01", "f[+0x0]: an ELF file cut off after 6 bytes"),
    ],
    ids=["rpm", "7z", "cut"],
)
def test_what_may_hold_kernels_and_has_no_reader_is_named(content: bytes, cause: str) -> None:
    bad = described(Source(Memory(content), len(content), "f"))
    assert not isinstance(bad, NoKernels)
    assert str(bad) == cause


@pytest.mark.parametrize(
    ("order", "machine", "name"),
    [(1, b"\x3e\x00", "x86-64"), (2, b"\x00\x15", "PowerPC"), (1, b"\xff\x7f", "machine 32767")],
)
def test_an_elf_file_of_a_host_is_named_by_its_machine(order: int, machine: bytes, name: str) -> None:
    content = b"\x7fELF\x02" + bytes([order]) + b"\0" * 12 + machine + b"\0" * 44
    answer = described(Source(Memory(content), len(content), "f"))
    assert isinstance(answer, NoKernels)
    assert str(answer) == f"f: ELF for {name}, no device code"


def test_a_damaged_file_is_an_error_in_a_folder_too(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(OBJECT[:6])
    assert str(only_error(tmp_path)) == f"{tmp_path}/x[+0x0]: an ELF file cut off after 6 bytes"


def test_missing_special_and_impossible_names(tmp_path: Path) -> None:
    assert str(only_error(tmp_path / "absent")) == f"{tmp_path}/absent: No such file or directory"
    assert "no files in this folder" in str(only_error(tmp_path))
    assert "null" in str(only_error("a\0b"))
    os.mkfifo(tmp_path / "pipe")
    assert str(only_error(tmp_path / "pipe")) == f"{tmp_path}/pipe: not a regular file"


def test_an_unreadable_file_is_an_error_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "a.co").symlink_to("nowhere")
    (tmp_path / "b.co").write_bytes(OBJECT)
    bad, *found = kernels(tmp_path)
    assert str(bad) == f"{tmp_path}/a.co: No such file or directory"
    assert [type(item) for item in found] == [Kernel] * 3


def test_a_folder_is_read_in_order_once_and_without_what_is_no_kernel(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("c.co", "b/z.co", "a.co"):
        (tmp_path / name).write_bytes(OBJECT)
    (tmp_path / "b/loop").symlink_to(tmp_path)
    (tmp_path / "b/notes.json").write_text("{}")
    (tmp_path / "b/script.py").write_text("print()")
    os.mkfifo(tmp_path / "b/pipe")
    files = [item.file for item in kernels(tmp_path) if isinstance(item, Kernel)]
    assert [os.path.relpath(name, tmp_path) for name in files] == ["a.co"] * 3 + ["b/z.co"] * 3 + ["c.co"] * 3
    assert not [item for item in kernels(tmp_path) if isinstance(item, BadFile)]


def test_nothing_is_opened_before_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.co"
    path.write_bytes(OBJECT)
    found = kernels(path)
    path.unlink()
    (bad,) = found
    assert isinstance(bad, BadFile)


def test_a_source_never_passes_its_end() -> None:
    source = Source(Memory(bytes(range(16))), 16, "f", "m")
    part = source.sub(4, 8).sub(2, 4)
    assert (part.u8(0), part.u16(0), part.u32(0), part.starts(b"\x06\x07")) == (6, 0x0706, 0x09080706, True)
    assert (source.u64(8), source.i64(8)) == (0x0F0E0D0C0B0A0908, 0x0F0E0D0C0B0A0908)
    assert Source(Memory(b"\xff" * 8), 8, "f").i64(0) == -1
    for at, count in ((0, 5), (4, 1), (-1, 1), (0, -1), (1 << 70, 1)):
        with pytest.raises(BadFile):
            part.read(at, count)
        with pytest.raises(BadFile):
            part.sub(at, count)
    with pytest.raises(BadFile, match=r"f\[m\+0x8\]: 4 bytes needed here, 2 left"):
        part.u32(2)  # offsets count from the start of the member
    with pytest.raises(BadFile, match=r"f\[m/inside\+0x0\]: 9 bytes needed here, 8 left"):
        source.sub(4, 8, "inside").read(0, 9)
    assert not part.starts(b"\x06\x07\x08\x09\x0a")


def test_a_file_is_read_through_windows_and_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "big"
    with path.open("wb") as handle:
        handle.write(b"begin")
        handle.seek(3 * WINDOW - 2)
        handle.write(b"needle")
        handle.truncate(1 << 40)  # a terabyte with nothing in it
    with path.open("rb", buffering=0) as handle:
        source = Source(File(handle), 1 << 40, "big")
        assert source.find(b"needle") == 3 * WINDOW - 2  # across the border of two windows
        assert source.read((1 << 40) - 3, 3) == b"\0\0\0"
        assert source.read(0, 5) == b"begin"
        assert source.sub(0, 2 * WINDOW).find(b"needle") == -1


def test_a_file_that_shrinks_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.co"
    path.write_bytes(b"x" * (3 * WINDOW))
    with path.open("r+b", buffering=0) as handle:
        source = Source(File(handle), 3 * WINDOW, "a.co")
        source.read(0, 1)
        handle.truncate(WINDOW)
        with pytest.raises(BadFile, match=r"a.co\[\+0x100000\]: the file became shorter"):
            source.read(WINDOW, 8)


@pytest.fixture
def box() -> Iterator[None]:
    """A format of three members, and one that holds itself, added as any format is: by registering."""
    registry.readers()
    before = list(registry._readers)

    @registry.reader("box", magic=b"BOX!")
    def boxes(source: Source) -> Iterator[Kernel | Source | BadFile]:
        yield source.inner(OBJECT[:-1], "broken")
        yield source.inner(b"only text", "readme")
        yield source.bad(4, "entry 3 is damaged")
        yield source.inner(OBJECT, "good")

    @registry.reader("mirror", magic=b"MIRROR")
    def mirrors(source: Source) -> Iterator[Kernel | Source | BadFile]:
        yield source.sub(0, source.size, "again")

    registry.readers.cache_clear()
    yield
    registry._readers[:] = before
    registry.readers.cache_clear()


@pytest.mark.usefixtures("box")
def test_members_are_read_by_their_own_readers_and_damage_stays_in_its_place() -> None:
    first, second, *rest = read(Source(Memory(b"BOX!"), 4, "f"))
    assert str(first).startswith("f[broken+0x")
    assert str(second) == "f[+0x4]: entry 3 is damaged"
    assert [item.member for item in rest] == ["good"] * 3


@pytest.mark.usefixtures("box")
def test_members_that_hold_themselves_come_to_an_end() -> None:
    (bad,) = read(Source(Memory(b"MIRROR"), 6, "f"))
    assert str(bad).endswith(f"members nested more than {Bounds().depth} deep")


def test_an_error_survives_a_process_border() -> None:
    bad = pickle.loads(pickle.dumps(BadFile("f", "m", 16, "cause")))
    assert (bad.file, bad.member, bad.offset, bad.cause) == ("f", "m", 16, "cause")
    assert str(bad) == "f[m+0x10]: cause"


def test_names_cannot_move_the_cursor_or_hide() -> None:
    assert printable("kernel<float, 3>") == "kernel<float, 3>"
    assert printable("a\x1b[31m\u202eb\u200b\ud800\x7f") == r"a\x1b[31m\u202eb\u200b\ud800\x7f"


def test_every_fixture_in_one_folder(tmp_path: Path) -> None:
    shutil.copytree(DATA / "targets", tmp_path / "t")
    assert sum(isinstance(item, Kernel) for item in kernels(tmp_path)) == 3 * len(
        list((tmp_path / "t").iterdir())
    )
