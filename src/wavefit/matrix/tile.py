"""Which instruction serves a tile: how many a wave issues, what it holds, and what is wasted at the edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wavefit.chips.model import Number
from wavefit.matrix.errors import Refused, TypeNotFound
from wavefit.matrix.model import Instruction
from wavefit.matrix.read import meant
from wavefit.matrix.table import Of, groups, matrix, target_of


@dataclass(frozen=True, slots=True)
class TileChoice:
    """One instruction on one tile (BLOCK_M x BLOCK_N, BLOCK_K a step) shared by `warps` waves.

    Registers are per lane. `split` is how the waves (for a warpgroup instruction the warpgroups) lie over
    M and N; `wave_tile` is what one of them computes, rounded up to whole instructions.
    """

    instruction: Instruction
    block: tuple[int, int, int]
    warps: int
    split: tuple[int, int]
    wave_tile: tuple[int, int]
    depth: int
    """BLOCK_K rounded up to whole instructions."""

    @property
    def fragments(self) -> tuple[int, int]:
        """Instructions along M and N of a wave: A fragments and B fragments."""
        (m, n), at = self.wave_tile, self.instruction
        return m // at.m, n // at.n

    @property
    def issues(self) -> int:
        """Matrix instructions that one wave issues for one step of K."""
        m, n = self.fragments
        return m * n * (self.depth // self.instruction.k)

    @property
    def accumulators(self) -> int:
        """Registers per lane that hold a wave's part of the result."""
        m, n = self.fragments
        return m * n * self.instruction.d.registers

    @property
    def operands(self) -> int:
        """Registers per lane for the A and B fragments of one instruction's depth of K."""
        m, n = self.fragments
        return m * self.instruction.a.registers + n * self.instruction.b.registers

    @property
    def cycles(self) -> Number | None:
        """Clocks that one wave's instructions of one step hold the matrix unit; None where not known."""
        each = self.instruction.cycles
        return None if each is None else self.issues * each

    @property
    def remainder(self) -> tuple[int, int, int]:
        """Rows, columns and depth that are computed beyond the tile."""
        (m, n), (across, down) = self.wave_tile, self.split
        return m * across - self.block[0], n * down - self.block[1], self.depth - self.block[2]

    @property
    def waste(self) -> float:
        """Share of the issued work that lies outside the tile, 0 to 1."""
        m, n, k = self.block
        over_m, over_n, over_k = self.remainder
        return 1 - m * n * k / ((m + over_m) * (n + over_n) * (k + over_k))


def tile(
    of: Of,
    a: str,
    b: str | None = None,
    *,
    block_m: int,
    block_n: int,
    block_k: int,
    warps: int,
    nonkdim: int | None = None,
    accumulate: str | None = None,
    scaled: bool = False,
    split: tuple[int, int] | None = None,
) -> tuple[TileChoice, ...]:
    """Every dense one-block instruction for the types, on this tile, the one with least matrix time first.

    Waves are split over M and N with least padding, then with least A and B to load, unless `split` says
    how; `nonkdim` keeps instructions of that M and N, `accumulate` those of that accumulator type (default:
    the widest there is), `scaled` MX-scaled ones (else they are left out).
    Raises Refused for a tile that cannot be shared so, and what `matrix` raises.
    """
    for name, value in (("block_m", block_m), ("block_n", block_n), ("block_k", block_k), ("warps", warps)):
        if value < 1:
            raise Refused(f"{name} {value}: must be positive")
    target, a_types, b_types = target_of(of), meant(a), meant(b or a)
    table = matrix(target, wave=target.default_wave)
    serving = [
        each
        for each in table
        if each.a.type.name in a_types
        and each.b.type.name in b_types
        and each.blocks == 1
        and not each.sparse
        and (each.scale is not None) == scaled
    ]
    if not serving:
        types = a if b in (None, a) else f"{a} x {b}"
        raise TypeNotFound(f"{'scaled ' if scaled else ''}{types}", groups(table), target.name)
    widest = max(each.d.type.bits for each in serving)
    into = (
        meant(accumulate)
        if accumulate
        else {each.d.type.name for each in serving if each.d.type.bits == widest}
    )
    serving = [each for each in serving if each.d.type.name in into]
    serving = [each for each in serving if nonkdim in (None, each.m) and nonkdim in (None, each.n)]
    choices = [
        choice
        for each in serving
        if (choice := _choose(each, (block_m, block_n, block_k), warps, split)) is not None
    ]
    if not choices:
        what = f"{nonkdim}x{nonkdim} " if nonkdim else ""
        raise Refused(f"{target.name}: no {what}{a} instruction for {warps} waves{_as_split(split)}")
    # Rows that differ in the format of an 8-bit type alone are one choice.
    alike = {(each.instruction.shape, each.cycles): each for each in reversed(choices)}
    return tuple(sorted(alike.values(), key=_time))


def _choose(
    instruction: Instruction, block: tuple[int, int, int], warps: int, split: tuple[int, int] | None
) -> TileChoice | None:
    """The tile on one instruction with the best split, None where the waves cannot be shared so."""
    parties, odd = divmod(warps, instruction.waves)
    if odd:
        return None
    splits = [each for each in _splits(parties) if split in (None, each)]
    m, n, k = block
    made = [
        TileChoice(
            instruction=instruction,
            block=block,
            warps=warps,
            split=each,
            wave_tile=(_up(-(-m // each[0]), instruction.m), _up(-(-n // each[1]), instruction.n)),
            depth=_up(k, instruction.k),
        )
        for each in splits
    ]
    return min(made, key=lambda each: (each.waste, sum(each.wave_tile)), default=None)


def _splits(parties: int) -> Iterator[tuple[int, int]]:
    return ((across, parties // across) for across in range(1, parties + 1) if parties % across == 0)


def _time(choice: TileChoice) -> tuple[bool, Number, int]:
    cycles = choice.cycles
    return cycles is None, cycles or 0, choice.issues


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


def _as_split(split: tuple[int, int] | None) -> str:
    return f" split {split[0]} x {split[1]}" if split else ""
