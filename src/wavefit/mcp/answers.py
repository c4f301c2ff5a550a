"""The answers behind the tools, without the protocol: documents of bounded size."""

from __future__ import annotations

from typing import Any

from wavefit.mcp.bounded import NOTICE, marked, page
from wavefit.mcp.child import document
from wavefit.mcp.places import Places

Json = dict[str, Any]

MOST_ITEMS = 100
"""Of one answer, whatever is asked."""
MOST_PRUNED = 3


def fit(chip: str, view: str, numbers: dict[str, Any]) -> Json:
    """A what-if: the document `wavefit.fit/1`, or `wavefit.fit-range/1` without `threads`."""
    from wavefit.occupancy import fit as ask

    return ask(chip, view=view, **numbers).to_dict()


def chips(name: str | None) -> Json:
    """One chip's Facts, or the names of all."""
    from wavefit.chips import chip, products, targets
    from wavefit.report.chips import chip_document, list_document

    return list_document(products(), targets()) if name is None else chip_document(chip(name))


def matrix(chip: str, type_: str | None, instruction: str | None, offset: int, limit: int) -> Json:
    """Matrix instructions with the peaks; who says each number only where one instruction is named."""
    from wavefit.chips import chip as find_chip
    from wavefit.matrix import instruction as named
    from wavefit.matrix import matrix as all_of
    from wavefit.matrix import peaks
    from wavefit.report.matrix import document as matrix_document

    of = find_chip(chip)
    found = all_of(of, type_) if instruction is None else (named(of, instruction),)
    known = peaks(of) if of.name and of.value("clock.peak_mhz") else ()
    whole = matrix_document(of.name or of.target.name, found, known)
    for each in [*whole["peaks"], *(whole["instructions"] if instruction is None else ())]:
        del each["facts"]
    return page(whole, "instructions", offset, min(limit, MOST_ITEMS))


def report(places: Places, path: str, kernel: str, launch: dict[str, Any], offset: int, limit: int) -> Json:
    """The kernels of a file or folder with their Fits."""
    asked = {**launch, "kernel": kernel or None}
    return _foreign(document(["report", places.readable(path), *_options(asked)]), "kernels", offset, limit)


def advise(places: Places, path: str, kernel: str, launch: dict[str, Any], offset: int, limit: int) -> Json:
    """What to do next with the kernels of a file or folder."""
    asked = {**launch, "kernel": kernel or None}
    return _foreign(document(["advise", places.readable(path), *_options(asked)]), "kernels", offset, limit)


def tiles(asked: dict[str, Any], offset: int, limit: int) -> Json:
    """Ranked GEMM tiles; of those that cannot launch only some, and their number."""
    found = document(["tiles", *_options({**asked, "top": offset + min(limit, MOST_ITEMS)})])
    pruned = found["pruned"]
    return page(
        {**found, "pruned": pruned[:MOST_PRUNED], "pruned_total": len(pruned)}, "tiles", offset, limit
    )


def _foreign(found: Json, key: str, offset: int, limit: int) -> Json:
    return {"notice": NOTICE, **page(marked(found), key, offset, min(limit, MOST_ITEMS))}


def _options(numbers: dict[str, Any]) -> list[str]:
    """Values as a command's options; what is None is left out."""
    given = {key: value for key, value in numbers.items() if value is not None}
    return [f"--{key.replace('_', '-')}={value}" for key, value in given.items()]
