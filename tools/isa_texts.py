"""Copies compilers' assembly texts for the tests: what says something of code, without debug information.

    python tools/isa_texts.py FOLDER tests/data/isa/triton       # every .amdgcn of a folder
    python tools/isa_texts.py --gluon tests/data/isa/feed        # the ILP microbenchmark, by Triton

The texts are gzipped (with no time in them, so that the same input gives the same file).
"""

from __future__ import annotations

import gzip
import re
import sys
import tempfile
from pathlib import Path

_DROP = re.compile(
    r"\s*\.(?:loc|file|cfi_\w+|ident|addrsig\w*|p2alignl|fill|byte|ascii|asciz|short|long|quad|uleb128|sleb128|set)\b"
)
_LABEL = re.compile(r"\.L(?:tmp|debug|func_end|info|line|str|abbrev|sec)\w*:")


def stripped(text: str) -> str:
    """The text without lines that say nothing of code."""
    kept: list[str] = []
    debug = metadata = False
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith(".section"):
            debug = ".debug" in bare or ".note" in bare or ".AMDGPU" in bare
        elif bare.startswith((".text", ".amdgpu_metadata", ".amdgcn_target")):
            debug = False
        metadata = metadata or bare.startswith(".amdgpu_metadata")
        if not metadata:
            line = re.sub(r"\s*;.*$", "", line)
            if debug or not line.strip() or _DROP.match(line) or _LABEL.match(line.strip()):
                continue
        metadata = metadata and not bare.startswith(".end_amdgpu_metadata")
        kept.append(line.rstrip())
    return "\n".join(kept) + "\n"


def write(text: str, path: Path) -> None:
    """One stripped text, gzipped."""
    path.write_bytes(gzip.compress(stripped(text).encode(), 9, mtime=0))


def gluon(folder: Path) -> None:
    """The experiment's kernels at ILP 1, 2, 4 and 8, as Triton compiles them here."""
    sources = Path(__file__).parents[1] / "src/wavefit/experiments/sources"
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "feed_gluon.py"
        copy.write_text((sources / "feed_gluon.py").read_text())
        sys.path.insert(0, place)
        import feed_gluon  # type: ignore[import-not-found]

        for target in feed_gluon.MACHINES:
            for ilp in feed_gluon.ILPS:
                write(feed_gluon.build(target, ilp).asm["amdgcn"], folder / f"{target}_ilp{ilp}.amdgcn.gz")


def main(source: str, folder: str) -> None:
    if source == "--gluon":
        gluon(Path(folder))
        return
    for path in sorted(Path(source).glob("*.amdgcn")):
        write(path.read_text(), Path(folder) / f"{path.name}.gz")


if __name__ == "__main__":
    main(*sys.argv[1:3])
