"""A Fit as text for a terminal of 80 columns. Holds no arithmetic but that of column widths."""

from __future__ import annotations

import re

from wavefit.chips import Fact
from wavefit.occupancy import Fit, FitRange, Limit, Step
from wavefit.report.language import counted, retold, say
from wavefit.report.names import width
from wavefit.report.paint import bar, paint, unstyle
from wavefit.report.rosetta import named, other
from wavefit.report.wrap import WIDTH, hung, pad, table, whole

NAMES = {
    "vgpr": "VGPR", "sgpr": "SGPR", "lds": "LDS", "slots": "wave slots",
    "workgroups": "workgroups", "scratch": "scratch", "threads": "threads",
}  # fmt: skip
HEADS = ("", "asks", "charged", "of", "alone", "workgroups", "spare")
STOPS = (
    "{waves}: {what} stops the next workgroup",
    "{waves}: {what} both stop the next workgroup",
    "{waves}: {what} all stop the next workgroup",
)
"""One resource, two, more: each of them by itself."""
_STEPS = re.compile(" (?=[=(])")
ABOUT = ("workgroup", "minimum", "waves")
"""What a line of a derivation is about, where it is no resource."""


def fit_text(found: Fit | FitRange, *, explain: bool = False) -> str:
    """The answer to one question."""
    if isinstance(found, FitRange):
        low, high = found.threads
        parts = [
            say("threads {low} to {high}: the sizes with the fewest and the most waves", low=low, high=high)
        ]
        parts += [fit_text(found.low, explain=explain)]
        if found.high.threads != found.low.threads:
            parts.append(fit_text(found.high, explain=explain))
        return "\n\n".join(parts)
    lines = [paint(_title(found), "strong"), *fit_lines(found)]
    if explain:
        lines += ["", *explain_lines(found)]
    return "\n".join(lines)


def fit_lines(fit: Fit) -> list[str]:
    """The verdict, occupancy, the table of limits, the steps and what the answer rests on."""
    if fit.view != "hardware":
        return [*_occupancy(fit), *_other_view(fit), *_assumptions(fit)]
    role = "broken" if fit.why else "strong"
    lines = [paint(line, role) for line in hung("  ", verdict(fit))]
    lines += [*_occupancy(fit), *_in_its_words(fit), "", *_table(fit), ""]
    for step in fit.next_steps:
        lines += [paint(line, "good") for line in labelled("next", _step(step))]
    if not fit.next_steps and fit.workgroups:
        lines += labelled("next", _no_step(fit))
    for step in fit.losses:
        lines += labelled("loses", _step(step))
    for note in granule_notes(fit):
        lines += labelled("note", note)
    return lines + _assumptions(fit)


def verdict(fit: Fit) -> str:
    """The answer in words: how many waves of how many, and what stops the next workgroup."""
    if fit.why:
        return say("cannot launch: {why}", why=retold(fit.why))
    most = fit.of.unit(fit.mode).wave_slots
    waves = say("{waves} of {most} waves a SIMD", waves=f"{fit.waves_per_simd:g}", most=most)
    if fit.waves == fit.max_waves:
        return say("{waves}: the hardware's maximum", waves=waves)
    return say(STOPS[min(len(fit.binding), len(STOPS)) - 1], waves=waves, what=_and(fit))


def labelled(label: str, text: str) -> list[str]:
    """A line of an answer behind its label: next, loses, note, rests on."""
    return hung(f"  {pad(say(label), 8)} ", text)


def rests(assumptions: tuple[str, ...] | list[str]) -> list[str]:
    """What an answer rests on."""
    lines = (line for each in assumptions for line in labelled("rests on", retold(each)))
    return [paint(line, "quiet") for line in lines]


def _no_step(fit: Fit) -> str:
    if fit.waves == fit.max_waves:
        return say("already at the hardware's maximum")
    if fit.kernel.wave_vgprs:
        return say("not searched for waves of unequal registers")
    return say("nothing alone gains a wave: {what} would have to change together", what=_and(fit))


def explain_lines(fit: Fit) -> list[str]:
    """The arithmetic line by line, then every constant in it with who says so."""
    from wavefit.occupancy.derive import derivation

    lines = ["  " + say("the arithmetic")]
    sources: dict[str, Fact] = {}
    for line in derivation(fit):
        head = f"    {pad(say(NAMES.get(line.about, line.about)), 10)}  "
        parts = [line.text] if len(head + line.text) <= WIDTH else line.text.split("; ")
        for part in parts:
            told = "; ".join(map(retold, part.split("; ")))
            lines += hung(head, " ".join(map(whole, _STEPS.split(told))))  # broken before a result only
            head = " " * width(head)
        sources.update(line.facts)
    lines += ["", "  " + say("the constants")]
    longest = max((len(path) for path in sources), default=0)
    for path, fact in sources.items():
        lines += hung(f"    {path:<{longest}}  ", f"{value_text(fact)} {says(fact)}")
    return lines


def value_text(fact: Fact) -> str:
    """A Fact's value with its unit."""
    value = say("unknown") if fact.value is None else fact.value
    shown = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return f"{shown} {retold(fact.unit)}" if fact.unit else shown


def says(fact: Fact) -> str:
    """Who says so: status and source."""
    return f"[{say(fact.status)}] {fact.source}"


def _title(fit: Fit) -> str:
    view = "" if fit.view == "hardware" else say(", view {view}", view=fit.view)
    return f"{chip_text(fit)}{view}: {size_text(fit)}"


def chip_text(fit: Fit) -> str:
    """Product, target and mode."""
    name = f"{fit.chip} ({fit.target})" if fit.chip else fit.target
    return name + (say(", {mode} mode", mode=fit.mode.upper()) if fit.mode else "")


def size_text(fit: Fit) -> str:
    """The workgroup in waves."""
    return say(
        "{threads} threads = {waves} {word} of {lanes}", threads=fit.threads, waves=fit.launch.waves,
        word=named("waves" if fit.launch.waves > 1 else "wave", fit.of.vendor), lanes=fit.wave,
    )  # fmt: skip


def _occupancy(fit: Fit) -> list[str]:
    """The bar, and the waves behind it; where they do not fit there, in lines below one another."""
    head = f"  {fit.occupancy * 100:.4g} % {bar(fit.occupancy)} "
    each = f"{fit.waves_per_simd:g}"
    text = say("{waves} waves/SIMD", waves=each)
    if fit.waves is not None:
        text = say(
            "{waves} of {most} waves a {unit}, {each} a SIMD, {groups}", waves=fit.waves, most=fit.max_waves,
            unit=fit.unit, each=each, groups=whole(counted(fit.workgroups or 0, "workgroup")),
        )  # fmt: skip
    blank = " " * width(unstyle(head))
    first, *more = hung(blank, text)
    return [head + first[len(blank) :], *more]


def _in_its_words(fit: Fit) -> list[str]:
    """The same in the vendor's own words; and what it is, where the driver chooses how much LDS there is."""
    wave, simd, group = (other(word, fit.of.vendor) for word in ("waves", "SIMD", "workgroup"))
    lines = []
    if wave and simd and group:
        text = say(
            "{waves} of {most} {wave} a {unit}, {each} a {simd}, {groups}", waves=fit.waves,
            most=fit.max_waves, wave=say(wave), unit=fit.unit, each=f"{fit.waves_per_simd:g}", simd=say(simd),
            groups=counted(fit.workgroups or 0, group),
        )  # fmt: skip
        lines += hung("  = ", text)
    if fit.of.lds.carveouts:
        text = say(
            "the ceiling: the driver may give less {lds} than this counts", lds=named("LDS", fit.of.vendor)
        )
        lines += hung("  ", text)
    return lines


def _table(fit: Fit) -> list[str]:
    shown = [limit for limit in fit.limits if _shown(limit)]
    heads = ("" if not head else say(head) for head in HEADS)
    rows = [(*heads, ""), *(_row(fit, limit) for limit in shown)]
    lines = table(rows, "<>>>>>><")
    roles = ["binds" if limit.resource in fit.binding else "" for limit in shown]
    coloured = (paint(line, role) if role else line for line, role in zip(lines[1:], roles, strict=True))
    return [paint(lines[0], "quiet"), *coloured]


def _shown(limit: Limit) -> bool:
    asked = limit.requested is not None and limit.resource not in ("threads", "scratch")
    return limit.workgroups is not None or asked


def _row(fit: Fit, limit: Limit) -> tuple[str, ...]:
    alone = (
        "-" if limit.waves_per_simd is None else say("{waves} waves/SIMD", waves=f"{limit.waves_per_simd:g}")
    )
    groups, spare = str(limit.workgroups), str(fit.slack.get(limit.resource, ""))
    if limit.workgroups is None:
        unknown = _unknown(fit, limit)
        groups, spare = say("unknown" if unknown else "no limit"), "" if unknown else spare
    asks = "-" if limit.resource == "scratch" else _amount(limit.requested)
    mark = "<" if limit.resource in fit.binding else ""
    name = say(NAMES[limit.resource])
    return name, asks, _amount(limit.allocated), _amount(limit.budget), alone, groups, spare, mark


def _unknown(fit: Fit, limit: Limit) -> bool:
    """Whether it may limit after all: nobody knows, or the launch adds what a file does not hold."""
    launched = limit.resource == "lds" and bool(fit.kernel.file) and fit.launch.lds_dynamic is None
    return launched or limit.status == "unknown"


def _amount(amount: int | None) -> str:
    return "-" if amount is None else str(amount)


def _step(step: Step) -> str:
    changes = (whole(f"{say(NAMES[c.resource])} {c.from_} -> {c.to}") for c in step.changes)
    result = say("cannot launch")
    if step.workgroups:
        groups = counted(step.workgroups, "workgroup")
        share = f"{step.occupancy * 100:.4g}"
        result = say("{groups}, {waves} waves, {share} %", groups=groups, waves=step.waves, share=share)
    return say(" and ").join(changes) + say(": ") + whole(result)


def _other_view(fit: Fit) -> list[str]:
    lines = []
    for limit in fit.limits:
        mark = "  <" if limit.resource in fit.binding else ""
        plain = "" if limit.requested is None else _of(limit)
        waves = say("{waves} waves/SIMD", waves=f"{limit.waves_per_simd:g}")
        line = f"  {pad(say(NAMES[limit.resource]), 10)}  {plain}{waves}{mark}"
        lines.append(paint(line, "binds") if mark else line)
    return lines


def _of(limit: Limit) -> str:
    return say("{requested} of {budget}: ", requested=limit.requested, budget=limit.budget)


def _assumptions(fit: Fit) -> list[str]:
    return rests(fit.assumptions)


def granule_notes(fit: Fit) -> list[str]:
    """Where a plain division promises another number than the granules allow."""
    from wavefit.occupancy.derive import plain_division

    notes = []
    for limit in fit.limits:
        plain = plain_division(limit)
        if plain is not None and limit.resource in fit.binding:
            name = NAMES[limit.resource]
            notes.append(say("{name}: plain division gives {plain}", name=say(name), plain=plain))
    return notes


def _and(fit: Fit) -> str:
    return say(" and ").join(named(NAMES[resource], fit.of.vendor) for resource in fit.binding)
