"""Worked examples: the guide's tile on two chips, Hygon's table, the published variant, refusals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import wavefit as wf
from wavefit.occupancy.derive import derivation, plain_division

TILE: dict[str, Any] = {"vgprs": 128, "agprs": 0, "sgprs": 50, "lds": 32768, "threads": 256}


def fit(chip: str, **numbers: Any) -> wf.Fit:
    found = wf.fit(chip, **numbers)
    assert isinstance(found, wf.Fit)
    return found


def test_the_tile_on_mi300x_is_bound_by_lds() -> None:  # G1-09
    found = fit("MI300X", **TILE)
    assert (found.waves_per_simd, found.occupancy, found.binding) == (2, 0.25, ("lds",))
    assert (found.chip, found.target, found.unit, found.view) == ("MI300X", "gfx942", "CU", "hardware")


def test_the_tile_on_mi355x_loses_a_workgroup_to_the_lds_granule() -> None:  # G1-09 says 5: not rounded
    found = fit("MI355X", **TILE)
    assert (found.waves_per_simd, found.occupancy) == (4, 0.5)
    assert found.limit("vgpr").waves_per_simd == 4
    lds = found.limit("lds")
    assert (lds.workgroups, lds.allocated, plain_division(lds)) == (4, 33280, 5)
    text = "\n".join(line.text for line in derivation(found))
    assert "floor(512 / roundup(128, 8)) = 4 waves/SIMD" in text
    assert "floor(163840 / roundup(32768, 1280)) = 4 workgroups (plain division: 5)" in text


def test_the_tile_by_hand_is_as_the_guide_prints_it() -> None:  # G1-09
    for chip, lds, percent in (("MI300X", 2, 25), ("MI355X", 5, 50)):
        found = fit(chip, view="by-hand", **TILE)
        assert [found.limit(name).waves_per_simd for name in ("vgpr", "sgpr")] == [4, 16]
        assert found.limit("lds").workgroups == lds
        assert found.occupancy * 100 == percent


@pytest.mark.parametrize(("vgprs", "waves"), [(100, 4), (96, 5), (202, 2), (294, 1), (498, 1)])
def test_register_granule_of_mi355x(vgprs: int, waves: int) -> None:  # G1-10, G1-11
    assert fit("MI355X", total_vgprs=vgprs, threads=256).waves_per_simd == waves


@pytest.mark.parametrize(("sgprs", "waves"), [(80, 8), (81, 7), (96, 7), (97, 6), (108, 6)])
def test_scalar_registers_of_gfx9(sgprs: int, waves: int) -> None:
    assert fit("gfx906", sgprs=sgprs, threads=64).limit("sgpr").waves_per_simd == waves


def test_a_wave_cannot_have_more_scalar_registers_than_are_encoded() -> None:
    assert fit("gfx942", sgprs=112, threads=64).limit("sgpr").waves_per_simd == 6
    found = fit("gfx942", sgprs=120, threads=64)  # G2-12 asks for 120
    assert found.workgroups == 0
    assert found.next_steps[0].changes[0].to == 112


GFX936 = [(76, 10), (84, 9), (96, 8), (108, 7), (128, 6), (152, 5), (192, 4), (256, 3)]


@pytest.mark.parametrize(("vgprs", "waves"), GFX936)
def test_registers_of_gfx936(vgprs: int, waves: int) -> None:  # 768 a lane, granule 4
    assert fit("BW1000", vgprs=vgprs, threads=256).waves_per_simd == waves
    if vgprs < 256:
        assert fit("BW1000", vgprs=vgprs + 1, threads=256).waves_per_simd < waves


def test_a_wave_of_gfx936_has_at_most_256_registers() -> None:
    assert fit("gfx936", vgprs=257, threads=256).workgroups == 0


def test_lds_of_gfx936() -> None:  # G3-10
    assert fit("gfx936", lds=32768, threads=256).workgroups == 2
    assert fit("gfx936", lds=32769, threads=256).workgroups == 1


def test_hygon_answers_say_what_they_rest_on() -> None:
    found = fit("BW1000", vgprs=64, sgprs=96, lds=1024, threads=256)
    assert found.limit("sgpr").workgroups is None
    assert any("sgpr" in line and "8 waves/SIMD" in line and "7 with" in line for line in found.assumptions)
    assert any("lds.granule" in line and "assumed" in line for line in found.assumptions)


def test_gfx938_says_what_768_registers_would_give() -> None:
    found = fit("gfx938", vgprs=76, threads=256)
    assert found.waves_per_simd == 6  # 512 a lane
    assert any("768" in line and "10 waves/SIMD" in line for line in found.assumptions)


def test_gfx906_is_two_targets() -> None:
    assert fit("MI60", sgprs=108, threads=64).waves_per_simd == 6
    assert fit("Z100", sgprs=108, threads=64).waves_per_simd == 10


@pytest.mark.parametrize("name", ["gfx946", "gfx92a"])
def test_too_little_is_public(name: str) -> None:
    assert wf.chip(name).target.facts["vgpr.wave64.file"].value == 512
    with pytest.raises(wf.BadQuestion, match="nothing public"):
        wf.fit(name, vgprs=64, threads=256)


AS_PUBLISHED = "mi355x-as-published-zh"


@pytest.mark.parametrize(
    ("spend", "resource", "waves"),
    [({"vgprs": 48}, "vgpr", 10), ({"sgprs": 96}, "sgpr", 64), ({"lds": 8192}, "lds", 4)],
)
def test_published_limiters(spend: dict[str, int], resource: str, waves: int) -> None:
    found = fit(AS_PUBLISHED, threads=32, **spend)
    assert found.limit(resource).waves_per_simd == waves
    assert found.unit == "SIMD"
    assert found.waves_per_simd == min(waves, 16)


@pytest.mark.parametrize(
    ("spend", "alone", "percent"),
    [  # G2-12, G2-13
        ({"vgprs": 64, "agprs": 48, "sgprs": 120, "lds": 12288}, (4, 51, 2), 12.5),
        ({"vgprs": 32, "agprs": 24, "sgprs": 64, "lds": 4096}, (9, 96, 8), 50),
    ],
)
def test_published_tiles(spend: dict[str, int], alone: tuple[int, int, int], percent: float) -> None:
    found = fit(AS_PUBLISHED, threads=32, **spend)
    assert tuple(found.limit(name).waves_per_simd for name in ("vgpr", "sgpr", "lds")) == alone
    assert found.occupancy * 100 == percent


def test_published_answers_are_marked_contradicted() -> None:
    found = fit(AS_PUBLISHED, vgprs=48, threads=32)
    assert any("contradicted" in line for line in found.assumptions)
    assert wf.chip("MI355X").name == "MI355X"
    assert wf.chip("mi355x").target.name == "gfx950"


def test_scratch_slots_bind_where_the_slots_are_more() -> None:
    found = fit("gfx906", scratch=16, threads=256)
    assert (found.waves, found.max_waves, found.binding) == (32, 40, ("scratch",))
    assert any("scratch.waves" in line for line in found.assumptions)
    plain = fit("gfx1100", scratch=16, threads=256)
    assert plain.waves == plain.max_waves
    assert any("scratch" in line for line in plain.assumptions)


def test_an_agpr_starts_at_a_multiple_of_four() -> None:
    assert fit("gfx90a", vgprs=101, agprs=50, threads=64).limit("vgpr").requested == 154
    assert fit("gfx908", vgprs=101, agprs=50, threads=64).limit("vgpr").requested == 101


def test_a_range_gives_the_least_and_the_most_over_all_sizes() -> None:
    found = wf.fit("gfx942", vgprs=128, threads=(64, 1024))
    assert isinstance(found, wf.FitRange)
    every = [fit("gfx942", vgprs=128, threads=threads).waves for threads in range(64, 1025)]
    assert (found.low.waves, found.high.waves) == (min(every), max(every))


def test_512_threads_can_hold_more_waves_than_576() -> None:
    assert fit("gfx942", vgprs=64, threads=512).waves > fit("gfx942", vgprs=64, threads=576).waves  # type: ignore[operator]


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("gfx950", {"vgprs": 1, "total_vgprs": 2}, "not both"),
    ("gfx1100", {"agprs": 4}, "no accumulator"),
    ("gfx950", {"vgprs": -1}, "negative"),
    ("gfx950", {"vgprs": 1.5}, "whole number"),
    ("gfx950", {"threads": 0}, "at least 1"),
    ("gfx950", {"threads": (0, 64)}, "at least 1"),
    ("gfx950", {"threads": (64,)}, "is .low, high."),
    ("gfx950", {"vgprs": 10**12}, "no chip has so many"),
    ("gfx950", {"carveout": 50}, "not shared with a cache"),
    ("H100", {"carveout": 500}, "percentage"),
    ("gfx950", {"threads": (512, 64)}, "empty"),
    ("gfx950", {"wave": 32}, "waves of 64"),
    ("gfx950", {"mode": "wgp"}, "one mode"),
    ("gfx1100", {"mode": "sm"}, "wgp or cu"),
    ("gfx950", {"view": "llvm-21"}, "unknown view"),
    ("H100", {"view": "llvm-22"}, "does not apply"),
]


@pytest.mark.parametrize(("chip", "numbers", "says"), REFUSED)
def test_refused_with_a_reason(chip: str, numbers: dict[str, Any], says: str) -> None:
    with pytest.raises(wf.BadQuestion, match=says):
        wf.fit(chip, **{"threads": 256, **numbers})


def test_large_numbers_cannot_launch() -> None:
    found = fit("gfx950", vgprs=10**9, sgprs=10**9, lds=10**9, threads=10**9)
    assert found.workgroups == 0
    assert set(found.binding) >= {"vgpr", "sgpr", "lds", "threads"}


def test_numpy_numbers_are_numbers() -> None:
    for kind in (np.uint8, np.int16, np.uint32, np.int64, np.uint64):
        assert fit("MI355X", vgprs=kind(64), threads=int(kind(64)) * 4).workgroups == 8
        found = fit("MI355X", vgprs=64, lds=kind(100), threads=kind(64))
        assert json.dumps(found.to_dict())


def test_a_kernel_answers_for_its_own_target_and_bounds() -> None:
    kernel = wf.Kernel("gfx942", "k", vgprs=64, max_threads=512)
    with pytest.raises(wf.BadQuestion, match="compiled for gfx942, not gfx950"):
        wf.fit(kernel, chip="MI355X")
    found = wf.fit(kernel, threads=1024)
    assert isinstance(found, wf.Fit)
    assert (found.workgroups, found.why) == (
        0,
        "1024 threads a workgroup; the kernel is compiled for at most 512",
    )
    required = wf.Kernel("gfx942", "k", vgprs=64, required_size=(16, 16, 1))
    assert wf.fit(required, threads=64).workgroups == 0  # type: ignore[union-attr]
    assert wf.fit(required).workgroups == 8  # type: ignore[union-attr]
