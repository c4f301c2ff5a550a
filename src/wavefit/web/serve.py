"""Runs the page: one socket, its keys, and the address to open."""

from __future__ import annotations

import os
import socket
import tempfile
import webbrowser
from collections.abc import Callable
from html import escape
from pathlib import Path

import uvicorn

from wavefit.web.app import application
from wavefit.web.guard import Keys
from wavefit.web.worker import Bounds


def serve(host: str, port: int, *, bounds: Bounds, ready: Callable[[str], None], browse: bool) -> None:
    """Serve until interrupted. `ready` is called with the address to open, once it can be. Raises OSError."""
    with bound(host, port) as listening:
        port = listening.getsockname()[1]
        keys = Keys.of(host, port)
        address = keys.address(host, port)
        ready(address)
        with tempfile.TemporaryDirectory(prefix="wavefit-") as folder:
            if browse:
                webbrowser.open(_door(Path(folder), address).as_uri())
            server(keys, bounds).run(sockets=[listening])


def server(keys: Keys, bounds: Bounds) -> uvicorn.Server:
    """The server, without what would write the token into a log."""
    config = uvicorn.Config(
        application(keys, bounds), access_log=False, log_level="warning", server_header=False,
        proxy_headers=False, lifespan="off", h11_max_incomplete_event_size=1 << 16, limit_concurrency=64,
    )  # fmt: skip
    return uvicorn.Server(config)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at a host's address; port 0 takes a free one. Raises OSError."""
    family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen()
    except OSError:
        made.close()
        raise
    return made


def _door(folder: Path, address: str) -> Path:
    """A page for its owner alone that leads to the address: others see what a browser is started with."""
    door = folder / "open.html"
    with os.fdopen(os.open(door, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as page:
        page.write(f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={escape(address)}">')
    return door
