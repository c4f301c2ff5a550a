"""The local page in Chromium: pages quiet and accessible, numbers typed in, files dropped, keys alone."""

from __future__ import annotations

import re
import shutil
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import wavefit as wf
from tests import browser as chromium
from tests.browser import PHONE, Watched, grave, watched
from tests.kernels_builder import ENTRY, code_object, descriptor, metadata, note
from tests.web_server import Served, served
from wavefit.web.pages import START
from wavefit.web.worker import Bounds

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

browser = chromium.browser
pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "examples/compiled"
PAGES = {
    "calculator": "/",
    "refused": "/?chip=MI355X&vgprs=many",
    "range": "/?chip=gfx1100&vgprs=96&threads=64:1024",
    "view": "/?chip=MI355X&vgprs=96&view=llvm-22&threads=256",
    "compare": "/compare",
    "matrix": "/matrix",
    "layout": "/matrix?chip=MI355X&instruction=v_mfma_f32_16x16x32_bf16&operand=B",
    "nvidia": "/matrix?chip=H200",
    "feed": "/feed",
    "tiles": "/tiles",
    "drop": "/drop",
}
ANSWERED = """() => {
  const asked = [...new FormData(document.querySelector("form[data-live]"))]
    .filter(([, text]) => text.trim()).map(([name, text]) => [name, text.trim()]);
  return document.getElementById("answer").dataset.for === new URLSearchParams(asked).toString();
}"""


@pytest.fixture(scope="module")
def local() -> Iterator[Served]:
    with served() as running:
        yield running


def opened(seen: Watched, local: Served, path: str = "/") -> Page:
    """In by the address that the command prints, then on to a page."""
    seen.page.goto(local.address)
    seen.page.goto(local.home + path)
    return seen.page


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_page_is_quiet_and_accessible(browser: Browser, local: Served, path: str, dark: bool) -> None:
    with watched(browser, local.home, dark=dark, locale="zh-CN" if dark else "en-US") as seen:
        page = opened(seen, local, path)
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert grave(page) == []
        seen.clean()


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_no_page_is_wider_than_a_phone(browser: Browser, local: Served, path: str) -> None:
    with watched(browser, local.home, window=PHONE) as seen:
        page = opened(seen, local, path)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        assert grave(page) == []
        seen.clean()


FIELDS = ("vgprs", "agprs", "sgprs", "lds", "lds_dynamic", "threads")
CHIPS = ("MI355X", "MI300X", "MI250X", "MI100", "BW1000", "RX 7900 XTX", "gfx1201", "H200", "A100", "gfx90a")


def question(random: Random) -> dict[str, str]:
    """Something to type in; now and then what cannot be asked or cannot launch."""
    chip = random.choice(CHIPS)
    most = {"vgprs": 512, "agprs": 256, "sgprs": 110, "lds": 200_000, "lds_dynamic": 30_000}
    asked = {name: str(random.randint(0, high)) for name, high in most.items() if random.random() < 0.6}
    if random.random() < 0.3:
        asked["lds"] = f"{random.randint(0, 128)}K"
    if random.random() < 0.9:
        asked["threads"] = str(random.randint(1, 1024))
    return {"chip": chip, **asked}


def answer(asked: Mapping[str, str]) -> wf.Fit | wf.FitRange | str:
    """What the library says to it."""
    given: dict[str, Any] = {key: text for key, text in asked.items() if key != "chip"}
    for key, text in given.items():
        given[key] = int(text[:-1]) * 1024 if text.endswith("K") else int(text)
    try:
        return wf.fit(asked["chip"], **given)
    except wf.BadQuestion as why:
        return str(why)


def shown(page: Page) -> list[tuple[str, str, str, str, list[str]]]:
    """Threads, waves a SIMD, workgroups, occupancy and what binds, of each Fit on the page."""
    read = """() => [...document.querySelectorAll(".fit")].map((fit) => [
      fit.dataset.threads,
      ...["waves_per_simd", "workgroups", "occupancy"].map(
        (key) => fit.querySelector(`[data-key=${key}]`).dataset.value),
      [...fit.querySelectorAll("tr.binds")].map((row) => row.dataset.resource),
    ])"""
    return [tuple(fit) for fit in page.evaluate(read)]


def expected(fit: wf.Fit) -> tuple[str, str, str, str, list[str]]:
    rows = [limit.resource for limit in fit.limits if limit.resource in fit.binding]
    return str(fit.threads), str(fit.waves_per_simd), str(fit.workgroups), str(fit.occupancy), rows


def test_200_questions_typed_in_are_answered_as_the_library_does(browser: Browser, local: Served) -> None:
    random, before, kinds = Random(20), START, set()
    with watched(browser, local.home) as seen:
        page = opened(seen, local)
        for _ in range(200):
            asked = question(random)
            page.select_option("#chip", asked["chip"])
            for name in FIELDS:
                if asked.get(name) != before.get(name):
                    page.fill(f"#{name}", asked.get(name, ""))
            before = asked
            page.wait_for_function(ANSWERED)
            found = answer(asked)
            kinds.add(type(found).__name__)
            if isinstance(found, str):
                assert page.inner_text("#answer .refused") == found, asked
            elif isinstance(found, wf.FitRange):
                ends = [found.low, found.high] if found.low.threads != found.high.threads else [found.low]
                assert shown(page) == [expected(each) for each in ends], asked
            else:
                assert shown(page) == [expected(found)], asked
        seen.clean()
    assert kinds == {"Fit", "FitRange", "str"}


def words(page: Page) -> list[str]:
    """The answer's text, however it is laid out."""
    return (page.text_content("#answer") or "").split()


def test_a_link_reproduces_the_answer_with_and_without_script(browser: Browser, local: Served) -> None:
    with watched(browser, local.home) as seen:
        page = opened(seen, local)
        page.select_option("#chip", "H200")
        page.fill("#vgprs", "168")
        page.wait_for_function(ANSWERED)
        link, text = page.url, words(page)
        again = seen.page.context.new_page()
        again.goto(link)
        assert words(again) == text
        assert "chip=H200" in link
    plain = browser.new_context(java_script_enabled=False)
    try:
        page = plain.new_page()
        page.goto(local.address)
        page.select_option("#chip", "H200")
        page.fill("#vgprs", "168")
        page.click("form[data-live] button")
        assert words(page) == text
    finally:
        plain.close()


def focused(page: Page) -> str:
    """The id of what has the focus, which must be seen to have it."""
    about = page.evaluate(
        """() => {
          const it = document.activeElement, look = getComputedStyle(it);
          const outlined = look.outlineStyle !== "none" && parseFloat(look.outlineWidth) >= 2;
          return [it.id, outlined || it === document.body];
        }"""
    )
    assert about[1], f"{about[0]}: the focus cannot be seen"
    return str(about[0])


def test_keys_alone_suffice(browser: Browser, local: Served) -> None:
    with watched(browser, local.home) as seen:
        page = opened(seen, local)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # past the head, to the content
        reached = []
        typed = {"vgprs": "168", "sgprs": "", "threads": "384", "lds": "100000"}
        for _ in range(60):
            page.keyboard.press("Tab")
            at = focused(page)
            reached.append(at)
            if at == "chip":
                page.keyboard.type("H200")
            elif at in typed:
                page.keyboard.press("Control+A")
                page.keyboard.press("Delete")
                page.keyboard.type(typed[at])
            if at == "view":
                break
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # More
        page.keyboard.press("Tab")
        assert focused(page) == "total_vgprs"
        page.keyboard.press("Enter")  # the answer
        page.wait_for_function(ANSWERED)
        assert reached == [
            "chip",
            "vgprs",
            "agprs",
            "sgprs",
            "threads",
            "lds",
            "lds_dynamic",
            "mode",
            "wave",
            "view",
        ]
        assert shown(page) == [expected(wf.fit("H200", vgprs=168, threads=384, lds=100000))]
        assert "3 of 16 waves a SIMD" in page.inner_text("#said")  # what a screen reader says
        for _ in range(80):  # and on to the end of the page, nothing keeps the focus
            page.keyboard.press("Tab")
            focused(page)
        seen.clean()


def test_every_field_has_a_label_and_the_answer_is_announced(browser: Browser, local: Served) -> None:
    with watched(browser, local.home) as seen:
        for path in ("/", "/compare", "/matrix", "/feed", "/tiles", "/drop"):
            page = opened(seen, local, path)
            for each in page.query_selector_all("main input:not([type=hidden]), main select"):
                name = each.get_attribute("id")
                assert (page.text_content(f'label[for="{name}"]') or "").strip(), (path, name)
            assert page.get_attribute("#said", "aria-live") == "polite"


def test_sliders_move_the_estimate_along_the_curves(browser: Browser, local: Served) -> None:
    name = "v_mfma_f32_16x16x32_bf16"
    with watched(browser, local.home) as seen:
        page = opened(seen, local, f"/feed?chip=MI355X&instruction={name}&ilp=1&waves=1")
        for ilp, waves in ((2, 1), (4, 2), (1, 3)):
            page.fill("#ilp", str(ilp))
            page.fill("#waves", str(waves))
            page.wait_for_function(ANSWERED)
            found = wf.feed("MI355X", instruction=name, ilp=ilp, waves=waves)
            assert page.inner_text('output[for="ilp"]') == str(ilp)
            assert page.inner_text(".verdict").startswith(f"{found.utilisation * 100:.4g} %")
        page.select_option("#chip", "MI300X")
        page.wait_for_url("**/feed?chip=MI300X**")
        assert "gfx942" in page.inner_text("#answer") or "MI300X" in page.inner_text("#answer")
        seen.clean()


def dropping(page: Page, name: str, content: bytes, padding: int = 0) -> None:
    """A file let go over the page: the content and so many zeros."""
    transfer = page.evaluate_handle(
        """([name, text, zeros]) => {
          const held = new DataTransfer(), bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
          held.items.add(new File([bytes, new Uint8Array(zeros)], name));
          return held;
        }""",
        [name, b64encode(content).decode(), padding],
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": transfer})


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_dropped_file_gives_its_report(browser: Browser, local: Served, dark: bool) -> None:
    path = KERNELS / "softmax_gfx942_32768_w8.hsaco"
    (kernel,) = wf.kernels(path)
    found = wf.fit(kernel)
    with watched(browser, local.home, dark=dark) as seen:
        page = opened(seen, local, "/drop")
        dropping(page, path.name, path.read_bytes())
        page.wait_for_selector("#answer table")
        assert page.inner_text("#answer h2") == "softmax"
        row = page.inner_text("#answer tbody tr").split()
        assert row[:3] == ["softmax", "gfx942", str(kernel.total_vgprs)]
        assert f"{found.waves_per_simd:g} of 8 waves a SIMD" in page.inner_text("#answer")
        assert page.inner_text("#said") == "1 kernel"
        assert grave(page) == []
        page.click("#answer details.kernel p > a")  # on to the calculator with its numbers
        assert shown(page)[0][1:4] == expected(found)[1:4]
        seen.clean()


def test_a_chosen_triton_cache_folder_gives_its_report(
    browser: Browser, local: Served, tmp_path: Path
) -> None:
    for name in ("softmax_gfx942_32768_w8", "gemm_bf16_gfx950_128x128x64_w4"):
        (tmp_path / "cache" / name).mkdir(parents=True)
        for suffix in (".hsaco", ".json"):
            shutil.copy(KERNELS / f"{name}{suffix}", tmp_path / "cache" / name / f"k{suffix}")
    with watched(browser, local.home) as seen:
        page = opened(seen, local, "/drop")
        page.set_input_files("#folder", tmp_path / "cache")
        page.wait_for_selector("#answer table")
        assert page.inner_text("#answer .verdict") == "2 kernels"
        assert "cache/softmax_gfx942_32768_w8/k.hsaco" in page.inner_text("#answer")
        seen.clean()


@pytest.mark.parametrize(
    "name",
    [
        "<script>document.title='run'</script>",
        "a\u202egnp.\u2066exe",
        "x" * 65536,
        "<img src=/x onerror=alert(1)>",
    ],
    ids=["script", "direction", "long", "image"],
)
def test_a_hostile_kernel_name_shows_as_text(browser: Browser, local: Served, name: str) -> None:
    entry = {**ENTRY, ".name": name, ".symbol": f"{name}.kd"}
    content = code_object(note(metadata(entry)), {f"{name}.kd": descriptor()})
    with watched(browser, local.home, window=PHONE) as seen:
        page = opened(seen, local, "/drop")
        dropping(page, "k.hsaco", content)
        page.wait_for_selector("#answer table")
        text = page.inner_text("#answer h2")
        assert text[:20] == re.sub("[\u202e\u2066]", lambda hidden: f"\\u{ord(hidden[0]):04x}", name)[:20]
        assert page.query_selector("#answer script, #answer img") is None
        assert page.title().startswith("Report of files")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        seen.clean()


def test_what_is_too_large_is_refused_before_it_is_sent(browser: Browser) -> None:
    with served(Bounds(upload=1 << 20)) as local, watched(browser, local.home) as seen:
        page = opened(seen, local, "/drop")
        sent: list[str] = []
        page.on("request", lambda asked: sent.append(asked.url))
        dropping(page, "large.bin", b"", padding=(1 << 20) + 1)
        page.wait_for_selector("#answer .refused")
        assert page.inner_text("#answer") == "more than 1 MiB; drop fewer or smaller files"
        assert [url for url in sent if url.endswith("/drop")] == []
        seen.clean()


def test_another_page_cannot_frame_or_read_it(browser: Browser, local: Served) -> None:
    with served() as other, watched(browser, local.home) as seen:
        page = opened(seen, local)
        page.goto(other.address)  # another origin in the same browser, with its cookies
        told = page.evaluate(f"fetch('{local.home}/api/chips').then(() => 'read', () => 'refused')")
        assert told == "refused"
