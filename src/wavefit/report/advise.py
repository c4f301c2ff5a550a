"""Advice as text and as a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from wavefit.advise import Advice, Case, ranked
from wavefit.kernels import BadFile
from wavefit.report.document import error_row
from wavefit.report.language import retold, say
from wavefit.report.names import printable
from wavefit.report.paint import paint
from wavefit.report.wrap import hung, pad

Json = dict[str, Any]


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
    title = say("{name} on {chip}: {waves} waves a SIMD", name=printable(case.kernel.name), chip=where,
                waves=f"{case.fit.waves_per_simd:g}")  # fmt: skip
    if case.utilisation is not None:
        title += say(", ") + _use(case.utilisation)
    yield from (paint(line, "strong") for line in hung("", title, hang=2))
    found = [advice for _, _, advice in ranked(case)]
    for number, advice in enumerate(found, 1):
        yield from _advice(number, advice)
    if not found:
        why = _why(case)
        yield from hung("  ", say("nothing to do: {why}", why=why) if why else say("nothing to do"))
    if case.blind:
        yield from hung(f"  {say('not judged: how the loop runs: ')}", retold(case.blind), hang=4)


def _use(share: float) -> str:
    return say("est. {share} of the matrix unit", share=f"{share:.0%}")


def _why(case: Case) -> str:
    full = say("no slot is empty")
    if case.utilisation is not None:
        return say("{use}, and {full}", use=_use(case.utilisation), full=full)
    return full if case.fit.waves == case.fit.max_waves else ""


def _advice(number: int, advice: Advice) -> Iterator[str]:
    gain = say("; gain: {gain}", gain=retold(advice.gain)) if advice.gain else ""
    what = f"{retold(advice.what)}  [{say(advice.confidence)}]{gain}"
    yield from (paint(line, "good") for line in hung(f"  {number}. ", what))
    for line in advice.evidence:
        yield from _under("because", line)
    yield from _under("price", advice.price)


def _under(label: str, text: str) -> list[str]:
    return hung(f"     {pad(say(label), 7)} ", printable(retold(text), longest=500))
