"""The documents behind the JSON routes. Nothing here knows HTTP."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import Any

from wavefit.chips import Chip, ChipNotFound, products, targets
from wavefit.chips import chip as find_chip
from wavefit.feed import feed, feed_curves
from wavefit.matrix import MatrixError, layout, matrix, peaks
from wavefit.matrix import instruction as find_instruction
from wavefit.occupancy import BadQuestion, Fit, FitRange, fit
from wavefit.report.charts.steps import Stairs, stairs
from wavefit.report.chips import chip_document, list_document
from wavefit.report.feed import Sweep
from wavefit.report.matrix import document as matrix_document
from wavefit.report.matrix import layout_json
from wavefit.report.tiles import tiles_document
from wavefit.tiles.rank import Ranking, rank
from wavefit.web.ask import FeedAsked, FitAsked, LayoutAsked, MatrixAsked, SweepAsked, TilesAsked

Json = dict[str, Any]

MISTAKES = (BadQuestion, ChipNotFound, MatrixError)
"""What a question can be refused with; the text is one line."""
ILPS = (1, 2, 4, 8)


def fit_of(asked: FitAsked) -> Fit | FitRange:
    """The answer to one what-if."""
    return fit(asked.chip, view=asked.view, **asked.numbers())


def stairs_of(found: Fit | FitRange) -> tuple[Stairs, ...]:
    """The stairs of a Fit, of a range those where the most waves fit; none for another view."""
    one = found.high if isinstance(found, FitRange) else found
    return stairs(one) if one.view == "hardware" else ()


def stairs_document(asked: FitAsked) -> Json:
    """The document `wavefit.stairs/1`: per resource, waves a SIMD for every amount of it."""
    return {
        "schema": "wavefit.stairs/1",
        "resources": [
            {
                **{key: getattr(each, key) for key in ("resource", "here", "waves", "limits")},
                "stairs": [asdict(stair) for stair in each.stairs],
            }
            for each in stairs_of(fit_of(asked))
        ],
    }


def chips_document(name: str | None = None) -> Json:
    """The names of all chips, or one chip's Facts."""
    return list_document(products(), targets()) if name is None else chip_document(find_chip(name))


def matrix_of(asked: MatrixAsked) -> Json:
    """The document `wavefit.matrix/1`."""
    of = find_chip(asked.chip)
    named = asked.instruction
    found = matrix(of, asked.type) if named is None else (find_instruction(of, named),)
    known = peaks(of) if of.name and of.value("clock.peak_mhz") else ()
    chosen = tuple(peak for peak in known if asked.type in (None, peak.rate.type))
    return matrix_document(of.name or of.target.name, found, chosen)


def layout_of(asked: LayoutAsked) -> Json:
    """The document `wavefit.layout/1`."""
    return layout_json(layout(find_instruction(find_chip(asked.chip), asked.instruction), asked.operand))


def feed_of(asked: FeedAsked) -> Json:
    """The document `wavefit.feed/1`."""
    return feed(asked.chip, asked.instruction, ilp=asked.ilp, waves=asked.waves).to_dict()


def sweep_of(asked: SweepAsked) -> Json:
    """The document `wavefit.feed-sweep/1`."""
    return swept(asked.chip, asked.instruction).to_dict()


@lru_cache(maxsize=64)
def swept(chip: str, instruction: str) -> Sweep:
    """Curves over ILP and waves; kept, since the sliders ask for the same ones again and again."""
    curves = feed_curves(chip, instruction, ilps=ILPS)
    return Sweep(curves[0].chip or chip, curves[0].instruction, curves)


def ranking_of(asked: TilesAsked) -> Ranking:
    """Tiles best first."""
    return rank(asked.chip, m=asked.m, n=asked.n, k=asked.k, dtype=asked.dtype)


def tiles_of(asked: TilesAsked) -> Json:
    """The document `wavefit.tiles/1`, cut to what was asked for."""
    found = tiles_document(ranking_of(asked), top=asked.top)
    return {**found, "pruned": found["pruned"][: asked.top]}


@lru_cache(maxsize=1)
def chip_groups() -> dict[str, list[str]]:
    """Every name that a chip may be chosen by: products by vendor, then the targets. None as published."""
    groups: dict[str, list[str]] = {}
    for each in products():
        if each.name and not each.value("published.about"):
            groups.setdefault(each.vendor, []).append(each.name)
    known = (target.name for target in targets() if not target.unknown)
    groups["targets"] = list(dict.fromkeys(name for name in known if "as-published" not in name))
    return groups


def instructions_of(of: Chip) -> tuple[str, ...]:
    """The names of a chip's matrix instructions; none where there are none."""
    try:
        return tuple(each.name for each in matrix(of))
    except MatrixError:
        return ()
