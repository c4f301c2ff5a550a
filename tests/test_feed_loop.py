"""How a decoded loop is fed: against the published MfmaUtil, Little's law, and simple loops by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests import isa_data
from wavefit.feed import simulate, timing
from wavefit.feed.loop import feed_around, feed_loop, formats, instruction_of, machine
from wavefit.feed.loop_play import Step, play
from wavefit.isa.form import form
from wavefit.isa.model import Op
from wavefit.matrix.errors import NotKnown
from wavefit.occupancy import BadQuestion


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("feed")


def _loop(name: str, place: Path, folder: str = "feed"):
    loop = isa_data.from_text(folder, name, place).main
    assert loop is not None
    return loop


# "Occupancy Math on the AMD MI355X (CDNA4)": MfmaUtil 70 % at ILP 1 and about 97 % at ILP 8, one wave a SIMD.
@pytest.mark.parametrize(("ilp", "published"), [(1, 0.70), (8, 0.97)])
def test_the_microbenchmark_at_one_wave_is_within_five_points_of_its_published_mfmautil(
    ilp: int, published: float, place: Path
):
    found = feed_loop(_loop(f"gfx950_ilp{ilp}", place), "MI355X", waves=1)
    assert abs(found.utilisation - published) <= 0.05


@pytest.mark.parametrize("ilp", [1, 2, 4, 8])
@pytest.mark.parametrize("waves", [1, 2, 4])
def test_a_loop_of_nothing_but_chains_runs_as_the_feed_model_says(ilp: int, waves: int, place: Path):
    loop = _loop(f"gfx950_ilp{ilp}", place)
    known = timing("MI355X", loop.chains[0].ops[0].name)
    as_compiled = replace(known.loop(ilp), length=loop.counts.kind("matrix"))
    model = simulate(as_compiled, waves, 4096, known.arbitration).busy(known.held)
    assert feed_loop(loop, "MI355X", waves=waves).utilisation == pytest.approx(model, abs=0.02)


def test_one_wave_more_is_reported_beside_ones_own(place: Path):
    found = feed_around(_loop("gfx950_ilp1", place), "MI355X", waves=1)
    assert [each.waves for each in found] == [1, 2]
    assert found[0].binds == "latency"
    assert found[1].binds == "matrix"
    assert [each.waves for each in feed_around(_loop("gfx950_ilp1", place), "MI355X", waves=8)] == [7, 8]


def test_a_memory_that_answers_at_once_is_never_slower(place: Path):
    loop = _loop("matmul_gfx950_64x64x32_w4_s1_wpe2", place, "triton")
    late, soon = feed_loop(loop, "MI355X", waves=2), feed_loop(loop, "MI355X", waves=2, memory_ns=0)
    assert soon.utilisation > late.utilisation
    assert late.tolerance is not None
    assert late.tolerance < (machine("MI355X").memory_latency or 0)
    assert any("memory latency" in line for line in late.assumptions)


def test_emulated_mxfp8_is_bound_by_the_vector_unit(place: Path):
    found = feed_loop(_loop("mx_gfx942_128x128x128_w4_s2", place, "triton"), "MI300X", waves=2)
    assert found.binds == "valu"
    assert found.utilisation < 0.3


def test_fp4_operands_take_half_the_time():
    def op(modifiers: str) -> Op:
        text = f"v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3] {modifiers}"
        return Op(0, form(text, "gfx950"))

    assert formats(op("cbsz:4 blgp:4")) == ("e2m1", "e2m1")
    assert instruction_of(op("cbsz:4 blgp:4"), "gfx950").cycles == 16
    assert instruction_of(op(""), "gfx950").cycles == 32
    assert instruction_of(op("cbsz:4"), "gfx950").cycles == 32


def test_a_chip_without_a_vector_rate_is_not_guessed(place: Path):
    with pytest.raises(NotKnown, match="gfx1100"):
        feed_loop(_loop("matmul_gfx1100_64x64x32_w4_s2", place, "triton"), "gfx1100", waves=1)


@pytest.mark.parametrize("bad", [{"waves": 0}, {"waves": 1, "group": 0}, {"waves": True}])
def test_counts_below_one_are_refused(bad: dict[str, int], place: Path):
    with pytest.raises(BadQuestion):
        feed_loop(_loop("gfx950_ilp1", place), "MI355X", **bad)


# The simulation alone, by hand.


def _play(steps: list[Step], waves: int, group: int = 1):
    return play(steps, waves, group=group, slot=4.0, cost=0.0, arbitration="oldest")


def test_one_wave_of_vector_instructions_fills_its_pipe():
    assert _play([Step("valu", 4.0)] * 10, 1).busy[1] == pytest.approx(1.0, abs=0.01)


def test_two_waves_share_a_pipe():
    found = _play([Step("valu", 4.0)] * 10, 2)
    assert found.cycles == pytest.approx(80, rel=0.02)
    assert found.busy[1] == pytest.approx(1.0, abs=0.01)


def test_a_load_that_is_waited_for_costs_its_latency():
    steps = [
        Step("memory", 4.0, latency=400.0, queues=("load",), load=True),
        Step("valu", 4.0),
        Step(None, 0.0, waits=((frozenset(("load",)), 0),)),
    ]
    found = _play(steps, 1)
    assert found.cycles == pytest.approx(404, rel=0.02)
    assert found.tolerance == pytest.approx(8)


def test_a_wait_that_lets_one_go_on_hides_an_iteration():
    steps = [
        Step("memory", 4.0, latency=400.0, queues=("load",), load=True),
        *[Step("valu", 4.0)] * 100,
        Step(None, 0.0, waits=((frozenset(("load",)), 1),)),
    ]
    assert _play(steps, 1).cycles == pytest.approx(408, rel=0.02)


def test_waves_of_one_workgroup_meet_at_its_barriers():
    steps = [Step(None, 4.0, slots=5), Step(None, 4.0, barrier=True)]
    assert _play(steps, 2, group=2).cycles == pytest.approx(24, rel=0.1)


def test_a_matrix_result_is_waited_for_by_what_reads_it():
    chain = [Step("matrix", 32.0, reads=1, writes=1, work=32.0, latency=48.0, matrix=True, blocks=4.0)]
    assert _play(chain, 1).busy[0] == pytest.approx(32 / 48, abs=0.01)
    assert _play(chain, 2).busy[0] == pytest.approx(1.0, abs=0.02)
