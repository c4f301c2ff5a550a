"""What an answer of the local page costs: over HTTP as JSON, and as the page with its curves.

Each is the median of so many rounds in one run, beside the library's own answer to the same question; the
calculator's JSON should stay under 50 ms. Last what vl-convert takes for the same four curves: why the page
draws its own. Run as `python -m bench.web`; needs wavefit[web] and wavefit[charts].
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from urllib.parse import urlencode

from tests.web_server import served

import wavefit as wf
from wavefit.report import charts

ROUNDS = 50
QUESTIONS = (
    {"chip": "MI355X", "vgprs": 128, "sgprs": 50, "lds": 32768, "threads": 256},
    {"chip": "gfx1100", "vgprs": 96, "lds": 16384, "threads": 256},
    {"chip": "H200", "vgprs": 168, "lds": 100000, "threads": 384},
    {"chip": "BW1000", "vgprs": 100, "threads": 256},
)


def median(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Seconds of one call, after one that is not counted."""
    work()
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main() -> None:
    """Print the table."""
    print(f"{'median, ms':<10}  {'library':>8} {'JSON':>8} {'page':>8} {'vl-convert':>11}  JSON / library")
    with served() as local:
        for asked in QUESTIONS:
            query, numbers = urlencode(asked), {key: each for key, each in asked.items() if key != "chip"}
            found = wf.fit(asked["chip"], **numbers)
            library = median(lambda: wf.fit(asked["chip"], **numbers).to_dict())  # noqa: B023
            document = median(lambda: local.get(f"/api/fit?{query}"))  # noqa: B023
            page = median(lambda: local.get(f"/?{query}", **{"X-Part": "answer"}))  # noqa: B023
            drawn = median(lambda: charts.svg(charts.occupancy(found)), 3)  # noqa: B023
            times = f"{library * 1e3:8.1f} {document * 1e3:8.1f} {page * 1e3:8.1f} {drawn * 1e3:11.1f}"
            print(f"{asked['chip']:<10}  {times}  {document / library:.1f}")


if __name__ == "__main__":
    main()
