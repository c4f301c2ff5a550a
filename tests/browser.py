"""A headless Chromium for tests: pages that remember console errors and requests to elsewhere, and axe-core.

A test module takes the fixture as `from tests import browser as chromium`, `browser = chromium.browser`. The
browser is the system's `chromium`, driven by Playwright's Python package; nothing is downloaded.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("WAVEFIT_CHROMIUM") or shutil.which("chromium")
DESK, PHONE = (1280, 900), (375, 800)
"""Window sizes: a desk's and a phone's."""
_GRAVE = ("serious", "critical")


@dataclass
class Watched:
    """One page, with what went wrong on it: console errors, uncaught exceptions, requests to elsewhere."""

    page: Page
    home: str
    """What every request has to start with."""
    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def clean(self) -> None:
        """Nothing went wrong so far."""
        assert self.errors == []
        assert self.outside == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, started once a module: its event loop would be in the way of other modules' asyncio."""
    if CHROMIUM is None:
        pytest.skip("no chromium on PATH (WAVEFIT_CHROMIUM names another)")
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    with sync_api.sync_playwright() as driver:
        # --no-sandbox: in a container, as root, Chromium's own sandbox does not start
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


@contextmanager
def watched(
    browser: Browser,
    home: str,
    *,
    dark: bool = False,
    window: tuple[int, int] = DESK,
    locale: str = "en-US",
    bypass_csp: bool = False,
    headers: Mapping[str, str] | None = None,
) -> Iterator[Watched]:
    """A fresh page (own cookies) that watches itself; `home` is the origin, or the file: URL, it may load."""
    context = browser.new_context(
        color_scheme="dark" if dark else "light",
        viewport={"width": window[0], "height": window[1]},
        locale=locale,
        bypass_csp=bypass_csp,
        extra_http_headers=dict(headers or {}),
        accept_downloads=True,
    )
    seen = Watched(context.new_page(), home)
    seen.page.on("console", lambda said: seen.errors.append(said.text) if said.type == "error" else None)
    seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
    context.on("request", lambda asked: _note(seen, asked.url))
    try:
        yield seen
    finally:
        context.close()


def _note(seen: Watched, url: str) -> None:
    if not url.startswith((seen.home, "data:", "blob:", "about:blank")):
        seen.outside.append(url)


def grave(page: Page) -> list[str]:
    """What axe-core calls serious or critical on the page as it stands: rule, and the elements."""
    spec = find_spec("axe_playwright_python")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("needs axe-core: pip install axe-playwright-python")
    # through the debugger rather than the page: the page's own policy forbids evaluated text
    session = page.context.new_cdp_session(page)
    axe = Path(spec.submodule_search_locations[0], "axe.min.js").read_text(encoding="utf-8")
    session.send("Runtime.evaluate", {"expression": axe})
    asked = {"expression": "axe.run()", "awaitPromise": True, "returnByValue": True}
    answer = session.send("Runtime.evaluate", asked)
    session.detach()
    assert "exceptionDetails" not in answer, answer["exceptionDetails"]
    return [_words(found) for found in answer["result"]["value"]["violations"] if found["impact"] in _GRAVE]


def _words(found: Mapping[str, Any]) -> str:
    where = "; ".join(node["html"][:160] + " " + node["failureSummary"][-200:] for node in found["nodes"][:5])
    return f"{found['impact']} {found['id']}: {found['help']}: {where}"
