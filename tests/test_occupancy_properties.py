"""What must hold for every target and every question, checked by re-evaluating the answer."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

import wavefit as wf
from wavefit.chips import targets

NAMES = sorted({target.name for target in targets() if not target.unknown})
KEY = {"vgpr": "total_vgprs", "sgpr": "sgprs", "lds": "lds", "threads": "threads", "scratch": "scratch"}


def ask(name: str, numbers: dict[str, Any]) -> wf.Fit:
    found = wf.fit(name, **numbers)
    assert isinstance(found, wf.Fit)
    return found


@st.composite
def questions(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    name = draw(st.sampled_from(NAMES))
    target = wf.chip(name).target
    numbers: dict[str, Any] = {
        "total_vgprs": draw(st.none() | st.integers(0, target.vgpr.addressable + 3)),
        "sgprs": draw(st.none() | st.integers(0, 112)),
        "lds": draw(st.none() | st.integers(0, target.lds.per_workgroup + 600)),
        "scratch": draw(st.sampled_from([None, 0, 16])),
        "threads": draw(st.integers(1, 1100)),
        "wave": draw(st.sampled_from(target.wave_sizes)),
    }
    if target.modes:
        numbers["mode"] = draw(st.sampled_from(target.modes))
    return name, numbers


@settings(max_examples=400, deadline=None)
@given(questions())
def test_binding_is_the_argmin(question: tuple[str, dict[str, Any]]) -> None:
    found = ask(*question)
    counted = {limit.resource: limit.workgroups for limit in found.limits if limit.workgroups is not None}
    assert found.workgroups == min(counted.values())
    assert set(found.binding) == {name for name, groups in counted.items() if groups == found.workgroups}
    assert found.waves == found.workgroups * found.launch.waves
    assert found.waves <= found.max_waves
    assert found.occupancy == found.waves / found.max_waves
    assert (found.why is None) == (found.workgroups > 0)


@settings(max_examples=300, deadline=None)
@given(questions(), st.sampled_from(["total_vgprs", "sgprs", "lds"]), st.integers(1, 4096))
def test_more_never_fits_more(question: tuple[str, dict[str, Any]], key: str, more: int) -> None:
    name, numbers = question
    before = ask(name, {**numbers, key: numbers[key] or 0})
    after = ask(name, {**numbers, key: (numbers[key] or 0) + more})
    assert before.workgroups is not None
    assert after.workgroups is not None
    assert after.workgroups <= before.workgroups


@settings(max_examples=400, deadline=None)
@given(questions())
def test_every_next_step_is_true_and_minimal(question: tuple[str, dict[str, Any]]) -> None:
    name, numbers = question
    found = ask(name, numbers)
    for step in found.next_steps:
        changed = {KEY[change.resource]: change.to for change in step.changes}
        after = ask(name, {**numbers, **changed})
        assert (after.workgroups, after.waves, after.occupancy) == (
            step.workgroups,
            step.waves,
            step.occupancy,
        )
        assert step.waves > (found.waves or 0)
        for change in step.changes:
            if change.resource == "threads":
                _nearest(name, numbers, found, change.to)
            else:
                one_more = ask(name, {**numbers, **changed, KEY[change.resource]: change.to + 1})
                assert one_more.waves is not None
                assert one_more.waves < step.waves


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(("gfx703", "gfx90a", "gfx942", "gfx950")), st.integers(1, 16), st.integers(0, 3))
def test_where_slots_tie_with_lds_a_smaller_workgroup_with_less_is_found(
    name: str, waves: int, spare: int
) -> None:
    """By trying: whole waves of every size, each with as little LDS as there is."""
    target = wf.chip(name).target
    resident = ask(name, {"threads": waves * 64}).workgroups or 1
    numbers = {"threads": waves * 64, "lds": target.unit().lds_pool // resident - 512 * spare}
    found = ask(name, numbers)
    gains = (
        ask(name, {**numbers, "threads": size * 64, "lds": 1}).waves or 0
        for size in range(1, target.workgroup.max_threads // 64 + 1)
    )
    assert bool(found.next_steps) == (found.waves != found.max_waves and max(gains) > (found.waves or 0))


def _nearest(name: str, numbers: dict[str, Any], found: wf.Fit, to: int) -> None:
    if found.workgroups == 0:
        assert to == found.of.workgroup.max_threads
        return
    distance = abs(to - found.threads)
    for threads in range(max(1, found.threads - distance + 1), min(1024, found.threads + distance - 1) + 1):
        tried = ask(name, {**numbers, "threads": threads})
        assert (tried.waves or 0) <= (found.waves or 0)


@settings(max_examples=300, deadline=None)
@given(questions())
def test_slack_and_losses_are_the_same_edge(question: tuple[str, dict[str, Any]]) -> None:
    name, numbers = question
    found = ask(name, numbers)
    lost = {step.changes[0].resource: step for step in found.losses}
    for resource, spare in found.slack.items():
        amount = numbers[KEY[resource]] or 0
        kept = ask(name, {**numbers, KEY[resource]: amount + spare})
        beyond = ask(name, {**numbers, KEY[resource]: amount + spare + 1})
        assert kept.workgroups == found.workgroups
        assert (beyond.workgroups or 0) < (found.workgroups or 0)
        assert lost[resource].changes[0].to == amount + spare + 1
        assert lost[resource].workgroups == beyond.workgroups


@settings(max_examples=60, deadline=None)
@given(questions(), st.integers(1, 300))
def test_a_range_is_the_envelope_of_its_sizes(question: tuple[str, dict[str, Any]], width: int) -> None:
    name, numbers = question
    low = numbers["threads"]
    found = wf.fit(name, **{**numbers, "threads": (low, low + width)})
    assert isinstance(found, wf.FitRange)
    every = [
        ask(name, {**numbers, "threads": threads}).waves or 0 for threads in range(low, low + width + 1, 7)
    ]
    assert (found.low.waves or 0) <= min(every)
    assert max(every) <= (found.high.waves or 0)
    for end in (found.low, found.high):
        assert low <= end.threads <= low + width
        assert ask(name, {**numbers, "threads": end.threads}).waves == end.waves
