"""`fit`: how many waves fit, whichever resource runs out first."""

from __future__ import annotations

from dataclasses import replace
from typing import SupportsIndex

from wavefit.chips import Chip, Target
from wavefit.model import Kernel
from wavefit.occupancy.assumptions import rests_on
from wavefit.occupancy.limits import total_vgprs as both_kinds
from wavefit.occupancy.question import Question, Threads, Waves, as_chip, ask, what_if
from wavefit.occupancy.result import BadQuestion, Fit, FitRange, ratio
from wavefit.occupancy.steps import Case, evaluate


def fit(
    subject: Chip | Target | Kernel | str,
    *,
    chip: Chip | Target | str | None = None,
    vgprs: SupportsIndex | None = None,
    agprs: SupportsIndex | None = None,
    total_vgprs: SupportsIndex | None = None,
    waves: Waves = None,
    sgprs: SupportsIndex | None = None,
    lds: SupportsIndex | None = None,
    lds_dynamic: SupportsIndex | None = None,
    scratch: SupportsIndex | None = None,
    threads: Threads = None,
    mode: str | None = None,
    wave: SupportsIndex | None = None,
    view: str = "hardware",
    barriers: SupportsIndex | None = None,
    carveout: SupportsIndex | None = None,
) -> Fit | FitRange:
    """How many waves of a kernel fit on one unit of a chip, what stops the next one and by how much.

    `subject` is a chip or target (or its name) with the numbers given here, or a Kernel that was read,
    which brings its own registers, LDS and scratch; `chip` then names a product for it.

    Registers a lane: `vgprs` (on NVIDIA, registers a thread) and `agprs`, or `total_vgprs` in place of the
    two. `sgprs` a wave, with VCC, FLAT_SCRATCH and XNACK, without the trap handler's. `waves` are
    (count, registers) of one workgroup whose waves hold unequal numbers of vector registers. Bytes: `lds`
    (static) and `lds_dynamic` a workgroup, `scratch` a work-item. A resource that is not given does not
    limit. `threads` is a workgroup size or a (low, high) range; without it a Kernel is taken at its required
    size, its side file's or its largest, and plain numbers over every size. `wave` (lanes) and `mode` (`cu`,
    `wgp`) default to the compiler's for the target; `view` is one of `wavefit views`. NVIDIA: `barriers` are
    named ones of a block, `carveout` the preferred share of shared memory, percent.

    Returns a Fit, or a FitRange over a range; each limit names the Facts it rests on, with their sources.

    Raises BadQuestion for numbers that contradict each other or the target, ChipNotFound for a name.
    """
    amounts = {
        "vgprs": vgprs, "agprs": agprs, "total_vgprs": total_vgprs,
        "sgprs": sgprs, "lds": lds, "scratch": scratch,
    }  # fmt: skip
    if isinstance(subject, Kernel):
        given = [name for name, amount in {**amounts, "waves": waves}.items() if amount is not None]
        if given:
            raise BadQuestion(f"a kernel that was read brings its own {', '.join(given)}")
        if not chip and not subject.target:
            raise BadQuestion(f"{subject.name}: its file does not name the target; give a chip")
        of, kernel = as_chip(chip or subject.target), subject
        if kernel.target not in (of.target.name, ""):
            name = kernel.name or "the kernel"
            raise BadQuestion(f"{name} is compiled for {kernel.target}, not {of.target.name}")
        if kernel.total_vgprs is None:
            total = both_kinds(of.target, kernel.vgprs, kernel.agprs)
            kernel = replace(kernel, total_vgprs=total)
    else:
        of = as_chip(subject)
        kernel = what_if(of, amounts, waves)
    question = ask(
        of, kernel, read=isinstance(subject, Kernel), threads=threads, mode=mode, wave=wave,
        lds_dynamic=lds_dynamic, barriers=barriers, carveout=carveout,
    )  # fmt: skip
    if view == "hardware":
        return _hardware(question)
    if kernel.wave_vgprs:
        raise BadQuestion("only the hardware view knows waves of unequal registers")
    from wavefit.occupancy.views import VIEWS  # the other authorities: only where one is asked

    if view not in VIEWS:
        raise BadQuestion(f"unknown view {view!r}; there are hardware, {', '.join(VIEWS)}")
    return VIEWS[view].answer(question)


def _hardware(question: Question) -> Fit | FitRange:
    target = question.chip.target
    unit = target.unit(question.launch.mode)

    def at(threads: int) -> Case:
        return evaluate(target, unit, question.kernel, question.sized(threads))

    if not question.is_range:
        return _fit(question, at(question.launch.threads))
    cases = [at(size) for size in question.representative()]
    low = min(cases, key=lambda case: case.waves)
    high = max(cases, key=lambda case: case.waves)
    return FitRange(_fit(question, low), _fit(question, high), question.sizes)


def _fit(question: Question, case: Case) -> Fit:
    reasons = [limit.why for limit in case.limits if limit.workgroups == 0 and limit.why]
    return Fit(
        chip=question.chip.name,
        target=case.target.name,
        view="hardware",
        mode=case.launch.mode,
        wave=case.launch.wave,
        unit=case.unit.name,
        threads=case.launch.threads,
        workgroups=case.workgroups,
        why="; ".join(reasons) or None,
        waves=case.waves,
        max_waves=case.max_waves,
        waves_per_simd=ratio(case.waves, case.unit.simds),
        occupancy=case.waves / case.max_waves,
        limits=case.limits,
        binding=case.binding,
        assumptions=question.said + rests_on(case),
        of=case.target,
        kernel=case.kernel,
        launch=case.launch,
        around=case,
    )
