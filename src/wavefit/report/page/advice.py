"""Advice for the kernels of a page, where they are few and something here decodes their code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wavefit.kernels import BadFile
from wavefit.model import Kernel
from wavefit.report.names import printable

MOST = 64
"""Kernels up to which a page brings advice: each has to be decoded, some two a second."""
_Place = tuple[str, str | None, str, str]


@dataclass(frozen=True, slots=True)
class Advised:
    """Advice by kernel; `note` says why there is none, or not for all."""

    note: str | None = None
    found: Mapping[_Place, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, kernel: Kernel) -> Mapping[str, Any] | None:
        """What is said of one kernel: `utilisation` (est.), `not_judged`, `advice`; None for nothing."""
        return self.found.get(_place(kernel))


def advised(
    paths: Sequence[str], kernels: int, *, pattern: str | None, chip: str | None, launch: Mapping[str, Any]
) -> Advised:
    """The advice for every kernel of the paths, unless there are more than MOST."""
    if kernels > MOST:
        return Advised(
            f"no advice: it is made for at most {MOST} kernels at once; `wavefit advise FILE` makes it"
        )
    from wavefit.advise import Case, cases, ranked

    asked = {key: launch.get(key) for key in ("threads", "lds_dynamic") if isinstance(launch.get(key), int)}
    found: dict[_Place, Mapping[str, Any]] = {}
    causes: list[str] = []
    for path in paths:
        try:
            judged = cases(path, chip=chip, kernel=pattern, **asked)
        except (BadFile, LookupError, ValueError, OSError) as why:  # the report tells of it kernel by kernel
            causes.append(printable(str(why), longest=300))
            continue
        for case in judged:
            if isinstance(case, Case):
                found[_place(case.kernel)] = {
                    "utilisation": case.utilisation,
                    "not_judged": case.blind,
                    "advice": [_shown(advice.to_dict()) for _, _, advice in ranked(case)],
                }
    return Advised(f"no advice for some kernels: {causes[0]}" if causes else None, found)


def _shown(advice: Mapping[str, Any]) -> Mapping[str, Any]:
    told = {key: printable(advice[key], 500) for key in ("what", "price")}
    return {**advice, **told, "kernel": None, "evidence": [printable(e, 500) for e in advice["evidence"]]}


def _place(kernel: Kernel) -> _Place:
    return kernel.file, kernel.member, kernel.symbol or kernel.name, kernel.target
