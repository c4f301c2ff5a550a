"""Freezes what LLVM says of the code objects in tests/data/kernels, for the tests of the reader.

    python tools/freeze_readelf.py               # needs llvm-readelf-22, llvm-objdump-22 and PyYAML

Writes tests/data/kernels/llvm.json: for every object its header, each kernel's metadata as
`llvm-readelf --notes` prints them (arguments reduced to their kinds) and each descriptor as
`llvm-objdump -D -j .rodata` prints it. Shares no code with the reader.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).parent.parent / "tests/data/kernels"
DESCRIPTOR = re.compile(r"^\.amdhsa_kernel (\S+)\n(.*?)^\.end_amdhsa_kernel", re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"\.amdhsa_(\w+) (\d+)")
KEPT = (
    "accum_offset", "group_segment_fixed_size", "next_free_sgpr", "next_free_vgpr",
    "private_segment_fixed_size", "uses_dynamic_stack", "wavefront_size32", "workgroup_processor_mode",
)  # fmt: skip


def main() -> None:
    files = sorted(file for suffix in ("co", "hsaco", "o") for file in DATA.rglob(f"*.{suffix}"))
    said = {
        "made_with": output("llvm-readelf-22", "--version").split("\n")[1].strip(),
        "objects": {str(file.relative_to(DATA)): frozen(file) for file in files},
    }
    (DATA / "llvm.json").write_text(json.dumps(said, indent=0, sort_keys=True) + "\n")


def frozen(file: Path) -> dict[str, Any]:
    header = output("llvm-readelf-22", "-h", str(file))
    notes = output("llvm-readelf-22", "--notes", str(file))
    documents = re.findall(r"^ *---$(.*?)^\.\.\.$", notes, re.MULTILINE | re.DOTALL)
    metadata = yaml.safe_load(documents[0])
    isa = re.search(r"Architecture: AMDGPU, Major: (\d+), Minor: (\d+), Stepping: (\d+)", notes)
    dump = output(
        "llvm-objdump-22", "-D", "-j", ".rodata", str(file), may_fail=True
    )  # gfx6 and gfx7: it cannot
    return {
        "abi_version": int(re.search(r"ABI Version: +(\d+)", header)[1]),  # type: ignore[index]
        "flags": re.search(r"Flags: +(.*)", header)[1].split(", "),  # type: ignore[index]
        "target": metadata.get("amdhsa.target"),
        "isa_note": isa and [int(number) for number in isa.groups()],
        "kernels": [reduced(kernel) for kernel in metadata.get("amdhsa.kernels") or metadata["Kernels"]],
        "descriptors": {
            name: {key: int(value) for key, value in DIRECTIVE.findall(body) if key in KEPT}
            for name, body in DESCRIPTOR.findall(dump)
        },
    }


def reduced(kernel: dict[str, Any]) -> dict[str, Any]:
    arguments = kernel.pop(".args", kernel.pop("Args", []))
    kinds = {argument.get(".value_kind") or argument.get("ValueKind") for argument in arguments}
    return {**kernel, "argument_kinds": sorted(kinds)}


def output(*command: str, may_fail: bool = False) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=not may_fail).stdout


if __name__ == "__main__":
    main()
