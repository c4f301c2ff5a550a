"""The side file that Triton writes beside a code object: what the launch adds to the kernel."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace

from wavefit.kernels.source import Source
from wavefit.model import Kernel

SIDE_FILE_LIMIT = 1 << 20
"""Bytes; real side files are below 1 KiB."""
LARGEST = 1 << 31


@dataclass(frozen=True, slots=True)
class Side:
    """What the side file says of the launch; `trouble` where there is one that cannot be used."""

    name: str | None = None
    """Of the kernel that it is about; None = any."""
    shared: int | None = None
    """LDS bytes of a workgroup at launch, static ones included."""
    warps: int | None = None
    warp_size: int | None = None
    trouble: str | None = None


NOTHING = Side()
_COMPILED = {".amdgcn": ".hsaco", ".ptx": ".cubin"}
"""What Triton compiles a text to, and keeps under the same stem."""


def is_copy(name: str, exists: Callable[[str], bool]) -> bool:
    """Whether a file is the text of a compiled one that stands beside it, as in Triton's cache."""
    stem, suffix = os.path.splitext(name)
    return suffix in _COMPILED and exists(stem + _COMPILED[suffix])


def side_file(source: Source, sibling: Callable[[str], bytes | None]) -> Side:
    """The `.json` of the same stem, empty where there is none or where it is not Triton's."""
    try:
        content = sibling(".json")
        if content is None:
            return NOTHING
        if len(content) > SIDE_FILE_LIMIT:
            raise ValueError(f"larger than {SIDE_FILE_LIMIT} bytes")
        said = json.loads(content)
        if not isinstance(said, dict) or not {"shared", "num_warps"} & said.keys():
            return NOTHING
        inside = said.get("target")
        name = said.get("name")
        return Side(
            name=name if isinstance(name, str) else None,
            shared=_count(said, "shared"),
            warps=_count(said, "num_warps"),
            warp_size=_count({**inside, **said} if isinstance(inside, dict) else said, "warp_size"),
        )
    except RecursionError:
        cause = "nested too deep"
    except (OSError, ValueError) as error:
        cause = str(error)
    return Side(trouble=f"its side file (.json) cannot be used: {cause}")


def launched(kernel: Kernel, side: Side) -> Kernel:
    """The Kernel with the launch LDS and workgroup size of its side file."""
    if side.trouble:
        return replace(kernel, notes=(*kernel.notes, side.trouble))
    if side == NOTHING or side.name not in (None, kernel.name):
        return kernel
    lds_dynamic, threads = kernel.lds_dynamic, kernel.side_threads
    if side.shared is not None:
        lds_dynamic = max(0, side.shared - (kernel.lds or 0))
    warp_size = side.warp_size or kernel.wave
    if side.warps and warp_size:
        threads = side.warps * warp_size
    return replace(kernel, lds_dynamic=lds_dynamic, side_threads=threads)


def _count(said: dict[str, object], key: str) -> int | None:
    """A whole number that a launch can have, None where absent; ValueError for anything else."""
    value = said.get(key)
    if value is None or (type(value) is int and 0 <= value < LARGEST):
        return value
    raise ValueError(f"{key!r} is not a usable number")
