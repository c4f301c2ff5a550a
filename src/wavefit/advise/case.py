"""One kernel under advice: what it spends, how it fits, its code, and how its loop is fed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

from wavefit.chips import Chip, Target
from wavefit.feed.loop import LoopFeed, feed_around, feed_loop
from wavefit.isa import Code, Loop, NoDisassembler, code
from wavefit.kernels import BadFile, kernels
from wavefit.matrix.errors import MatrixError
from wavefit.model import Kernel
from wavefit.occupancy import BadQuestion, Fit, FitRange, fit
from wavefit.occupancy.question import as_chip
from wavefit.occupancy.result import Step

Of = Chip | Target | str


@dataclass(frozen=True)
class Case:
    """One kernel under advice. `code` is None where it could not be decoded, which `blind` then says."""

    kernel: Kernel
    chip: Chip
    fit: Fit
    code: Code | None
    grid: int | None = None
    why_no_code: str | None = None

    @cached_property
    def loop(self) -> Loop | None:
        """The loop that matters."""
        return self.code.main if self.code else None

    @property
    def on_matrix(self) -> bool:
        """Whether the loop has matrix instructions."""
        return self.loop is not None and self.loop.counts.kind("matrix") > 0

    @property
    def waves(self) -> int:
        """Whole waves a SIMD; one where fewer are resident."""
        return max(1, int(self.fit.waves_per_simd))

    @property
    def group(self) -> int:
        """Waves of one workgroup on a SIMD."""
        return max(1, -(-self.fit.launch.waves // self.chip.target.unit(self.fit.mode).simds))

    @cached_property
    def _feeds(self) -> tuple[tuple[LoopFeed, ...], str | None]:
        if self.why_no_code:
            return (), self.why_no_code
        if self.loop is None:
            return (), "the kernel has no loop"
        if not self.fit.workgroups:
            return (), "it cannot launch"
        try:
            return feed_around(self.loop, self.chip, waves=self.waves, group=self.group), None
        except (MatrixError, BadQuestion) as why:
            return (), str(why)

    @property
    def feeds(self) -> tuple[LoopFeed, ...]:
        """Est. of the loop at one wave less, at its own waves, and one more; empty where nothing is known."""
        return self._feeds[0]

    @property
    def blind(self) -> str | None:
        """Why nothing is known of how the loop runs, None where it is."""
        return self._feeds[1]

    @property
    def feed(self) -> LoopFeed | None:
        """Est. at the kernel's own occupancy."""
        return next((each for each in self.feeds if each.waves == self.waves), None)

    def after(self, step: Step) -> LoopFeed | None:
        """Est. with as many waves a SIMD as a step of the Fit brings."""
        waves = step.waves // self.chip.target.unit(self.fit.mode).simds
        if self.loop is None or self.feed is None or waves <= self.waves:
            return None
        return feed_loop(self.loop, self.chip, waves=waves, group=self.group)

    @cached_property
    def in_time(self) -> LoopFeed | None:
        """Est. at the kernel's own occupancy if every load were there in time."""
        if self.loop is None or self.feed is None:
            return None
        return feed_loop(self.loop, self.chip, waves=self.waves, group=self.group, memory_ns=0.0)

    @property
    def utilisation(self) -> float | None:
        """Est. share of the matrix unit, None where the loop has no matrix work or nothing is known."""
        return self.feed.utilisation if self.feed and self.on_matrix else None

    def fed(self, enough: float) -> bool:
        """Whether the matrix unit is known to be busy for this share of the time."""
        return self.utilisation is not None and self.utilisation >= enough


def cases(
    path: str | os.PathLike[str],
    *,
    chip: Of | None = None,
    kernel: str | None = None,
    threads: int | None = None,
    lds_dynamic: int | None = None,
    grid: int | None = None,
) -> tuple[Case | BadFile, ...]:
    """The kernels of a file as `advise` sees them, and what broke. Raises as `advise`."""
    read, errors = _read(path, kernel)
    if not read:
        raise errors[0] if errors else BadQuestion(f"no kernel's name contains {kernel!r}")
    on = None if chip is None else as_chip(chip)
    found: list[Case | BadFile] = []
    for spent, decoded, why_not in read:
        if on is not None and on.target.name != spent.target:
            raise BadQuestion(f"{spent.name[:200]} is compiled for {spent.target}, not {on.target.name}")
        answer = fit(spent, chip=on, threads=threads, lds_dynamic=lds_dynamic)
        if isinstance(answer, FitRange):  # no size is known: at the one with the most waves
            answer = answer.high
        found.append(Case(spent, on or as_chip(spent.target), answer, decoded, grid, why_not))
    return (*found, *errors)


def _read(
    path: str | os.PathLike[str], wanted: str | None
) -> tuple[list[tuple[Kernel, Code | None, str | None]], list[BadFile]]:
    """Kernels with their code, or, where nothing here decodes it, with the reason; and what broke."""
    read: list[tuple[Kernel, Code | None, str | None]] = []
    errors: list[BadFile] = []
    try:
        for item in code(path, kernel=wanted):
            if isinstance(item, BadFile):
                errors.append(item)
            else:
                read.append((item.kernel, item, None))
    except NoDisassembler as why:
        read, errors = [], []
        for each in kernels(path):
            if isinstance(each, BadFile):
                errors.append(each)
            elif wanted is None or wanted in each.name:
                read.append((each, None, str(why)))
    return read, errors
