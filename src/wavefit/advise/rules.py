"""The decision procedure: one rule a question, in the order in which they are asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from wavefit.advise.case import Case, Of, cases
from wavefit.advise.model import Advice
from wavefit.chips import Chip
from wavefit.feed.loop import LoopFeed, instruction_of, machine, matrix_times
from wavefit.isa import Loop
from wavefit.matrix.errors import MatrixError
from wavefit.matrix.packed import packed_fp32
from wavefit.matrix.table import matrix
from wavefit.occupancy import BadQuestion, Fit, fit
from wavefit.occupancy.result import Step
from wavefit.shown import Listed

FED = 0.9
"""Est. share of the time from which on the matrix unit counts as fed."""
GAIN = 0.05
"""Est. share of the matrix unit that a change must bring to be worth its price."""
HIDDEN = 0.1
"""Est. share of time that more waves must save a loop without matrix work."""
NEAR_REGISTERS, NEAR_LDS = 8, 0.1
"""A cliff is near within so many registers, or within this share of the LDS spent."""
MANY_FMAS = 32
"""Vector multiply-adds in a loop from which on it looks like a matrix product."""
PAIRS = 4
"""Results, in registers of their own, from which on multiply-adds could be paired."""

Found = Iterator[tuple[float, Advice]]
"""Advice with its weight among that of the same rank: the est. share of the matrix unit that it gains."""


def advise(
    path: str | os.PathLike[str],
    *,
    chip: Of | None = None,
    kernel: str | None = None,
    threads: int | None = None,
    lds_dynamic: int | None = None,
    grid: int | None = None,
) -> Listed[Advice]:
    """What to do next with the kernels of a file, most important first; empty when there is nothing to do.

    `path` is what `kernels` reads. `chip` is a product (default: each kernel's own target), `kernel` keeps
    names that contain it, `threads` and `lds_dynamic` (bytes) say how it is launched, `grid` how many
    workgroups are. Raises BadFile where no kernel can be read, ChipNotFound, BadQuestion for a launch that
    contradicts the kernel.
    """
    given = {"chip": chip, "kernel": kernel, "threads": threads, "lds_dynamic": lds_dynamic, "grid": grid}
    found = [each for case in cases(path, **given) if isinstance(case, Case) for each in ranked(case)]  # type: ignore[arg-type]
    return Listed(advice for _, _, advice in sorted(found, key=lambda each: each[:2]))


def ranked(case: Case) -> list[tuple[int, float, Advice]]:
    """The advice for one kernel with its place in the order: rank, then weight, the smallest first."""
    found = [
        (rank, -weight, advice)
        for rank, rules in enumerate(RULES)
        for rule in rules
        for weight, advice in rule(case)
    ]
    return sorted(found, key=lambda each: each[:2])


def _advice(
    case: Case, about: str, what: str, *evidence: str, sure: bool, price: str, gain: str | None = None
) -> Advice:
    return Advice(case.kernel.name, about, what, evidence, "exact" if sure else "est.", price, gain)


def _launch(case: Case) -> Found:
    if case.fit.workgroups == 0:
        steps = case.fit.next_steps
        yield 0, _advice(
            case, "launch", "it cannot launch: make it smaller", case.fit.why or "no workgroup fits",
            sure=True, price=_changes(steps[0]) if steps else "a smaller tile or workgroup",
        )  # fmt: skip


def _spills(case: Case) -> Found:
    spilled = case.kernel.vgpr_spills or 0
    inside = case.loop.counts.scratch if case.loop else 0
    if not spilled and not inside:
        return
    evidence = [f"{spilled} vector registers spilled, says the compiler"] if spilled else []
    if case.loop:
        evidence.append(f"{inside} scratch accesses in each iteration of the main loop")
    free = case.fit.slack.get("vgpr", 0)
    if free > 0:
        limit = f"{free} registers a lane more cost no wave: lift waves_per_eu or the launch bounds"
    else:
        limit = _room(case, spilled)
    where = "" if inside or not case.loop else " outside the loop"
    yield 0, _advice(case, "spills", f"stop the spilling{where}", *evidence, sure=True, price=limit)


def _matrix(case: Case) -> Found:
    loop = case.loop
    if loop is None or case.code is None or case.code.counts.kind("matrix") or case.code.counts.kind("call"):
        return
    fmas = loop.counts.fmas + loop.counts.dots
    fetched = any(each.action == "load" for each in loop.counts.moved)
    if fetched and fmas >= MANY_FMAS and 2 * fmas >= loop.counts.kind("valu") and _has_matrix(case.chip):
        yield 0, _advice(
            case, "matrix", "put the product on the matrix unit",
            f"{fmas} vector multiply-adds in the main loop, no matrix instruction in the kernel",
            f"{case.chip.target.name} has a matrix unit",
            sure=False, price="a type and a tile that the matrix unit takes",
        )  # fmt: skip


def _has_matrix(chip: Chip) -> bool:
    try:
        return bool(matrix(chip))
    except MatrixError:
        return False


def _rate(case: Case) -> Found:
    if case.code is None:
        return
    counts = case.loop.counts if case.loop and case.on_matrix else case.code.counts
    ops = case.loop.instructions if case.loop and case.on_matrix else case.code.reachable
    for op in {op.name: op for op in ops if op.kind == "matrix"}.values():
        try:
            found = instruction_of(op, case.chip)
        except MatrixError:
            continue
        if found.faster is not None:
            yield 0, _advice(
                case, "rate", f"use {found.faster.name}", f"{found.name}: {found.faster.sentence}",
                f"{counts.matrix[op.name]} of them in {'each iteration' if case.on_matrix else 'the kernel'}",
                sure=True, price="more k in a step: k of the tile must divide by it",
            )  # fmt: skip


def _packed(case: Case) -> Found:
    loop = case.loop
    if loop is None or case.on_matrix:
        return
    names = ("v_fma_f32", "v_fmac_f32", "v_mac_f32", "v_mad_f32")
    results = [op.form.writes for op in loop.instructions if op.name in names]
    plain, known = len(results), packed_fp32(case.chip)
    apart = len(set(results)) >= PAIRS  # few registers that are written again and again are a chain
    if apart and plain >= MANY_FMAS and plain > loop.counts.packed_fp32 and known.instruction:
        yield 0, _advice(
            case, "packed", f"let the compiler pack FP32: {known.instruction}",
            f"{plain} plain FP32 multiply-adds, {loop.counts.packed_fp32} packed operations in the main loop",
            f"packed {known.packed}, plain {known.plain} FLOP a clock a CU",
            sure=True, price="operands in even pairs of registers",
        )  # fmt: skip


def _vector(case: Case) -> Found:
    """More time in vector instructions than in the matrix unit: conversions, addresses."""
    loop, feed, use = case.loop, case.feed, case.utilisation
    if loop is None or feed is None or use is None or use >= FED:
        return
    if feed.busy["valu"] > feed.busy["matrix"]:
        count = loop.counts.kind("valu")
        yield feed.busy["valu"] - use, _advice(
            case, "vector", "take vector work out of the loop",
            f"{count} vector and {loop.counts.kind('matrix')} matrix instructions an iteration",
            f"est. {feed.busy['valu']:.0%} of the vector unit, {use:.0%} of the matrix unit",
            sure=False, price="operands that the matrix unit takes as they are; addresses made outside",
        )  # fmt: skip


def _loads(case: Case) -> Found:
    """Loads that are waited for too soon, or are narrow where nothing but memory counts."""
    feed, loop, best, use = case.feed, case.loop, case.in_time, case.utilisation
    if loop is None:
        return
    if feed and best and use is not None and feed.tolerance is not None and best.utilisation >= use + GAIN:
        memory = machine(case.chip).memory_latency or 0.0
        more = -(-memory // max(1.0, feed.cycles))
        yield best.utilisation - use, _advice(
            case, "loads", f"start loads earlier: {more:.0f} iteration{'s' * (more > 1)} ahead",
            f"a load is waited for est. {feed.tolerance:.0f} cycles after its start, memory: {memory:.0f}",
            f"est. {use:.0%} of the matrix unit, {best.utilisation:.0%} if every load were there in time",
            *_rests(feed), sure=False, price=_stages(loop, int(more)),
            gain=f"est. {best.utilisation / use:.2f} x at most",
        )  # fmt: skip
    narrow = [
        each
        for each in loop.counts.of("global", "load")
        if each.width and each.width < 16 and not each.to_lds
    ]
    if narrow and not case.on_matrix:
        widths = ", ".join(f"{each.times} of {each.width} bytes" for each in narrow)
        yield 0, _advice(
            case, "loads", "load 16 bytes a lane at once", f"loads in the main loop: {widths}",
            sure=True, price="addresses that 16 divides, and registers to hold them",
        )  # fmt: skip


def _stages(loop: Loop, more: int) -> str:
    """What it takes to hold the loads of so many iterations more."""
    lane = sum((each.width or 0) * each.times for each in loop.counts.of("global", "load"))
    past = all(each.to_lds for each in loop.counts.of("global", "load"))
    held = "of LDS" if past else f"in flight: {-(-lane * more // 4)} registers, or LDS"
    return f"{lane * more} bytes a lane more {held} (num_stages)"


def _rests(feed: LoopFeed) -> Iterator[str]:
    """The assumption about memory, where there is one."""
    yield from (line for line in feed.assumptions if line.startswith("the memory latency"))


def _chains(case: Case) -> Found:
    """Too few independent accumulators for the latency of the matrix unit."""
    loop, use = case.loop, case.utilisation
    if loop is None or use is None or use >= FED or not loop.chains:
        return
    first = loop.chains[0].ops[0]
    times, _, _ = matrix_times(first, machine(case.chip))
    needed = -int(-times.latency // times.interval)
    have = len(loop.chains) * case.waves
    if have >= needed:
        return
    more = -(-needed // case.waves) - len(loop.chains)
    registers = more * instruction_of(first, case.chip).c.registers
    yield min(1.0, needed / have) - use, _advice(
        case, "chains", f"{more} more independent accumulator chain{'s' * (more > 1)} a wave",
        f"{len(loop.chains)} x {case.waves} waves = {have} in flight, {needed} needed "
        f"(latency {times.latency:g} / interval {times.interval:g} cycles)",
        f"est. {use:.0%} of the matrix unit",
        sure=False, price=_room(case, registers),
    )  # fmt: skip


def _waves(case: Case) -> Found:
    """More waves, as many as a step of the Fit brings, would feed the unit better."""
    feed, use = case.feed, case.utilisation
    if feed is None or use is None or use >= FED:
        return
    for step in case.fit.next_steps:
        more = case.after(step)
        if more is not None and more.utilisation >= use + GAIN:
            yield more.utilisation - use, _advice(
                case, "waves", f"{more.waves} waves a SIMD",
                f"est. {use:.0%} of the matrix unit at {feed.waves}, bound by {feed.binds}; "
                f"est. {more.utilisation:.0%} at {more.waves}",
                *_rests(feed), sure=False, price=_changes(step), gain=f"est. {more.utilisation / use:.2f} x",
            )  # fmt: skip


def _hidden(case: Case) -> Found:
    """More waves would hide what a loop without matrix work waits for, and the memory can feed them."""
    feed = case.feed
    if feed is None or case.on_matrix or feed.binds != "latency":
        return
    for step in case.fit.next_steps:
        more = case.after(step)
        if more is None or not _fed_by_memory(case, more):
            continue
        gain = more.waves / more.cycles * feed.cycles / feed.waves
        if gain >= 1 + HIDDEN:
            pipe = max(feed.busy, key=lambda name: feed.busy[name])
            yield gain - 1, _advice(
                case, "waves", f"{more.waves} waves a SIMD",
                f"est. bound by latency at {feed.waves}: "
                f"its busiest pipe, {pipe}, works {feed.busy[pipe]:.0%}",
                *_rests(feed), sure=False, price=_changes(step), gain=f"est. {gain:.2f} x",
            )  # fmt: skip
            return


def _fed_by_memory(case: Case, feed: LoopFeed) -> bool:
    """Whether what the loop asks of memory is known to come: it asks nothing, or less than the peak."""
    if not feed.memory_bytes:
        return True
    bandwidth, cus = case.chip.value("memory.bandwidth"), case.chip.value("compute.cus")
    if not isinstance(bandwidth, int | float) or not isinstance(cus, int) or not feed.clock_mhz:
        return False
    simds = cus * case.chip.target.unit().simds
    return feed.memory_bytes / feed.cycles * simds * feed.clock_mhz * 1e6 <= bandwidth


def _grid(case: Case) -> Found:
    cus = case.chip.value("compute.cus")
    if case.grid is None or not isinstance(cus, int) or not case.fit.workgroups:
        return
    units = cus // 2 if case.fit.unit == "WGP" else cus
    room = units * case.fit.workgroups
    if case.grid < room:
        yield 0, _advice(
            case, "grid", f"{'more' if case.grid >= units else 'at least ' + str(units)} workgroups",
            f"{case.grid} workgroups on {units} {case.fit.unit}s that hold {room} at once",
            sure=True, price="smaller tiles, or k split over workgroups",
        )  # fmt: skip


def _cliffs(case: Case) -> Found:
    """Small savings that gain a workgroup, unless the unit is fed anyway or `waves` has said so."""
    if case.fed(FED) or not case.fit.workgroups or any(True for _ in _waves(case)):
        return
    for step in case.fit.next_steps:
        change = step.changes[0]
        saved = change.from_ - change.to
        near = {"vgpr": NEAR_REGISTERS, "lds": NEAR_LDS * change.from_}.get(change.resource)
        if len(step.changes) == 1 and near is not None and 0 < saved <= near:
            unit = "registers a lane" if change.resource == "vgpr" else "bytes of LDS"
            yield 0, _advice(
                case, change.resource, f"save {saved} {unit}",
                f"{_changes(step)}: {step.waves} waves a {case.fit.unit} instead of {case.fit.waves}",
                sure=True, price=f"{saved} {unit}", gain=_occupancy(case, step),
            )  # fmt: skip


def _shape(case: Case) -> Found:
    if case.fed(FED):
        return
    for step in case.fit.next_steps:
        change = step.changes[0]
        if change.resource == "threads" and len(step.changes) == 1:
            empty = case.fit.max_waves - (case.fit.waves or 0)
            yield 0, _advice(
                case, "shape", f"workgroups of {change.to} threads",
                f"of {change.from_} they leave {empty} of {case.fit.max_waves} wave slots empty",
                sure=True, price="another division of the work", gain=_occupancy(case, step),
            )  # fmt: skip


def _fed(case: Case) -> Found:
    """The unit is busy although waves could be more: leave the occupancy alone."""
    feed, use = case.feed, case.utilisation
    if feed is None or use is None or use < FED or case.fit.waves == case.fit.max_waves:
        return
    fewer = [each for each in case.feeds if each.waves < feed.waves and each.utilisation >= FED]
    spare = (
        f"est. {each.utilisation:.0%} at {each.waves}: there is room for a larger tile" for each in fewer
    )
    yield 0, _advice(
        case, "fed", "occupancy is not your problem: leave it",
        f"est. {use:.0%} of the matrix unit at {feed.waves} wave{'s' * (feed.waves > 1)} a SIMD", *spare,
        *_rests(feed), sure=False, price="none",
    )  # fmt: skip


def _room(case: Case, more: int) -> str:
    """What it takes to hold so many registers a lane more."""
    have, most = case.kernel.charged_vgprs, case.chip.target.vgpr.addressable
    if not more or have is None:
        return "a smaller tile"
    if have + more > most:
        return f"a smaller tile: {have} + {more} registers are more than the {most} that a wave can have"
    try:
        then = fit(
            case.chip, total_vgprs=have + more, lds=case.kernel.lds, lds_dynamic=case.fit.launch.lds_dynamic,
            threads=case.fit.threads, mode=case.fit.mode, wave=case.fit.wave,
        )  # fmt: skip
    except BadQuestion:
        return f"{more} registers a lane"
    assert isinstance(then, Fit)
    if not then.workgroups:
        return f"a smaller tile: with {have} + {more} registers a lane not one workgroup fits"
    now = case.fit.waves_per_simd
    return f"{more} registers a lane: {then.waves_per_simd:g} waves a SIMD fit then, {now:g} now"


def _changes(step: Step) -> str:
    return " and ".join(f"{change.resource} {change.from_} -> {change.to}" for change in step.changes)


def _occupancy(case: Case, step: Step) -> str:
    return f"occupancy {case.fit.occupancy:.0%} -> {step.occupancy:.0%}"


RULES: tuple[tuple[Callable[[Case], Found], ...], ...] = (
    (_launch,), (_spills,), (_matrix,), (_rate,), (_packed,), (_vector, _loads, _chains, _waves, _hidden),
    (_grid,), (_cliffs,), (_shape,), (_fed,),
)  # fmt: skip
"""Rules by rank, most important first; within a rank what gains more comes first."""
