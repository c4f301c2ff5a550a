"""The local page without a browser: who gets in, what goes out, and that its answers are the library's."""

from __future__ import annotations

import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import pytest

import wavefit as wf
from tests.web_server import Served, served
from wavefit.report.charts.style import DARK, LIGHT, Theme
from wavefit.report.language import catalogue
from wavefit.web import drawing, pages, shown
from wavefit.web.drawing import ticks
from wavefit.web.guard import Keys
from wavefit.web.serve import _door

ROOT = Path(__file__).parents[1]
PAGES = ("/", "/compare", "/drop", "/matrix", "/feed", "/tiles")
STYLE = ROOT / "src/wavefit/report/page/style.css"


@pytest.fixture(scope="module")
def local() -> Iterator[Served]:
    with served() as running:
        yield running


def test_the_token_is_exchanged_for_a_strict_cookie_that_is_not_the_token(local: Served) -> None:
    host = {"Host": f"127.0.0.1:{local.port}"}
    opened = local.ask("GET", f"/?token={local.keys.token}&lang=zh", host)
    assert (opened.status, opened.headers["location"]) == (303, "/?lang=zh")
    cookie = opened.headers["set-cookie"]
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip() for part in cookie.lower().split(";")}
    assert local.keys.token not in cookie
    again = local.ask("GET", "/", {**host, "Cookie": cookie.split(";")[0]})
    assert again.status == 200


@pytest.mark.parametrize("path", [*PAGES, "/api/chips", "/openapi.json", "/static/style.css", "/nothing"])
def test_without_the_cookie_nothing_is_answered(local: Served, path: str) -> None:
    for headers in ({}, {"Cookie": f"{local.keys.cookie}={local.keys.token}"}, {"Authorization": "Bearer x"}):
        assert local.ask("GET", path, headers).status == 403
    assert local.ask("GET", f"{path}?token=guess", {}).status == 403


def test_a_script_may_bear_the_token(local: Served) -> None:
    assert local.ask("GET", "/api/chips", {"Authorization": f"Bearer {local.keys.token}"}).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}", ""]
)
def test_another_host_is_refused_whoever_asks(local: Served, host: str) -> None:
    assert local.get("/", Host=host.format(port=local.port)).status == 421


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_the_names_of_this_machine_are_its_host(local: Served, name: str) -> None:
    assert local.get("/api/chips", Host=f"{name}:{local.port}").status == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}", ""]
)
@pytest.mark.parametrize("path", ["/", "/api/chips", "/drop"])
def test_another_origin_is_refused_with_the_cookie_too(local: Served, origin: str, path: str) -> None:
    assert local.get(path, Origin=origin.format(port=local.port)).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])  # same-site: another port of this machine
def test_another_site_is_refused(local: Served, site: str) -> None:
    assert local.get("/", **{"Sec-Fetch-Site": site}).status == 403


def test_its_own_origin_is_served(local: Served) -> None:
    own = {"Origin": local.home, "Sec-Fetch-Site": "same-origin", "Host": f"127.0.0.1:{local.port}"}
    assert local.get("/api/chips", **own).status == 200


@pytest.mark.parametrize("path", [*PAGES, "/api/chips", "/static/page.js", "/nothing"])
def test_every_answer_forbids_what_a_page_may_not_do(local: Served, path: str) -> None:
    for answer in (local.get(path), local.ask("GET", path, {})):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"


def test_keys_are_not_shown_and_differ() -> None:
    one, other = Keys.of("127.0.0.1", 80), Keys.of("127.0.0.1", 80)
    assert len({one.token, one.session, other.token, other.session}) == 4
    assert one.token not in repr(one)
    assert one.session not in repr(one)


def test_the_page_that_a_browser_is_started_with_is_its_owners_alone(tmp_path: Path) -> None:
    door = _door(tmp_path, "http://127.0.0.1:1/?token=x&y=1")
    assert stat.S_IMODE(door.stat().st_mode) == 0o600
    assert 'url=http://127.0.0.1:1/?token=x&amp;y=1"' in door.read_text()


def test_the_command_says_the_address_and_ends_when_interrupted() -> None:
    run = [sys.executable, "-m", "wavefit", "serve"]
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        assert child.stdout is not None
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=\S{43}\n", child.stdout.readline())
        child.terminate()


FITS = (
    {"chip": "MI355X", "vgprs": 128, "sgprs": 50, "lds": 32768, "threads": 256},
    {"chip": "MI300X", "vgprs": 100, "agprs": 28, "threads": 512, "lds_dynamic": 4096},
    {"chip": "gfx1100", "vgprs": 96, "threads": 192, "mode": "cu", "wave": 32},
    {"chip": "H200", "vgprs": 168, "lds": 100000, "threads": 384},
    {"chip": "MI355X", "vgprs": 128, "view": "llvm-22", "threads": 256},
    {"chip": "MI250X", "vgprs": 64, "lds": 70000, "threads": 64},
)


@pytest.mark.parametrize("asked", FITS, ids=str)
def test_the_json_of_a_fit_is_the_librarys(local: Served, asked: dict[str, object]) -> None:
    found = local.get(f"/api/fit?{urlencode(asked)}").json
    named = {key: value for key, value in asked.items() if key != "chip"}
    assert found == wf.fit(asked["chip"], **named).to_dict()


@pytest.mark.parametrize(("threads", "asked"), [("64:1024", (64, 1024)), (None, None)])
def test_a_range_of_sizes_is_answered_with_two_fits(
    local: Served, threads: str | None, asked: object
) -> None:
    query = urlencode({"chip": "MI355X", "vgprs": 100, **({"threads": threads} if threads else {})})
    assert local.get(f"/api/fit?{query}").json == wf.fit("MI355X", vgprs=100, threads=asked).to_dict()


def test_stairs_tell_what_fit_tells_at_every_end(local: Served) -> None:
    asked = {"chip": "gfx90a", "total_vgprs": 100, "sgprs": 60, "lds": 20000, "threads": 256}
    found = local.get(f"/api/stairs?{urlencode(asked)}").json["resources"]
    names = {"vgpr": "total_vgprs", "sgpr": "sgprs", "lds": "lds", "threads": "threads"}
    assert {each["resource"] for each in found} == set(names)
    for each in found:
        for stair in each["stairs"]:
            for end in (stair["low"], stair["high"]):
                given = {**asked, names[each["resource"]]: end}
                assert wf.fit(given.pop("chip"), **given).waves_per_simd == stair["waves"]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/api/fit?chip=MI35X", "MI355X"),
        ("/api/fit?chip=MI355X&vgprs=1&total_vgprs=2", "total_vgprs"),
        ("/api/fit?chip=MI355X&vgprs=-1", "vgprs"),
        ("/api/fit?chip=MI355X&vgprs=1_0", "vgprs"),
        ("/api/fit?chip=MI355X&colour=1", "colour"),
        ("/api/fit?chip=MI355X&view=nobody", "nobody"),
        ("/api/feed?chip=MI355X&instruction=nothing&ilp=1&waves=1", "nothing"),
        ("/api/layout?chip=H200&instruction=x&operand=A", "x"),
        ("/api/tiles?chip=MI355X&m=0&n=1&k=1&dtype=bf16", "m"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(local: Served, path: str, says: str) -> None:
    answer = local.get(path)
    assert (answer.status, answer.json["schema"]) == (422, "wavefit.error/1")
    assert says in answer.json["error"]
    assert "\n" not in answer.json["error"]


@pytest.mark.parametrize("page", ["/?vgprs=x&chip=MI355X", "/?chip=nothing", "/tiles?m=1", "/feed?chip=zzz"])
def test_a_page_says_in_its_place_what_cannot_be_asked(local: Served, page: str) -> None:
    answer = local.get(page)
    assert answer.status == 200
    assert 'class="refused"' in answer.text or page.startswith("/feed")


def test_what_is_typed_or_linked_shows_as_text(local: Served) -> None:
    hostile = "<script>alert(1)</script>\u202e"
    for page in PAGES[:1] + PAGES[3:]:
        text = local.get(f"{page}?{urlencode({'chip': hostile, 'type': hostile, 'dtype': hostile})}").text
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text


@pytest.mark.parametrize(
    ("header", "lang", "shown"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "", "zh-Hans"),
        ("en-GB,zh;q=0.5", "", "en"),
        ("zh;q=0.3,en;q=0.9", "", "en"),
        ("fr,zh-Hans-CN;q=0.7", "", "zh-Hans"),
        ("zh-CN", "en", "en"),
        ("en", "zh", "zh-Hans"),
        (";q=,,;;q=x", "", "en"),
    ],
)
def test_the_language_is_the_browsers_or_the_links(local: Served, header: str, lang: str, shown: str) -> None:
    page = local.get("/" + (f"?lang={lang}" if lang else ""), **{"Accept-Language": header}).text
    assert f'<html lang="{shown}">' in page
    assert ("计算器" in page) == (shown == "zh-Hans")


def test_every_text_of_the_templates_has_its_chinese() -> None:
    folder = ROOT / "src/wavefit/web"
    sources = [*folder.glob("templates/*.html"), *folder.glob("*.py")]
    texts = [text for each in sources for text in re.findall(r'\bsay\(\s*"([^"]+)"', each.read_text("utf-8"))]
    texts += [*(name for _, name in pages.PAGES), *drawing._HEADS.values(), *shown.BOUNDS.values()]
    assert len(texts) > 100
    assert [text for text in texts if text not in catalogue("zh")] == []


def test_no_page_has_inline_script_or_style_or_an_outside_address(local: Served) -> None:
    for page in PAGES:
        text = local.get(page).text
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", text)
        assert not re.search(r'(?:src|href|action)="(?!/|#)', text)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_pages_colours_are_the_charts(theme: Theme) -> None:
    light, dark = STYLE.read_text("utf-8").split("@media (prefers-color-scheme: dark)", 1)
    text = light if theme is LIGHT else dark
    said = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", text))
    names = ("background", "text", "quiet", "grid", "axis", "line", "limit", "good")
    assert {name: said[name] for name in names} == {name: getattr(theme, name) for name in names}
    assert tuple(said[f"series-{at}"] for at in range(1, 7)) == theme.series


@pytest.mark.parametrize(
    ("most", "about"), [(512, 6), (102, 6), (160, 6), (8, 4), (1, 4), (0.5, 6), (0, 6), (227, 6)]
)
def test_ticks_are_round_rising_and_not_beyond_the_end(most: float, about: int) -> None:
    found = ticks(most, about)
    assert found[0] == 0
    assert found[-1] <= most
    assert len(found) <= about + 1
    assert len({round(b - a, 9) for a, b in pairwise(found)}) <= 1
