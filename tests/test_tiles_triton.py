"""Tiles as Triton configurations: pruning as its autotuner calls it, and estimates against compiles."""

import csv
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from wavefit.chips import chip
from wavefit.occupancy import BadQuestion
from wavefit.tiles.rank import rank_tiles
from wavefit.tiles.triton import candidate, configs, early_config_prune, perf_model, prune_configs_by, verify

DATA = Path(__file__).parent / "data" / "tiles"


class Config:
    """What the autotuner's functions see of a `triton.Config`."""

    def __init__(self, **arguments):
        self.arguments = arguments

    def all_kwargs(self):
        return self.arguments


def config(m, n, k, warps=8, stages=3, **more):
    return Config(BLOCK_M=m, BLOCK_N=n, BLOCK_K=k, GROUP_M=8, num_warps=warps, num_stages=stages, **more)


TENSOR = SimpleNamespace(dtype="torch.bfloat16")
ARGUMENTS = {"a": TENSOR, "b": TENSOR, "c": TENSOR, "M": 4096, "N": 4096, "K": 4096}


def test_pruning_drops_what_triton_refuses_and_puts_the_measured_best_first():
    """H200: 128x256x64, 8 warps, 3 stages is the best measured; 128x128x128, 4 stages does not run."""
    given = [
        config(64, 64, 32),
        config(128, 128, 128, warps=4, stages=4),
        config(128, 256, 64),
        config(256, 256, 64),
    ]
    found = early_config_prune("H200")(given, ARGUMENTS)
    assert found[0] is given[2]
    assert given[1] not in found
    assert len(found) == 3
    assert early_config_prune("H200", top=1)(given, ARGUMENTS) == [given[2]]


def test_configs_that_say_the_same_are_all_kept():
    """Configurations may differ in what a tile does not know, such as waves_per_eu."""
    given = [config(128, 128, 64, waves_per_eu=count) for count in (1, 2)]
    assert early_config_prune("MI300X", dtype="fp16")(given, ARGUMENTS) == given


def test_nothing_is_dropped_where_nothing_can_be_said():
    given = [config(128, 128, 64), Config(num_warps=4)]
    prune = early_config_prune("H200", top=1)
    assert prune(given, ARGUMENTS) == given
    assert prune(given[:1] * 2, {"M": 4096}) == given[:1] * 2
    odd = SimpleNamespace(dtype="torch.complex64")
    assert prune(given[:1] * 2, {**ARGUMENTS, "a": odd, "b": odd, "c": odd}) == given[:1] * 2


def test_block_sizes_by_the_tutorials_names():
    said = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 16, "GROUP_SIZE_M": 4, "num_warps": 2}
    found = candidate(said)
    assert found == {"block_m": 64, "block_n": 32, "block_k": 16, "group_m": 4, "warps": 2, "stages": 2}


def test_perf_model_orders_as_the_ranking_does():
    cost = perf_model("H200", dtype="bf16")
    good, poor, never = config(128, 256, 64), config(64, 64, 32), config(128, 128, 128, warps=4, stages=4)
    assert cost(**ARGUMENTS, **good.all_kwargs()) < cost(**ARGUMENTS, **poor.all_kwargs())
    assert cost(**ARGUMENTS, **never.all_kwargs()) == float("inf")


def test_bare_targets_cannot_be_compiled_for_hygon():
    tiles = rank_tiles("BW1000", m=4096, n=4096, k=4096, dtype="bf16", top=1)
    with pytest.raises(BadQuestion, match="gfx936: the public Triton compiles nothing for Hygon"):
        verify(tiles, "bf16")


@pytest.mark.heavy
def test_tritons_own_autotuner_takes_the_pruning():
    """The real `triton.Config` and the real pruning code of its autotuner."""
    pytest.importorskip("triton", reason="Triton is not installed")
    from triton.runtime.autotuner import Autotuner

    sizes = {"M": 4096, "N": 4096, "K": 4096}
    tiles = rank_tiles("H200", m=4096, n=4096, k=4096, dtype="bf16")
    given = configs(tiles[::-1])
    by = prune_configs_by("H200", top=5, dtype="bf16")
    tuner = Autotuner.__new__(Autotuner)
    tuner.configs, tuner.configs_top_k = given, by["top_k"]
    tuner.early_config_prune, tuner.perf_model = by["early_config_prune"], by["perf_model"]
    tuner.nargs = sizes
    kept = tuner.prune_configs({})
    assert [by["perf_model"](**sizes, **each.all_kwargs()) for each in kept] == [
        tile.seconds for tile in tiles[:5]
    ]


@pytest.mark.heavy
@pytest.mark.parametrize(("target", "name"), [("gfx942", "MI300X"), ("gfx950", "MI355X")])
def test_compiled_again_the_recorded_sizes_come_out(target, name):
    """Triton 3.9 only: the table of compiled sizes is reproducible from the kernels in the package."""
    triton = pytest.importorskip("triton", reason="Triton is not installed")
    if not triton.__version__.startswith("3.9"):
        pytest.skip(f"the table is of Triton 3.9, this is {triton.__version__}")
    with (DATA / "lds_triton_3_9.csv").open() as file:
        quick = [row for row in csv.DictReader(file) if row["target"] == target and int(row["vgprs"]) < 130]
    for row in quick[:: len(quick) // 10]:
        given = {part: int(row[part]) for part in ("block_m", "block_n", "block_k", "warps", "stages")}
        tiles = rank_tiles(name, m=4096, n=4096, k=4096, dtype=row["dtype"], candidates=[given])
        if not tiles:
            continue  # more LDS than the target has: nothing to verify
        made = verify(tiles, row["dtype"], layout=row["layout"])[0]
        assert made.error is None
        assert (made.lds, made.registers) == (int(row["shared"]), int(row["vgprs"])), row


@pytest.mark.heavy
def test_verify_replaces_estimates_by_what_was_compiled():
    pytest.importorskip("triton", reason="Triton is not installed")
    tiles = rank_tiles("H200", m=4096, n=4096, k=4096, dtype="bf16", top=1)
    made = verify(tiles, "bf16")[0]
    assert made.lds == tiles[0].lds[0] == tiles[0].lds[1]
    assert made.fit is not None
    assert made.fit.chip == "H200"
    assert made.fit.workgroups == 1
    assert chip("H200").target.vgpr.addressable >= made.registers > 64


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["MI300X", "A100"])
def test_whole_numbers_are_summed_as_whole_numbers(name):
    pytest.importorskip("triton", reason="Triton is not installed")
    given = [{"block_m": 64, "block_n": 64, "block_k": 64, "warps": 4, "stages": 2}]
    tile = rank_tiles("MI300X", m=4096, n=4096, k=4096, dtype="int8", candidates=given)[0]
    made = verify([replace(tile, chip=chip(name))], "int8")[0]
    assert made.error is None
    assert made.registers
