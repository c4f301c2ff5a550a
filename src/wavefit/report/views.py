"""Every View of one question side by side, with the reason for each difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wavefit.chips import Chip, ChipNotFound, published
from wavefit.chips import chip as find_chip
from wavefit.kernels import BadFile, kernels
from wavefit.model import Kernel
from wavefit.occupancy import BadQuestion, Fit, FitRange, fit
from wavefit.occupancy.views import VIEWS, differences
from wavefit.report.language import counted, placed, retold, say
from wavefit.report.names import printable, width
from wavefit.report.paint import paint
from wavefit.report.wrap import hung, pad

LAUNCH = ("threads", "lds_dynamic", "mode", "wave")


@dataclass(frozen=True, slots=True)
class Seen:
    """One View's answer, or why it has none, and why it is not the hardware's."""

    view: str
    authority: str
    fit: Fit | None
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One question under every View, the hardware's first."""

    about: str
    seen: tuple[Seen, ...]


def compare(
    path: str | None, chip: str | None, pattern: str | None, numbers: dict[str, Any]
) -> tuple[list[Comparison], list[Exception]]:
    """The comparisons asked for: of plain numbers on a chip, or of each kernel in a file; and what broke."""
    if path is None:
        return [compared(chip or "", f"{chip}", find_chip(chip or ""), numbers)], []
    spends = [name for name in numbers if name not in LAUNCH and numbers[name] is not None]
    if spends:
        raise BadQuestion(f"a file brings its own {', '.join(spends)}")
    launch, found, errors = {key: numbers[key] for key in LAUNCH}, [], list[Exception]()
    for item in kernels(path):
        if isinstance(item, BadFile):
            errors.append(item)
        elif pattern is None or pattern in item.name:
            try:
                of = find_chip(chip or item.target)
                about = f"{printable(item.name)} on {of.name or of.target.name}"
                found.append(compared(item, about, of, {**launch, "chip": of}))
            except (BadQuestion, ChipNotFound) as error:
                errors.append(error)
    if not found:
        raise errors[0] if errors else BadQuestion(f"{path}: no kernel's name contains {pattern!r}")
    return found, errors


def compared(subject: Kernel | str, about: str, of: Chip, numbers: dict[str, Any]) -> Comparison:
    """One question under every View; `numbers` as for `fit`. Raises BadQuestion as it does."""
    base = _high(fit(subject, **numbers))
    seen = [Seen("hardware", "what the chip admits", base, ())]
    for view in VIEWS.values():
        try:
            other = _high(fit(subject, view=view.name, **numbers))
        except BadQuestion as why:
            seen.append(Seen(view.name, view.authority, None, (str(why),)))
        else:
            seen.append(Seen(view.name, view.authority, other, differences(base, other)))
    seen.extend(_as_published(subject, of, numbers))
    return Comparison(about, tuple(seen))


def _high(found: Fit | FitRange) -> Fit:
    return found.high if isinstance(found, FitRange) else found


def _as_published(subject: Kernel | str, of: Chip, numbers: dict[str, Any]) -> list[Seen]:
    """What guides in circulation print about this chip, with each constant that differs."""
    if isinstance(subject, Kernel) or of.name is None:
        return []
    found = []
    for other in published(of.name):
        one_wave = {**numbers, "threads": other.target.default_wave, "wave": None, "mode": None}
        answer, why = None, _constants(other)
        try:
            answer = _high(fit(other, **one_wave))
        except BadQuestion as refused:
            why = (str(refused), *why)
        found.append(Seen(str(other.name), "a guide's constants, one-wave workgroups", answer, why))
    return found


def _constants(other: Chip) -> tuple[str, ...]:
    facts = (*other.target.facts.items(), *other.facts.items())
    return tuple(
        f"{path} = {fact.value}; but {fact.note or fact.source}"
        for path, fact in facts
        if fact.status == "contradicted"
    )


def views_document(comparisons: list[Comparison]) -> dict[str, Any]:
    """The document `wavefit.views/1`."""
    return {
        "schema": "wavefit.views/1",
        "questions": [
            {
                "about": comparison.about,
                "views": [
                    {
                        "view": seen.view,
                        "authority": seen.authority,
                        "fit": None if seen.fit is None else seen.fit.to_dict(),
                        "differs": list(seen.why),
                    }
                    for seen in comparison.seen
                ],
            }
            for comparison in comparisons
        ],
    }


def views_text(comparison: Comparison) -> str:
    """A line a View, its reasons under it."""
    longest = max(len(seen.view) for seen in comparison.seen)
    answers = [_answer(seen.fit) for seen in comparison.seen]
    columns = max(map(width, answers))
    lines = [paint(comparison.about, "strong")]
    for seen, answer in zip(comparison.seen, answers, strict=True):
        head = f"  {seen.view:<{longest}}  {pad(answer, columns)}  "
        lines += hung(head, retold(seen.authority))
        lines += (paint(line, "quiet") for why in seen.why for line in hung(" " * (longest + 6), placed(why)))
    return "\n".join(lines)


def _answer(fit: Fit | None) -> str:
    if fit is None:
        return say("no answer")
    each, share = f"{fit.waves_per_simd:g}", f"{fit.occupancy * 100:.4g}"
    text = say("{waves} waves/SIMD, {share} %", waves=each, share=share)
    return text if fit.workgroups is None else say(", ").join((text, counted(fit.workgroups, "workgroup")))
