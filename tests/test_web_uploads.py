"""Dropped files: read within bounds, under names that stay inside their folder, and thrown away."""

from __future__ import annotations

import gzip
import http.client
import json
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels_builder import ENTRY, code_object, descriptor, metadata, note
from tests.web_server import BOUNDARY, Served, form, served
from wavefit.web.uploads import inside
from wavefit.web.worker import Bounds

ROOT = Path(__file__).parents[1]
KERNEL = ROOT / "examples/compiled/softmax_gfx942_32768_w8.hsaco"
PROFILE = ROOT / "tests/data/profiles/ncu-h200"
MIB = 1 << 20
KIND = f"multipart/form-data; boundary={BOUNDARY}"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where uploads are put: must be empty when all is over."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def local() -> Iterator[Served]:
    with served() as running:
        yield running


FIELD = b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n'
"""A form without a file."""


def hostile(name: str) -> bytes:
    """A code object with one kernel of this name."""
    entry = {**ENTRY, ".name": name, ".symbol": f"{name}.kd"}
    return code_object(note(metadata(entry)), {f"{name}.kd": descriptor()})


def markup(page: str) -> list[tuple[str, tuple[str, ...]]]:
    """The elements of a page with the names of their attributes, as a parser sees them."""
    found: list[tuple[str, tuple[str, ...]]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: found.append((tag, tuple(name for name, _ in attrs)))
    parser.feed(page)
    return found


def test_the_report_of_a_dropped_file_is_the_commands(local: Served, folder: Path) -> None:
    found = local.drop("/api/report", {"softmax.hsaco": KERNEL.read_bytes()})
    assert found.status == 200
    plain = folder / "softmax.hsaco"
    plain.write_bytes(KERNEL.read_bytes())
    command = [sys.executable, "-m", "wavefit", "report", "softmax.hsaco", "--json"]
    assert found.json == json.loads(subprocess.check_output(command, cwd=folder))
    plain.unlink()
    assert list(folder.iterdir()) == []


def test_a_triton_cache_folder_brings_its_side_files(local: Served) -> None:
    side = KERNEL.with_suffix(".json").read_bytes()
    files = {"cache/AB/softmax.hsaco": KERNEL.read_bytes(), "cache/AB/softmax.json": side}
    (kernel,) = local.drop("/api/report", files).json["kernels"]
    assert (kernel["file"], kernel["lds_dynamic"]) == ("cache/AB/softmax.hsaco", json.loads(side)["shared"])


def test_a_profile_is_joined_with_the_kernels_dropped_beside_it(local: Served, folder: Path) -> None:
    files = {
        "run/details.csv": gzip.decompress((PROFILE / "ncu_details.csv.gz").read_bytes()),
        "run/kernels.cubin": (PROFILE / "occ_profile_sm90.cubin").read_bytes(),
    }
    found = local.drop("/api/confirm", files).json
    assert found["schema"] == "wavefit.confirm/1"
    assert found["kernels"]
    assert all(each["joined"] and not each["wrong"] for each in found["kernels"])
    page = local.drop("/drop", files)
    assert page.status == 200
    for each in found["kernels"]:
        assert each["kernel"].split("(")[0] in page.text
    assert list(folder.iterdir()) == []


def test_a_chip_and_launch_are_taken_from_the_form(local: Served) -> None:
    files = {"k.hsaco": KERNEL.read_bytes()}
    (kernel,) = local.drop("/api/report?chip=MI300X&threads=256", files).json["kernels"]
    assert (kernel["fit"]["chip"], kernel["fit"]["threads"]) == ("MI300X", 256)
    assert local.drop("/api/report?chip=nothing", files).status == 422


@pytest.mark.parametrize(
    "name",
    [
        "<script>alert(1)</script>", "a\u202egnp.exe\u2066", "x" * 65536, "<img src=x onerror=alert(1)>",
        "\x1b[2J", "'\"&",
    ],
    ids=["script", "direction", "long", "image", "escape", "quotes"],
)  # fmt: skip
def test_a_hostile_kernel_name_shows_as_text(local: Served, name: str) -> None:
    page = local.drop("/drop", {"k.hsaco": hostile(name)})
    assert page.status == 200
    assert "1 kernel" in page.text
    assert markup(page.text) == markup(local.drop("/drop", {"k.hsaco": hostile("k")}).text)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", page.text)
    assert len(page.body) < 32768


def test_a_hostile_file_name_stays_inside_and_shows_as_text(local: Served, folder: Path) -> None:
    names = [
        "../../up.hsaco",
        "/etc/root.hsaco",
        "..\\win.hsaco",
        "a\u202eb<i>.hsaco",
        "-rf.hsaco",
        "...",
        "a/../b.hsaco",
    ]
    found = local.drop("/api/report", dict.fromkeys(names, KERNEL.read_bytes())).json
    assert len(found["kernels"]) == len(names)
    assert not any(
        ".." in each["file"].split("/") or each["file"].startswith("/") for each in found["kernels"]
    )
    page = local.drop("/drop", dict.fromkeys(names, KERNEL.read_bytes())).text
    assert not {"script", "img", "i"} & {tag for tag, _ in markup(page)}
    assert "\u202e" not in page
    assert list(folder.iterdir()) == []


@given(
    st.text(max_size=300) | st.lists(st.sampled_from(["..", ".", "", "a", "\\", "C:", "\0"])).map("/".join)
)
def test_any_name_becomes_a_short_relative_one(name: str) -> None:
    kept = inside(name)
    parts = kept.split("/")
    assert len(parts) <= 16
    assert all(0 < len(part.encode()) <= 128 and part not in (".", "..") for part in parts)
    assert not re.search("[\x00-\x1f\x7f\\\\:]", kept)


def test_files_of_one_name_are_kept_apart(local: Served) -> None:
    body = form({"k.hsaco": KERNEL.read_bytes()})
    twice = body.removesuffix(f"--{BOUNDARY}--\r\n".encode()) + body
    found = local.ask(
        "POST",
        "/api/report",
        {**local.cookie, "Content-Type": KIND},
        twice,
    )
    assert sorted(each["file"] for each in found.json["kernels"]) == ["k (2).hsaco", "k.hsaco"]


def test_a_file_where_others_have_a_folder(local: Served) -> None:
    found = local.drop("/api/report", {"a": KERNEL.read_bytes(), "a/b.hsaco": KERNEL.read_bytes()}).json
    assert sorted(each["file"] for each in found["kernels"]) == ["a", "a_b.hsaco"]


def test_no_module_dropped_or_in_the_current_folder_is_executed(
    local: Served, folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path_factory.mktemp("here")
    code = f"open({str(here / 'ran')!r}, 'w')".encode()
    modules = ("json.py", "sitecustomize.py", "numpy.py", "msgspec.py", "zlib.py", "click.py", "wavefit.py")
    for name in modules:
        (here / name).write_bytes(code)
    monkeypatch.chdir(here)
    found = local.drop("/api/report", {**dict.fromkeys(modules, code), "k.hsaco": KERNEL.read_bytes()})
    assert [each["name"] for each in found.json["kernels"]] == ["softmax"]
    assert not (here / "ran").exists()
    assert list(folder.iterdir()) == []


class Zeros:
    """A body of so many bytes that is never held; `met` is set when half of it is out."""

    def __init__(self, size: int) -> None:
        self.left, self.half, self.met = size, size // 2, threading.Event()

    def read(self, amount: int) -> bytes:
        amount = min(amount, self.left)
        self.left -= amount
        if self.left < self.half:
            self.met.set()
        return bytes(amount)


def test_300_mb_are_refused_politely_while_another_request_is_answered(local: Served, folder: Path) -> None:
    start = form({"large.bin": b""}).split(b"\r\n--")[0]
    body = Zeros(300 * 10**6)
    statuses: list[tuple[int, str]] = []

    def send() -> None:
        line = http.client.HTTPConnection("127.0.0.1", local.port, timeout=300)
        line.putrequest("POST", "/api/report")
        for key, value in {
            **local.cookie,
            "Content-Type": KIND,
            "Content-Length": str(len(start) + body.left),
        }.items():
            line.putheader(key, value)
        line.endheaders()
        line.send(start)
        line.send(body)
        answer = line.getresponse()
        statuses.append((answer.status, json.loads(answer.read())["error"]))
        line.close()

    sender = threading.Thread(target=send)
    sender.start()
    assert body.met.wait(240)
    assert local.get("/api/fit?chip=MI355X&vgprs=128&threads=256").status == 200
    sender.join(240)
    assert statuses == [(413, "more than 256 MiB; drop fewer or smaller files")]
    assert list(folder.iterdir()) == []


def test_a_client_that_asks_first_is_refused_before_it_sends(local: Served) -> None:
    line = http.client.HTTPConnection("127.0.0.1", local.port, timeout=60)
    line.putrequest("POST", "/api/report")
    headers = {
        **local.cookie, "Expect": "100-continue", "Content-Length": str(1 << 40),
        "Content-Type": KIND,
    }  # fmt: skip
    for key, value in headers.items():
        line.putheader(key, value)
    line.endheaders()
    assert line.getresponse().status == 413
    line.close()


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Content-Type": "text/plain"}, b"x", 415),
        ({"Content-Type": "multipart/form-data"}, b"x", 415),
        ({"Content-Type": "multipart/form-data; boundary=b"}, b"not a form", 400),
        ({"Content-Type": "multipart/form-data; boundary=b"}, b"--b--\r\n", 400),
        ({"Content-Type": "multipart/form-data; boundary=b"}, FIELD, 400),
        ({"Content-Type": "multipart/form-data; boundary=" + "b" * 5000}, b"x", 400),
    ],
)  # fmt: skip
def test_what_is_no_form_with_files_is_refused(
    local: Served, folder: Path, headers: dict[str, str], body: bytes, status: int
) -> None:
    answer = local.ask("POST", "/api/report", {**local.cookie, **headers}, body)
    assert (answer.status, answer.json["schema"]) == (status, "wavefit.error/1")
    assert list(folder.iterdir()) == []


def test_a_form_cut_short_is_refused(local: Served, folder: Path) -> None:
    body = form({"k.hsaco": KERNEL.read_bytes()})[:2000]
    kind = {**local.cookie, "Content-Type": KIND}
    assert local.ask("POST", "/api/report", kind, body).status == 400
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("bounds", "status", "says"),
    [
        (Bounds(upload=1 * MIB), 413, "1 MiB"),
        (Bounds(files=2), 413, "2 files"),
        (Bounds(seconds=0), 422, "0 seconds"),
        (Bounds(memory=16 * MIB), 422, ""),
        (Bounds(answer=100), 422, "larger than"),
        (Bounds(upload_seconds=0), 408, "longer than"),
    ],
    ids=["bytes", "files", "time", "memory", "answer", "sending"],
)
def test_every_bound_is_one_line_and_leaves_nothing_behind(
    folder: Path, bounds: Bounds, status: int, says: str
) -> None:
    files = {f"{at}.hsaco": KERNEL.read_bytes() + bytes(MIB) for at in range(3)}
    with served(bounds) as running:
        answer = running.drop("/api/report", files)
        page = running.drop("/drop", files)
    assert (answer.status, page.status) == (status, status)
    assert says in answer.json["error"]
    assert "\n" not in answer.json["error"]
    assert "Traceback" not in answer.text + page.text
    assert 'class="refused"' in page.text
    assert list(folder.iterdir()) == []


def test_another_origin_may_not_drop(local: Served) -> None:
    assert local.drop("/api/report", {"k": b"x"}, Origin="http://evil.example").status == 403
    anyone = {"Content-Type": KIND}
    assert local.ask("POST", "/api/report", anyone, form({"k": b"x"})).status == 403


def test_what_holds_no_kernel_says_so(local: Served) -> None:
    found = local.drop("/api/report", {"readme.txt": b"hello"})
    assert found.status == 200
    assert found.json["kernels"] == []
    assert "no kernels" in found.json["errors"][0]["cause"]
