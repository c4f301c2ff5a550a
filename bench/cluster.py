"""A survey through Dask on this machine: two workers against one, and the memory of each.

    python bench/cluster.py FILE...

Starts a scheduler and workers over loopback, each in a process with one thread; prints seconds, kernels and
the most memory that any worker held (its own count, by the kernel). Workers load wavefit.survey.ready when
they start, as docs/en/howto/cluster.md says; the first, small survey is not counted.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from distributed import LocalCluster

from wavefit.survey import Options, survey_parts
from wavefit.survey.crew import Cluster

SMALL = Path(__file__).parent.parent / "tests" / "data" / "kernels" / "triton"


def peak() -> int:
    """Bytes that this process held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def spent() -> float:
    """Processor seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def parts(*paths: str, crew: Cluster) -> int:
    """Surveys the paths into a folder of parts, as one does with a cluster; how many kernels there were."""
    with TemporaryDirectory() as folder:
        made = survey_parts(list(paths), Options(parts=f"{folder}/"), crew=crew)
        return sum(each.summary.kernels for each in made if each.summary)


def seconds(files: list[str], workers: int) -> float:
    """How long these workers take for the files."""
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            preload=["wavefit.survey.ready"],
        ) as local,
        Cluster(local.scheduler_address) as crew,
    ):
        parts(str(SMALL), crew=crew)
        before, ours = sum(crew.client.run(spent).values()), spent()
        begin = time.perf_counter()
        kernels = parts(*files, crew=crew)
        taken = time.perf_counter() - begin
        theirs = sum(crew.client.run(spent).values()) - before
        held = max(crew.client.run(peak).values())
        print(
            f"{workers} workers: {kernels} kernels in {taken:.1f} s; processors: workers {theirs:.1f} s, "
            f"this process and scheduler {spent() - ours:.1f} s; a worker held {held / 1e6:.0f} MB at most"
        )
        return taken


def main(files: Sequence[str]) -> int:
    one, two = seconds(list(files), 1), seconds(list(files), 2)
    print(f"two workers are {one / two:.2f} times one")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
