"""Containers that compilers and their tools make here and now, against the code objects put into them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.test_formats_bundles import ID, TARGETS, of, spend
from wavefit.kernels import kernels
from wavefit.model import Kernel

pytestmark = pytest.mark.heavy
DATA = Path(__file__).parent / "data/kernels"
TOOLS = (
    "clang-22",
    "ld.lld-22",
    "llvm-ar-22",
    "llvm-objcopy-22",
    "clang-offload-bundler-22",
    "clang-offload-packager-22",
)


@pytest.fixture(scope="module", autouse=True)
def tools() -> None:
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        pytest.skip(f"not installed: {', '.join(missing)}")


def run(*command: object) -> None:
    subprocess.run([str(part) for part in command], check=True, capture_output=True)


def bundled(path: Path, *options: str) -> Path:
    """All seven objects in one bundle."""
    inputs = [f"--input={Path('/dev/null')}", *(f"--input={DATA / f'k_{name}.co'}" for name in TARGETS)]
    targets = ",".join(["host-x86_64-unknown-linux-gnu", *(f"{ID}{name}" for name in TARGETS)])
    options = ("--type=o", "--bundle-align=4096", *options, f"--targets={targets}", f"--output={path}")
    run("clang-offload-bundler-22", *options, *inputs)
    return path


def compiled(folder: Path, name: str, section: str, *blobs: Path) -> Path:
    """A host object that holds the files in a section, as HIP's compiler lays them."""
    flags = '"e",@0x6fff4c0b' if section == ".llvm.offloading" else '"a",@progbits'
    lines = [f".section {section},{flags}"]
    lines += [line for blob in blobs for line in (".p2align 12", f'.incbin "{blob}"')]
    source = folder / f"{name}.s"
    source.write_text("\n".join([*lines, ".text", f".globl {name}", f"{name}: ret", ""]))
    run("clang-22", "-target", "x86_64-linux-gnu", "-c", source, "-o", folder / f"{name}.o")
    return folder / f"{name}.o"


def spends(path: Path) -> list[Kernel]:
    return [spend(item) for item in kernels(path)]


@pytest.mark.parametrize("options", [(), ("--compress",), ("--compress", "--compression-level=1")])
def test_bundles_of_clangs_bundler(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert spends(bundled(tmp_path / "x.hipfb", *options)) == of(*TARGETS)


def test_libraries_executables_objects_and_archives(tmp_path: Path) -> None:
    plain, packed = bundled(tmp_path / "plain"), bundled(tmp_path / "packed", "--compress")
    one = compiled(tmp_path, "one", ".hip_fatbin", plain, packed)
    two = compiled(tmp_path, "two", ".rodata", DATA / "k_gfx950.co", DATA / "k_gfx90a.co")
    assert spends(one) == of(*TARGETS) * 2
    assert spends(two) == of("gfx950", "gfx90a")
    library, static, stripped = tmp_path / "lib.so", tmp_path / "lib.a", tmp_path / "bare.so"
    run("ld.lld-22", "-shared", one, two, "-o", library)
    assert sorted(spends(library), key=str) == sorted(of(*TARGETS) * 2 + of("gfx950", "gfx90a"), key=str)
    run("llvm-objcopy-22", "--strip-sections", library, stripped)  # found without section headers
    assert sorted(spends(stripped), key=str) == sorted(spends(library), key=str)
    for form in ("gnu", "bsd", "darwin"):
        static.unlink(missing_ok=True)
        run("llvm-ar-22", f"--format={form}", "rcs", static, one, two)
        assert spends(static) == spends(one) + spends(two)


def test_offload_packager_files_in_an_object(tmp_path: Path) -> None:
    images = [
        f"--image=file={DATA / f'k_{name}.co'},triple=amdgcn-amd-amdhsa,arch={name},kind=hip"
        for name in TARGETS
    ]
    run("clang-offload-packager-22", "-o", tmp_path / "x.out", *images)
    assert spends(tmp_path / "x.out") == of(*TARGETS)
    held = compiled(tmp_path, "held", ".llvm.offloading", tmp_path / "x.out", tmp_path / "x.out")
    assert spends(held) == of(*TARGETS) * 2


@pytest.mark.parametrize("tool", ["xz", "zstd", "gzip", "bzip2"])
def test_what_command_line_packers_make(tmp_path: Path, tool: str) -> None:
    if not shutil.which(tool):
        pytest.skip(f"not installed: {tool}")
    copy = tmp_path / "x.tar"
    run("tar", "-C", DATA, "-cf", copy, "k_gfx950.co", "k_gfx90a.co")
    with (tmp_path / "packed").open("wb") as out:
        subprocess.run([tool, "-c", "-9" if tool != "gzip" else "-1", copy], stdout=out, check=True)
    assert spends(tmp_path / "packed") == of("gfx950", "gfx90a")
