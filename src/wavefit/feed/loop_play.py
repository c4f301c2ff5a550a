"""Plays a decoded loop on one SIMD: in-order waves, pipes that take one instruction at a time, wait counters.

Nothing here is an estimate of its own: the times come with the Steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PIPES = ("matrix", "valu", "scalar", "memory", "lds")
_INSTRUCTIONS, _LEAST, _MOST = 24000, 6, 400


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction of the loop. Times in cycles.

    `hold` is how long its pipe takes no other, `work` how long it does something there (default: `hold`);
    `latency` runs until its result (registers `writes`, or its turn in `queues`) is there. `blocks` keeps
    vector instructions out after a matrix instruction. `slots` are issue slots of the wave alone.
    """

    pipe: str | None
    hold: float
    reads: int = 0
    writes: int = 0
    work: float | None = None
    latency: float = 0.0
    blocks: float = 0.0
    matrix: bool = False
    slots: int = 1
    queues: tuple[str, ...] = ()
    load: bool = False
    waits: tuple[tuple[frozenset[str], int], ...] = ()
    barrier: bool = False


@dataclass(frozen=True, slots=True)
class Played:
    """Cycles of an iteration of every wave, each pipe's share, shortest time from a load to its wait."""

    cycles: float
    busy: tuple[float, ...]
    tolerance: float | None


def play(
    steps: Sequence[Step], waves: int, *, group: int, slot: float, cost: float, arbitration: str
) -> Played:
    """The loop in its steady state. `cost` is lost to the matrix pipe at each end of an iteration."""
    rounds = max(_LEAST, min(_MOST, _INSTRUCTIONS // max(1, len(steps) * waves)))
    return _Simd(steps, waves, group, slot, cost, arbitration == "rotating").run(rounds)


class _Wave:
    """Where one wave is, and what it waits for."""

    __slots__ = ("age", "barriers", "pending", "place", "ready", "results", "rounds")

    def __init__(self, age: int) -> None:
        self.age = age
        self.place = self.rounds = self.barriers = 0
        self.ready = 0.0
        self.results: list[tuple[int, float]] = []
        self.pending: list[tuple[str, float, float, bool]] = []
        """Queue, time of its end, time of its start, whether it is a load."""


class _Simd:
    def __init__(
        self, steps: Sequence[Step], waves: int, group: int, slot: float, cost: float, rotating: bool
    ) -> None:
        self.steps, self.slot, self.cost, self.rotating = steps, slot, cost, rotating
        self.waves = [_Wave(age) for age in range(waves)]
        self.order = list(self.waves)
        self.groups = [self.waves[at : at + group] for at in range(0, waves, group)]
        self.group_of = {wave.age: members for members in self.groups for wave in members}
        self.free = dict.fromkeys(PIPES, 0.0)
        self.worked = dict.fromkeys(PIPES, 0.0)
        self.tolerance: float | None = None
        self.measuring = False

    def run(self, rounds: int) -> Played:
        settle = rounds // 3
        begun: tuple[float, list[float], int] | None = None
        now = 0.0
        while True:
            wave, at = self._next()
            now = max(now, at)
            self._issue(wave, at)
            if wave.place == 0:
                if begun is None and wave.rounds > settle:
                    begun = (now, [self.worked[name] for name in PIPES], self._done())
                    self.measuring = True
                if wave.rounds >= rounds:
                    break
        start, worked, done = begun or (0.0, [0.0] * len(PIPES), 0)
        time = max(now - start, self.slot)
        share = (self._done() - done) / (len(self.steps) * len(self.waves))
        busy = tuple(
            min(1.0, (self.worked[name] - before) / time) for name, before in zip(PIPES, worked, strict=True)
        )
        return Played(time / share if share else time, busy, self.tolerance)

    def _done(self) -> int:
        """Instructions of all waves so far."""
        return sum(wave.rounds * len(self.steps) + wave.place for wave in self.waves)

    def _next(self) -> tuple[_Wave, float]:
        """The wave that issues next, and when: the earliest, of several the one whose turn it is."""
        best: tuple[_Wave, float] | None = None
        for wave in self.order:
            at = self._when(wave)
            if at is not None and (best is None or at < best[1]):
                best = (wave, at)
        assert best is not None  # of waves that stand at a barrier, one is the last to come
        return best

    def _when(self, wave: _Wave) -> float | None:
        """When a wave can issue its next instruction; None while others have to come to its barrier."""
        step, at = self.steps[wave.place], wave.ready
        if step.barrier:
            others = self.group_of[wave.age]
            if any(other.barriers < wave.barriers for other in others):
                return None
            at = max(at, *(other.ready for other in others if other.barriers == wave.barriers))
            if any(other.barriers == wave.barriers and not self._stands(other) for other in others):
                return None
        if wave.results and step.reads:
            for mask, ready in wave.results:
                if mask & step.reads and ready > at:
                    at = ready
        for names, count in step.waits:
            ends = [end for name, end, _, _ in wave.pending if name in names]
            if len(ends) > count:
                at = max(at, max(ends[: len(ends) - count]))
        if step.pipe:
            at = max(at, self.free[step.pipe])
            if step.matrix:
                at = max(at, self.free["valu"])
        return at

    def _stands(self, wave: _Wave) -> bool:
        return self.steps[wave.place].barrier

    def _issue(self, wave: _Wave, at: float) -> None:
        step = self.steps[wave.place]
        wave.results = [(mask, ready) for mask, ready in wave.results if ready > at]
        if step.pipe:
            self.free[step.pipe] = at + step.hold
            self.worked[step.pipe] += step.hold if step.work is None else step.work
        if step.matrix:
            self.free["valu"] = max(self.free["valu"], at + step.blocks)
            if step.pipe != "matrix":
                self.worked["matrix"] += step.hold if step.work is None else step.work
            wave.results.append((step.writes, at + step.latency))
        for name in step.queues:
            wave.pending.append((name, at + step.latency, at, step.load))
        if step.waits:
            self._waited(wave, step, at)
        if step.barrier:
            wave.barriers += 1
        wave.ready = at + self.slot * step.slots
        wave.place += 1
        if wave.place == len(self.steps):
            wave.place = 0
            wave.rounds += 1
            self.free["matrix"] += self.cost
        if self.rotating:
            self.order.remove(wave)
            self.order.append(wave)

    def _waited(self, wave: _Wave, step: Step, at: float) -> None:
        """Takes out of the queues what a wait has seen end, and notes how long ago loads had been started."""
        for names, count in step.waits:
            mine = [entry for entry in wave.pending if entry[0] in names]
            gone = mine[: max(0, len(mine) - count)]
            for _, _, started, load in gone:
                # The wave came here when it was ready, whatever it then waited for.
                if load and self.measuring:
                    spent = max(0.0, wave.ready - started)
                    self.tolerance = spent if self.tolerance is None else min(self.tolerance, spent)
            if gone:
                wave.pending = [entry for entry in wave.pending if entry not in gone]
