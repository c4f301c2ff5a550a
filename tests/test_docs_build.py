"""The site as it is built: strict, both languages, figures drawn, nothing from another host."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import blocks

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material", reason="needs MkDocs Material (wavefit[docs])")
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)],
        capture_output=True, text=True, cwd=blocks.ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


def test_every_page_is_there_in_both_languages(site: Path) -> None:
    pages = [page.relative_to(blocks.ROOT / "docs/en") for page in (blocks.ROOT / "docs/en").rglob("*.md")]
    missing = [
        page
        for page in pages
        for root in (site, site / "zh")
        if not (root / page.with_suffix(".html")).exists()
    ]
    assert missing == []


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    loads = re.compile(
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(https?://|//)|<link\b[^>]*\bhref=[\"']?(https?:)?//"
    )
    assert [page for page in site.rglob("*.html") if loads.search(page.read_text(encoding="utf-8"))] == []


def test_every_figure_of_a_page_is_drawn(site: Path) -> None:
    shown = 0
    for page in site.rglob("*.html"):
        for source in re.findall(r'<img[^>]*src="([^"#]+)', page.read_text(encoding="utf-8")):
            shown += 1
            assert (page.parent / source).resolve().is_file(), f"{page.name}: {source}"
    assert shown >= 20
