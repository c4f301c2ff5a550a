"""Real packages, fetched by name: what the readers find in them against what LLVM's tools say.

    python bench/corpus.py [PACKAGE...]          # all of PACKAGES

Packages are fetched into corpus/, which git ignores, or into $WAVEFIT_CORPUS. For every package: files
with kernels, code objects, kernels; then registers, LDS, scratch, workgroup and wave size of every kernel
against `llvm-readelf-22 --notes` on the code objects that LLVM's tools cut out. Needs pip, apt-get,
dpkg-deb, LLVM's tools, and room for the code objects in the folder for temporary files. Ends with 1 where
anything differs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise, zip_longest
from pathlib import Path
from typing import BinaryIO

from wavefit.kernels.bulk import Rows, rows
from wavefit.kernels.source import BadFile
from wavefit.model import Kernel

CORPUS = Path(os.environ.get("WAVEFIT_CORPUS", Path(__file__).parent.parent / "corpus"))
READELF, OBJDUMP, BUNDLER = "llvm-readelf-22", "llvm-objdump-22", "clang-offload-bundler-22"
PAGE = 4096
KEYS = {
    ".symbol": "symbol",
    ".vgpr_count": "total_vgprs",
    ".agpr_count": "agprs",
    ".sgpr_count": "sgprs",
    ".vgpr_spill_count": "vgpr_spills",
    ".sgpr_spill_count": "sgpr_spills",
    ".group_segment_fixed_size": "lds",
    ".private_segment_fixed_size": "scratch",
    ".max_flat_workgroup_size": "max_threads",
    ".wavefront_size": "wave",
}
"""What is compared: readelf's key, and ours."""
ENTRY = re.compile(r"^(  - |    )(\.\w+):(?: +(.*))?$")

Said = dict[str, int | str | None]
Objects = dict[tuple[str, str], list[list[Said]]]
"""Code objects by file and bundle entry."""


@dataclass(frozen=True)
class Package:
    """A package, and how many files with kernels, code objects and kernels are in it."""

    name: str
    version: str
    files: int
    objects: int
    kernels: int
    debian: bool = False

    def fetched(self) -> Path:
        """The package's file, fetched if it is not there."""
        CORPUS.mkdir(exist_ok=True)
        stem = self.name if self.debian else self.name.replace("-", "_")
        if not (found := sorted(CORPUS.glob(f"{stem}[-_]{self.version}*"))):
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
            command = ["apt-get", "download"] if self.debian else pip
            command += [f"{self.name}={self.version}" if self.debian else f"{self.name}=={self.version}"]
            subprocess.run(command, cwd=CORPUS, check=True, stdout=subprocess.DEVNULL)
            found = sorted(CORPUS.glob(f"{stem}[-_]{self.version}*"))
        return found[-1]


PACKAGES = (
    Package("torch-scatter-rocm", "2.1.2.post7", 3, 87, 14_616),
    Package("bitsandbytes", "0.50.2", 6, 218, 19_075),
    Package("cupy-rocm-7-0", "14.2.0", 3, 27, 20_304),
    Package("amd-aiter", "0.1.7.post2.dev18", 2_613, 2_613, 2_613),
    Package("librocsparse0", "5.3.0+dfsg-2", 1, 777, 88_137, debian=True),
    Package("jax-rocm7-pjrt", "0.12.0", 1, 1_215, 409_773),
)


def ours(path: Path) -> tuple[Objects, tuple[int, int, int]]:
    """AMD's code objects in the package as it is, not unpacked, and the three counts."""
    objects: Objects = {}
    empty, files, kernels = 0, set(), 0
    for member, group in groupby(by_kernel(rows(path)), key=lambda found: found[0]):
        said = [values for _, values in group if values]
        empty += not said
        if said:
            plain = re.sub(r"[+]0x[0-9a-f]+|/\.hip_fatbin|^data\.tar\.\w+/", "", member)
            file, _, entry = plain.partition("/hip")
            files.add(file)
            kernels += len(said)
            add(objects, file, entry, said)
    return objects, (len(files), sum(map(len, objects.values())) + empty, kernels)


def by_kernel(found: Iterator[Rows | Kernel | BadFile]) -> Iterator[tuple[str, Said]]:
    """Member and values of every AMD kernel; no values for a code object without kernels."""
    for item in found:
        if isinstance(item, BadFile):
            print(f"  error: {item}")
        elif isinstance(item, Rows) and not len(item):
            yield item.code.member or "", {}
        else:
            for kernel in item.kernels() if isinstance(item, Rows) else (item,):
                if kernel.target.startswith("gfx"):
                    yield kernel.member or "", {key: getattr(kernel, key) for key in KEYS.values()}


def add(objects: Objects, file: str, entry: str, said: list[Said]) -> None:
    """Files the code object under its file and bundle entry, of which there may be many alike."""
    objects.setdefault((file, entry), []).append(said)


def theirs(path: Path, folder: Path) -> Objects:
    """The same from LLVM's tools, on the unpacked package."""
    objects: Objects = {}
    for file in unpacked(path, folder):
        head = file.read_bytes()[:20] if file.is_file() and not file.is_symlink() else b""
        if head[:4] != b"\x7fELF":
            continue
        inside = str(file.relative_to(folder))
        for part in [file] if head[18:20] == b"\xe0\0" else list(cut(file)):
            if said := list(readelf(part)):
                add(objects, inside, part.name.partition(".hip")[2] if part != file else "", said)
    return objects


def unpacked(path: Path, folder: Path) -> list[Path]:
    if path.suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", path, folder], check=True)
    else:
        with zipfile.ZipFile(path) as package:
            package.extractall(folder)
    return sorted(folder.rglob("*"))


def cut(file: Path) -> Iterator[Path]:
    """The code objects in a library's section of bundles, which begin at pages.

    Compressed bundles go to clang's bundler, since llvm-objdump 22 writes rubbish for some of them, plain
    ones to llvm-objdump, since the bundler refuses the targets of some of those.
    """
    section = file.parent / f"{file.name}.section"
    command = ["llvm-objcopy-22", "-O", "binary", "--only-section=.hip_fatbin", file, section]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        return
    size = section.stat().st_size
    with section.open("rb") as whole:
        begun = [(at, taken) for at in range(0, size, PAGE) if (taken := begins(whole, at))]
        if begun and begun[0][1] == sys.maxsize:
            yield from dumped(file)
            return
        for (start, taken), (end, _) in pairwise([*begun, (size, 0)]):
            blob = file.parent / f"{file.name}.{start:x}"
            whole.seek(start)
            blob.write_bytes(whole.read(min(taken, end - start)))
            yield from unbundled(blob)
            blob.unlink()
    section.unlink()


def begins(file: BinaryIO, at: int) -> int:
    """How many bytes a bundle that begins here may have at most, 0 where none does."""
    file.seek(at)
    head = file.read(24)
    if head.startswith(b"CCOB"):  # the bundler takes no padding behind it
        return int.from_bytes(head[8:12] if head[4] == 2 else head[8:16], "little")
    return sys.maxsize if head == b"__CLANG_OFFLOAD_BUNDLE__" else 0


def dumped(file: Path) -> list[Path]:
    run = subprocess.run([OBJDUMP, "--offloading", file], cwd=file.parent, capture_output=True, text=True)
    names = re.findall(r"^Extracting offload bundle: (.*)$", run.stdout, re.MULTILINE)
    return [file.parent / name for name in names if ".host-" not in name]


def unbundled(blob: Path) -> list[Path]:
    bundler = [BUNDLER, "--type=o", f"--input={blob}"]
    listed = subprocess.run([*bundler, "--list"], check=True, capture_output=True, text=True).stdout.split()
    names = [name for name in listed if not name.startswith("host")]
    files = [blob.parent / f"{blob.name}.{name}" for name in names]
    outputs = [f"--output={file}" for file in files]
    subprocess.run([*bundler, "--unbundle", f"--targets={','.join(names)}", *outputs], check=True)
    return files


def readelf(file: Path) -> Iterator[Said]:
    """What `llvm-readelf --notes` prints of every kernel."""
    run = subprocess.run([READELF, "--notes", file], check=True, capture_output=True, text=True)
    said: Said = {}
    for line in run.stdout.split("\n"):
        entry = ENTRY.match(line)
        if said and (line.startswith("amdhsa.") or (entry and entry[1] == "  - ")):
            yield said
            said = {}
        if entry and entry[2] in KEYS:
            value = entry[3].strip("'")
            said[KEYS[entry[2]]] = int(value) if value.isdigit() else value
    if said:
        yield said


def check(package: Package) -> bool:
    path = package.fetched()
    print(f"{package.name} {package.version}: {path.stat().st_size / 1e6:.1f} MB")
    mine, counts = ours(path)
    expected = (package.files, package.objects, package.kernels)
    print("  files with kernels {}, code objects {}, kernels {}".format(*counts), end="")
    print("" if counts == expected else "  EXPECTED {}, {}, {}".format(*expected))
    with tempfile.TemporaryDirectory() as folder:
        other = theirs(path, Path(folder))
    equal = compared = 0
    for key in mine.keys() | other.keys():
        for one, two in zip_longest(chain(*mine.get(key, ())), chain(*other.get(key, ()))):
            compared += 1
            same = one and two and all(one[name] == value for name, value in two.items())
            equal += bool(same)
            if not same and compared - equal < 4:
                print(f"  DIFFERS in {key}: {one} readelf: {two}")
    print(f"  equal to {READELF} --notes in every value it prints: {equal} of {compared} kernels")
    return counts == expected and equal == compared


def main(arguments: Sequence[str]) -> int:
    chosen = [package for package in PACKAGES if not arguments or package.name in arguments]
    sound = [check(package) for package in chosen]
    return 0 if all(sound) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
