"""Results as the templates take them: documents, and the words that go with them. No arithmetic but units."""

from __future__ import annotations

import shlex
from typing import Any
from urllib.parse import urlencode

from wavefit.occupancy import Fit, FitRange
from wavefit.report.language import say
from wavefit.report.text import NAMES, chip_text, explain_lines, granule_notes, size_text, verdict
from wavefit.report.tiles import tiles_document
from wavefit.tiles.rank import Ranking
from wavefit.web.ask import FitAsked

Json = dict[str, Any]
__all__ = [
    "BOUNDS", "NAMES", "amount", "answer", "command", "percent", "ranked", "row", "value", "what_if", "words",
]  # fmt: skip
BOUNDS = {"cu": "one CU's work", "matrix": "matrix unit", "l2": "L2", "memory": "memory"}
"""What takes a tile's longest."""


def answer(found: Fit | FitRange) -> Json:
    """One Fit, or the two of a range, each with its words."""
    fits = [found.low, found.high] if isinstance(found, FitRange) else [found]
    if len(fits) == 2 and fits[0].threads == fits[1].threads:
        fits = fits[:1]
    sizes = list(found.threads) if isinstance(found, FitRange) else None
    return {"sizes": sizes, "fits": [{**each.to_dict(), "words": words(each)} for each in fits]}


def words(fit: Fit) -> Json:
    """What is said of a Fit."""
    hardware = fit.view == "hardware"
    waves = f"{fit.waves_per_simd:g}"
    return {
        "verdict": verdict(fit) if hardware else say("{waves} waves a SIMD", waves=waves),
        "chip": chip_text(fit),
        "size": size_text(fit),
        "carveouts": bool(fit.of.lds.carveouts) and hardware,
        "notes": granule_notes(fit) if hardware else [],
        "explained": "\n".join(line.removeprefix("  ") for line in explain_lines(fit)) if hardware else "",
    }


def row(fit: Json, limit: Json) -> Json:
    """One line of the table of limits; None where the resource has nothing to say."""
    resource = limit["resource"]
    return {
        "name": say(NAMES[resource]),
        "binds": resource in fit["binding"],
        "shown": limit["workgroups"] is not None
        or (limit["requested"] is not None and resource not in ("threads", "scratch"))
        or limit["waves_per_simd"] is not None,
        "asks": "-" if resource == "scratch" else amount(limit["requested"]),
        "charged": amount(limit["allocated"]),
        "of": amount(limit["budget"]),
        "alone": amount(limit["waves_per_simd"]),
        "workgroups": say("no limit") if limit["workgroups"] is None else amount(limit["workgroups"]),
        "spare": amount(fit["slack"].get(resource)),
    }


def ranked(found: Ranking, top: int) -> Json:
    """The document of a ranking with the rate of each tile beside its time."""
    document = tiles_document(found, top=top)
    flops = found.problem.flops
    for tile in document["tiles"]:
        tile["tflops"] = f"{flops / tile['seconds'] / 1e12:,.0f}"
        tile["time"] = f"{tile['seconds'] * 1e6:,.1f}"
        low, high = tile["lds"]
        tile["lds_text"] = f"{low:,}" if low == high else f"{low:,} - {high:,}"
    return {**document, "pruned_count": len(document["pruned"]), "pruned": document["pruned"][:3]}


def command(asked: FitAsked) -> str:
    """The same question on the command line."""
    given = asked.model_dump(exclude_none=True)
    options = [(key, value) for key, value in given.items() if (key, value) != ("view", "hardware")]
    parts = [f"--{key.replace('_', '-')} {shlex.quote(str(value))}" for key, value in sorted(options)]
    return " ".join(["wavefit fit", *parts])


def what_if(kernel: Json, fit: Json, chosen: str | None) -> str:
    """The calculator's address with what a kernel spends, as its Fit counts it."""
    asked = {limit["resource"]: limit["requested"] for limit in fit["limits"]}
    given = {
        "chip": fit["chip"] or fit["target"], "total_vgprs": asked.get("vgpr"), "sgprs": asked.get("sgpr"),
        "lds": asked.get("lds"), "scratch": kernel["scratch"] or None, "threads": fit["threads"],
        "mode": fit["mode"], "wave": fit["wave"], "lang": chosen,
    }  # fmt: skip
    return "/?" + urlencode({key: value for key, value in given.items() if value is not None})


def value(fact: Json) -> str:
    """A Fact's value with its unit."""
    of = fact["value"]
    if of is None:
        return say("unknown")
    listed = isinstance(of, list | tuple)
    text = ", ".join(map(str, of)) if listed else of if isinstance(of, str) else amount(of)
    return f"{text} {fact['unit']}" if fact["unit"] else text


def percent(share: float | None) -> str:
    """37.5 %"""
    return "-" if share is None else f"{share * 100:.4g} %"


def amount(number: float | None) -> str:
    """65,536; - where there is none."""
    return "-" if number is None else f"{number:,}" if isinstance(number, int) else f"{number:,.4g}"
