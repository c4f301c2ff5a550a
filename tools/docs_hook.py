"""What MkDocs asks while it builds the site: fills `{{ kind:which }}` on pages, and draws their figures.

{{ commands }}  {{ api }}  {{ schemas }}  {{ views }}      references, from the code
{{ chips:cdna }}  {{ matrix:gfx942 gfx950 }}  {{ matrix-none }}
{{ figure:NAME }}                                            see docs_figures.py
{{ accuracy:KEY }}                                           see docs/templates/accuracy.toml
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tools import (  # noqa: E402
    docs_accuracy,
    docs_api,
    docs_chips,
    docs_commands,
    docs_figures,
    docs_matrix,
    docs_schemas,
    docs_views,
)

log = logging.getLogger("mkdocs.hooks.wavefit")
FIGURES = "assets/figures"
Fill = Callable[[str, str], str]
FILLS: dict[str, Fill] = {
    "api": lambda _, language: docs_api.api(language),
    "commands": lambda _, language: docs_commands.commands(language),
    "schemas": lambda _, language: docs_schemas.schemas(language),
    "views": lambda _, language: docs_views.views(language),
    "chips": docs_chips.chips,
    "matrix": docs_matrix.instructions,
    "matrix-none": lambda _, language: docs_matrix.without(language),
    "accuracy": lambda which, language: docs_accuracy.quoted(docs_accuracy.load(), which, language),
}
_drawn: set[str] = set()


def filled(text: str, language: str, figures: str = FIGURES) -> str:
    """A page's text with its places filled; `figures` is the way to their folder. Raises KeyError."""

    def fill(kind: str, which: str) -> str:
        if kind == "figure":
            _drawn.add(which)
            return docs_figures.html(which, language, figures)
        return FILLS[kind](which, language)

    return docs_accuracy.expanded(text, fill)


_FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
_WIDE = "[\u3000-\u9fff\uff00-\uffef]"
_BROKEN = re.compile(f"(?<={_WIDE})\n(?={_WIDE})")


def joined(text: str) -> str:
    """Lines that break between two Chinese characters put together: a browser would show a blank there."""
    parts = _FENCED.split(text)
    return "".join(part if at % 2 else _BROKEN.sub("", part) for at, part in enumerate(parts))


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """MkDocs: a page's text before it becomes HTML."""
    language = page.file.src_uri.partition("/")[0]
    up = "../" * page.url.count("/")
    try:
        return joined(filled(markdown, language, f"{up}{FIGURES}"))
    except KeyError as error:
        log.warning("%s: nothing to fill in for %s", page.file.src_uri, error)
        return markdown


def on_post_build(*, config: Any) -> None:
    """MkDocs: the pages of a language are written; their figures go beside them."""
    folder = Path(config["site_dir"]) / FIGURES
    known = docs_figures.FIGURES.keys() & _drawn
    docs_figures.write(folder, {name for name in known if not (folder / f"{name}-dark.svg").exists()})
