"""Text that may hold kernels: only its beginning is searched, up to a bound."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from functools import lru_cache

from wavefit.kernels.source import Source

HEAD = 4096
_LAYOUT = dict.fromkeys(map(ord, "\t\n\r\f\x1b"))
"""Control characters of text; the last one colours what compilers print."""


@lru_cache(maxsize=2)  # one reader of text after the other asks it of the same file
def is_text(head: bytes) -> bool:
    """Whether these first bytes of a file are UTF-8 without control characters."""
    try:
        text, _ = codecs.utf_8_decode(head, "strict", False)  # not final: the last character may be cut
    except UnicodeDecodeError:
        return False
    return text.translate(_LAYOUT).isprintable()


def text_of(source: Source) -> bytes:
    """The text, as far as it is searched."""
    return source.some(0, source.reading.bounds.text)


def text_with(source: Source, needles: Iterable[bytes]) -> bool:
    """Whether this is text and holds one of the words."""
    if not is_text(source.head(HEAD)):
        return False
    text = text_of(source)
    return any(needle in text for needle in needles)
