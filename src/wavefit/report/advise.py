"""Advice as text and as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from wavefit.advise import Advice, Case, ranked
from wavefit.kernels import BadFile
from wavefit.report.document import error_row
from wavefit.report.names import printable

Json = dict[str, Any]
_WIDTH = 100


def document(cases: Iterable[Case], errors: Iterable[BadFile]) -> Json:
    """The document `wavefit.advice/1`: for each kernel what to do, and what could not be judged."""
    return {
        "schema": "wavefit.advice/1",
        "kernels": [
            {
                "name": case.kernel.name,
                "file": case.kernel.file,
                "member": case.kernel.member,
                "target": case.kernel.target,
                "chip": case.chip.name,
                "waves_per_simd": case.fit.waves_per_simd,
                "utilisation": case.utilisation,
                "not_judged": case.blind,
                "advice": [advice.to_dict() for _, _, advice in ranked(case)],
            }
            for case in cases
        ],
        "errors": [error_row(error) for error in errors],
    }


def advise_text(cases: Sequence[Case]) -> str:
    """Every kernel with its advice, one after the other."""
    return "\n\n".join("\n".join(_kernel(case)) for case in cases)


def _kernel(case: Case) -> Iterator[str]:
    where = case.chip.name or case.chip.target.name
    use = f", est. {case.utilisation:.0%} of the matrix unit" if case.utilisation is not None else ""
    yield f"{printable(case.kernel.name)} on {where}: {case.fit.waves_per_simd:g} waves a SIMD{use}"
    found = [advice for _, _, advice in ranked(case)]
    for number, advice in enumerate(found, 1):
        yield from _advice(number, advice)
    if not found:
        yield "  nothing to do" + (f": {_why(case)}" if _why(case) else "")
    if case.blind:
        yield from _wrapped("  not judged: how the loop runs: ", case.blind)


def _why(case: Case) -> str:
    if case.utilisation is not None:
        return f"est. {case.utilisation:.0%} of the matrix unit, and no slot is empty"
    return "no slot is empty" if case.fit.waves == case.fit.max_waves else ""


def _advice(number: int, advice: Advice) -> Iterator[str]:
    gain = f"; gain: {advice.gain}" if advice.gain else ""
    yield f"  {number}. {advice.what}  [{advice.confidence}]{gain}"
    for line in advice.evidence:
        yield from _wrapped("     because ", printable(line))
    yield from _wrapped("     price   ", printable(advice.price))


def _wrapped(head: str, text: str) -> Iterator[str]:
    """The text behind its head, in lines that a terminal holds."""
    line = head
    for word in text.split():
        if len(line) + len(word) + 1 > _WIDTH and line.strip() != head.strip():
            yield line.rstrip()
            line = " " * len(head)
        line += word + " "
    yield line.rstrip()
