"""Where the files lie: on this machine, or behind a URL that fsspec opens."""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from types import TracebackType
from typing import Any, BinaryIO, cast

from wavefit.kernels import BadFile
from wavefit.kernels.open import open_file, unreadable, walk
from wavefit.kernels.triton import is_copy

BLOCK = 1 << 20
"""Bytes of a remote file that are fetched at a time, and LRU blocks of them that are kept."""
BLOCKS = 32
_STAMPS = (
    "ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created", "md5Hash", "checksum",
    "generation", "version_id", "CRC",
)  # fmt: skip
"""What a store says of a file that changes with it."""


class CannotReach(ValueError):
    """A URL where none may be used, or one whose library is not installed; one line says what to do."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One file: its name or URL, size, what changes when it does, whether it was asked for by name."""

    name: str
    size: int
    stamp: str
    named: bool


def is_url(name: str) -> bool:
    """Whether this is a URL (`s3://bucket/key`, `zip://*::https://...`) and not a path."""
    return "://" in name and not os.path.exists(name)


def listed(paths: list[str], urls: bool) -> Iterator[Listed | BadFile]:
    """The files under the paths, in sorted order of each; what cannot be listed as errors."""
    for path in paths:
        if is_url(path):
            if not urls:
                raise CannotReach(f"{path}: a URL is read from the command line or Python only")
            yield from _remote(path)
            continue
        named = not os.path.isdir(path)
        for found in [path] if named else walk(path):
            if isinstance(found, BadFile):
                yield found
                continue
            try:
                about = os.stat(found)
            except (OSError, ValueError) as error:
                yield unreadable(found, error)
                continue
            yield Listed(found, about.st_size, str(about.st_mtime_ns), named)


def opener(name: str) -> BinaryIO:
    """The file, for reading at any offset; OSError where it cannot be opened."""
    if not is_url(name):
        return open_file(name)
    try:
        fs, path = reached(name)
        kept = {"cache_type": "blockcache", "block_size": BLOCK, "cache_options": {"maxblocks": BLOCKS}}
        return cast(BinaryIO, _Remote(fs, fs.open(path, "rb", **kept)))
    except (FileNotFoundError, CannotReach):
        raise
    except Exception as error:  # each store has errors of its own
        raise OSError(0, _one_line(error)) from None


class _Remote(AbstractContextManager["_Remote"]):
    """A remote file, whose store's errors are made those of files; it keeps the store from being closed."""

    def __init__(self, store: Any, file: Any) -> None:
        self._store, self._file = store, file

    def seek(self, at: int, whence: int = 0) -> int:
        return cast(int, self._or_error(self._file.seek, at, whence))

    def read(self, count: int = -1) -> bytes:
        return cast(bytes, self._or_error(self._file.read, count))

    def _or_error(self, call: Any, *arguments: int) -> Any:
        try:
            return call(*arguments)
        except Exception as error:
            raise OSError(0, _one_line(error)) from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def reached(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it. Raises CannotReach, and what the store raises."""
    try:
        fsspec = import_module("fsspec")
        core = import_module("fsspec.core")
    except ImportError as error:
        raise CannotReach(f"{url}: URLs need fsspec: pip install 'wavefit[urls]'") from error
    for link in url.split("::"):
        scheme = link.partition("://")[0] if "://" in link else ""
        if scheme and scheme not in fsspec.available_protocols():
            raise CannotReach(f"{url}: no store is known as {scheme}://")
    try:
        fs, path = core.url_to_fs(url)
    except ImportError as error:
        raise CannotReach(f"{url}: {_one_line(error)}") from error
    return fs, path


def _remote(url: str) -> Iterator[Listed | BadFile]:
    try:
        fs, path = reached(url)
        if fs.isfile(path):
            yield _of(url, fs.info(path), True)
            return
        below = fs.find(path, detail=True)
        if not below and not fs.isdir(path):
            raise FileNotFoundError(2, "No such file or directory")
    except CannotReach:
        raise
    except Exception as error:  # each store has errors of its own
        yield BadFile(url, None, None, getattr(error, "strerror", None) or _one_line(error))
        return
    _, chain, rest = url.partition("::")
    for name, about in sorted(below.items()):
        if not is_copy(name, below.__contains__):
            yield _of(fs.unstrip_protocol(name) + chain + rest, about, False)


def _of(url: str, about: dict[str, Any], named: bool) -> Listed:
    stamp = {key: str(about[key]) for key in _STAMPS if about.get(key) is not None}
    return Listed(url, int(about.get("size") or 0), json.dumps(stamp, sort_keys=True), named)


def _one_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class Folder:
    """A folder or URL to which whole files are written: each is there complete or not at all."""

    def __init__(self, url: str) -> None:
        self.url = url if url.endswith("/") else f"{url}/"
        self._fs: Any = None
        self._root = self.url
        if is_url(url):
            try:
                self._fs, self._root = reached(self.url)
            except (OSError, ValueError) as error:
                raise CannotReach(f"{url}: {_one_line(error)}") from error
        self._root = self._root.rstrip("/") or "/"

    def names(self) -> dict[str, int]:
        """Every file in it, with its size; none where it does not exist."""
        if self._fs is None:
            if not os.path.isdir(self._root):
                return {}
            with os.scandir(self._root) as entries:
                return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}
        self._fs.invalidate_cache()
        if not self._fs.exists(self._root):
            return {}
        found = self._fs.ls(self._root, detail=True)
        return {posixpath.basename(each["name"]): each["size"] for each in found if each["type"] == "file"}

    def read(self, name: str) -> bytes:
        """The content of one file."""
        if self._fs is None:
            with open(os.path.join(self._root, name), "rb") as file:
                return file.read()
        return cast(bytes, self._fs.cat_file(posixpath.join(self._root, name)))

    def write(self, name: str, content: bytes) -> None:
        """One file: beside its name and renamed; a store makes an object known when it is complete."""
        if self._fs is not None:
            self._fs.makedirs(self._root, exist_ok=True)
            self._fs.pipe_file(posixpath.join(self._root, name), content)
            return
        os.makedirs(self._root, exist_ok=True)
        part = os.path.join(self._root, f".{name}.{os.getpid()}.part")
        with open(part, "wb") as file:
            file.write(content)
        os.replace(part, os.path.join(self._root, name))

    def remove(self, name: str) -> None:
        """Takes one file away."""
        if self._fs is not None:
            self._fs.rm_file(posixpath.join(self._root, name))
        else:
            os.unlink(os.path.join(self._root, name))
