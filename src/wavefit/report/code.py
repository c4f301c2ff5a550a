"""Decoded kernels as text and as documents: the loops, their chains, what one iteration does and costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from wavefit.advise import Case
from wavefit.feed.loop import LoopFeed
from wavefit.isa import Chain, Code, Counts, Loop, Moved, Op, Wait
from wavefit.kernels import BadFile
from wavefit.report.document import error_row
from wavefit.report.language import counted, retold, say
from wavefit.report.names import printable
from wavefit.report.paint import paint
from wavefit.report.text import rests
from wavefit.report.wrap import beside, hung, listed, pad, whole

Json = dict[str, Any]
_HEAD = 10
CLASSES = {"valu": "VALU", "salu": "SALU", "barrier": "barriers", "nop": "nops"}
SPECIAL = (
    "packed FP32", "vector multiply-adds, none on the matrix unit", "accesses to scratch", "not understood",
)  # fmt: skip


def document(cases: Iterable[Case], errors: Iterable[BadFile]) -> Json:
    """The document `wavefit.code/1`: every kernel with its loops, and what broke."""
    return {
        "schema": "wavefit.code/1",
        "kernels": [kernel_json(case) for case in cases],
        "errors": [error_row(error) for error in errors],
    }


def kernel_json(case: Case) -> Json:
    """One kernel: who decoded it, its loops, the est. of the main one at its own occupancy."""
    code = case.code
    assert code is not None
    return {
        "name": code.name,
        "file": code.kernel.file,
        "member": code.kernel.member,
        "target": code.target,
        "by": code.by,
        "instructions": len(code.instructions),
        "reachable": len(code.reachable),
        "counts": counts_json(code.counts),
        "live": {"vgprs": code.live.vgprs, "agprs": code.live.agprs, "sgprs": code.live.sgprs},
        "loops": [loop_json(loop, main=loop is code.main) for loop in code.loops],
        "feeds": [feed.to_dict() for feed in case.feeds],
        "feed_unknown": case.blind,
        "notes": list(code.notes),
    }


def loop_json(loop: Loop, *, main: bool) -> Json:
    """One loop: where it is, what an iteration does, its chains."""
    return {
        "main": main,
        "at": loop.start,
        "depth": loop.depth,
        "innermost": loop.innermost,
        "straight": loop.straight,
        "source": loop.source,
        "counts": counts_json(loop.counts),
        "chains": [chain_json(chain) for chain in loop.chains],
        "live": {"vgprs": loop.live.vgprs, "agprs": loop.live.agprs, "sgprs": loop.live.sgprs},
        "instructions": [
            {
                "at": op.at,
                "text": op.text,
                "kind": op.kind,
                "reads": list(op.reads),
                "writes": list(op.writes),
            }
            for op in loop.instructions
        ],
    }


def chain_json(chain: Chain) -> Json:
    """One chain: its instructions, its registers, whether the next iteration goes on with it."""
    return {
        "length": chain.length,
        "carried": chain.carried,
        "registers": list(chain.registers),
        "instructions": list(chain.instructions),
        "at": [op.at for op in chain.ops],
    }


def counts_json(counts: Counts) -> Json:
    """What a stretch of code does."""
    return {
        "instructions": counts.instructions,
        "kinds": dict(counts.kinds),
        "matrix": dict(counts.matrix),
        "memory": [
            {
                "space": each.space, "action": each.action, "to_lds": each.to_lds,
                "width": each.width, "times": each.times, "bytes": each.bytes,
            }
            for each in counts.moved
        ],
        "waits": [{"counts": dict(wait.counts), "times": wait.times} for wait in counts.waits],
        "packed_fp32": counts.packed_fp32,
        "vector_fmas": counts.fmas,
        "vector_dots": counts.dots,
        "scratch": counts.scratch,
        "unknown": counts.unknown,
    }  # fmt: skip


def code_text(cases: Sequence[Case], *, listing: bool = False) -> str:
    """Every kernel, one after the other."""
    return "\n\n".join("\n".join(_kernel(case, listing)) for case in cases)


def _kernel(case: Case, listing: bool) -> Iterator[str]:
    code = case.code
    assert code is not None
    size = say("{count} instructions", count=len(code.reachable)), counted(len(code.loops), "loop")
    about = say("{target}, {size}, read by {by}", target=code.target, size=say(", ").join(size), by=code.by)
    yield from (paint(line, "strong") for line in beside(printable(code.name), about, hang=2))
    for note in code.notes:
        yield from hung("  ", printable(retold(note)), hang=4)
    main = code.main
    if main is None:
        yield from _iteration(code.counts, say("the whole kernel, which has no loop"))
        return
    for loop in code.loops:
        if loop is not main:
            yield from hung("  ", say(
                "loop at {place}, {count} instructions, {work}", place=f"{loop.start:#x}",
                count=loop.counts.instructions, work=_work(loop.counts),
            ), hang=4)  # fmt: skip
    yield from _main(case, code, main)
    if listing:
        yield ""
        yield from _listing(main)


def _main(case: Case, code: Code, loop: Loop) -> Iterator[str]:
    title = say("main loop at {place}", place=f"{loop.start:#x}")
    where = f", {printable(loop.source)}" if loop.source else ""
    either = "" if loop.straight else say(", both sides of its branches counted")
    yield from _iteration(loop.counts, title + where + either)
    yield from _chains(loop.chains)
    live, kernel = loop.live, code.kernel
    text = say(
        "{vgprs} VGPRs, {agprs} AGPRs, {sgprs} SGPRs at the widest", vgprs=live.vgprs, agprs=live.agprs,
        sgprs=live.sgprs,
    )  # fmt: skip
    if kernel.vgprs is not None:
        of = " (the kernel: {vgprs} VGPRs, {agprs} AGPRs)"
        text += say(of, vgprs=kernel.vgprs, agprs=kernel.agprs or 0)
    yield from _row("live", text)
    if case.blind:
        yield from _row("est.", say("nothing: {why}", why=retold(case.blind)))
    for feed in case.feeds:
        yield from _feed(feed, own=feed.waves == case.waves)
    yield from rests(case.feed.assumptions if case.feed else ())


def _iteration(counts: Counts, title: str) -> Iterator[str]:
    text = say("{title}: {count} instructions", title=title, count=counts.instructions)
    yield from hung("  ", text, hang=4)
    for name, times in counts.matrix.items():
        yield from _row("matrix", f"{times} {name}")
    for each in counts.moved:
        yield from _row(_space(each), _moved(each))
    if counts.waits:
        yield from _row("waits", listed(map(_wait, counts.waits)))
    others = (f"{counts.kind(kind)} {say(name)}" for kind, name in CLASSES.items() if counts.kind(kind))
    yield from _row("beside", listed(others) or say("nothing"))
    for amount, what in zip(_special(counts), SPECIAL, strict=True):
        if amount:
            yield from _row("of these", f"{amount} {say(what)}")


def _special(counts: Counts) -> tuple[int, ...]:
    """How many there are of each of SPECIAL."""
    fmas = 0 if counts.matrix else counts.fmas
    return counts.packed_fp32, fmas, counts.scratch, counts.unknown


def _chains(chains: Sequence[Chain]) -> Iterator[str]:
    if not chains:
        return
    lengths = sorted({chain.length for chain in chains})
    each = say(" to ").join(str(length) for length in {lengths[0]: None, lengths[-1]: None})
    carried = sum(chain.carried for chain in chains)
    on = say("{number} go on", number=carried) if carried else say("none goes on")
    if carried == len(chains):
        on = say("all go on")
    words = say(
        "{chains}, {each} instructions long; {on} in the next iteration",
        chains=counted(len(chains), "accumulator chain"), each=each, on=on,
    )  # fmt: skip
    yield from _row("chains", words)
    for number, chain in enumerate(chains[:16], 1):
        yield from hung(f"    {number:>{_HEAD - 2}}  ", " ".join(chain.registers))
    if len(chains) > 16:
        yield f"    {'':>{_HEAD - 2}}  " + say("and {number} more", number=len(chains) - 16)


def _feed(feed: LoopFeed, *, own: bool) -> Iterator[str]:
    busy = ((name, f"{share:.0%}") for name, share in feed.busy.items() if share >= 0.005)
    text = say(
        "{waves} a SIMD: {cycles} cycles, bound by {binds}: {busy}{own}", waves=counted(feed.waves, "wave"),
        cycles=f"{feed.cycles:,.0f}", binds=say(feed.binds),
        busy=listed(f"{say(name)} {share}" for name, share in busy),
        own=whole(say(" <- its own")) if own else "",
    )  # fmt: skip
    yield from (paint(line, "strong") if own else line for line in _row("est.", text))
    if own and feed.tolerance is not None:
        cycles = f"{feed.tolerance:,.0f}"
        time = f" ({feed.tolerance_ns:.0f} ns)" if feed.tolerance_ns else ""
        waited = say("a load is waited for {cycles} cycles{time} after it starts", cycles=cycles, time=time)
        yield from _row("", waited)


def _listing(loop: Loop) -> Iterator[str]:
    """The instructions of an iteration, matrix ones with the number of their chain."""
    number = {op.at: at for at, chain in enumerate(loop.chains, 1) for op in chain.ops}
    for op in loop.instructions:
        mark = f"[{number[op.at]}]" if op.at in number else ""
        head = f"  {_place(op)}  {mark:>5} "
        yield from hung(head, printable(op.text), hang=len(head) + 2)


def _place(op: Op) -> str:
    return f"{op.at:>8x}" if op.size is not None else f"{op.at:>8}"


def _work(counts: Counts) -> str:
    matrix = counts.kind("matrix")
    return say("{count} matrix instructions", count=matrix) if matrix else say("no matrix instruction")


def _space(each: Moved) -> str:
    return {"lds": "LDS", "lanes": "permute"}.get(each.space, each.space)


def _moved(each: Moved) -> str:
    text = counted(each.times, each.action)
    if each.width:
        lane = (
            "{moved} of {width} bytes a wave" if each.space == "scalar" else "{moved} of {width} bytes a lane"
        )
        text = say(lane, moved=text, width=each.width)
    return text + (say(" straight to or from LDS") if each.to_lds else "")


def _wait(wait: Wait) -> str:
    counts = " ".join(f"{name}({count})" for name, count in wait.counts.items())
    return counts if wait.times == 1 else f"{wait.times} x {counts}"


def _row(head: str, text: str) -> list[str]:
    return hung(f"    {pad(say(head) if head else '', _HEAD)}", text)
