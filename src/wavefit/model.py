"""The two inputs of every question: what one compiled kernel spends, and how it is started."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kernel:
    """What one compiled kernel spends, as its file says it.

    Registers are per lane (vector) or per wave (scalar), sizes are bytes. None means that the file
    (or the question) does not say; a resource that is not given does not limit.

    `vgprs`, `agprs`, `total_vgprs`, `sgprs` are what the compiler counts; `allocated_vgprs` and
    `allocated_sgprs` are what the kernel descriptor encodes, which is what the hardware allocates.
    `sgprs` includes VCC and the like, not what the trap handler takes.

    `target` is the ISA target's name; `name` is for people, `symbol` as in the file, `file` where it was
    read, `member` the path inside it. A workgroup takes `lds` static bytes and `lds_dynamic` at launch, a
    work-item `scratch` (more where it has a `dynamic_stack`). `vgpr_spills` and `sgpr_spills` count
    registers, `max_threads` and `required_size` (x, y, z) work-items, `barriers` NVIDIA's named ones.
    `wave` is its lanes, `mode` `cu`, `wgp` or None, `code_version` the version of the code object.
    """

    target: str
    name: str = ""
    symbol: str = ""
    file: str = ""
    member: str | None = None
    vgprs: int | None = None
    agprs: int | None = None
    total_vgprs: int | None = None
    allocated_vgprs: int | None = None
    wave_vgprs: tuple[tuple[int, int], ...] = ()
    """(waves, registers) of one workgroup whose waves hold unequal numbers, in place of the others."""
    sgprs: int | None = None
    allocated_sgprs: int | None = None
    lds: int | None = None
    lds_dynamic: int | None = None
    uses_dynamic_lds: bool = False
    """The kernel has an argument that proves dynamic LDS at launch, of a size the file does not hold."""
    scratch: int | None = None
    dynamic_stack: bool = False
    vgpr_spills: int | None = None
    sgpr_spills: int | None = None
    max_threads: int | None = None
    required_size: tuple[int, int, int] | None = None
    side_threads: int | None = None
    """Workgroup size that a side file (Triton's JSON) launches with."""
    barriers: int | None = None
    wave: int | None = None
    mode: str | None = None
    code_version: int | None = None
    features: tuple[str, ...] = ()
    """Settings of the target that the code was compiled for, as LLVM spells them (`xnack-`)."""
    notes: tuple[str, ...] = ()
    """What the reader wants a person to know, one sentence each."""

    @property
    def required_threads(self) -> int | None:
        """Work-items of the required workgroup size, where the kernel requires one."""
        if self.required_size is None:
            return None
        x, y, z = self.required_size
        return x * y * z

    @property
    def charged_vgprs(self) -> int | None:
        """Vector registers to charge: the descriptor's where the kernel was read, else the total."""
        return self.total_vgprs if self.allocated_vgprs is None else self.allocated_vgprs

    @property
    def charged_sgprs(self) -> int | None:
        """Scalar registers to charge: the descriptor's where the kernel was read, else the count."""
        return self.sgprs if self.allocated_sgprs is None else self.allocated_sgprs


@dataclass(frozen=True, slots=True)
class Launch:
    """How a kernel is started: `threads` a workgroup, lanes a `wave`, `lds_dynamic` bytes on top of its own.

    `mode` is `cu`, `wgp` or None where the target has only one. `barriers` counts named barriers of one
    workgroup and `carveout` is the preferred share of shared memory in percent (both NVIDIA).
    """

    threads: int
    wave: int
    mode: str | None = None
    lds_dynamic: int | None = None
    barriers: int | None = None
    carveout: int | None = None

    @property
    def waves(self) -> int:
        """Waves of one workgroup; the last may be partly empty."""
        return -(-self.threads // self.wave)
