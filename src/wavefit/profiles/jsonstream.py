"""JSON larger than memory: values are decoded one at a time, at a place the caller steps to."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from wavefit.profiles.model import Problem, ProfileError

LARGEST_VALUE = 64 << 20
"""Characters of one value decoded at once; a whole agent with its caches is 0.1 MB."""
_SPACE = re.compile(r"[ \t\r\n]*")


class JsonStream:
    """A cursor in JSON text. The window holds what is being decoded and at most a chunk more.

    Errors are ProfileErrors that name the offset (in characters); what was handed out before stays good.
    """

    def __init__(self, file: str, chunks: Iterable[bytes]) -> None:
        self.file, self.offset = file, 0
        self._source = iter(chunks)
        self._decode = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode
        self._json = json.JSONDecoder().raw_decode
        self._window, self._at, self._ended = "", 0, False

    def items(self) -> Iterator[str]:
        """The keys of the object here; the caller takes or skips each value before the next key."""
        self._expect("{")
        if self._peek() == "}":
            self._at += 1
            return
        while True:
            name = self.value()
            self._expect(":")
            yield str(name)
            if self._next(",}") == "}":
                return

    def elements(self) -> Iterator[None]:
        """The elements of the array here; the caller takes or skips each before the next."""
        self._expect("[")
        if self._peek() == "]":
            self._at += 1
            return
        while True:
            yield None
            if self._next(",]") == "]":
                return

    def value(self) -> Any:
        """The whole value here."""
        self._peek()
        while True:
            try:
                value, end = self._json(self._window, self._at)
                if end < len(self._window) or self._ended:  # a number may go on in the next chunk
                    self._at = end
                    return value
            except RecursionError:
                raise self._bad("values nested too deep") from None
            except ValueError as error:
                if self._ended:
                    raise self._bad(f"cut off or not JSON ({error.args[0].split(':')[0]})") from None
            if len(self._window) - self._at > LARGEST_VALUE:
                raise self._bad(f"one value of more than {LARGEST_VALUE >> 20} MiB")
            self._more(len(self._window) - self._at)

    def skip(self) -> None:
        """Past the value here; long arrays and objects are passed in pieces."""
        here = self._peek()
        if here == "[":
            for _ in self.elements():
                self._skip_flat()
        elif here == "{":
            for _ in self.items():
                self._skip_flat()
        else:
            self.value()

    def _skip_flat(self) -> None:
        if self._peek() == "[":
            for _ in self.elements():
                self.value()
        else:
            self.value()

    def _peek(self) -> str:
        while True:
            self._at = _SPACE.match(self._window, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._window):
                return self._window[self._at]
            if self._ended:
                raise self._bad("cut off")
            self._more(0)

    def _next(self, wanted: str) -> str:
        here = self._peek()
        if here not in wanted:
            raise self._bad(f"{here!r} where one of {wanted!r} should be")
        self._at += 1
        return here

    def _expect(self, wanted: str) -> None:
        self._next(wanted)

    def _more(self, kept: int) -> None:
        """Drops what lies behind and reads on, at least as much again as is kept."""
        self.offset += self._at
        pieces = [self._window[self._at :]]
        self._at, gained = 0, 0
        for piece in self._source:
            text = self._decode(piece)
            pieces.append(text)
            gained += len(text)
            if gained > kept:
                break
        else:
            self._ended = True
        self._window = "".join(pieces)

    def _bad(self, cause: str) -> ProfileError:
        return ProfileError(Problem(self.file, f"{cause} at character {self.offset + self._at}"))
