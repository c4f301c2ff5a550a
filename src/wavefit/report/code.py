"""Decoded kernels as text and as documents: the loops, their chains, what one iteration does and costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from wavefit.advise import Case
from wavefit.feed.loop import LoopFeed
from wavefit.isa import Chain, Code, Counts, Loop, Moved, Op, Wait
from wavefit.kernels import BadFile
from wavefit.report.document import error_row
from wavefit.report.names import counted, printable

Json = dict[str, Any]
_HEAD = 10
_CLASSES = {"valu": "VALU", "salu": "SALU", "barrier": "barriers", "nop": "nops"}


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
    size = f"{len(code.reachable)} instructions, {counted(len(code.loops), 'loop')}"
    yield f"{printable(code.name)}  {code.target}, {size}, read by {code.by}"
    for note in code.notes:
        yield f"  {printable(note)}"
    main = code.main
    if main is None:
        yield from _iteration(code.counts, "the whole kernel, which has no loop")
        return
    for loop in code.loops:
        if loop is not main:
            yield f"  loop at {loop.start:#x}, {loop.counts.instructions} instructions, {_work(loop.counts)}"
    yield from _main(case, code, main)
    if listing:
        yield ""
        yield from _listing(main)


def _main(case: Case, code: Code, loop: Loop) -> Iterator[str]:
    where = f", {printable(loop.source)}" if loop.source else ""
    either = "" if loop.straight else ", both sides of its branches counted"
    yield from _iteration(loop.counts, f"main loop at {loop.start:#x}{where}{either}")
    yield from _chains(loop.chains)
    live, kernel = loop.live, code.kernel
    of = f" (the kernel: {kernel.vgprs} VGPRs, {kernel.agprs or 0} AGPRs)" if kernel.vgprs is not None else ""
    yield _row("live", f"{live.vgprs} VGPRs, {live.agprs} AGPRs, {live.sgprs} SGPRs at the widest{of}")
    if case.blind:
        yield _row("est.", f"nothing: {case.blind}")
    for feed in case.feeds:
        yield from _feed(feed, own=feed.waves == case.waves)
    for line in case.feed.assumptions if case.feed else ():
        yield f"    rests on {line}"


def _iteration(counts: Counts, title: str) -> Iterator[str]:
    yield f"  {title}: {counts.instructions} instructions"
    for name, times in counts.matrix.items():
        yield _row("matrix", f"{times} {name}")
    for each in counts.moved:
        yield _row(_space(each), _moved(each))
    if counts.waits:
        yield _row("waits", ", ".join(map(_wait, counts.waits)))
    others = (f"{counts.kind(kind)} {name}" for kind, name in _CLASSES.items() if counts.kind(kind))
    yield _row("beside", ", ".join(others) or "nothing")
    for amount, what in (
        (counts.packed_fp32, "packed FP32"),
        (0 if counts.matrix else counts.fmas, "vector multiply-adds, none on the matrix unit"),
        (counts.scratch, "accesses to scratch"),
        (counts.unknown, "not understood"),
    ):
        if amount:
            yield _row("of these", f"{amount} {what}")


def _chains(chains: Sequence[Chain]) -> Iterator[str]:
    if not chains:
        return
    lengths = sorted({chain.length for chain in chains})
    each = " to ".join(str(length) for length in {lengths[0]: None, lengths[-1]: None})
    carried = sum(chain.carried for chain in chains)
    on = "all go on" if carried == len(chains) else f"{carried} go on" if carried else "none goes on"
    words = (
        f"{counted(len(chains), 'accumulator chain')}, {each} instructions long; {on} in the next iteration"
    )
    yield _row("chains", words)
    for number, chain in enumerate(chains[:16], 1):
        yield f"    {number:>{_HEAD - 2}}  {' '.join(chain.registers)}"
    if len(chains) > 16:
        yield f"    {'':>{_HEAD - 2}}  and {len(chains) - 16} more"


def _feed(feed: LoopFeed, *, own: bool) -> Iterator[str]:
    waves = counted(feed.waves, "wave")
    busy = ", ".join(f"{name} {share:.0%}" for name, share in feed.busy.items() if share >= 0.005)
    mark = "  <- its own" if own else ""
    yield _row("est.", f"{waves} a SIMD: {feed.cycles:,.0f} cycles, bound by {feed.binds}: {busy}{mark}")
    if own and feed.tolerance is not None:
        time = f" ({feed.tolerance_ns:.0f} ns)" if feed.tolerance_ns else ""
        yield _row("", f"a load is waited for {feed.tolerance:,.0f} cycles{time} after it starts")


def _listing(loop: Loop) -> Iterator[str]:
    """The instructions of an iteration, matrix ones with the number of their chain."""
    number = {op.at: at for at, chain in enumerate(loop.chains, 1) for op in chain.ops}
    for op in loop.instructions:
        mark = f"[{number[op.at]}]" if op.at in number else ""
        yield f"  {_place(op)}  {mark:>5} {printable(op.text)}"


def _place(op: Op) -> str:
    return f"{op.at:>8x}" if op.size is not None else f"{op.at:>8}"


def _work(counts: Counts) -> str:
    matrix = counts.kind("matrix")
    return f"{matrix} matrix instructions" if matrix else "no matrix instruction"


def _space(each: Moved) -> str:
    return {"lds": "LDS", "lanes": "permute"}.get(each.space, each.space)


def _moved(each: Moved) -> str:
    lane = "a wave" if each.space == "scalar" else "a lane"
    size = f" of {each.width} bytes {lane}" if each.width else ""
    past = " straight to or from LDS" if each.to_lds else ""
    return f"{counted(each.times, each.action)}{size}{past}"


def _wait(wait: Wait) -> str:
    counts = " ".join(f"{name}({count})" for name, count in wait.counts.items())
    return counts if wait.times == 1 else f"{wait.times} x {counts}"


def _row(head: str, text: str) -> str:
    return f"    {head:<{_HEAD}}{text}"
