"""Decoded code: instructions, what they read and write, and where they lead. Facts only, no estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wavefit.isa.registers import names


@dataclass(frozen=True, slots=True)
class Memory:
    """What a memory instruction moves. `bytes` are per lane (per wave for the scalar unit), None if not said.

    `space` is `global`, `flat`, `scratch`, `lds`, `gds`, `image`, `scalar`, `lanes` (a permutation that
    goes through LDS hardware and touches none), `clock` or `message`; `action` is `load`, `store`, `atomic`
    or `prefetch`. `to_lds` says that a load goes to LDS (or a store comes from there) past the registers.
    """

    space: str
    action: str
    bytes: int | None
    to_lds: bool = False
    returns: bool = False
    """An atomic that gives the old value back."""


@dataclass(frozen=True, slots=True)
class Form:
    """What the text of one instruction says, wherever it stands; equal texts share one Form.

    `reads` and `writes` are register sets (see `registers`); a register that keeps a part of what it held
    is in both. `counts` are the wait counters of a wait and how many may still be outstanding.
    """

    text: str
    name: str
    """The mnemonic without its encoding's suffix."""
    kind: str
    reads: int = 0
    writes: int = 0
    operands: tuple[str, ...] = ()
    modifiers: str = ""
    memory: Memory | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    accumulates: int = 0
    """Registers of C of a matrix instruction; 0 where C is a constant."""

    @property
    def read_names(self) -> tuple[str, ...]:
        """The registers read, in words."""
        return names(self.reads)

    @property
    def write_names(self) -> tuple[str, ...]:
        """The registers written, in words."""
        return names(self.writes)


@dataclass(frozen=True, slots=True)
class Op:
    """One instruction where it stands: `at` is its address (of text: its number), `size` its bytes or None.

    `target` is where it branches to, in the same count as `at`, None where it does not or nobody can say.
    `source` is the line of source that the compiler names, where it does.
    """

    at: int
    form: Form
    size: int | None = None
    target: int | None = None
    source: str | None = None

    @property
    def name(self) -> str:
        """The mnemonic."""
        return self.form.name

    @property
    def kind(self) -> str:
        """What it does: see `Form`."""
        return self.form.kind

    @property
    def text(self) -> str:
        """As the disassembler writes it."""
        return self.form.text

    @property
    def reads(self) -> tuple[str, ...]:
        """Registers read, in words."""
        return self.form.read_names

    @property
    def writes(self) -> tuple[str, ...]:
        """Registers written, in words."""
        return self.form.write_names

    @property
    def memory(self) -> Memory | None:
        """What it loads or stores; None for the others."""
        return self.form.memory


@dataclass(frozen=True, slots=True)
class Listing:
    """The instructions of one function, in order, before anything is known of its flow.

    `by` is who disassembled it. `notes` say what could not be decoded, one sentence each.
    """

    name: str
    ops: tuple[Op, ...]
    by: str
    notes: tuple[str, ...] = ()
