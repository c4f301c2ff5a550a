"""Errors of the feed room, point by point, and what its simulation costs: python -m bench.feed [CSV CHIP].

Without arguments the shipped measurements; with a CSV of `wavefit bench` that file against one chip.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from statistics import mean
from time import process_time

from tests.accuracy_feed import SWEEPS, rows

from wavefit.feed import Compared, compare, feed_curves, read_measured, simulate, timing

SWEEP = ("H200", "mma.m16n8k16.bf16")


def points(name: str, found: Iterable[Compared]) -> None:
    """Each row: measured, est., error."""
    print(f"\n{name}")
    known = []
    for each in found:
        if each.estimate is None or each.error is None:
            print(f"  {each.row.label:44} {each.row.amount:10.4g}  no est.: {each.why}")
            continue
        known.append(abs(each.error))
        print(
            f"  {each.row.label:44} {each.row.amount:10.4g}  est. {each.estimate:10.4g}  {each.error:+7.1%}"
        )
    if known:
        print(f"  mean {mean(known):.1%}, worst {max(known):.1%}, {len(known)} points")


def speed() -> None:
    """Processor time of the full sweep: 8 ILP x 16 waves, 16,384 instructions a wave."""
    begin = process_time()
    for ilp in range(1, 9):
        for waves in range(1, 17):
            simulate(timing(*SWEEP).loop(ilp), waves)
    print(f"\nfull sweep, 8 ILP x 16 waves x 16,384 instructions: {process_time() - begin:.2f} s")
    begin = process_time()
    feed_curves(*SWEEP, ilps=range(1, 9))
    print(f"the same with what fits the registers, as curves: {process_time() - begin:.2f} s")


def main(arguments: list[str]) -> None:
    if arguments:
        path, chip = arguments
        points(path, compare(chip, read_measured(path)))
        return
    for sweep in SWEEPS.values():
        points(f"{sweep.name} (constants: {sweep.set_by})", sweep.compared())
    print()
    for name, value, limit, note in rows():
        print(f"{name:44} {value:>8}  limit {limit:>8}  {note}")
    speed()


if __name__ == "__main__":
    main(sys.argv[1:])
