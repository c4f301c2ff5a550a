# ruff: noqa: E501  (fragments of text)
"""Back ends agree, damage is one error, and no byte string crashes or hangs the decoder."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wavefit.isa.decode as decode_module
from tests import isa_data
from wavefit.isa import Code, NoDisassembler, code
from wavefit.isa.child import ChildError, run
from wavefit.isa.disassemble import Function, by_library, by_objdump, disassemble
from wavefit.isa.form import form
from wavefit.isa.model import Op
from wavefit.isa.text import listings
from wavefit.isa.tools import libraries, objdumps
from wavefit.kernels import BadFile

OBJDUMP = next((path for path in objdumps() if path.endswith("-22")), None)
LIBRARY = next(
    iter((*libraries(), *(str(path) for path in Path("/usr/lib/llvm-22/lib").glob("libLLVM.so.22*")))), None
)
needs_objdump = pytest.mark.skipif(OBJDUMP is None, reason="llvm-objdump-22 is not here")
needs_library = pytest.mark.skipif(LIBRARY is None, reason="no library with LLVM's C API is here")
CRASHES = bytes.fromhex("f9865441c89767f5")
"""An SDWA form whose printing makes LLVM 22 read past a table (found with random words)."""
ENDPGM = bytes.fromhex("000081bf")


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("isa")


def _said(op: Op) -> tuple[object, ...]:
    """What must be the same whoever disassembled it: spelling of constants may differ."""
    return (
        op.name,
        op.kind,
        op.form.reads,
        op.form.writes,
        op.memory,
        dict(op.form.counts),
        op.form.accumulates,
    )


def _through(code: Code) -> list[tuple[object, ...]]:
    """Reachable instructions but for alignment, which only the assembler knows."""
    return [_said(op) for op in code.reachable if op.kind not in ("nop", "padding")]


def _by(monkeypatch: pytest.MonkeyPatch, name: str, library: str | None, objdump: str | None) -> Code:
    monkeypatch.setattr("wavefit.isa.disassemble.libraries", lambda: (library,) if library else ())
    monkeypatch.setattr("wavefit.isa.disassemble.objdumps", lambda: (objdump,) if objdump else ())
    (found,) = code(isa_data.OBJECTS / f"{name}.hsaco")
    assert isinstance(found, Code), found
    return found


@needs_objdump
@pytest.mark.parametrize("name", isa_data.TRITON)
def test_text_and_objdump_give_the_same_instructions_and_registers(
    name: str, place: Path, monkeypatch: pytest.MonkeyPatch
):
    text = isa_data.from_text("triton", name, place)
    other = _by(monkeypatch, name, None, OBJDUMP)
    assert not other.notes
    assert _through(text) == _through(other)
    assert [len(loop.chains) for loop in text.loops] == [len(loop.chains) for loop in other.loops]


@needs_library
@needs_objdump
@pytest.mark.parametrize("name", isa_data.TRITON)
def test_the_library_and_objdump_give_the_same_instructions_at_the_same_places(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    ours, other = _by(monkeypatch, name, LIBRARY, None), _by(monkeypatch, name, None, OBJDUMP)
    assert [(op.at, op.size, op.target, *_said(op)) for op in ours.instructions] == [
        (op.at, op.size, op.target, *_said(op)) for op in other.instructions
    ]


def test_without_a_disassembler_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    shutil.copy(isa_data.OBJECTS / "softmax_gfx942_4096_w8.hsaco", tmp_path)
    monkeypatch.setattr("wavefit.isa.disassemble.libraries", tuple)
    monkeypatch.setattr("wavefit.isa.disassemble.objdumps", tuple)
    with pytest.raises(NoDisassembler, match=r"pip install 'wavefit\[code\]'"):
        code(tmp_path / "softmax_gfx942_4096_w8.hsaco")


def test_without_a_disassembler_the_text_beside_the_object_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("wavefit.isa.disassemble.libraries", tuple)
    monkeypatch.setattr("wavefit.isa.disassemble.objdumps", tuple)
    name = "softmax_gfx942_4096_w8"
    shutil.copy(isa_data.OBJECTS / f"{name}.hsaco", tmp_path)
    isa_data.unpacked("triton", name, tmp_path)
    (found,) = code(tmp_path / f"{name}.hsaco")
    assert isinstance(found, Code)
    assert "no disassembler here" in found.notes[0]
    assert found.counts.packed_fp32 > 0


@needs_library
def test_a_crash_of_the_disassembler_costs_one_instruction():
    # Where this LLVM does not crash on it, the words are an instruction or unknown; the rest stands.
    body = ENDPGM + CRASHES + ENDPGM
    (listing,) = by_library(LIBRARY or "", [Function("f", 256, body)], "gfx950", 64)
    assert listing.ops[0].name == "s_endpgm"
    assert listing.ops[-1].name == "s_endpgm"
    assert listing.ops[-1].at == 256 + len(body) - 4


@needs_library
@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=256), st.sampled_from(["gfx950", "gfx90a", "gfx1100", "gfx1250"]))
def test_no_code_crashes_or_hangs_the_library_back_end(body: bytes, target: str):
    try:
        (listing,) = by_library(LIBRARY or "", [Function("f", 0, body)], target, 64)
    except ChildError:
        return
    assert sum(op.size or 0 for op in listing.ops) == len(body)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["gfx950", "gfx1100", "gfx1250", ""]))
def test_no_text_crashes_the_reader_of_instructions(text: str, target: str):
    said = form(text, target)
    assert said.kind


ATOMS = st.sampled_from([
    "v_mfma_f32_16x16x32_f16", "v_add_f32_e32", "s_cbranch_scc1", "s_waitcnt", "ds_read2_b64", "f:", ".LBB0_1:",
    ".type f,@function", ".size f,", "v[0:3]", "v[3:0]", "v9999", "s[", "]", ",", " ", "\n", "\t", "vmcnt(", "::",
    "0x7fffffffffffffffffff", "//", ";", "[1:2:3]", "0000000000000000 <f>:", "// 000000000000: BF810000",
    ".amdgpu_metadata", "op_sel:[", "lds", "off", "99999",
])  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(ATOMS, max_size=60).map("".join))
def test_no_listing_crashes_the_reader_of_text(text: str):
    for listing in listings(text, "gfx950"):
        decode_module.Code(decode_module.Kernel("gfx950", name="k"), listing).loops  # noqa: B018


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_damage_to_a_code_object_crashes_the_decoder(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
):
    whole = (isa_data.OBJECTS / "softmax_gfx942_4096_w8.hsaco").read_bytes()
    body = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 8))):
        body[data.draw(st.integers(0, 1023))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "k.hsaco"
    path.write_bytes(bytes(body[: data.draw(st.integers(0, len(body)))]))
    try:
        for item in code(path):
            assert isinstance(item, (Code, BadFile))
    except NoDisassembler:
        return


def test_a_child_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch):
    done = run([sys.executable, "-c", "import time; time.sleep(60)"], seconds=1)
    assert done.died == "took more than 1 s"


def test_a_child_that_takes_too_much_memory_is_ended():
    pytest.importorskip("resource")
    done = run([sys.executable, "-c", "b = bytearray(1 << 33)"], memory=1 << 30)
    assert done.died
    assert "MemoryError" in done.complaint or "Traceback" in done.complaint


def test_a_child_that_dies_is_said_how():
    done = run([sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"])
    assert done.died == "died of SIGSEGV"


def test_what_is_no_code_is_one_error(tmp_path: Path):
    path = tmp_path / "notes.txt"
    path.write_text("nothing here\n")
    (found,) = code(path)
    assert isinstance(found, BadFile)
    assert "\n" not in str(found)


@needs_objdump
def test_a_target_that_no_disassembler_knows_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("wavefit.isa.disassemble.libraries", tuple)
    with pytest.raises(ChildError, match="does not know gfx9999"):
        by_objdump(
            OBJDUMP or "",
            [Function("f", 0, ENDPGM)],
            "gfx9999",
            64,
            (isa_data.OBJECTS / "softmax_gfx942_4096_w8.hsaco").read_bytes(),
        )


@needs_library
def test_hygon_code_is_read_as_far_as_it_is_gfx9_and_the_rest_stays_unknown(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("wavefit.isa.disassemble.libraries", lambda: (LIBRARY,))
    unknown = bytes.fromhex("0000f4d300010203")  # an opcode of GFX9's VOP3P that upstream leaves free
    (listing,) = disassemble([Function("f", 0, bytes.fromhex("81020200") + unknown + ENDPGM)], "gfx936", 64)
    assert "gfx936" in listing.notes[0]
    assert listing.ops[0].kind != "unknown"
    assert listing.ops[-1].name == "s_endpgm"
    assert any(op.kind == "unknown" and op.text.startswith(".long 0x") for op in listing.ops)
