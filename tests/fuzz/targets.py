"""What is fuzzed besides the readers of kernels: decoding, profilers' output, rules and budgets, surveys.

Each Target names its seeds and a function that takes any bytes; whatever that raises is a crash.
"""

from __future__ import annotations

import gzip
import json
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests import profiles_builder
from tests.fuzz.seeds import seeds
from tests.isa_data import TEXTS
from wavefit.feed.loop import feed_loop
from wavefit.gate.budget import BadBudget, plain
from wavefit.gate.budget import read as read_budget
from wavefit.gate.check import gate
from wavefit.gate.rows import BadDocument, Row
from wavefit.gate.rows import parse as parse_report
from wavefit.gate.rule import BadRule
from wavefit.isa import Code, Listing
from wavefit.isa.child import ChildError
from wavefit.isa.disassemble import Function, disassemble
from wavefit.isa.far import resolved
from wavefit.isa.nvidia import sass
from wavefit.isa.text import listings
from wavefit.kernels.source import BadFile
from wavefit.matrix.errors import MatrixError
from wavefit.model import Kernel
from wavefit.profiles import Measurement, compute, measurements, ncu, rocprof, rocprofv3
from wavefit.survey import survey

TARGETS = ("gfx900", "gfx90a", "gfx950", "gfx1030", "gfx1100", "gfx1201", "gfx936")
SCRATCH = Path(tempfile.mkdtemp(prefix="wavefit-fuzzed-"))
ROW = Row(name="gemm", target="gfx950", vgprs=96, lds=0)


@dataclass(frozen=True, slots=True)
class Target:
    """One thing to fuzz: `longest` input in bytes, `seconds` that one input may take."""

    name: str
    seeds: Callable[[], Iterator[bytes]]
    run: Callable[[bytes], None]
    longest: int = 1 << 14
    seconds: int = 2


def _decoded(kernel: Kernel, listing: Listing) -> None:
    """All that is said of a decoded kernel, whatever its instructions are."""
    found = Code(kernel, Listing(listing.name, resolved(listing.ops), listing.by, listing.notes))
    assert all(note.isprintable() for note in found.notes)
    assert found.live.vgprs >= 0
    for loop in found.loops:
        assert sum(chain.length for chain in loop.chains) == loop.counts.kind("matrix")
        assert loop.live.sgprs >= 0
    if found.main:
        with suppress(MatrixError):  # a time that is not public
            assert feed_loop(found.main, "MI355X", waves=2).cycles >= 0


def machine_code(data: bytes) -> None:
    """Bytes as the code of a target, through the disassembler in its child process."""
    target = TARGETS[data[0] % len(TARGETS)] if data else TARGETS[0]
    code = data[1 : 1 + len(data[1:]) // 4 * 4]
    with suppress(ChildError):
        (listing,) = disassemble([Function("f", 0, code)], target, 64)
        assert sum(op.size or 0 for op in listing.ops) == len(code)
        _decoded(Kernel(target, name="f", symbol="f", wave=64), listing)


def _machine_code_seeds() -> Iterator[bytes]:
    yield bytes.fromhex("00000081bf")  # s_endpgm
    for number in range(len(TARGETS)):  # a word of every encoding, then a branch back
        words = (
            0x7E000280,
            0xD3B10000,
            0x18020480,
            0xC0020002,
            0xDC508000,
            0xD86C0000,
            0xBF8C0000,
            0xBF82FFF8,
        )
        yield bytes((number,)) + struct.pack(f"<{len(words)}I", *words)


def assembly(data: bytes) -> None:
    """Text of AMD's assembly, as compilers or llvm-objdump write it."""
    for listing in listings(data.decode("utf-8", "replace"), "gfx950"):
        _decoded(Kernel("gfx950", name=listing.name, symbol=listing.name, wave=64, scratch=8), listing)


def _assembly_seeds() -> Iterator[bytes]:
    for folder in ("triton", "feed"):
        for file in sorted((TEXTS / folder).glob("*.gz"))[:3]:
            yield gzip.decompress(file.read_bytes())[: 1 << 13]
    yield (
        b"0000000000001900 <f>:\n\tv_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]"
        b" // 000000001900: D3CD8000 04020500\n\ts_cbranch_scc1 65533 // 000000001908: BF85FFFD\n"
    )


def nvidia_text(data: bytes) -> None:
    """What nvdisasm prints."""
    for kernel, listing in sass(data.decode("utf-8", "replace")):
        _decoded(kernel, listing)


def _nvidia_seeds() -> Iterator[bytes]:
    for file in sorted((TEXTS / "sass").glob("*.gz")):
        text = gzip.decompress(file.read_bytes())
        yield text[text.find(b".type") :][: 1 << 13]


def rules(data: bytes) -> None:
    """The text of one rule, held against a kernel."""
    with suppress(BadRule):
        gate(plain([data.decode("utf-8", "replace")]), [ROW], [ROW])


def _rule_seeds() -> Iterator[bytes]:
    yield from (
        b"vgpr_spills == 0", b"total_vgprs <= 128 and not lds > 32K or waves_per_simd >= baseline",
        b'name =~ "gemm_.*" -> (vgprs + 8) * 2 < baseline.vgprs - -4',
        b"occupancy >= 50% and scratch != unknown",
    )  # fmt: skip


def budgets(data: bytes) -> None:
    """A budget file."""
    with suppress(BadBudget, BadRule):
        gate(read_budget(data, "f"), [ROW], [ROW])


def _budget_seeds() -> Iterator[bytes]:
    yield b'[rules]\n"*" = ["vgpr_spills == 0"]\n"gemm_*" = ["total_vgprs <= 128", "waves >= baseline"]\n'


def reports(data: bytes) -> None:
    """A saved report, as `gate` and `diff` take it."""
    with suppress(BadDocument):
        gate(plain(["vgprs <= baseline"]), parse_report(data, "f").kernels, [ROW])


def _report_seeds() -> Iterator[bytes]:
    row = {"name": "k", "target": "gfx950", "vgprs": 4, "fit": None}
    yield json.dumps({"schema": "wavefit.report/1", "kernels": [row], "errors": []}).encode()


def any_file(data: bytes) -> None:
    """A file of a survey."""
    path = SCRATCH / "any"
    path.write_bytes(data)
    for found in survey([str(path)]):
        assert not isinstance(found, BadFile) or str(found).isprintable()


def profile(data: bytes, prefix: bytes = b"") -> None:
    """A file of a profiler."""
    path = SCRATCH / "profile"
    path.write_bytes(prefix + data)
    found = measurements(path)
    for item in found:
        assert isinstance(item, Measurement)
    assert all("\n" not in str(problem) for problem in found.errors)


def _tables(name: str, dialects: tuple[rocprofv3.Dialect, ...]) -> Target:
    """Rows below the headers of one tool's tables; the first byte chooses which."""
    headers = [",".join(sorted(each.columns)) + "\n" for each in dialects if not each.refused]

    def run(data: bytes) -> None:
        header = headers[data[0] % len(headers)] if data else headers[0]
        profile(data[1:], header.encode())

    def rows() -> Iterator[bytes]:
        for number, header in enumerate(headers):
            row = ",".join("1" for _ in header.split(","))
            yield bytes((number,)) + f"{row}\n{row.replace('1', '2048')}\n".encode()

    return Target(f"profiles of {name}", rows, run)


def _profile_seeds() -> Iterator[bytes]:
    yield profiles_builder.counter_rows(
        "6.4", {"SQ_WAVES": 16384, "GRBM_GUI_ACTIVE": 90000}, dispatches=3
    ).encode()
    yield profiles_builder.AGENT_INFO.encode()
    base = SCRATCH / "seed.db"
    base.unlink(missing_ok=True)
    profiles_builder.rocpd(str(base), dispatches=1)
    yield base.read_bytes()
    yield (
        b"dispatch[0], gpu-id(8), grd(512), wgr(64), lds(1024), scr(0), arch_vgpr(8), sgpr(16), "
        b'kernel-name("b"), time(1,2,3,4)\n  GRBM_GUI_ACTIVE (3750)\n'
    )
    dispatch = {"agent_id": {"handle": 7}, "kernel_id": 3, "dispatch_id": 9, "workgroup_size": {"x": 256}}
    process = {
        "agents": [{"id": {"handle": 7}, "type": 2, "name": "gfx942", "cu_count": 304}],
        "kernel_symbols": [{"kernel_id": 3, "kernel_name": "k.kd", "arch_vgpr_count": 24}],
        "buffer_records": {"kernel_dispatch": [{"dispatch_info": dispatch, "start_timestamp": 1}]},
    }
    yield json.dumps({"rocprofiler-sdk-tool": [process]}).encode()


ALL = (
    Target("isa machine code", _machine_code_seeds, machine_code, longest=2048, seconds=20),
    Target("isa assembly text", _assembly_seeds, assembly, longest=1 << 13),
    Target("isa nvdisasm text", _nvidia_seeds, nvidia_text, longest=1 << 13),
    _tables("rocprofv3", rocprofv3.DIALECTS),
    _tables("ncu", ncu.DIALECTS),
    _tables("rocprof and hipprof", rocprof.DIALECTS),
    _tables("rocprofiler-compute", compute.DIALECTS),
    Target("profiles, any file", _profile_seeds, profile, longest=1 << 16),
    Target("gate rules", _rule_seeds, rules, longest=1 << 13),
    Target("gate budgets", _budget_seeds, budgets, longest=1 << 13),
    Target("gate reports", _report_seeds, reports, longest=1 << 13),
    Target("survey", seeds, any_file, longest=1 << 16),
)
