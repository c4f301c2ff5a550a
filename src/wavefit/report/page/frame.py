"""The frame of a page: one file, its style and script inside, and a policy that allows nothing else."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files

from wavefit.report.language import language, say

_FRAME = """<!DOCTYPE html>
<html lang="{lang}"{fixed}>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{body}
{tail}</body>
</html>
"""


def framed(title: str, body: str, *, scripts: Sequence[str] = (), data: str = "", fixed: bool = False) -> str:
    """A whole page. `body` is markup, `title` text, `scripts` files of this room, `data` base64."""
    style = _read("style.css") + _read("report.css")
    script = "\n".join(_read(f"script/{each}.js") for each in scripts)
    tail = f'<script type="text/plain" id="data">{data}</script>\n' if data else ""
    tail += f'<script type="module">{script}</script>\n' if script else ""
    return _FRAME.format(
        lang="zh-Hans" if language() == "zh" else "en",
        fixed=f' data-language="{language()}"' if fixed else "",
        policy=_policy(style, script), title=escape(title), style=style, body=body, tail=tail,
    )  # fmt: skip


def told(tag: str, key: str, attributes: str = "") -> str:
    """An element that says a text of the catalogue, in whichever language the page is switched to."""
    return f'<{tag} data-say="{escape(key)}"{attributes and " " + attributes}>{escape(say(key))}</{tag}>'


def top() -> Iterator[str]:
    """What every page begins with, up to its main part; a script shows the switch of languages."""
    yield told("a", "Skip to the content", 'class="skip" href="#main"')
    yield '<header class="top"><span class="mark">wavefit</span><label class="aside" id="switch" hidden>'
    yield told("span", "Language", 'class="quiet"')
    yield '<select id="language"><option value="en" lang="en">English</option>'
    yield '<option value="zh" lang="zh-Hans">中文</option></select></label></header>'
    yield '<main id="main" tabindex="-1">'


def _policy(style: str, script: str) -> str:
    """Nothing from anywhere, this one style and script, and no way to make markup of text."""
    allowed = f"script-src {_hash(script)}; " if script else ""
    return (
        f"default-src 'none'; {allowed}style-src {_hash(style)}; img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (files("wavefit.report.page") / name).read_text(encoding="utf-8")
