"""A command of wavefit in a process of its own, with a clock and a bound on what it prints."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from typing import Any

SECONDS = 120
MOST_BYTES = 64 << 20
_BEGIN = "import sys; sys.path[:] = filter(None, sys.path); from wavefit.cli import main; main()"
"""Without the current folder, where a file that is called like a module would be imported."""


class Failed(ValueError):
    """The command gave no document. One line that says why."""


def document(args: Sequence[str], seconds: float = SECONDS, most: int = MOST_BYTES) -> dict[str, Any]:
    """What `wavefit ARGS --json` prints. Raises Failed."""
    command = [sys.executable, "-c", _BEGIN, *args, "--json"]
    with tempfile.TemporaryFile() as complaints:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints)
        clock = threading.Timer(seconds, child.kill)
        clock.start()
        try:
            assert child.stdout is not None
            said = child.stdout.read(most + 1)
        finally:
            late = not clock.is_alive()
            clock.cancel()
            child.kill()
            child.wait()
        if late:
            raise Failed(f"no answer within {seconds:g} seconds; name fewer files")
        if len(said) > most:
            raise Failed(f"more than {most >> 20} MiB; name fewer files")
        try:
            found: dict[str, Any] = json.loads(said)
        except ValueError:
            complaints.seek(0)
            lines = complaints.read(4096).decode(errors="replace").splitlines()
            why = f"ended with {child.returncode}" if not lines else lines[0].removeprefix("wavefit: ")
            raise Failed(why) from None
    return found
