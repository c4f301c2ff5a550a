"""A decoded kernel: its flow, its loops with what one iteration does, and the loop that matters."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from wavefit.isa.chains import Chain, chains
from wavefit.isa.counts import Counts, counts
from wavefit.isa.flow import Cycle, Flow, cycles, flow
from wavefit.isa.live import Width, live_out, width
from wavefit.isa.model import Listing, Op
from wavefit.model import Kernel


@dataclass(frozen=True)
class Loop:
    """One loop. `instructions` are of one iteration, with inner loops and either side of a branch.

    `depth` is 1 for a loop that is in no other; `innermost` has none inside. `straight` says that every
    iteration runs through all of it. `of`, `cycle` and `out` are where it stands in the flow of the code.
    """

    of: Flow = field(repr=False)
    cycle: Cycle = field(repr=False)
    out: list[int] = field(repr=False)
    innermost: bool
    straight: bool

    @property
    def depth(self) -> int:
        """Loops that it is in, itself counted."""
        return self.cycle.depth

    @cached_property
    def instructions(self) -> tuple[Op, ...]:
        """In the order in which they run."""
        return tuple(op for number in self.cycle.blocks for op in self.of.blocks[number].ops)

    @property
    def start(self) -> int:
        """Where its header stands."""
        return self.of.blocks[self.cycle.header].ops[0].at

    @property
    def source(self) -> str | None:
        """The line of source that its first matrix, else its first memory instruction comes from."""
        named = [op for op in self.instructions if op.source]
        for kind in ("matrix", "vector"):
            for op in named:
                if op.kind == kind:
                    return op.source
        return named[0].source if named else None

    @cached_property
    def counts(self) -> Counts:
        """What one iteration does."""
        return counts(self.instructions)

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        """Accumulator chains of the matrix instructions."""
        return chains(self.of, self.cycle)

    @cached_property
    def live(self) -> Width:
        """Registers live at its widest places."""
        return width(self.of, self.cycle.blocks, self.out)


@dataclass(frozen=True)
class Code:
    """One decoded kernel: what it spends (`kernel`), its instructions, its loops.

    `listing` is its code as decoded. `instructions` are all that the symbol holds; `reachable` those that
    code can come to. `loops` are in the order of their headers, outer ones first.
    """

    kernel: Kernel
    listing: Listing = field(repr=False)

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel.name

    @property
    def target(self) -> str:
        """The target it was compiled for."""
        return self.kernel.target

    @property
    def instructions(self) -> tuple[Op, ...]:
        """All that the symbol holds, in the order of their addresses."""
        return self.listing.ops

    @property
    def by(self) -> str:
        """Who disassembled it."""
        return self.listing.by

    @cached_property
    def flow(self) -> Flow:
        """Blocks that can be reached."""
        return flow(self.listing.ops)

    @cached_property
    def reachable(self) -> tuple[Op, ...]:
        """Instructions that code can come to, in the order of their addresses."""
        return tuple(op for block in self.flow.blocks for op in block.ops)

    @cached_property
    def counts(self) -> Counts:
        """What the whole kernel holds, each instruction once."""
        return counts(self.reachable)

    @cached_property
    def live(self) -> Width:
        """Registers live at the widest places of the kernel."""
        return width(self.flow, range(len(self.flow.blocks)), self._out)

    @cached_property
    def _out(self) -> list[int]:
        return live_out(self.flow)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Every natural loop."""
        of = self.flow
        found = cycles(of)

        def loop(cycle: Cycle) -> Loop:
            inner = any(each.header in cycle.blocks for each in found if each is not cycle)
            straight = not inner and all(
                of.dominates(number, latch) for number in cycle.blocks for latch in cycle.latches
            )
            return Loop(of, cycle, self._out, innermost=not inner, straight=straight)

        return tuple(loop(cycle) for cycle in found)

    @cached_property
    def main(self) -> Loop | None:
        """The loop that holds the matrix work, else the one with the most memory traffic; None without loops.

        Of the loops with matrix instructions, and none of them further in, the one with the most; without
        any, the innermost that moves the most bytes a lane, then the longest.
        """
        on_matrix = [loop for loop in self.loops if loop.counts.kind("matrix")]
        inner = [loop for loop in self.loops if loop.innermost]
        if on_matrix:
            inner = [loop for loop in on_matrix if not any(_inside(other, loop) for other in on_matrix)]
        return max(
            inner,
            key=lambda loop: (loop.counts.kind("matrix"), _bytes(loop), len(loop.instructions)),
            default=None,
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What could not be decoded or followed, one sentence each."""
        lost = sum(op.kind == "jump" and op.target is None for op in self.reachable)
        said = (
            (self.counts.kind("call"), "it calls functions ({}): what they do is not counted here"),
            (lost, "it jumps to where the code alone does not say ({}): what follows there is not counted"),
        )
        return (*self.listing.notes, *(text.format(count) for count, text in said if count))


def _inside(loop: Loop, other: Loop) -> bool:
    return loop is not other and loop.cycle.header in other.cycle.blocks


def _bytes(loop: Loop) -> int:
    spaces = ("global", "flat", "image")
    return sum(
        (each.width or 4) * each.times
        for each in loop.counts.moved
        if each.space in spaces and each.action != "prefetch"
    )
