"""A report: kernels with their Fits, and what could not be read, as one document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from wavefit.kernels import BadFile
from wavefit.model import Kernel
from wavefit.occupancy import BadQuestion, Fit, FitRange
from wavefit.shown import Shown

Json = dict[str, Any]
Answer = Fit | FitRange | BadQuestion


@dataclass(frozen=True, slots=True)
class Report(Shown):
    """Each kernel with its answer (or why there is none), and the files or members that broke."""

    kernels: tuple[tuple[Kernel, Answer], ...]
    errors: tuple[BadFile, ...]

    @property
    def refused(self) -> tuple[str, ...]:
        """Why kernels have no answer, one sentence each."""
        return tuple(str(answer) for _, answer in self.kernels if isinstance(answer, BadQuestion))

    def to_dict(self) -> Json:
        """The document `wavefit.report/1`."""
        return {
            "schema": "wavefit.report/1",
            "kernels": [kernel_row(kernel, answer) for kernel, answer in self.kernels],
            "errors": [error_row(error) for error in self.errors]
            + [
                {"file": kernel.file, "member": kernel.member, "offset": None, "cause": str(answer)}
                for kernel, answer in self.kernels
                if isinstance(answer, BadQuestion)
            ],
        }


def kernel_row(kernel: Kernel, answer: Answer) -> Json:
    """One kernel as CONTRACT's object; `fit` is null where no answer is possible."""
    return {
        "name": kernel.name,
        "symbol": kernel.symbol,
        "file": kernel.file,
        "member": kernel.member,
        "target": kernel.target,
        "vgprs": kernel.vgprs,
        "agprs": kernel.agprs,
        "total_vgprs": kernel.total_vgprs,
        "allocated_vgprs": kernel.allocated_vgprs,
        "sgprs": kernel.sgprs,
        "allocated_sgprs": kernel.allocated_sgprs,
        "lds": kernel.lds,
        "lds_dynamic": kernel.lds_dynamic,
        "scratch": kernel.scratch,
        "vgpr_spills": kernel.vgpr_spills,
        "sgpr_spills": kernel.sgpr_spills,
        "max_threads": kernel.max_threads,
        "required_threads": kernel.required_threads,
        "required_size": None if kernel.required_size is None else list(kernel.required_size),
        "wave": kernel.wave,
        "mode": kernel.mode,
        "dynamic_stack": kernel.dynamic_stack,
        "notes": list(kernel.notes),
        "fit": None if isinstance(answer, BadQuestion) else answer.to_dict(),
    }


def error_row(error: BadFile) -> Json:
    """What broke, as CONTRACT's object."""
    return {"file": error.file, "member": error.member, "offset": error.offset, "cause": error.cause}


def split(found: Iterable[Kernel | BadFile]) -> tuple[list[Kernel], list[BadFile]]:
    """Kernels and errors apart, each in its order."""
    kernels: list[Kernel] = []
    errors: list[BadFile] = []
    for item in found:
        if isinstance(item, BadFile):
            errors.append(item)
        else:
            kernels.append(item)
    return kernels, errors
