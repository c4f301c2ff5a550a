"""Compile the example kernels for AMD targets, with Triton alone: no GPU, no driver, no torch.

    python examples/build.py [--out DIR] [--cache DIR] [--only WORD]

Writes NAME.hsaco (the code object) and NAME.json (what the launch adds to it) for each example and prints
what the compiler counted. With --cache, Triton's own files of each example stay in DIR/NAME.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton
from gemm_bf16 import gemm_bf16
from gemm_mxfp8 import gemm_mxfp8
from softmax import softmax
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

COMPILED = Path(__file__).parent / "compiled"

BF16_POINTERS = {"a": "*bf16", "b": "*bf16", "c": "*bf16"}
MXFP8_POINTERS = {"a": "*fp8e4nv", "a_scale": "*u8", "b": "*fp8e4nv", "b_scale": "*u8", "c": "*bf16"}
SIZES = {"m": "i32", "n": "i32", "k": "i32"}
ARGUMENTS: dict[Any, dict[str, str]] = {
    gemm_bf16: BF16_POINTERS | SIZES,
    gemm_mxfp8: MXFP8_POINTERS | SIZES,
    softmax: {"x": "*bf16", "y": "*bf16", "columns": "i32"},
}


@dataclass(frozen=True)
class Example:
    """One kernel, one target, one tile."""

    kernel: Any
    arch: str
    constants: dict[str, int]
    warps: int
    stages: int = 2

    @property
    def name(self) -> str:
        sizes = "x".join(str(value) for key, value in self.constants.items() if key != "strip")
        return f"{self.kernel.__name__}_{self.arch}_{sizes}_w{self.warps}"

    @property
    def target(self) -> GPUTarget:
        return GPUTarget("hip", self.arch, warp_size=32 if self.arch.startswith("gfx1") else 64)

    def source(self) -> ASTSource:
        """The kernel with its argument types; every pointer and size is a multiple of 16."""
        arguments = ARGUMENTS[self.kernel]
        aligned = {(index,): [["tt.divisibility", 16]] for index in range(len(arguments))}
        signature = arguments | dict.fromkeys(self.constants, "constexpr")
        return ASTSource(self.kernel, signature, self.constants, aligned)


def gemm(kernel: Any, arch: str, bm: int, bn: int, bk: int, warps: int) -> Example:
    """A GEMM tile; eight tile rows a strip."""
    return Example(kernel, arch, {"bm": bm, "bn": bn, "bk": bk, "strip": 8}, warps)


# MXFP8 for gfx950 only: the others have no scaled matrix instruction, and there Triton widens both
# operands to bf16 first, which is another kernel.
EXAMPLES = (
    gemm(gemm_mxfp8, "gfx950", 128, 128, 128, warps=4),
    gemm(gemm_mxfp8, "gfx950", 64, 64, 128, warps=4),
    gemm(gemm_mxfp8, "gfx950", 128, 256, 128, warps=8),
    gemm(gemm_mxfp8, "gfx950", 256, 256, 128, warps=8),
    gemm(gemm_bf16, "gfx942", 128, 128, 64, warps=4),
    gemm(gemm_bf16, "gfx950", 128, 128, 64, warps=4),
    gemm(gemm_bf16, "gfx1100", 128, 128, 32, warps=8),
    gemm(gemm_bf16, "gfx1201", 128, 128, 32, warps=8),
    Example(softmax, "gfx942", {"width": 32768}, warps=8),
    Example(softmax, "gfx950", {"width": 32768}, warps=8),
    Example(softmax, "gfx1100", {"width": 32768}, warps=16),
    Example(softmax, "gfx1201", {"width": 32768}, warps=16),
)


def build(example: Example, out: Path, cache: Path) -> str:
    """Compile one example into `out`; returns the line that says what it spends."""
    with triton.knobs.cache.scope(), triton.knobs.compilation.scope():
        triton.knobs.cache.dir = str(cache)
        triton.knobs.compilation.always_compile = True
        triton.knobs.compilation.disable_line_info = True  # keeps this machine's paths out of the file
        options = {"num_warps": example.warps, "num_stages": example.stages, "enable_fp_fusion": True}
        compiled = triton.compile(example.source(), target=example.target, options=options)
    said = compiled.metadata
    side = {
        "name": said.name,
        "target": vars(said.target),
        "num_warps": said.num_warps,
        "warp_size": said.warp_size,
        "num_stages": said.num_stages,
        "shared": said.shared,
        "triton_version": said.triton_version,
        "options": {**example.constants, "enable_fp_fusion": said.enable_fp_fusion},
    }
    (out / f"{example.name}.hsaco").write_bytes(compiled.asm["hsaco"])
    (out / f"{example.name}.json").write_text(json.dumps(side, indent=1) + "\n")
    return row(example, said.shared, compiled.asm["amdgcn"])


def row(example: Example, shared: int, assembly: str) -> str:
    """What the compiler counted, as a line of the table in README.md."""
    found = dict(re.findall(r"^[ ;.]+(\w+): +(\d+)$", assembly, re.MULTILINE))
    cells = [
        f"`{example.name}`",
        found["NumVgprs"],
        found.get("NumAgprs", "-"),
        found["TotalNumSgprs"],
        str(shared),
        found["vgpr_spill_count"],
        found["Occupancy"],
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Compile the examples for AMD targets, without a GPU.")
    parser.add_argument("--out", type=Path, default=COMPILED, help="folder for the results (%(default)s)")
    parser.add_argument("--cache", type=Path, help="keep Triton's own files here, a folder an example")
    parser.add_argument("--only", default="", help="examples whose name holds this")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        cache = options.cache or Path(scratch)
        for example in EXAMPLES:
            if options.only in example.name:
                print(build(example, options.out, cache / example.name), flush=True)


if __name__ == "__main__":
    main()
