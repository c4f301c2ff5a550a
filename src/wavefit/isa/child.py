"""Runs other people's programs where their death is one error line: with limits on memory and time."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MEMORY = 4 << 30
"""Bytes of address space; LLVM's own library takes half a gigabyte of it."""
SECONDS = 120
LARGEST = 1 << 30
"""Bytes of output that are taken in."""


class ChildError(Exception):
    """A program that did not do its work; the text is one line."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a child left: its output (also where it died midway), and how it died, None if it did not."""

    output: bytes
    died: str | None
    complaint: str


def run(command: Sequence[str], data: bytes = b"", *, seconds: int = SECONDS, memory: int = MEMORY) -> Done:
    """The output of a command, run with limits. Raises ChildError where it does not start."""
    stub = str(Path(__file__).with_name("worker.py"))
    limited = [sys.executable, "-I", stub, str(memory), str(seconds), *command]
    try:
        with subprocess.Popen(
            limited, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as child:
            try:
                output, complaint = child.communicate(data, timeout=seconds)
            except subprocess.TimeoutExpired:
                child.kill()
                output, complaint = child.communicate()
                return Done(output, f"took more than {seconds} s", _line(complaint))
    except OSError as error:
        raise ChildError(f"{Path(command[0]).name}: {error.strerror}") from None
    if len(output) > LARGEST:
        raise ChildError(f"{Path(command[0]).name} wrote {len(output)} bytes; {LARGEST} are read at most")
    return Done(output, _death(child.returncode), _line(complaint))


def _death(code: int) -> str | None:
    if code >= 0:
        return None if code == 0 else f"ended with {code}"
    try:
        return f"died of {signal.Signals(-code).name}"
    except ValueError:
        return f"died of signal {-code}"


def _line(complaint: bytes) -> str:
    lines = complaint.decode("utf-8", "replace").split("\n")
    return next((" ".join(line.split())[:200] for line in lines if line.strip()), "")
