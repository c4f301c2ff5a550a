"""What a stretch of code does: instructions by class, bytes by kind of memory, waits, barriers, spills."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from wavefit.isa.model import Op

_PACKED = ("v_pk_fma_f32", "v_pk_mul_f32", "v_pk_add_f32")


@dataclass(frozen=True, slots=True)
class Moved:
    """One kind of memory access: how often, and bytes a lane (a wave, for the scalar unit) in all."""

    space: str
    action: str
    to_lds: bool
    width: int | None
    """Bytes of one access; None where the mnemonic does not say."""
    times: int

    @property
    def bytes(self) -> int | None:
        """Bytes of all together, None where the width is not known."""
        return None if self.width is None else self.width * self.times


@dataclass(frozen=True, slots=True)
class Wait:
    """One wait: its counters with how many operations it lets go on, and how often it stands there."""

    counts: Mapping[str, int]
    times: int


@dataclass(frozen=True, slots=True)
class Counts:
    """Instructions of a stretch of code, each counted once whatever way is taken through it."""

    instructions: int
    kinds: Mapping[str, int]
    """By class, in the words of `rules.KINDS`."""
    matrix: Mapping[str, int]
    """Matrix instructions by mnemonic."""
    moved: tuple[Moved, ...]
    waits: tuple[Wait, ...]
    packed_fp32: int
    dots: int
    """Vector dot products (`v_dot...`), which are not on the matrix unit."""
    fmas: int
    """Vector multiply-adds of 32 and 16 bit floats."""
    unknown: int

    def kind(self, name: str) -> int:
        """How many of a class."""
        return self.kinds.get(name, 0)

    def of(self, space: str, action: str) -> tuple[Moved, ...]:
        """Accesses of a kind: `of("global", "load")`."""
        return tuple(each for each in self.moved if each.space == space and each.action == action)

    @property
    def scratch(self) -> int:
        """Accesses to scratch: spills, stack."""
        return sum(each.times for each in self.moved if each.space == "scratch")


def counts(ops: Iterable[Op]) -> Counts:
    """Counts of these instructions."""
    kinds: dict[str, int] = {}
    matrix: dict[str, int] = {}
    moved: dict[tuple[str, str, bool, int | None], int] = {}
    waits: dict[tuple[tuple[str, int], ...], int] = {}
    total = packed = dots = fmas = 0
    for op in ops:
        said = op.form
        total += 1
        kinds[said.kind] = kinds.get(said.kind, 0) + 1
        if said.kind == "matrix":
            matrix[said.name] = matrix.get(said.name, 0) + 1
        elif said.kind == "wait" and said.counts:
            key = tuple(said.counts.items())
            waits[key] = waits.get(key, 0) + 1
        elif said.kind == "valu":
            packed += said.name in _PACKED
            dots += said.name.startswith("v_dot")
            fmas += said.name.startswith(
                ("v_fma_f", "v_fmac_f", "v_mac_f", "v_mad_f", "v_pk_fma", "v_fma_mix")
            )
        if said.memory is not None:
            kept = (said.memory.space, said.memory.action, said.memory.to_lds, said.memory.bytes)
            moved[kept] = moved.get(kept, 0) + 1
    return Counts(
        instructions=total,
        kinds=kinds,
        matrix=matrix,
        moved=tuple(Moved(*key, times) for key, times in moved.items()),
        waits=tuple(Wait(dict(key), times) for key, times in waits.items()),
        packed_fp32=packed,
        dots=dots,
        fmas=fmas,
        unknown=kinds.get("unknown", 0),
    )
