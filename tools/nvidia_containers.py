"""Makes the small files that hold cubins and PTX for the tests, and the texts of NVIDIA's tools about them.

    python tools/nvidia_containers.py CUOBJDUMP        # writes into tests/data/nvidia

One source for two targets and as PTX: stored, packed both ways, in a host object, before linking.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from nvidia_cubins import DATA, SOURCE, defines, run

SPENDS = [*defines("REGS=4 SHARED=500 STACK=9 BARS=2 SIZE=128"), "-DCALLS"]
TARGETS = ("75", "90a")
PACKED = {"stored": "none", "lz4": "speed", "zstd": "size"}
"""Our name for the way of packing, and fatbinary's mode that packs so."""


def main() -> None:
    cuobjdump = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        images, log = [], ""
        for target in TARGETS:
            cubin = folder / f"{target}.cubin"
            log += run("nvcc", "-cubin", f"-arch=sm_{target}", "-Xptxas=-v", *SPENDS, "-o", cubin, SOURCE)
            images.append(f"--image3=kind=elf,sm={target},file={cubin}")
        run("nvcc", "-ptx", "-arch=compute_90", *SPENDS, "-o", DATA / "spend.ptx", SOURCE)
        images.append(f"--image3=kind=ptx,sm=90,file={DATA / 'spend.ptx'}")
        for ours, mode in PACKED.items():
            made = f"--create={DATA / f'{ours}.fatbin'}"
            run("fatbinary", made, "-64", "--compress-all", f"--compress-mode={mode}", *images)
    (DATA / "ptxas_v.txt").write_text(log)
    (DATA / "res_usage.txt").write_text(run(cuobjdump, "-res-usage", DATA / "stored.fatbin"))
    both = [word for target in TARGETS for word in ("-gencode", f"arch=compute_{target},code=sm_{target}")]
    run("nvcc", "-c", *both, *SPENDS, "-o", DATA / "host.o", SOURCE)
    intermediate = ("-gencode", "arch=compute_90,code=lto_90", "-rdc=true")
    run("nvcc", "-fatbin", *intermediate, *SPENDS, "-o", DATA / "lto.fatbin", SOURCE)


if __name__ == "__main__":
    main()
