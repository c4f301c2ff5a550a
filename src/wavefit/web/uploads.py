"""Files as they come in: streamed into a folder of their own, bounded, under names that stay inside it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from wavefit.web.worker import Bounds

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

_DRAINED = 4
"""So many times the bound is read and dropped, for a browser to hear the refusal and not a broken line."""
_DEEPEST, _LONGEST = 16, 120
_UNFIT = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')


class Refused(ValueError):
    """An upload that is not taken. One line, and the HTTP status."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@asynccontextmanager
async def uploaded(request: Request, bounds: Bounds) -> AsyncIterator[Path]:
    """A folder with the files of a multipart request, gone with the block. Raises Refused."""
    with TemporaryDirectory(prefix="wavefit-", ignore_cleanup_errors=True) as folder:
        try:
            await asyncio.wait_for(_receive(request, Path(folder), bounds), bounds.upload_seconds)
        except asyncio.TimeoutError:
            raise Refused(408, f"the files took longer than {bounds.upload_seconds:g} seconds") from None
        except FormParserError:
            raise Refused(400, "not a whole form with files (multipart/form-data)") from None
        except ClientDisconnect:
            raise Refused(400, "the line broke before all of the files were here") from None
        except OSError as error:
            raise Refused(507, f"the files could not be put away: {error.strerror}") from None
        yield Path(folder)


async def _receive(request: Request, folder: Path, bounds: Bounds) -> None:
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise Refused(415, "send the files as multipart/form-data")
    declared = request.headers.get("content-length", "")
    too_large = Refused(413, f"more than {bounds.upload >> 20} MiB; drop fewer or smaller files")
    if declared.isdecimal() and int(declared) > bounds.upload and _waits(request):
        raise too_large
    parts = Parts(folder, bounds.files)
    parser = MultipartParser(options[b"boundary"], parts.callbacks())
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size <= bounds.upload:
                parser.write(chunk)
            elif size > _DRAINED * bounds.upload:
                break
        if size > bounds.upload:
            raise too_large
        parser.finalize()
    finally:
        parts.close()
    if not parts.whole:
        raise FormParserError("cut short")
    if not parts.names:
        raise Refused(400, "no file was sent")


def _waits(request: Request) -> bool:
    """Whether the client asked before sending, so that nothing need be read to refuse."""
    return request.headers.get("expect", "").lower() == "100-continue"


class Parts:
    """What the parser finds, written to files as it comes. Fields that are no files are dropped."""

    def __init__(self, folder: Path, most: int) -> None:
        self.folder, self.most = folder, most
        self.names: set[str] = set()
        self.whole = False
        self._field, self._value, self._said = bytearray(), bytearray(), b""
        self._file: BinaryIO | None = None

    def callbacks(self) -> MultipartCallbacks:
        """For the parser: what to call when."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": lambda data, start, end: self._field.extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._value.extend(data[start:end]),
            "on_header_end": self._header,
            "on_headers_finished": self._open,
            "on_part_data": self._data,
            "on_part_end": self.close,
            "on_end": self._end,
        }

    def close(self) -> None:
        """Finish the file at hand, if there is one."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])

    def _end(self) -> None:
        self.whole = True

    def _begin(self) -> None:
        self._said = b""

    def _header(self) -> None:
        if self._field.lower() == b"content-disposition":
            self._said = bytes(self._value)
        self._field, self._value = bytearray(), bytearray()

    def _open(self) -> None:
        given = parse_options_header(self._said)[1].get(b"filename")
        if given is None:
            return
        if len(self.names) >= self.most:
            raise Refused(413, f"more than {self.most} files; drop a smaller folder")
        name = self._free(inside(given.decode("utf-8", "replace")))
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        self._file = place.open("xb")

    def _free(self, name: str) -> str:
        """The name, or one beside it where it is taken, as a file or as a folder of others."""
        if any((self.folder / parent).is_file() for parent in PurePosixPath(name).parents):
            name = name.replace("/", "_")
        path, at = PurePosixPath(name), 1
        while (self.folder / name).exists():
            at += 1
            name = str(path.with_name(f"{path.stem} ({at}){path.suffix}"))
        self.names.add(name)
        return name


def inside(given: str) -> str:
    """A relative name without ways out: no root, no `..`, no control characters, nothing too long or deep."""
    parts = [_UNFIT.sub("_", part).strip() for part in given.replace("\\", "/").split("/")]
    kept = [_short(part) for part in parts if part.strip(". ")]
    return "/".join(kept[-_DEEPEST:]) or "file"


def _short(part: str) -> str:
    """The part in at most so many bytes, its beginning and its ending kept."""
    raw = part.encode("utf-8", "replace")
    if len(raw) <= _LONGEST:
        return part
    half = _LONGEST // 2
    return raw[:half].decode("utf-8", "ignore") + "~" + raw[-half + 4 :].decode("utf-8", "ignore")
