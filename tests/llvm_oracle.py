"""LLVM itself as a witness: compile a kernel that needs given resources, read what the compiler prints.

llvmlite 0.50 carries LLVM 22 with its AMDGPU back end. The kernel names its highest register of each kind
in an inline-assembly clobber, which is what LLVM counts; its LDS is one global of that size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import llvmlite.binding as llvm

TRIPLE = "amdgcn-amd-amdhsa"
VERSION: tuple[int, ...] = llvm.llvm_version_info
CLOBBERABLE = 256
"""Vector registers that inline assembly can name; gfx125x has more, which only real values reach."""

# Without these a kernel keeps the registers that hold its own arguments and position.
_NO_HIDDEN_INPUTS = (
    "dispatch-ptr", "dispatch-id", "queue-ptr", "implicitarg-ptr", "flat-scratch-init",
    "workgroup-id-x", "workgroup-id-y", "workgroup-id-z", "workitem-id-x", "workitem-id-y", "workitem-id-z",
)  # fmt: skip
_PRINTED = re.compile(r"^; (\w+) ?: (\d+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LlvmSays:
    """The comments that LLVM prints under one kernel. Registers per lane or per wave, LDS in bytes.

    `charged_vgprs` and `charged_sgprs` are what the descriptor gets: LLVM pads both up to what the
    workgroup size and LDS leave room for.
    """

    occupancy: int
    vgprs: int
    agprs: int
    total_vgprs: int
    charged_vgprs: int
    sgprs: int
    charged_sgprs: int
    lds: int
    scratch: int


def occupancy(
    cpu: str,
    features: str = "",
    vgprs: int = 0,
    agprs: int = 0,
    sgprs: int = 0,
    lds: int = 0,
    wg: tuple[int, int] = (1, 1024),
) -> LlvmSays:
    """What LLVM prints for a kernel with these resources.

    `sgprs` are the numbered ones, to which LLVM adds VCC, FLAT_SCRATCH and XNACK; `wg` is the declared
    range of workgroup sizes. ValueError for what LLVM answers by ending the process: more SGPRs or LDS
    than the target has.
    """
    if sgprs > sgpr_cap(cpu) or lds > lds_cap(cpu):
        raise ValueError(f"{cpu}: LLVM ends the process at {sgprs} SGPRs and {lds} bytes of LDS")
    source = _kernel(_body(vgprs, agprs, sgprs, lds), lds, wg)
    text: str = _machine(cpu, features).emit_assembly(llvm.parse_assembly(source))
    return _read(text)


def sgpr_cap(cpu: str) -> int:
    """SGPRs that a kernel for this processor may name."""
    if cpu in ("gfx802", "gfx805"):
        return 96  # a hardware bug: always exactly these
    return {6: 104, 7: 104, 8: 102, 9: 102}.get(_generation(cpu), 106)


def lds_cap(cpu: str) -> int:
    """Bytes of LDS beyond which LLVM refuses a kernel for this processor."""
    if cpu.startswith("gfx125"):
        return 320 << 10
    if cpu == "gfx950":
        return 160 << 10
    return (32 if _generation(cpu) == 6 else 64) << 10


def has_agprs(cpu: str) -> bool:
    """Whether this processor has accumulator registers."""
    return cpu in ("gfx908", "gfx90a", "gfx942", "gfx9-4-generic", "gfx950")


def variants(cpu: str) -> tuple[str, ...]:
    """The feature strings that make LLVM count differently for this processor."""
    if _generation(cpu) < 10 or cpu.startswith("gfx125"):
        return ("",)
    return ("", "+cumode", "+wavefrontsize64", "+cumode,+wavefrontsize64")


def _generation(cpu: str) -> int:
    number = cpu.removeprefix("gfx")
    return int(number.split("-")[0] if "-" in number else number[:-2])


def list_processors() -> None:
    """LLVM writes the processors and features that it knows to standard error."""
    _machine.__wrapped__("help", "")


@cache
def _machine(cpu: str, features: str) -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE)
    machine = target.create_target_machine(cpu=cpu, features=features, opt=2)
    machine.set_asm_verbosity(True)
    return machine


def _kernel(body: str, lds: int, wg: tuple[int, int]) -> str:
    block = f"@block = internal addrspace(3) global [{lds} x i8] poison, align 1\n" if lds else ""
    attributes = [f'"amdgpu-no-{name}"' for name in _NO_HIDDEN_INPUTS]
    attributes.append(f'"amdgpu-flat-work-group-size"="{wg[0]},{wg[1]}"')
    return (
        f'target triple = "{TRIPLE}"\n{block}'
        f"define amdgpu_kernel void @kernel(ptr addrspace(1) %at) nounwind {' '.join(attributes)} "
        f"{{\n{body}ret void\n}}\n"
    )


def _body(vgprs: int, agprs: int, sgprs: int, lds: int) -> str:
    lines = []
    if lds:  # an immediate costs no register
        lines.append('call void asm sideeffect "", "i"(ptr addrspace(3) @block)')
    if vgprs > CLOBBERABLE:
        lines += _live_values(vgprs)
        vgprs = 0
    highest = (("v", vgprs), ("a", agprs), ("s", sgprs))
    named = ",".join(f"~{{{kind}{count - 1}}}" for kind, count in highest if count)
    if named:
        lines.append(f'call void asm sideeffect "", "{named}"()')
    return "".join(f"  {line}\n" for line in lines)


def _live_values(vgprs: int) -> Iterator[str]:
    """Loads that are all alive before the first store, four registers each."""
    values = range(vgprs // 4)
    yield from (f"%v{i} = load volatile <4 x i32>, ptr addrspace(1) %at" for i in values)
    yield from (f"store volatile <4 x i32> %v{i}, ptr addrspace(1) %at" for i in values)


def _read(text: str) -> LlvmSays:
    printed = {name: int(value) for name, value in _PRINTED.findall(text)}
    vgprs = printed["NumVgprs"]
    return LlvmSays(
        occupancy=printed["Occupancy"],
        vgprs=vgprs,
        agprs=printed.get("NumAgprs", 0),
        total_vgprs=printed.get("TotalNumVgprs", vgprs),
        charged_vgprs=printed["NumVGPRsForWavesPerEU"],
        sgprs=printed["TotalNumSgprs"],
        charged_sgprs=printed["NumSGPRsForWavesPerEU"],
        lds=printed["LDSByteSize"],
        scratch=printed["ScratchSize"],
    )
