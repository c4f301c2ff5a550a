"""Distributions of a survey: waves by limiter, spills, and how near kernels are to one workgroup more."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wavefit.report.charts.parts import tips
from wavefit.report.charts.style import SCHEMA, Spec, axis, titled
from wavefit.report.text import NAMES
from wavefit.survey.table import Table

NEAR = 16
"""Vector registers from the next workgroup up to which kernels are counted one by one."""
SPILLS = ((1, 4), (5, 16), (17, 64), (65, 256), (257, None))
"""Groups of spilled vector registers, both ends counted in."""
LIMITERS = 5
"""Limiters that are told apart; what else binds is counted together."""
LISTED = 50
"""Kernels that are named: the nearest ones, and those that spill the most."""
OTHERS = "others"
_NAMED = ("name", "file", "member", "target", "vgprs", "waves_per_simd")

Row = Mapping[str, Any]


@dataclass(slots=True)
class Distributions:
    """Counts of a survey's rows, table by table: bounded in size however many kernels there are.

    `waves` counts kernels by (waves a SIMD, what binds), `spills` by the group of SPILLS, `near` by vector
    registers to the next workgroup (1 to NEAR); `nearest` and `spilling` are the rows at the top.
    """

    waves: Counter[tuple[float, str]] = field(default_factory=Counter)
    spills: Counter[int] = field(default_factory=Counter)
    near: Counter[int] = field(default_factory=Counter)
    nearest: list[Row] = field(default_factory=list)
    spilling: list[Row] = field(default_factory=list)

    def add(self, table: Table) -> None:
        """Counts the rows of one Table."""
        self.count(table.records())

    def count(self, rows: Iterable[Row]) -> None:
        """Counts rows with the keys of `wavefit.survey.table.COLUMNS`, None for what is not known."""
        near, spilling = list(self.nearest), list(self.spilling)
        for row in rows:
            if row["waves_per_simd"] is not None:
                self.waves[row["waves_per_simd"], row["binding"] or ""] += 1
            spilled, gain = row["vgpr_spills"] or 0, row["vgprs_to_gain"] or 0
            if spilled > 0:
                self.spills[_group(spilled)] += 1
                spilling.append({**{key: row[key] for key in _NAMED}, "amount": spilled})
            if 0 < gain <= NEAR:
                self.near[gain] += 1
                near.append({**{key: row[key] for key in _NAMED}, "amount": gain})
        self.nearest = heapq.nsmallest(LISTED, near, key=lambda row: row["amount"])
        self.spilling = heapq.nlargest(LISTED, spilling, key=lambda row: row["amount"])

    def merge(self, other: Distributions) -> None:
        """Adds what another one counted."""
        self.waves += other.waves
        self.spills += other.spills
        self.near += other.near
        self.nearest = heapq.nsmallest(LISTED, self.nearest + other.nearest, key=lambda row: row["amount"])
        self.spilling = heapq.nlargest(LISTED, self.spilling + other.spilling, key=lambda row: row["amount"])

    def limiters(self) -> list[str]:
        """What binds, the most frequent first; from LIMITERS on together as OTHERS."""
        total: Counter[str] = Counter()
        for (_, binding), count in self.waves.items():
            total[binding] += count
        names = [name for name, _ in total.most_common()]
        return names if len(names) <= LIMITERS + 1 else [*names[:LIMITERS], OTHERS]

    def by_waves(self) -> list[tuple[float, str, int]]:
        """(waves a SIMD, limiter, kernels), the fewest waves first; limiters as in `limiters`."""
        kept, found = self.limiters(), Counter[tuple[float, str]]()
        for (waves, binding), count in self.waves.items():
            found[waves, binding if binding in kept else OTHERS] += count
        return [
            (waves, name, count)
            for (waves, name), count in sorted(
                found.items(), key=lambda each: (each[0][0], kept.index(each[0][1]))
            )
        ]


def _group(spilled: int) -> int:
    return next(at for at, (_, high) in enumerate(SPILLS) if high is None or spilled <= high)


def group_name(at: int) -> str:
    """5-16, 257+."""
    low, high = SPILLS[at]
    return f"{low}+" if high is None else f"{low}-{high}"


def limiter_name(binding: str) -> str:
    """VGPR + LDS, of the survey's `vgpr+lds`."""
    return " + ".join(NAMES.get(part, part) for part in binding.split("+")) if binding else "nothing"


def distributions(found: Distributions) -> Spec:
    """The three distributions of a survey: waves by limiter, near the next workgroup, and spills."""
    names = [limiter_name(name) for name in found.limiters()]
    waves = [
        {"waves": f"{waves:g}", "limiter": limiter_name(name), "kernels": count}
        for waves, name, count in found.by_waves()
    ]
    order = list(dict.fromkeys(f"{waves:g}" for waves, _, _ in found.by_waves()))
    near = [{"registers": at, "kernels": found.near[at]} for at in range(1, NEAR + 1)]
    groups = [group_name(at) for at in range(len(SPILLS))]
    spills = [{"spilled": group, "kernels": found.spills[at]} for at, group in enumerate(groups)]
    kernels = sum(found.waves.values())
    return {
        "$schema": SCHEMA,
        "title": titled(f"{kernels:,} kernels with a Fit", ["by what stops the next, by waves a SIMD"]),
        "spacing": 34,
        "vconcat": [
            _by_limiter(waves, order, names),
            {
                "hconcat": [
                    _bars(near, "registers", "this many VGPRs fewer gain a workgroup", None),
                    _bars(spills, "spilled", "spilled VGPRs", groups),
                ],
                "spacing": 40,
            },
        ],
    }  # fmt: skip


def _by_limiter(rows: list[dict[str, Any]], order: Sequence[str], names: Sequence[str]) -> Spec:
    """A line of bars for each limiter, on the same axes: nothing has to be told apart by colour."""
    x = {"field": "waves", "type": "ordinal", "sort": list(order), "title": "waves a SIMD", "axis": _UPRIGHT}
    y = axis("kernels", "kernels", axis={"tickCount": 2, "title": None})
    bars = {"mark": {"type": "bar", "style": "whole"}, "encoding": {"x": x, "y": y, "tooltip": tips(rows)}}
    counts = {
        "mark": {"type": "text", "style": "label", "dy": -7, "fontSize": 10},
        "encoding": {"x": x, "y": y, "text": {"field": "kernels", "format": ","}},
    }
    header = {"labelAngle": 0, "labelAlign": "left", "labelOrient": "top", "labelAnchor": "start"}
    return {
        "data": {"values": rows},
        "facet": {
            "row": {
                "field": "limiter",
                "type": "nominal",
                "sort": list(names),
                "title": None,
                "header": header,
            }
        },
        "spacing": 12,
        "spec": {"width": 560, "height": 62, "layer": [bars, counts]},
    }


def _bars(rows: list[dict[str, Any]], place: str, title: str, sort: list[str] | None) -> Spec:
    x = {"field": place, "type": "ordinal", "sort": sort, "title": title, "axis": _UPRIGHT}
    return {
        "width": 260,
        "height": 150,
        "data": {"values": rows},
        "mark": {"type": "bar", "style": "whole"},
        "encoding": {"x": x, "y": axis("kernels", "kernels", axis={"tickCount": 4}), "tooltip": tips(rows)},
    }


_UPRIGHT = {"labelAngle": 0, "labelOverlap": "greedy"}
