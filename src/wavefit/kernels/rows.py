"""Many kernels of one code object, by column: what a survey of a whole library is made from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wavefit.chips.model import Target
from wavefit.model import Kernel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Column = npt.NDArray[np.int64]

NUMBERS = (
    "vgprs", "agprs", "total_vgprs", "allocated_vgprs", "sgprs", "allocated_sgprs", "lds", "scratch",
    "vgpr_spills", "sgpr_spills", "max_threads", "wave",
)  # fmt: skip
"""The columns that are numbers of a Kernel under the same name; -1 stands for None."""
TRUTHS = ("uses_dynamic_lds", "dynamic_stack")
"""The columns of 0 and 1 that are truth values of a Kernel under the same name."""
MODES = (None, "cu", "wgp")
"""What the column `mode` counts in, from -1."""


@dataclass(frozen=True, slots=True)
class CodeObject:
    """What all kernels of one code object share. `limits` is None for a target that has no page."""

    file: str
    member: str | None
    target: str
    features: tuple[str, ...]
    version: int
    limits: Target | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Kernels of one code object. Lists and columns (NUMBERS, TRUTHS and `mode`) have one entry a kernel.

    None at all for a code object without a kernel, which is then counted like any other. Remarks on
    single kernels (`Kernel.notes` beyond those of the code object) are left out.
    """

    code: CodeObject
    names: list[str]
    symbols: list[str]
    required_sizes: list[tuple[int, int, int] | None]
    columns: dict[str, Column]

    def __len__(self) -> int:
        return len(self.names)

    def kernels(self) -> Iterator[Kernel]:
        """The same, one after the other."""
        code, columns = self.code, {name: column.tolist() for name, column in self.columns.items()}
        for row, name in enumerate(self.names):
            said: dict[str, Any] = {key: bool(columns[key][row]) for key in TRUTHS}
            said.update((key, None if columns[key][row] < 0 else columns[key][row]) for key in NUMBERS)
            yield Kernel(
                target=code.target,
                name=name,
                symbol=self.symbols[row],
                file=code.file,
                member=code.member,
                required_size=self.required_sizes[row],
                mode=MODES[columns["mode"][row] + 1],
                code_version=code.version,
                features=code.features,
                notes=code.notes,
                **said,
            )
