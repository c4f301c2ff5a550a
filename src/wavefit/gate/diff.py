"""Two builds side by side: what changed in each kernel, which cliffs it crossed, the worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from wavefit.gate.fields import Value, value
from wavefit.gate.pairs import How, Pair, pair
from wavefit.gate.rows import Answer, Row, Step

Verdict = Literal["broken", "worse", "costlier", "changed", "cheaper", "better"]
"""From the most harm to none: cannot launch any more; fewer waves, or more spills or scratch; the same
waves for more of something; neither; the same for less; more waves, or fewer spills."""

_WORST_FIRST = ("broken", "worse", "costlier", "changed", "cheaper", "better")
SPENT = ("total_vgprs", "agprs", "sgprs", "lds", "lds_dynamic")
_SPILLED = ("vgpr_spills", "sgpr_spills", "scratch")
COMPARED = (
    "target", "threads", "wave", "mode", "vgprs", *SPENT, *_SPILLED, "dynamic_stack",
    "workgroups", "waves_per_simd", "occupancy", "binding",
)  # fmt: skip
"""Fields that are held against each other, in the order they are shown."""


@dataclass(frozen=True, slots=True)
class Moved:
    """One field that changed; None = unknown."""

    field: str
    before: Value
    after: Value


@dataclass(frozen=True, slots=True)
class Cliff:
    """A resource that admits other waves than before, because it asks for another amount.

    `before` and `after` are what it asks (of registers: what the descriptor allocates), `edge` is where the
    first step up or down lies, where a Fit names it, and `waves_per_simd` what the resource alone admits.
    """

    resource: str
    before: int
    after: int
    edge: int | None
    waves_per_simd: tuple[int | float, int | float]
    binds: bool

    def __str__(self) -> str:
        old, new = self.waves_per_simd
        edge = "" if self.edge is None else f", past {self.edge}"
        return f"{self.resource} asks {self.before} -> {self.after}{edge}: {old:g} -> {new:g} waves/SIMD"


@dataclass(frozen=True, slots=True)
class Difference:
    """One kernel in both builds, and what is not as it was."""

    before: Row
    after: Row
    how: How
    moved: tuple[Moved, ...]
    cliffs: tuple[Cliff, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Diff:
    """Two builds: kernels that changed, the most harm first; how many did not; what is new and gone."""

    changed: tuple[Difference, ...]
    unchanged: int
    added: tuple[Row, ...]
    removed: tuple[Row, ...]


def diff(before: Sequence[Row], after: Sequence[Row]) -> Diff:
    """What changed from one build to the other."""
    paired = pair(before, after)
    differences = [difference(each) for each in paired.pairs]
    changed = sorted((each for each in differences if each.moved), key=_harm)
    unchanged = len(differences) - len(changed)
    return Diff(tuple(changed), unchanged, paired.added, paired.removed)


def difference(of: Pair) -> Difference:
    """One kernel against itself."""
    before, after = of.before, of.after
    moved = changes(before, after, COMPARED)
    found = tuple(cliffs(before, after)) if moved else ()
    return Difference(before, after, of.how, moved, found, _verdict(before, after))


def changes(before: Row, after: Row, names: Iterable[str]) -> tuple[Moved, ...]:
    """Those of the fields whose values differ."""
    both = ((name, value(before, name), value(after, name)) for name in names)
    return tuple(Moved(name, old, new) for name, old, new in both if old != new)


def cliffs(before: Row, after: Row) -> Iterator[Cliff]:
    """Every resource whose own waves changed with what it asks."""
    old, new = before.answer, after.answer
    if old is None or new is None:
        return
    for now in new.limits:
        was = old.limit(now.resource)
        if was is None or was.requested is None or now.requested is None or was.requested == now.requested:
            continue
        admits = (was.waves_per_simd, now.waves_per_simd)
        if admits[0] is None or admits[1] is None or admits[0] == admits[1]:
            continue
        edge = _edge(old, now.resource, was.requested, now.requested)
        binds = now.resource in new.binding or now.resource in old.binding
        yield Cliff(now.resource, was.requested, now.requested, edge, (admits[0], admits[1]), binds)


def _edge(old: Answer, resource: str, was: int, now: int) -> int | None:
    steps: tuple[Step, ...] = old.losses if now > was else old.next_steps
    for change in (change for step in steps for change in step.changes if change.resource == resource):
        if was < change.to <= now or now <= change.to < was:
            return change.to
    return None


def _verdict(before: Row, after: Row) -> Verdict:
    waves, spilled = _grown(before, after, "waves_per_simd"), _sign(before, after, _SPILLED)
    if waves < 0 and value(after, "workgroups") == 0:
        return "broken"
    if waves < 0 or spilled > 0:
        return "worse"
    if waves > 0 or spilled < 0:
        return "better"
    spent = _sign(before, after, SPENT)
    return "costlier" if spent > 0 else "cheaper" if spent < 0 else "changed"


def _sign(before: Row, after: Row, names: Sequence[str]) -> float:
    """1 where anything grew, else -1 where anything shrank, else 0."""
    grown = [_grown(before, after, name) for name in names]
    return 1 if max(grown) > 0 else -1 if min(grown) < 0 else 0


def _grown(before: Row, after: Row, name: str) -> float:
    """By how much a number grew, as a share of the larger; 0 where one is not known."""
    old, new = value(before, name), value(after, name)
    if not isinstance(old, int | float) or not isinstance(new, int | float) or old == new:
        return 0.0
    return (new - old) / max(abs(old), abs(new))


def _harm(of: Difference) -> tuple[float, ...]:
    """Sorts the most harm first: by verdict, then waves lost, spills, registers and memory gained."""
    waves = _grown(of.before, of.after, "waves_per_simd")
    spills, spent = (sum(_grown(of.before, of.after, name) for name in names) for names in (_SPILLED, SPENT))
    return _WORST_FIRST.index(of.verdict), waves, -spills, -spent
