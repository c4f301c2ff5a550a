"""The coverage-guided fuzzers, each for a moment; `make fuzz` runs them for ten minutes each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.run import fuzz, targets

pytest.importorskip(
    "atheris",
    reason="atheris is not here: pip install 'wavefit[fuzz]' (wheels: CPython 3.11 to 3.13 on Linux x86-64)",
)
SECONDS = 1


@pytest.mark.heavy
@pytest.mark.parametrize("name", targets())
def test_no_input_crashes_hangs_or_takes_more_memory_than_allowed(name: str, tmp_path: Path) -> None:
    assert fuzz(targets()[name], SECONDS, tmp_path)
