"""Readers that kill: put where every Python process that a test starts finds them, and no other."""

from __future__ import annotations

from multiprocessing import forkserver
from pathlib import Path

import pytest

EXITS, KILLED, STARVED = b"POISON-EXITS", b"POISON-KILLS", b"POISON-EATS!"
_TEXT = """
import os, signal
from wavefit.kernels.registry import reader

def eat():
    raise MemoryError

for name, magic, death in (
    ("exits", {exits!r}, lambda: os._exit(7)),
    ("kills", {kills!r}, lambda: os.kill(os.getpid(), signal.SIGKILL)),
    ("eats", {eats!r}, eat),
):
    def read(source, death=death):
        death()
        yield
    reader("poison that " + name, magic=magic)(read)
"""


def spread(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on, Python processes of this test know the readers."""
    folder.mkdir()
    text = _TEXT.format(exits=EXITS, kills=KILLED, eats=STARVED)
    (folder / "sitecustomize.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    forkserver._forkserver._stop()  # type: ignore[attr-defined]  # one from before was started without them
