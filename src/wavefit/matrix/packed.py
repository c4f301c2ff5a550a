"""Packed FP32: two FMAs of a lane in one vector instruction, beside the matrix path."""

from __future__ import annotations

from dataclasses import dataclass

from wavefit.chips.model import Number
from wavefit.matrix.errors import MatrixError
from wavefit.matrix.peaks import Rate, rate, rates
from wavefit.matrix.table import Of, target_of

UNDECIDED = (
    "FP32 inputs do not decide the path: the compiler may take the matrix unit, packed FMA or plain FMA; "
    "read the mnemonics in the code (FlagGems documentation, Hygon guide)"
)


@dataclass(frozen=True, slots=True)
class PackedFp32:
    """What FP32 multiply-adds a target has. Rates are FLOPs a clock of one CU; None is not public.

    `instruction` is the packed FMA, None where the target has none (or nothing is public of it).
    """

    target: str
    instruction: str | None
    packed: Number | None
    plain: Number | None
    matrix: Number | None
    rates: tuple[Rate, ...]
    note: str = UNDECIDED


def packed_fp32(of: Of) -> PackedFp32:
    """Packed FP32 of a chip or target, its rate beside plain FMA's and the matrix path's.

    Raises ChipNotFound.
    """
    target = target_of(of)
    vector = tuple(each for each in rates(target) if (each.path, each.type) == ("vector", "fp32"))
    packed = next((each for each in vector if each.results == 2), None)
    plain = next((each for each in vector if each.results == 1), None)
    try:
        unit = rate(target, "fp32")
    except MatrixError:
        unit = None
    return PackedFp32(
        target=target.name,
        instruction=packed.instruction if packed else None,
        packed=packed.value if packed else None,
        plain=plain.value if plain else None,
        matrix=unit.value if unit else None,
        rates=(*vector, unit) if unit else vector,
    )
