"""Fuzzes every reader for a while, one after the other; ends with 1 where one crashed.

    python -m tests.fuzz.run --seconds 60 [--jobs N] [READER...]

Needs atheris (`pip install atheris`, an optional tool). A crash, more than 2 seconds on one input, or more
memory than LIMIT_MB is a failure; the input is kept in the folder that is named.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fuzz.seeds import seeds_of
from wavefit.kernels.registry import readers

LIMIT_MB = 512
TIMEOUT = 2
LONGEST = 1 << 16


def fuzz(what: str, seconds: int, folder: Path) -> bool:
    """Whether the reader stood it. Prints what libFuzzer counted."""
    corpus = folder / what.replace(" ", "-")
    corpus.mkdir()
    for seed in seeds_of(what):
        (corpus / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    begun = len(list(corpus.iterdir()))
    options = [f"-max_total_time={seconds}", f"-timeout={TIMEOUT}", f"-rss_limit_mb={LIMIT_MB}"]
    options += [f"-max_len={LONGEST}", f"-artifact_prefix={corpus}.", "-print_final_stats=1", str(corpus)]
    run = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.one", what, *options], capture_output=True, text=True, check=False
    )
    stats = dict(line[6:].split(":", 1) for line in run.stderr.split("\n") if line.startswith("stat::"))
    runs, peak = (stats.get(key, "?").strip() for key in ("number_of_executed_units", "peak_rss_mb"))
    verdict = "ok" if run.returncode == 0 else f"FAILED, see {folder}"
    print(f"{what}: {begun} seeds, {runs} runs, peak {peak} MB: {verdict}", flush=True)
    if run.returncode:
        print(run.stdout[-3000:], run.stderr[-1000:], sep="\n")
    return run.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each reader")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("readers", nargs="*", help="by their names; default: all")
    chosen = parser.parse_args()
    names = sorted({reader.what for reader in readers()})
    unknown = set(chosen.readers) - set(names)
    if unknown:
        parser.error(f"no reader {', '.join(unknown)}; there are: {', '.join(names)}")
    folder = Path(tempfile.mkdtemp(prefix="wavefit-fuzz-"))
    with ThreadPoolExecutor(chosen.jobs) as pool:
        stood = list(pool.map(lambda what: fuzz(what, chosen.seconds, folder), chosen.readers or names))
    return 0 if all(stood) else 1


if __name__ == "__main__":
    sys.exit(main())
