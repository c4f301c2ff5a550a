"""What an answer rests on that nobody has proved: soft Facts, other readings, unknown limiters."""

from __future__ import annotations

from wavefit.chips import SOFT, Fact, Target, with_readings
from wavefit.chips.model import Value
from wavefit.occupancy.limits import round_up
from wavefit.occupancy.steps import Case, evaluate


def rests_on(case: Case) -> tuple[str, ...]:
    """One sentence each: the soft Facts behind the limits that count, and what else they would give."""
    lines = []
    for path in _paths(case):
        fact = case.target.facts.get(path)
        if fact is not None and fact.status in SOFT:
            lines.append(_soft(case, path, fact))
    lines.extend(_scalar_unknown(case))
    lines.extend(_scratch_unknown(case))
    return tuple(lines)


def _paths(case: Case) -> list[str]:
    counted = (limit for limit in case.limits if limit.workgroups is not None)
    return list(dict.fromkeys(path for limit in counted for path in limit.facts))


def _soft(case: Case, path: str, fact: Fact) -> str:
    unit = f" {fact.unit}" if fact.unit else ""
    text = f"{path} = {fact.value}{unit}: {fact.status} ({fact.source})"
    for reading in fact.readings:
        other = with_readings(case.target, _readings_of(case.target, reading.source))
        unit_key = case.launch.mode or next(iter(other.units))
        found = evaluate(other, other.units[unit_key], case.kernel, case.launch)
        waves = found.waves / found.unit.simds
        resident = f"{found.workgroups} workgroups, {waves:g} waves/SIMD"
        text += f"; with {reading.value} ({reading.source}): {resident}"
    return text


def _readings_of(target: Target, source: str) -> dict[str, Value]:
    """Everything that one source reads otherwise: its numbers belong together."""
    return {
        path: reading.value
        for path, fact in target.facts.items()
        for reading in fact.readings
        if reading.source == source
    }


def _scalar_unknown(case: Case) -> list[str]:
    """Readings of a scalar file that may or may not limit: said, never counted."""
    sgpr, requested = case.target.sgpr, case.kernel.charged_sgprs
    if sgpr.limits != "unknown":
        return []
    text = f"sgpr: whether scalar registers limit {case.target.name} is unknown; not counted"
    if requested is not None and sgpr.file and sgpr.granule:
        plain = round_up(max(requested, 1), sgpr.granule)
        text += f". If {sgpr.file} a SIMD in granules of {sgpr.granule}: {sgpr.file // plain} waves/SIMD"
        for reserve in _reserves(case.target):
            text += f", or {sgpr.file // (plain + reserve)} with {reserve} for a trap handler"
        steps = case.target.facts.get("sgpr.compiler_steps")
        if steps is not None and isinstance(steps.value, tuple):
            text += f", or {_stepped(steps.value, requested)} by the compiler's table"
    return [text]


def _reserves(target: Target) -> list[int]:
    """What a trap handler may take of the scalar file, in every reading but none."""
    fact = target.facts.get("sgpr.trap_reserve")
    readings = [fact.value, *(reading.value for reading in fact.readings)] if fact else []
    return [value for value in readings if isinstance(value, int) and value]


def _stepped(steps: tuple[int | str, ...], amount: int) -> int:
    pairs = list(zip(steps[::2], steps[1::2], strict=True))
    return int(next((waves for most, waves in pairs if amount <= int(most)), pairs[-1][1]))


def _scratch_unknown(case: Case) -> list[str]:
    uses = bool(case.kernel.scratch) or case.kernel.dynamic_stack
    if not uses or case.target.scratch_waves is not None:
        return []
    return [f"scratch: no limit on waves with scratch is known for {case.target.name}; none is counted"]
