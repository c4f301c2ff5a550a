"""How quickly the first answer stands there: `import wavefit` and a whole `wavefit fit`.

Processor time of child processes, the least of several runs, also as a ratio to a bare Python start in
the same run (machines differ; the ratio does not).
"""

from __future__ import annotations

import resource
import subprocess
import sys

RUNS = 15
FIT = ["fit", "--chip", "MI355X", "--vgprs", "128", "--sgprs", "50", "--lds", "32K", "--threads", "256"]


def seconds(*args: str) -> float:
    """Least processor time of one Python start with these arguments."""
    best = float("inf")
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *args], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def main() -> None:
    """Print the three figures."""
    bare = seconds("-c", "pass")
    rows = {
        "python -c pass": bare,
        "import wavefit": seconds("-c", "import wavefit"),
        "import wavefit; wavefit.fit": seconds("-c", "import wavefit; wavefit.fit"),
        "wavefit fit": seconds("-m", "wavefit", *FIT),
    }
    for name, took in rows.items():
        ratio, more = took / bare, (took - bare) * 1e3
        print(f"{name:<30} {took * 1e3:7.1f} ms  {ratio:5.1f} x a bare start  +{more:.1f} ms")


if __name__ == "__main__":
    main()
