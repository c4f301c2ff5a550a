"""A server of the local page for tests: in a thread of this process, on a free port."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the web libraries: pip install 'wavefit[web]'")

from wavefit.web.guard import Keys
from wavefit.web.serve import bound, server
from wavefit.web.worker import Bounds

BOUNDARY = "b0undary"


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Served:
    """One server, and requests to it as from its own page unless told otherwise."""

    port: int
    keys: Keys

    @property
    def home(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return self.keys.address("127.0.0.1", self.port)

    @property
    def cookie(self) -> dict[str, str]:
        return {"Cookie": f"{self.keys.cookie}={self.keys.session}"}

    def get(self, path: str, **headers: str) -> Reply:
        """With the cookie."""
        return self.ask("GET", path, {**self.cookie, **headers})

    def ask(self, method: str, path: str, headers: Mapping[str, str], body: Any = None) -> Reply:
        """With these headers alone."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            line.request(method, path, body, dict(headers))
            answer = line.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            line.close()

    def drop(self, path: str, files: Mapping[str, bytes], **headers: str) -> Reply:
        """Send files as a browser's form does."""
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        return self.ask("POST", path, {**self.cookie, "Content-Type": kind, **headers}, form(files))


def form(files: Mapping[str, bytes]) -> bytes:
    """A multipart body."""
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'.encode(
            "utf-8", "surrogateescape"
        )
        + content
        for name, content in files.items()
    ]
    return b"\r\n".join(parts) + f"\r\n--{BOUNDARY}--\r\n".encode()


@contextmanager
def served(bounds: Bounds | None = None) -> Iterator[Served]:
    """Run a server for the block."""
    with bound("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        keys = Keys.of("127.0.0.1", port)
        runs = server(keys, bounds or Bounds())
        thread = threading.Thread(target=runs.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not runs.started:
            time.sleep(0.01)
        try:
            yield Served(port, keys)
        finally:
            runs.should_exit = True
            thread.join(30)
