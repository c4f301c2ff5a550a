"""Fuzzes every reader and every other target for a while, one after the other; ends with 1 where one crashed.

    python -m tests.fuzz.run --seconds 60 [--jobs N] [TARGET...]

Needs atheris (`pip install 'wavefit[fuzz]'`). A crash, more than its seconds on one input (2; more where a
process is started for each), or more memory than LIMIT_MB is a failure; the input is kept in the folder that
is named.
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
from tests.fuzz.targets import ALL, Target
from wavefit.kernels.registry import readers

LIMIT_MB = 512
ROUND = 30
"""Seconds of one process: the fuzzer itself grows (the same inputs without it do not)."""
LONGEST = 1 << 16


def targets() -> dict[str, Target]:
    """All that is fuzzed by name: readers first."""
    names = sorted({reader.what for reader in readers()})
    reading = [
        Target(name, lambda name=name: iter(seeds_of(name)), lambda _: None, LONGEST) for name in names
    ]
    return {each.name: each for each in (*reading, *ALL)}


def fuzz(target: Target, seconds: int, folder: Path) -> bool:
    """Whether the target stood it. Prints what libFuzzer counted."""
    what = target.name
    corpus = folder / what.replace(" ", "-").replace(",", "")
    corpus.mkdir()
    for seed in target.seeds():
        (corpus / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    begun = len(list(corpus.iterdir()))
    runs = peak = 0
    for left in range(seconds, 0, -ROUND):
        ended = _round(target, min(left, ROUND), corpus)
        stats = dict(line[6:].split(":", 1) for line in ended.stderr.split("\n") if line.startswith("stat::"))
        runs += int(stats.get("number_of_executed_units", 0))
        peak = max(peak, int(stats.get("peak_rss_mb", 0)))
        if ended.returncode:
            print(ended.stdout[-3000:], ended.stderr[-1000:], sep="\n")
            break
    verdict = f"FAILED, see {folder}" if ended.returncode else "ok"
    print(f"{what}: {begun} seeds, {runs} runs, peak {peak} MB: {verdict}", flush=True)
    return ended.returncode == 0


def _round(target: Target, seconds: int, corpus: Path) -> subprocess.CompletedProcess[str]:
    """One process of libFuzzer, which goes on where the one before ended."""
    options = [
        f"-max_total_time={seconds}", f"-timeout={target.seconds}", f"-rss_limit_mb={LIMIT_MB}",
        f"-max_len={target.longest}", f"-artifact_prefix={corpus}.", "-print_final_stats=1", str(corpus),
    ]  # fmt: skip
    # a shell in between: the peak that libFuzzer holds against its limit counts from our own after a fork
    shell = ["sh", "-c", '"$@"; exit $?', "sh"]
    command = [*shell, sys.executable, "-m", "tests.fuzz.one", target.name, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("targets", nargs="*", help="by their names; default: all")
    chosen = parser.parse_args()
    known = targets()
    unknown = set(chosen.targets) - set(known)
    if unknown:
        parser.error(f"no target {', '.join(unknown)}; there are: {', '.join(known)}")
    folder = Path(tempfile.mkdtemp(prefix="wavefit-fuzz-"))
    with ThreadPoolExecutor(chosen.jobs) as pool:
        stood = list(
            pool.map(lambda name: fuzz(known[name], chosen.seconds, folder), chosen.targets or known)
        )
    return 0 if all(stood) else 1


if __name__ == "__main__":
    sys.exit(main())
