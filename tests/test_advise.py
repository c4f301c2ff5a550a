"""The decision procedure: what it says of kernels whose trouble is known, and that it can say nothing."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests import isa_data
from wavefit.advise import Advice, Case, advise, cases
from wavefit.advise.model import ABOUT
from wavefit.chips import products
from wavefit.cli import main
from wavefit.kernels import BadFile
from wavefit.occupancy import BadQuestion, fit

CHIPS = {"gfx950": "MI355X", "gfx942": "MI300X", "gfx90a": "MI250X", "gfx908": "MI100"}


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code objects beside their compiler's text, so that no disassembler is needed."""
    folder = tmp_path_factory.mktemp("advise")
    for name in isa_data.TRITON:
        isa_data.unpacked("triton", name, folder)
        shutil.copy(isa_data.OBJECTS / f"{name}.json", folder)
    for name in isa_data.FEED:
        isa_data.unpacked("feed", name, folder)
    return folder


def _chip(name: str) -> str | None:
    return next((chip for target, chip in CHIPS.items() if target in name.split("_")), None)


def _advise(place: Path, name: str, **more: object) -> tuple[Advice, ...]:
    return advise(place / f"{name}.amdgcn", chip=_chip(name), **more)  # type: ignore[arg-type]


def _about(found: tuple[Advice, ...]) -> list[str]:
    return [advice.about for advice in found]


@pytest.mark.parametrize("name", ["mx_gfx950_128x128x256_w8_s3", "mx_gfx950_256x256x256_w8_s2"])
def test_a_kernel_that_cannot_launch_is_told_so_first(name: str, place: Path):
    found = _advise(place, name)
    assert found[0].about == "launch"
    assert "163840" in found[0].price
    assert found[0].confidence == "exact"


@pytest.mark.parametrize("name", [name for name in isa_data.TRITON if "128x256x64" in name])
def test_spills_come_first_where_it_launches_and_free_registers_are_named(name: str, place: Path):
    found = _advise(place, name)
    (case,) = cases(place / f"{name}.amdgcn", chip=_chip(name))
    assert isinstance(case, Case)
    assert found[0].about == "spills"
    assert str(case.kernel.vgpr_spills) in found[0].evidence[0]
    assert str(case.fit.slack["vgpr"]) in found[0].price


def test_an_old_matrix_shape_on_gfx950_is_called_half_rate(tmp_path: Path, place: Path):
    text = (place / "gfx950_ilp8.amdgcn").read_text()
    old = "v_mfma_f32_16x16x16_f16 v[20:23], v[2:3], v[10:11], v[20:23]"
    lines = [old if "v_mfma" in line else line for line in text.splitlines()]
    path = tmp_path / "old.amdgcn"
    path.write_text("\n".join(lines) + "\n")
    rate = next(each for each in advise(path, chip="MI355X") if each.about == "rate")
    assert "half the rate" in rate.evidence[0]
    assert rate.what != "use v_mfma_f32_16x16x16_f16"
    assert rate.confidence == "exact"


def test_emulated_mxfp8_is_told_of_its_vector_work(place: Path):
    assert "vector" in _about(_advise(place, "mx_gfx942_128x128x128_w4_s2"))


def test_the_fed_microbenchmark_is_left_alone(place: Path):
    found = _advise(place, "gfx950_ilp8", threads=256, lds_dynamic=81920)
    assert _about(found) == ["fed"]
    assert found[0].price == "none"


def test_a_fed_kernel_at_full_occupancy_has_nothing_to_do(place: Path):
    assert _advise(place, "gfx950_ilp8", threads=256) == ()


def test_a_starved_chain_is_told_how_many_more_it_needs(place: Path):
    found = _advise(place, "gfx950_ilp1", threads=256, lds_dynamic=163840)
    chains = next(each for each in found if each.about == "chains")
    assert "1 more independent accumulator chain a wave" in chains.what
    assert "4 registers a lane" in chains.price
    waves = next(each for each in found if each.about == "waves")
    assert "lds" in waves.price


def test_a_grid_smaller_than_the_chip_is_said(place: Path):
    found = _advise(place, "gfx950_ilp8", threads=256, grid=64)
    assert "grid" in _about(found)
    assert "grid" not in _about(_advise(place, "gfx950_ilp8", threads=256, grid=1 << 20))


def test_a_register_cliff_near_by_is_named_where_the_loop_cannot_be_judged(place: Path):
    found = _advise(place, "matmul_gfx1100_64x64x32_w4_s2")
    assert "vgpr" in _about(found)


def test_what_is_advised_changes_the_fit_as_it_says(place: Path):
    (case,) = cases(place / "matmul_gfx1100_64x64x32_w4_s2.amdgcn")
    assert isinstance(case, Case)
    step = next(each for each in case.fit.next_steps if each.changes[0].resource == "vgpr")
    then = fit(case.chip, total_vgprs=step.changes[0].to, lds=case.kernel.lds, threads=case.fit.threads,
               lds_dynamic=case.fit.launch.lds_dynamic, mode=case.fit.mode, wave=case.fit.wave)  # fmt: skip
    assert then.waves == step.waves  # type: ignore[union-attr]


@pytest.mark.parametrize("name", isa_data.TRITON)
def test_every_advice_has_evidence_confidence_and_a_price(name: str, place: Path):
    for advice in _advise(place, name):
        assert advice.about in ABOUT
        assert advice.evidence
        assert advice.price
        assert advice.confidence in ("exact", "est.")
        if advice.confidence == "est.":
            assert "est." in " ".join((*advice.evidence, advice.gain or "")) or advice.about == "matrix"


def test_a_chip_of_another_target_is_refused(place: Path):
    with pytest.raises(BadQuestion, match="compiled for gfx942"):
        advise(place / "softmax_gfx942_4096_w8.amdgcn", chip="MI355X")


def test_a_file_without_kernels_is_one_error(tmp_path: Path):
    path = tmp_path / "nothing"
    path.write_text("nothing\n")
    with pytest.raises(BadFile):
        advise(path)


def test_without_a_disassembler_the_advice_rests_on_the_metadata(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr("wavefit.isa.disassemble.libraries", tuple)
    monkeypatch.setattr("wavefit.isa.disassemble.objdumps", tuple)
    name = "mx_gfx950_256x256x128_w8_s2"
    for suffix in (".hsaco", ".json"):
        shutil.copy(isa_data.OBJECTS / f"{name}{suffix}", tmp_path)
    (case,) = cases(tmp_path / f"{name}.hsaco", chip="MI355X")
    assert isinstance(case, Case)
    assert case.code is None
    assert "pip install" in (case.blind or "")
    assert _about(advise(tmp_path / f"{name}.hsaco", chip="MI355X"))[0] == "spills"


def _run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["wavefit", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_the_command_says_that_there_is_nothing_to_do(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    path = str(place / "gfx950_ilp8.amdgcn")
    code, out, err = _run(capsys, monkeypatch, "advise", path, "--chip", "MI355X", "--threads", "256")
    assert (code, err) == (0, "")
    assert "nothing to do" in out


def test_the_commands_give_one_json_document(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    path = str(place / "mx_gfx950_128x128x256_w4_s2.amdgcn")
    code, out, err = _run(capsys, monkeypatch, "code", path, "--json", "--chip", "MI355X")
    (kernel,) = json.loads(out)["kernels"]
    assert (code, err) == (0, "")
    assert [len(loop["chains"]) for loop in kernel["loops"] if loop["main"]] == [4]
    code, out, err = _run(capsys, monkeypatch, "advise", path, "--json", "--chip", "MI355X")
    assert json.loads(out)["schema"] == "wavefit.advice/1"


def test_the_command_prints_the_loop_with_its_chains(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    path = str(place / "gfx950_ilp2.amdgcn")
    code, out, _ = _run(
        capsys, monkeypatch, "code", path, "--listing", "--chip", "MI355X", "--threads", "256"
    )
    assert code == 0
    flat = " ".join(out.split())
    assert "2 accumulator chains, 8 instructions long; all go on in the next iteration" in flat
    assert out.count("[1] v_mfma") == 8
    assert out.count("[2] v_mfma") == 8


@pytest.mark.parametrize("command", ["code", "advise"])
def test_what_cannot_be_read_ends_with_two_and_one_line(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "x"
    path.write_bytes(b"\x7fELF nothing")
    code, out, err = _run(capsys, monkeypatch, command, str(path))
    assert (code, out) == (2, "")
    assert err.startswith("wavefit: ")
    assert err.count("\n") == 1


def test_there_are_chips_to_judge_on():
    assert {chip.name for chip in products()} >= set(CHIPS.values())
