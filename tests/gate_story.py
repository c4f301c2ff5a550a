"""The story's kernel: it adds up rows of a matrix, and loads a number of values ahead of their use.

    python -m tests.gate_story      # compiles tests/data/gate/story with llvmlite's LLVM 22

Loading 12 values ahead instead of 9 takes 105 VGPRs instead of 96.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import llvmlite.binding as llvm

STORY = Path(__file__).parent / "data/gate/story"
AHEAD = {"main": 9, "change": 12}
SUMS = 68
"""Sums that a lane keeps in registers."""


def source(ahead: int) -> str:
    """The kernel in LLVM's language."""
    return "\n".join(_lines(ahead)) + "\n"


def compile_kernel(ahead: int) -> bytes:
    """The kernel as a relocatable code object for gfx950."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("amdgcn-amd-amdhsa").create_target_machine(cpu="gfx950", opt=2)
    compiled: bytes = machine.emit_object(llvm.parse_assembly(source(ahead)))
    return compiled


def _lines(ahead: int) -> Iterator[str]:
    sums, values = range(SUMS), range(ahead)
    yield 'target triple = "amdgcn-amd-amdhsa"'
    yield "define amdgpu_kernel void @tile_sum(ptr addrspace(1) %in, ptr addrspace(1) %out) #0 {"
    yield "entry:"
    yield "  %lane = call i32 @llvm.amdgcn.workitem.id.x()"
    yield "  br label %loop"
    yield "loop:"
    yield "  %step = phi i32 [ 0, %entry ], [ %next, %loop ]"
    yield from (f"  %a{i} = phi float [ 0.0, %entry ], [ %s{i}, %loop ]" for i in sums)
    yield "  %row = add i32 %step, %lane"
    for i in values:
        yield f"  %o{i} = add i32 %row, {i * 4096}"
        yield f"  %p{i} = getelementptr float, ptr addrspace(1) %in, i32 %o{i}"
        yield f"  %v{i} = load volatile float, ptr addrspace(1) %p{i}"
    for i in sums:
        factors = f"float %v{i % ahead}, float %v{(7 * i + 1) % ahead}"
        yield f"  %s{i} = call float @llvm.fma.f32({factors}, float %a{i})"
    yield "  %next = add i32 %step, 64"
    yield "  %more = icmp ult i32 %next, 65536"
    yield "  br i1 %more, label %loop, label %done"
    yield "done:"
    yield "  %wide = zext i32 %lane to i64"
    yield "  %q = getelementptr float, ptr addrspace(1) %out, i64 %wide"
    for i in sums:
        yield f"  %r{i} = getelementptr float, ptr addrspace(1) %q, i64 {i * 256}"
        yield f"  store volatile float %s{i}, ptr addrspace(1) %r{i}"
    yield "  ret void"
    yield "}"
    yield "declare i32 @llvm.amdgcn.workitem.id.x()"
    yield "declare float @llvm.fma.f32(float, float, float)"
    yield 'attributes #0 = { nounwind "target-cpu"="gfx950" "amdgpu-flat-work-group-size"="256,256" }'


if __name__ == "__main__":
    for name, ahead in AHEAD.items():
        (STORY / name).mkdir(parents=True, exist_ok=True)
        (STORY / name / "tile_sum.o").write_bytes(compile_kernel(ahead))
