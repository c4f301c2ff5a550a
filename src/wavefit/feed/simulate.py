"""A small discrete-event model of one SIMD: in-order waves, one matrix unit, the oldest wave first.

Nothing here is an estimate of its own: it plays a Loop cycle by cycle. Once the waves repeat themselves
the rest is skipped, which changes no result; where they do not repeat within a few iterations, their
average over those stands for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wavefit.feed.model import Loop

INSTRUCTIONS = 16384
ARBITRATIONS = ("oldest", "rotating")

_TICKS = 100
"""Parts of a cycle: whole numbers, so that a state is found again exactly."""
_PATIENCE = 64
_SETTLED = 8
"""Iterations of the oldest wave after which an average may stand for a repetition, and its start."""


@dataclass(frozen=True, slots=True)
class Run:
    """What became of a run: cycles until the last result, instructions of all waves, when each wave ended."""

    cycles: float
    instructions: int
    finished: tuple[float, ...]

    def busy(self, held: float) -> float:
        """Share of the time, 0 to 1, in which the unit works, at `held` cycles an instruction."""
        return min(1.0, self.instructions * held / self.cycles)


def simulate(
    loop: Loop,
    waves: int,
    instructions: int = INSTRUCTIONS,
    arbitration: str = "oldest",
    *,
    skip: bool = True,
) -> Run:
    """Play `waves` waves of a SIMD, each of about `instructions` (whole iterations, at least one).

    `arbitration` says who goes next when several are ready: the `oldest`, or the next in turn
    (`rotating`). `skip=False` plays every instruction. Raises ValueError for an unknown arbitration.
    """
    if arbitration not in ARBITRATIONS:
        raise ValueError(f"unknown arbitration {arbitration!r}; there are {', '.join(ARBITRATIONS)}")
    each = max(1, instructions // loop.length) * loop.length
    return _Simd(loop, waves, each, rotating=arbitration == "rotating", skip=skip).play()


def sweep(
    loops: Sequence[Loop], waves: Sequence[int], instructions: int = INSTRUCTIONS, arbitration: str = "oldest"
) -> list[list[Run]]:
    """Every loop at every number of waves: one row a loop, one Run a wave count."""
    return [[simulate(loop, count, instructions, arbitration) for count in waves] for loop in loops]


class _Simd:
    """The state of one run. Times in ticks; waves by age, the oldest first."""

    def __init__(self, loop: Loop, waves: int, each: int, *, rotating: bool, skip: bool) -> None:
        self.chains, self.length = loop.chains, loop.length
        self.interval, self.latency = round(loop.interval * _TICKS), round(loop.latency * _TICKS)
        self.cost, self.wait = round(loop.cost * _TICKS), round(loop.wait * _TICKS)
        self.rotating, self.skip = rotating, skip
        self.waves, self.each = waves, each
        self.live = list(range(waves))
        self.eldest = 0
        self.ready = [0] * waves
        self.place = [0] * waves
        self.left = [each] * waves
        # A chain's own latency can bind only where a round of all chains is shorter than it.
        self.binds = self.chains * self.interval < self.latency
        self.due = [[0] * self.chains for _ in range(waves)]
        self.finished = [0] * waves
        self.free = 0
        self.seen: dict[object, tuple[int, list[int]]] = {}
        self.history: list[tuple[int, list[int]]] = []

    def play(self) -> Run:
        """The run, one instruction after the other; in local names, since this is where the time goes."""
        live, ready, left, place, due = self.live, self.ready, self.left, self.place, self.due
        interval, latency, length, chains = self.interval, self.latency, self.length, self.chains
        while live:
            free = self.free
            for wave in live:
                if ready[wave] <= free:
                    at = free
                    break
            else:
                wave = min(live, key=ready.__getitem__)
                at = ready[wave]
            soonest, step = at, place[wave] + 1
            self.free = at + interval
            if self.binds:
                due[wave][place[wave] % chains] = at + latency
                if due[wave][step % chains] > at:
                    soonest = due[wave][step % chains]
            if step == length:
                step = 0
                soonest = max(soonest, at + self.wait)
                self.free += self.cost
            place[wave], ready[wave] = step, soonest
            left[wave] -= 1
            if self.rotating:
                live.remove(wave)
                live.append(wave)
            if not left[wave]:
                self._end(wave, at)
            elif not step and self.skip and wave == self.eldest:
                self._look()
        ends = tuple(end / _TICKS for end in self.finished)
        return Run(max(ends), self.each * self.waves, ends)

    def _end(self, wave: int, at: int) -> None:
        self.live.remove(wave)
        self.finished[wave] = at + self.latency
        self.eldest = min(self.live, default=0)
        self._forget()

    def _forget(self) -> None:
        self.seen.clear()
        self.history.clear()

    def _look(self) -> None:
        """Skip whole repetitions, if the state was seen before or the patience is at its end."""
        state, now = self._state(), (self.free, [self.left[wave] for wave in self.live])
        was = self.seen.setdefault(state, now)
        self.history.append(now)
        if was is now:
            if len(self.history) < _PATIENCE:
                return
            was = self.history[_SETTLED]
        self._leap(self.free - was[0], [then - left for then, left in zip(was[1], now[1], strict=True)])
        self._forget()

    def _state(self) -> object:
        """What decides the future: places, and how long after the unit is free each wave is ready."""
        free, chains = self.free, self.chains
        state: list[tuple[int, ...]] = []
        for wave in self.live:
            place = self.place[wave]
            state.append((wave, place, max(self.ready[wave] - free, 0)))
            if self.binds:
                due = self.due[wave]
                turn = (
                    due[(place + ahead) % chains] - free - ahead * self.interval for ahead in range(chains)
                )
                state.append(tuple(max(late, 0) for late in turn))
        return tuple(state)

    def _leap(self, ticks: int, done: list[int]) -> None:
        """Repeat a period of `ticks`, in which live waves issued `done`, as often as none ends."""
        pairs = list(zip(self.live, done, strict=True))
        times = min((self.left[wave] - 1) // count for wave, count in pairs if count)
        self.free += times * ticks
        for wave, count in pairs:
            self.left[wave] -= times * count
            self.ready[wave] += times * ticks
            self.due[wave] = [due + times * ticks for due in self.due[wave]]
