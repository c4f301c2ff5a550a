"""Reads dropped files in a process of its own, with a clock, a bound on memory and one on what it says."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wavefit.isa.worker

Json = dict[str, Any]
_BEGIN = (
    "import sys; sys.path[:] = filter(None, sys.path); "
    "from wavefit.web.reading import main; main(*sys.argv[1:])"
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one drop may cost. Bytes of the files and of the worker's memory, seconds of each, and files."""

    upload: int = 256 << 20
    files: int = 10_000
    upload_seconds: float = 300
    memory: int = 4 << 30
    seconds: int = 60
    answer: int = 64 << 20


class Failed(ValueError):
    """The files gave no document. One line that says why."""


async def read(folder: Path, asked: Json, bounds: Bounds, gone: Callable[[], Awaitable[bool]]) -> Json:
    """What `wavefit.web.reading` makes of a folder. Raises Failed; kills the process where nobody waits.

    The process has no folder of ours on Python's search path, neither the current one nor that of the
    files: one that is called like a module is not imported.
    """
    limited = [wavefit.isa.worker.__file__, str(bounds.memory), str(bounds.seconds), sys.executable]
    command = [sys.executable, "-I", *limited, "-c", _BEGIN, str(folder), json.dumps(asked)]
    child = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    hears = asyncio.ensure_future(_said(child, bounds.answer))
    leaves = asyncio.ensure_future(_gone(gone))
    try:
        await asyncio.wait((hears, leaves), timeout=bounds.seconds, return_when=asyncio.FIRST_COMPLETED)
        if not hears.done():
            late = f"no answer within {bounds.seconds} seconds; drop fewer files"
            raise Failed("nobody waits for the answer" if leaves.done() else late)
        return _document(*hears.result(), child.returncode)
    finally:
        for task in (hears, leaves):
            task.cancel()
        with suppress(ProcessLookupError):  # and what it started
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()


async def _said(child: asyncio.subprocess.Process, most: int) -> tuple[bytes, bytes]:
    assert child.stdout is not None
    assert child.stderr is not None
    complaint = asyncio.ensure_future(_all(child.stderr, 1 << 16))
    output = await _all(child.stdout, most)
    if len(output) > most:
        raise Failed(f"the report is larger than {most >> 20} MiB; drop fewer files")
    await child.wait()
    return output, await complaint


async def _all(stream: asyncio.StreamReader, most: int) -> bytes:
    """The first `most` bytes, and at most a block over."""
    parts, size = [], 0
    while size <= most and (part := await stream.read(1 << 16)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


async def _gone(gone: Callable[[], Awaitable[bool]]) -> None:
    while not await gone():
        await asyncio.sleep(0.25)


def _document(output: bytes, complaint: bytes, code: int | None) -> Json:
    try:
        found: Json = json.loads(output)
        return found
    except ValueError:
        pass
    lines = [line for line in complaint.decode(errors="replace").splitlines() if line.strip()]
    said = [line.removeprefix("wavefit: ") for line in lines if line.startswith("wavefit: ")]
    if said:
        raise Failed(said[0])
    if any(line.startswith("MemoryError") for line in lines):
        raise Failed("reading the files took more memory than is allowed")
    died = f"died of signal {-code}" if code and code < 0 else f"ended with {code}"
    raise Failed(f"the process that reads the files {died}")
