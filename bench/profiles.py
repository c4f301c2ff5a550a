"""How fast traces are read: a counter CSV of a gigabyte, and a rocpd of a million dispatches.

Each is written to a temporary folder and read by a process of its own, whose time, processor time and
peak memory are printed. Beside them stands what Python's csv module alone takes for the same file: that
is the ratio to compare between machines.

    python bench/profiles.py [CSV_MEGABYTES] [ROCPD_DISPATCHES]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.profiles_builder import counter_csv, rocpd

READ = "from wavefit.profiles import measurements; found = measurements({path!r}); n = sum(1 for _ in found)"
CONFIRM = (
    "from wavefit.profiles import confirm; n = sum(c.dispatches for c in confirm({path!r}, chip='gfx942'))"
)
CSV_ALONE = "import csv; n = sum(1 for _ in csv.reader(open({path!r}, newline='')))"
MEASURED = """
import resource, time
began, used = time.perf_counter(), time.process_time()
{work}
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(n, time.perf_counter() - began, time.process_time() - used, peak)
"""


def timed(work: str) -> tuple[int, float, float, float]:
    """What a fresh process does with some work: its count, seconds, processor seconds, peak in MB."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED.format(work=work)], check=True, capture_output=True, text=True
    )
    count, *figures = done.stdout.split()
    seconds, processor, peak = map(float, figures)
    return int(count), seconds, processor, peak


def show(what: str, path: str, work: str) -> None:
    """Reads a file one way and prints how it went."""
    size = os.path.getsize(path) / 1e6
    count, seconds, processor, peak = timed(work.format(path=path))
    print(
        f"{what:<34} {count:>10} {seconds:7.1f} s  {processor:7.1f} s processor  "
        f"{size / processor:6.0f} MB/s of it  peak {peak:5.0f} MB"
    )


def main() -> None:
    """Write both files, read each."""
    given = [int(text) for text in sys.argv[1:]]
    megabytes, dispatches = (*given, *(1000, 1_000_000)[len(given) :])
    with tempfile.TemporaryDirectory() as folder:
        csv_path, db_path = os.path.join(folder, "out_counter_collection.csv"), os.path.join(folder, "out.db")
        counter_csv(csv_path, megabytes * 1_000_000)
        show(f"counter CSV, {megabytes} MB: read", csv_path, READ)
        show("the same: confirm", csv_path, CONFIRM)
        show("the same: csv.reader alone, rows", csv_path, CSV_ALONE)
        rocpd(db_path, dispatches=dispatches)
        show("rocpd: read", db_path, READ)
        show("the same: confirm", db_path, CONFIRM)


if __name__ == "__main__":
    main()
