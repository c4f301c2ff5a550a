"""Results as text for a terminal of 80 columns. Holds no arithmetic but that of column widths."""

from __future__ import annotations

from wavefit.chips import Fact
from wavefit.occupancy import Fit, FitRange, Limit, Step
from wavefit.report.names import counted
from wavefit.report.rosetta import named, other

NAMES = {
    "vgpr": "VGPR", "sgpr": "SGPR", "lds": "LDS", "slots": "wave slots",
    "workgroups": "workgroups", "scratch": "scratch", "threads": "threads",
}  # fmt: skip
_BAR = 24
_WIDTH = 80


def fit_text(found: Fit | FitRange, *, explain: bool = False) -> str:
    """The answer to one question."""
    if isinstance(found, FitRange):
        low, high = found.threads
        parts = [f"threads {low} to {high}: the sizes with the fewest and the most waves"]
        parts += [fit_text(found.low, explain=explain)]
        if found.high.threads != found.low.threads:
            parts.append(fit_text(found.high, explain=explain))
        return "\n\n".join(parts)
    lines = [_title(found), *fit_lines(found)]
    if explain:
        lines += ["", *explain_lines(found)]
    return "\n".join(lines)


def fit_lines(fit: Fit) -> list[str]:
    """Occupancy, what binds, the table of limits, the steps and what the answer rests on."""
    if fit.view != "hardware":
        return [_occupancy(fit), *_other_view(fit), *_assumptions(fit)]
    lines = [_occupancy(fit), *_in_its_words(fit)]
    lines.append(f"  cannot launch: {fit.why}" if fit.why else f"  bound by {_and(fit)}")
    lines += ["", *_table(fit), ""]
    lines += [_step("next", step) for step in fit.next_steps]
    if not fit.next_steps and fit.workgroups:
        lines.append(f"  next     {_no_step(fit)}")
    lines += [_step("loses", step) for step in fit.losses]
    lines += [f"  note     {note}" for note in granule_notes(fit)]
    return lines + _assumptions(fit)


def _no_step(fit: Fit) -> str:
    if fit.waves == fit.max_waves:
        return "already at the hardware's maximum"
    if fit.kernel.wave_vgprs:
        return "not searched for waves of unequal registers"
    return f"nothing alone gains a wave: {_and(fit)} would have to change together"


def explain_lines(fit: Fit) -> list[str]:
    """The arithmetic line by line, then every constant in it with who says so."""
    from wavefit.occupancy.derive import derivation

    lines = ["  the arithmetic"]
    sources: dict[str, Fact] = {}
    for line in derivation(fit):
        head = f"    {NAMES.get(line.about, line.about):<10}  "
        parts = line.text.split("; ") if len(head + line.text) > _WIDTH else [line.text]
        lines.append(head + parts[0])
        lines += [" " * len(head) + part for part in parts[1:]]
        sources.update(line.facts)
    lines += ["", "  the constants"]
    width = max((len(path) for path in sources), default=0)
    for path, fact in sources.items():
        unit = f" {fact.unit}" if fact.unit else ""
        lines.append(f"    {path:<{width}}  {fact.value}{unit} [{fact.status}] {fact.source}")
    return lines


def _title(fit: Fit) -> str:
    name = f"{fit.chip} ({fit.target})" if fit.chip else fit.target
    mode = f", {fit.mode.upper()} mode" if fit.mode else ""
    view = "" if fit.view == "hardware" else f", view {fit.view}"
    return f"{name}{mode}{view}: {size_text(fit)}"


def size_text(fit: Fit) -> str:
    """The workgroup in waves."""
    return f"{fit.threads} threads = {fit.launch.waves} {named('waves', fit.of.vendor)} of {fit.wave}"


def _occupancy(fit: Fit) -> str:
    filled = round(fit.occupancy * _BAR)
    bar = "#" * filled + "." * (_BAR - filled)
    text = f"  {fit.occupancy * 100:.4g} % [{bar}] "
    if fit.waves is None:
        return text + f"{fit.waves_per_simd:g} waves/SIMD"
    groups = counted(fit.workgroups or 0, "workgroup")
    return (
        text + f"{fit.waves} of {fit.max_waves} waves a {fit.unit}, {fit.waves_per_simd:g} a SIMD, {groups}"
    )


def _in_its_words(fit: Fit) -> list[str]:
    """The same in the vendor's own words; and what it is, where the driver chooses how much LDS there is."""
    wave, simd, group = (other(word, fit.of.vendor) for word in ("waves", "SIMD", "workgroup"))
    lines = []
    if wave and simd and group:
        waves = f"{fit.waves} of {fit.max_waves} {wave} a {fit.unit}, {fit.waves_per_simd:g} a {simd}"
        lines.append(f"  = {waves}, {counted(fit.workgroups or 0, group)}")
    if fit.of.lds.carveouts:
        lines.append(
            f"  the ceiling: the driver may give less {named('LDS', fit.of.vendor)} than this counts"
        )
    return lines


def _table(fit: Fit) -> list[str]:
    rows: list[tuple[str, ...]] = [("", "asks", "charged", "of", "alone", "workgroups", "spare")]
    rows += [_row(fit, limit) for limit in fit.limits if _shown(limit)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
        ]
        mark = "  <" if row[0] in {NAMES[name] for name in fit.binding} else ""
        lines.append(("  " + "   ".join(cells) + mark).rstrip())
    return lines


def _shown(limit: Limit) -> bool:
    asked = limit.requested is not None and limit.resource not in ("threads", "scratch")
    return limit.workgroups is not None or asked


def _row(fit: Fit, limit: Limit) -> tuple[str, ...]:
    alone = "-" if limit.waves_per_simd is None else f"{limit.waves_per_simd:g} waves/SIMD"
    groups = str(limit.workgroups)
    if limit.workgroups is None:
        groups = "unknown" if _unknown(fit, limit) else "no limit"
    spare = "" if groups == "unknown" else str(fit.slack.get(limit.resource, ""))
    asks = "-" if limit.resource == "scratch" else _amount(limit.requested)
    return NAMES[limit.resource], asks, _amount(limit.allocated), _amount(limit.budget), alone, groups, spare


def _unknown(fit: Fit, limit: Limit) -> bool:
    """Whether it may limit after all: nobody knows, or the launch adds what a file does not hold."""
    launched = limit.resource == "lds" and bool(fit.kernel.file) and fit.launch.lds_dynamic is None
    return launched or limit.status == "unknown"


def _amount(amount: int | None) -> str:
    return "-" if amount is None else str(amount)


def _step(word: str, step: Step) -> str:
    changes = " and ".join(f"{NAMES[c.resource]} {c.from_} -> {c.to}" for c in step.changes)
    groups = counted(step.workgroups, "workgroup")
    result = f"{groups}, {step.waves} waves, {step.occupancy * 100:.4g} %"
    if not step.workgroups:
        result = "cannot launch"
    return f"  {word:<8} {changes}: {result}"


def _other_view(fit: Fit) -> list[str]:
    lines = []
    for limit in fit.limits:
        mark = "  <" if limit.resource in fit.binding else ""
        plain = "" if limit.requested is None else f"{limit.requested} of {limit.budget}: "
        lines.append(f"  {NAMES[limit.resource]:<10}  {plain}{limit.waves_per_simd:g} waves/SIMD{mark}")
    return lines


def _assumptions(fit: Fit) -> list[str]:
    return [f"  rests on {line}" for line in fit.assumptions]


def granule_notes(fit: Fit) -> list[str]:
    """Where a plain division promises another number than the granules allow."""
    from wavefit.occupancy.derive import plain_division

    notes = []
    for limit in fit.limits:
        plain = plain_division(limit)
        if plain is not None and limit.resource in fit.binding:
            notes.append(f"{NAMES[limit.resource]}: plain division gives {plain}")
    return notes


def _and(fit: Fit) -> str:
    return " and ".join(named(NAMES[resource], fit.of.vendor) for resource in fit.binding)
