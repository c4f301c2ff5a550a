"""Questions as they come over HTTP: each parameter named, bounded and described once, for JSON and forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from wavefit.occupancy.question import LARGEST
from wavefit.occupancy.views import VIEWS
from wavefit.report.sizes import BadSize, size

HARDWARE = "hardware"
VIEW_NAMES = (HARDWARE, *VIEWS)


def _digits(given: Any) -> Any:
    """A text of plain digits as its number; other texts are left to fail: no 1_000, no 4.0, no " 8"."""
    plain = isinstance(given, str) and given.isascii() and given.isdigit() and len(given) <= 12
    return int(given) if plain else given


def _whole(least: int, most: int, says: str | None = None) -> Any:
    return Field(ge=least, le=most, strict=True, description=says)


Digits = BeforeValidator(_digits)
Count = Annotated[Annotated[int, _whole(0, LARGEST)] | None, Digits]
Chip = Annotated[
    str, Field(min_length=1, max_length=80, description="A product or target: MI355X, gfx950, H200, sm_90.")
]
Name = Annotated[str | None, Field(min_length=1, max_length=80)]


class Asked(BaseModel):
    """Parameters of one route; one that it does not know is an error."""

    model_config = ConfigDict(extra="forbid")


class Spends(Asked):
    """What a kernel spends and how it is started. What is left out does not limit."""

    vgprs: Count = Field(None, description="Vector registers a lane; NVIDIA: registers a thread.")
    agprs: Count = Field(None, description="Accumulator registers a lane.")
    total_vgprs: Count = Field(None, description="Both kinds together, instead of the two.")
    sgprs: Count = Field(None, description="Scalar registers a wave, with VCC and the like.")
    lds: Count = Field(None, description="Static LDS bytes a workgroup.")
    lds_dynamic: Count = Field(None, description="LDS bytes given at launch.")
    scratch: Count = Field(None, description="Scratch bytes a work-item.")
    threads: str | None = Field(
        None, pattern=r"^[0-9]{1,9}(:[0-9]{1,9})?$", description="Workgroup size, or a range 64:1024."
    )
    mode: Literal["cu", "wgp"] | None = Field(None, description="RDNA: what a workgroup shares.")
    wave: Annotated[Literal[32, 64] | None, Digits] = Field(None, description="Lanes a wave.")
    barriers: Count = Field(None, description="NVIDIA: named barriers of one block.")
    carveout: Count = Field(None, description="NVIDIA: preferred share of shared memory, percent.")

    def numbers(self) -> dict[str, Any]:
        """The arguments of `fit`."""
        given = self.model_dump(include=set(Spends.model_fields), exclude_none=True)
        if self.threads is not None:
            low, colon, high = self.threads.partition(":")
            given["threads"] = (int(low), int(high)) if colon else int(low)
        return given


class FitAsked(Spends):
    """One what-if."""

    chip: Chip
    view: str = Field(HARDWARE, json_schema_extra={"enum": list(VIEW_NAMES)}, description="Whose rules.")


class CompareAsked(FitAsked):
    """The same numbers on another chip too."""

    other: Chip


class MatrixAsked(Asked):
    """Matrix instructions of a chip."""

    chip: Chip
    type: Name = Field(None, description="Only those that take this type: fp16, bf16, fp8, int8, fp64.")
    instruction: Annotated[str | None, Field(min_length=1, max_length=200)] = Field(
        None, description="Only this one, by its mnemonic."
    )


class LayoutAsked(Asked):
    """Where one operand's elements are."""

    chip: Chip
    instruction: Annotated[str, Field(min_length=1, max_length=200)]
    operand: Literal["A", "B", "C", "D"]


class FeedAsked(Asked):
    """Chains a wave and waves a SIMD of one matrix instruction."""

    chip: Chip
    instruction: Annotated[str, Field(min_length=1, max_length=200)]
    ilp: Annotated[int, Digits, _whole(1, 64, "Independent chains a wave.")]
    waves: Annotated[int, Digits, _whole(1, 64, "Waves a SIMD.")]


class SweepAsked(Asked):
    """Curves of one matrix instruction over chains and waves."""

    chip: Chip
    instruction: Annotated[str, Field(min_length=1, max_length=200)]


class TilesAsked(Asked):
    """C[m, n] = A[m, k] B[k, n]."""

    chip: Chip
    m: Annotated[int, Digits, _whole(1, 1 << 20, "Rows of C.")]
    n: Annotated[int, Digits, _whole(1, 1 << 20, "Columns of C.")]
    k: Annotated[int, Digits, _whole(1, 1 << 20, "Inner axis.")]
    dtype: Annotated[str, Field(min_length=1, max_length=20, description="Of A and B: bf16, fp16, fp8.")]
    top: Annotated[int, Digits, _whole(1, 100, "How many to show.")] = 10


class DropAsked(Asked):
    """How the kernels of dropped files are started, and on which chip."""

    chip: Name = Field(None, description="A product to fit on; default: each kernel's own target.")
    threads: Annotated[Annotated[int, _whole(1, 1 << 20)] | None, Digits] = None
    lds_dynamic: Count = Field(None, description="LDS bytes given at launch.")


A = TypeVar("A", bound=Asked)
SIZES = ("lds", "lds_dynamic", "scratch")


class BadForm(ValueError):
    """What was typed is not a question; `fields` are those at fault. One line."""

    def __init__(self, why: str, fields: tuple[str, ...]) -> None:
        super().__init__(why)
        self.fields = fields


def typed(kind: type[A], given: Mapping[str, str], defaults: Mapping[str, str]) -> A:
    """The question in a form's texts: blanks fall away, sizes may be 32K. Raises BadForm.

    `defaults` stand in where the address names nothing of the form.
    """
    known = {name: given[name].strip() for name in kind.model_fields if given.get(name, "").strip()}
    try:
        texts = known or dict(defaults)
        return kind.model_validate({key: _size(key, text) for key, text in texts.items()})
    except ValidationError as error:
        wrong = [(str(each["loc"][0]), each["msg"]) for each in error.errors()]
        lines = dict.fromkeys(f"{name}: {message.lower()}" for name, message in wrong)
        raise BadForm("; ".join(lines), tuple(name for name, _ in wrong)) from None


def _size(name: str, text: str) -> Any:
    if name not in SIZES:
        return text
    try:
        return size(text)
    except BadSize as error:
        raise BadForm(f"{name}: {error}", (name,)) from None
