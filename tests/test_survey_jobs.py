"""Surveys by several: the same rows in the same order, whatever dies on the way; parts that are made once."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from tests import poison
from tests.containers_builder import bundle, compressed, host_elf, zipped
from tests.test_cli import run
from tests.test_formats_bundles import GFX950, ID
from wavefit.kernels import BadFile
from wavefit.survey import Options, Summary, Table, pieces, survey, survey_parts, work
from wavefit.survey.crew import Here, Processes
from wavefit.survey.places import CannotReach, Listed

DATA = Path(__file__).parent / "data" / "kernels"


def answer(*paths: str | Path, crew: Any = None, **options: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows and the errors of a survey."""
    found = list(survey([str(path) for path in paths], Options(**options), crew=crew))
    rows = [row for each in found if isinstance(each, Table) for row in each.records()]
    return rows, [str(each) for each in found if isinstance(each, BadFile)]


def rows_of(folder: Path) -> list[str]:
    """The rows of all parts, in an order of their own."""
    parts = [str(path) for path in folder.glob("[0-9a-f]*.parquet")]
    return sorted(json.dumps(row) for row in ds.dataset(parts).to_table().to_pylist())


def made(paths: list[Path], out: Path, crew: Any = None) -> tuple[Summary, list[str]]:
    """A survey into parts: its summary and errors."""
    summary, errors = Summary(), []
    for each in survey_parts([str(path) for path in paths], Options(parts=f"{out}/"), crew=crew):
        errors += [str(bad) for bad in each.found]
        if each.summary:
            summary.merge(each.summary)
    return summary, errors


@pytest.fixture
def everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every kind of container, whole and damaged, small files between large ones; all large here is 2 KiB."""
    monkeypatch.setattr(pieces, "LARGE", 2048)
    monkeypatch.setattr(work, "TOGETHER", 3000)
    folder = tmp_path / "in"
    shutil.copytree(DATA / "triton", folder / "triton")
    plain = bundle({f"{ID}gfx950": GFX950, f"{ID}gfx90a": GFX950, "host-x86_64-unknown-linux-gnu-": b"x"})
    library = host_elf([(".hip_fatbin", plain.ljust(16384, b"\0") + compressed(plain) * 3 + GFX950)])
    side = (DATA / "triton" / "softmax_gfx942_4096_w8.json").read_bytes()
    cached = (DATA / "triton" / "softmax_gfx942_4096_w8.hsaco").read_bytes()
    members = {"a.co": GFX950, "k.hsaco": cached, "k.json": side, "n.txt": b"no", "z.so": library}
    archive = zipped(members)
    (folder / "a.zip").write_bytes(archive)
    (folder / "b.so").write_bytes(library)
    (folder / "c.so").write_bytes(library[:-700])
    (folder / "d.zip").write_bytes(archive[:3000] + b"????" + archive[3004:])
    (folder / "e.so").write_bytes(host_elf([(".data", b"nothing" * 999)]))
    (folder / "f.co").write_bytes(GFX950)
    return folder


def test_pieces_are_the_files_in_their_order(everything: Path) -> None:
    whole = answer(everything)
    assert len(whole[0]) > 60
    assert whole[1]
    assert answer(everything, crew=Here()) == whole
    for file in sorted(everything.iterdir()):
        assert answer(file, crew=Here()) == answer(file), file
    assert answer(everything, crew=Here(), targets=("gfx90a",)) == answer(everything, targets=("gfx90a",))


def test_a_walk_goes_on_where_it_was_and_anywhere_else(everything: Path) -> None:
    file = everything / "a.zip"
    listed = Listed(str(file), file.stat().st_size, "", True)
    first = work.walk(listed, 0, Options())
    work._walks.clear()
    for skip in range(len(first.slots)):
        again = work.walk(listed, skip, Options())  # nobody has walked there before
        assert repr(again.slots) == repr(first.slots[skip:])
    assert len(first.slots) > 2


def test_processes_find_the_same(everything: Path) -> None:
    crew = Processes(2)
    try:
        assert answer(everything, crew=crew) == answer(everything)
    finally:
        crew.close()


@pytest.mark.parametrize(
    ("magic", "how"),
    [
        (poison.EXITS, "ended with status 7"),
        pytest.param(poison.KILLED, "was killed by SIGKILL", marks=pytest.mark.heavy),
        pytest.param(poison.STARVED, "ran out of memory", marks=pytest.mark.heavy),
    ],
)
def test_a_file_that_kills_its_reader_is_named_and_the_rest_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, magic: bytes, how: str
) -> None:
    good = tmp_path / "good"
    shutil.copytree(DATA / "triton", good)
    expected = answer(good)[0]
    (good / "m.bin").write_bytes(magic)
    (good / "sub.zip").write_bytes(zipped({"x.co": GFX950, "y.bin": magic, "z.co": GFX950}))
    poison.spread(tmp_path / "poison", monkeypatch)
    rows, errors = answer(good, jobs=2)
    assert [row for row in rows if "sub.zip" not in row["file"]] == expected
    named = [error for error in errors if how in error]
    assert [Path(error.split(":")[0]).name for error in named] == ["m.bin", "sub.zip"]


def test_parts_hold_the_rows_once_and_are_not_made_again(
    everything: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, errors = answer(everything)
    out = tmp_path / "out"
    summary, said = made([everything], out)
    assert rows_of(out) == sorted(map(json.dumps, rows))
    assert (summary.kernels, sorted(said)) == (len(rows), sorted(errors))
    assert len((out / "_errors.jsonl").read_text().splitlines()) == len(errors)
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("*.parquet")}

    def unread(name: str) -> Any:
        raise AssertionError(f"{name} is read again")

    monkeypatch.setattr(work, "opener", unread)
    assert made([everything], out) == (summary, said)
    assert {path.name: path.stat().st_mtime_ns for path in out.glob("*.parquet")} == before


def test_what_a_survey_did_not_come_to_is_made_later(
    everything: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, _ = answer(everything)
    out = tmp_path / "out"
    under_way = survey_parts([str(everything)], Options(parts=f"{out}/"))
    for _ in range(5):
        next(under_way)
    under_way.close()
    begun = {path.name for path in out.glob("*.parquet")}
    assert begun
    made([everything], out)
    assert rows_of(out) == sorted(map(json.dumps, rows))
    (everything / "b.so").write_bytes(GFX950)
    (everything / "f.co").unlink()
    made([everything], out)
    assert rows_of(out) == sorted(map(json.dumps, answer(everything)[0]))
    assert begun - {path.name for path in out.glob("*.parquet")}, "parts of what has changed are gone"


def test_a_folder_of_another_survey_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    made([DATA / "k_gfx90a.co"], out)
    with pytest.raises(CannotReach, match="holds another survey"):
        made([DATA / "triton"], out)
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.parquet").write_bytes(b"PAR1")
    with pytest.raises(CannotReach, match="name another folder"):
        made([DATA / "triton"], other)


class _Ranges(SimpleHTTPRequestHandler):
    """A web server that answers ranges, and counts what it sends."""

    sent = 0

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        data = path.read_bytes()
        first, last = 0, len(data) - 1
        asked = self.headers.get("Range", "").removeprefix("bytes=")
        if asked:
            first, last = (int(each or last) for each in asked.split("-"))
        self.send_response(206 if asked else 200)
        body = data[first : last + 1]
        self.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{len(data)}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        _Ranges.sent += len(body)

    def log_message(self, *args: Any) -> None:
        """Nothing."""


def serving(handler: Any) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture
def server(everything: Path) -> Iterator[str]:
    yield from serving(partial(_Ranges, directory=str(everything)))


def without_place(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "file": row["file"].rpartition("/")[2]} for row in rows]


def test_a_store_holds_files_and_parts(everything: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    store.put(str(everything), "/stored", recursive=True)
    try:
        rows, errors = answer("memory://stored", urls=True)
        local = answer(everything)
        assert without_place(rows) == without_place(local[0])
        assert len(errors) == len(local[1])
        assert answer("memory://stored", urls=True, crew=Here())[0] == rows
        for _ in range(2):
            summary = Summary()
            for each in survey_parts(["memory://stored"], Options(urls=True, parts="memory://parts/")):
                summary.merge(each.summary or Summary())
            assert summary.kernels == len(rows)
        assert store.exists("/parts/_survey.json")
    finally:
        store.store.clear()


def test_one_file_of_a_web_server(everything: Path, server: str) -> None:
    pytest.importorskip("aiohttp")
    for name in ("b.so", "a.zip"):
        rows, errors = answer(f"{server}/{name}", urls=True, crew=Here())
        assert (without_place(rows), errors) == (without_place(answer(everything / name)[0]), [])
    chained = f"zip://z.so::{server}/a.zip"
    assert len(answer(chained, urls=True)[0]) == len(answer(everything / "b.so")[0])
    assert "nothing.so" in answer(f"{server}/nothing.so", urls=True)[1][0]


def test_of_a_large_remote_library_only_what_is_looked_at_is_fetched(everything: Path, server: str) -> None:
    """Headers lead from one blob to the next; a blob for a target that nobody asks for stays where it is."""
    pytest.importorskip("aiohttp")
    entries = {f"{ID}gfx950": GFX950, "host-x86_64-unknown-linux-gnu-": bytes(24 << 20)}
    file = everything / "large.so"
    file.write_bytes(host_elf([(".hip_fatbin", bundle(entries).ljust(25 << 20, b"\0") + GFX950)]))
    expected, _ = answer(file)
    _Ranges.sent = 0
    rows, errors = answer(f"{server}/large.so", urls=True, crew=Here())
    assert (without_place(rows), errors) == (without_place(expected), [])
    assert _Ranges.sent < file.stat().st_size // 3


def test_a_server_without_ranges_is_an_error_line(everything: Path) -> None:
    pytest.importorskip("aiohttp")
    file = everything / "large.so"
    file.write_bytes(host_elf([(".hip_fatbin", bytes(3 << 20) + GFX950)]))
    for url in serving(partial(SimpleHTTPRequestHandler, directory=str(everything))):
        rows, errors = answer(f"{url}/large.so", urls=True)
        assert rows == []
        assert all("large.so" in error and "range" in error for error in errors)


def test_urls_are_for_those_who_ask(tmp_path: Path) -> None:
    with pytest.raises(CannotReach, match="command line or Python"):
        answer("memory://stored")
    done = run("survey", "nostore://x/y")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
