"""What Triton does with a dot on gfx942 and gfx950, as test data: `python tools/matrix_triton.py FOLDER`.

Two files: `triton_dots.csv`, which instruction and k width Triton takes for element types, block sizes,
`matrix_instr_nonkdim` and `kpack`, read out of kernels compiled here; and `triton_mfma_v4.csv`, the layout
of AMDMFMALayout version 4 and of its operands as linear-layout bases. Nothing is run; no GPU is needed.
"""

from __future__ import annotations

import csv
import itertools
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TYPES = {
    "gfx942": {
        "fp64": "fp64",
        "fp32": "fp32",
        "fp16": "fp16",
        "bf16": "bf16",
        "fp8": "fp8e4b8",
        "int8": "i8",
    },
    "gfx950": {
        "fp64": "fp64",
        "fp32": "fp32",
        "fp16": "fp16",
        "bf16": "bf16",
        "fp8": "fp8e4nv",
        "int8": "i8",
    },
}
RESULT = {"fp64": "fp64", "int8": "i32"}
SCALED = (("e4m3", "e4m3"), ("e2m1", "e2m1"), ("e4m3", "e2m1"), ("e2m1", "e4m3"))
DOT_FIELDS = (
    "target",
    "a",
    "b",
    "scaled",
    "warps",
    "nonkdim",
    "kpack",
    "block",
    "block_k",
    "instruction",
    "k_width",
)
LAYOUT_FIELDS = ("m", "n", "k", "operand", "k_width", "registers", "lanes")


def dots() -> Iterator[tuple[Any, ...]]:
    """One row a compiled dot; what Triton refuses is left out."""
    from matrix_triton_kernels import plain, scaled

    for target, types in TYPES.items():
        packs = (1, 2) if target == "gfx942" else (1,)
        for (name, triton_type), nonkdim, kpack, block, block_k in itertools.product(
            types.items(), (0, 16, 32), packs, (16, 32), (16, 32, 64, 128)
        ):
            pointers = {"a": f"*{triton_type}", "b": f"*{triton_type}", "c": f"*{RESULT.get(name, 'fp32')}"}
            constants = {"M": block, "N": block, "K": block_k}
            found = _compiled(plain, pointers, constants, target, nonkdim, kpack, 1)
            if found:
                yield target, name, name, 0, 1, nonkdim, kpack, block, block_k, *found
    for (a, b), warps, nonkdim, block_k in itertools.product(SCALED, (1, 4), (0, 16, 32), (128, 256)):
        pointer = {"e4m3": "*fp8e4nv", "e2m1": "*u8"}
        pointers = {"a": pointer[a], "b": pointer[b], "sa": "*u8", "sb": "*u8", "c": "*fp32"}
        formats: dict[str, Any] = {"AF": a, "BF": b, "M": 32, "N": 32, "K": block_k}
        found = _compiled(scaled, pointers, formats, "gfx950", nonkdim, 1, warps)
        if found:
            yield "gfx950", a, b, 1, warps, nonkdim, 1, 32, block_k, *found


def _compiled(
    kernel: Any,
    pointers: dict[str, str],
    constants: dict[str, Any],
    target: str,
    nonkdim: int,
    kpack: int,
    warps: int,
) -> tuple[str, str] | None:
    """Mnemonic and k width of the one matrix instruction of a kernel, None where there is no such kernel."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    options = {"num_warps": warps, "matrix_instr_nonkdim": nonkdim, "kpack": kpack}
    try:
        built = triton.compile(
            ASTSource(kernel, pointers, constants), target=GPUTarget("hip", target, 64), options=options
        )
    except Exception:
        return None
    names = set(re.findall(r"v_mfma\w+", built.asm["amdgcn"]))
    widths = set(
        re.findall(r"#ttg\.dot_op<\{opIdx = \d, parent = #mma\d*, kWidth = (\d+)\}>", built.asm["ttgir"])
    )
    return (names.pop(), widths.pop()) if len(names) == len(widths) == 1 else None


def layouts() -> Iterator[tuple[Any, ...]]:
    """Bases of A, B and D of every shape and k width that version 4 has; packed FP4 counts bytes."""
    from triton._C.libtriton import gluon_ir, ir
    from triton.experimental.gluon.language import DotOperandLayout
    from triton.experimental.gluon.language.amd import AMDMFMALayout

    context = ir.context()
    ir.load_dialects(context)
    builder = gluon_ir.GluonOpBuilder(context)

    def bases(layout: Any, shape: list[int]) -> tuple[str, str]:
        linear = builder.to_linear_layout(layout._to_ir(builder), shape)
        return _text(linear.reg_bases), _text(linear.lane_bases)

    shapes = {
        (16, 16): ((4, 1), (16, 4), (32, 8), (64, 16), (128, 16)),
        (32, 32): ((2, 1), (8, 4), (16, 8), (32, 16), (64, 16)),
    }
    for (m, n), depths in shapes.items():
        for k, width in depths:
            parent = AMDMFMALayout(4, [m, n, k], False, [1, 1])
            yield m, n, k, "D", "", *bases(parent, [m, n])
            yield m, n, k, "A", width, *bases(DotOperandLayout(0, parent, width), [m, k])
            yield m, n, k, "B", width, *bases(DotOperandLayout(1, parent, width), [k, n])
    double = AMDMFMALayout(4, [16, 16, 4], False, [1, 1], element_bitwidth=64)
    yield 16, 16, 4, "D64", "", *bases(double, [16, 16])


def _text(bases: Any) -> str:
    return ";".join(" ".join(str(each) for each in base) for base in bases)


def main() -> int:
    """Write both files into the folder that is named. Returns the exit status."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
        sys.path.insert(0, str(Path(__file__).parent))
        import triton

        origin = f"# Triton {triton.__version__}, tools/matrix_triton.py: "
        for name, fields, rows in (
            ("triton_dots", DOT_FIELDS, dots()),
            ("triton_mfma_v4", LAYOUT_FIELDS, layouts()),
        ):
            with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                file.write(f"{origin}{name}\n")
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(fields)
                writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
