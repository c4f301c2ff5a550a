"""Which disassemblers this machine has: LLVM's library, llvm-objdump, nvdisasm. Nothing is started here."""

from __future__ import annotations

import glob
import importlib.util
import os
import re
import shutil
from functools import lru_cache
from pathlib import Path

INSTALL = (
    "no disassembler for AMD code: pip install 'wavefit[code]', or put llvm-objdump on PATH, "
    "or give the compiler's assembly text"
)
INSTALL_NVIDIA = "no disassembler for NVIDIA code: put nvdisasm on PATH, or install Triton, which brings it"

_VERSION = re.compile(r"(\d+)(?:\.\d+)*$")


class NoDisassembler(LookupError):
    """No program here can decode this code; the text says in one line what to install."""


@lru_cache(maxsize=1)
def libraries() -> tuple[str, ...]:
    """Shared libraries with LLVM's C API for AMD code, the one of `wavefit[code]` first."""
    found = [os.path.join(folder, "llvm", "librocmllvm.so") for folder in _package("rocm")]
    for root in _rocm_trees():
        found += sorted(glob.glob(os.path.join(root, "llvm", "lib", "libLLVM.so*")), reverse=True)
    return tuple(dict.fromkeys(os.path.realpath(path) for path in found if os.path.isfile(path)))


@lru_cache(maxsize=1)
def objdumps() -> tuple[str, ...]:
    """Every llvm-objdump of a ROCm tree, then those on PATH, the newest first."""
    found = [os.path.join(root, "llvm", "bin", "llvm-objdump") for root in _rocm_trees()]
    folders = os.get_exec_path()
    named = [
        path
        for folder in folders
        for path in glob.glob(os.path.join(glob.escape(folder), "llvm-objdump-[0-9]*"))
    ]
    found += sorted(named, key=_number, reverse=True)
    found += [os.path.join(folder, "llvm-objdump") for folder in folders]
    return tuple(dict.fromkeys(path for path in found if os.access(path, os.X_OK) and os.path.isfile(path)))


@lru_cache(maxsize=1)
def nvdisasm() -> str | None:
    """The nvdisasm on PATH, of a CUDA tree, or the one that Triton brings."""
    places = [shutil.which("nvdisasm") or ""]
    places += [os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvdisasm")]
    places += [os.path.join(folder, "backends", "nvidia", "bin", "nvdisasm") for folder in _package("triton")]
    return next((path for path in places if path and os.access(path, os.X_OK)), None)


def _package(name: str) -> list[str]:
    """Folders of an installed package, which is not imported for that."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return []
    return list(spec.submodule_search_locations or ()) if spec else []


def _rocm_trees() -> list[str]:
    named = [os.environ[key] for key in ("ROCM_PATH", "ROCM_HOME") if os.environ.get(key)]
    return [*named, "/opt/rocm", *sorted(glob.glob("/opt/rocm-*"), reverse=True)]


def _number(path: str) -> int:
    found = _VERSION.search(Path(path).name)
    return int(found[1]) if found else 0
