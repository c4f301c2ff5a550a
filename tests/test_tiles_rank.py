"""The ranking held against measured GEMMs: what its first choices lose against the best measured."""

import csv
from math import exp, log
from pathlib import Path
from statistics import mean

import pytest

import wavefit.tiles.rank as tiles
from tests.accuracy_tiles import AMD, autotuned, geometric, h200_scores, mi300x_ranks, share
from wavefit.chips import chip
from wavefit.occupancy import BadQuestion

DATA = Path(__file__).parent / "data" / "tiles"


def test_first_choices_on_h200_shapes_that_set_no_constant():
    """The constants were set on shapes 1, 3, ... of the file; these are the other eight."""
    scores = h200_scores(held=True)
    assert len(scores) == 8
    firsts = [first for first, _ in scores.values()]
    assert exp(mean(log(first) for first in firsts)) >= 0.95
    assert min(firsts) >= 0.85
    assert exp(mean(log(eighth) for _, eighth in scores.values())) >= 0.99


def test_every_measured_config_is_ranked():
    """Whatever ran on the device must be admitted: 4,396 launches that worked."""
    with (DATA / "gemm_bf16_triton_resources.csv").open() as file:
        ran = [row for row in csv.DictReader(file) if not row["error"]]
    rows = [
        {"block_m": int(r["BM"]), "block_n": int(r["BN"]), "block_k": int(r["BK"]), "warps": int(r["warps"]),
             "stages": int(r["stages"]), "group_m": int(r["GM"])}
        for r in ran
    ]  # fmt: skip
    found = tiles.rank("H200", m=4096, n=4096, k=4096, dtype="bf16", candidates=rows)
    assert len(found.tiles) == len(rows)
    assert not found.pruned


def test_what_triton_refused_is_pruned_with_the_reason():
    """Triton 3.6 raised OutOfResources for these on the H200: 262144 and 294912 bytes of 232448."""
    with (DATA / "gemm_bf16_triton_resources.csv").open() as file:
        refused = [row for row in csv.DictReader(file) if "shared memory" in row["error"]]
    assert len(refused) == 24
    for row in refused:
        config = {"block_m": int(row["BM"]), "block_n": int(row["BN"]), "block_k": int(row["BK"]),
                      "warps": int(row["warps"]), "stages": int(row["stages"])}  # fmt: skip
        found = tiles.rank("H200", m=4096, n=4096, k=4096, dtype="bf16", candidates=[config])
        assert not found.tiles
        needed = row["error"].partition("(")[2].partition(",")[0]
        assert found.pruned[0].why == f"LDS est. at least {needed} bytes; a workgroup has at most 232448"


@pytest.mark.skipif(not AMD.is_dir(), reason=f"{AMD} is not here: it is read in place, never copied")
def test_tuned_tiles_of_mi300x_are_among_the_first():
    """Winners of an exhaustive tuning; AMD's own selector reaches 55, 81, 83 %."""
    ranks = [rank for rank, _ in mi300x_ranks()]
    assert len(ranks) == 163
    assert share(ranks, 1) >= 0.60
    assert share(ranks, 5) >= 0.85
    assert share(ranks, 10) >= 0.94


def test_tuned_tiles_of_a_few_mi300x_shapes():
    """Six winners out of that file, so that a clone alone holds the ranking against something."""
    tuned = {
        (8192, 8192, 8192): (256, 256, 64), (4096, 2048, 4096): (256, 128, 64),
        (2048, 2048, 4096): (128, 128, 128), (1024, 1024, 2048): (64, 64, 256),
        (512, 512, 8192): (32, 32, 256), (4096, 256, 4096): (64, 64, 256),
    }  # fmt: skip
    rows = [
        {"block_m": m, "block_n": n, "block_k": k}
        for m, n, k in {*tuned.values(), (128, 64, 128), (64, 32, 256), (16, 16, 256), (128, 256, 64)}
    ]
    for (m, n, k), best in tuned.items():
        found = tiles.rank_tiles("MI300X", m=m, n=n, k=k, dtype="fp16", candidates=rows)
        assert best in [(t.block_m, t.block_n, t.block_k) for t in found[:2]], (m, n, k)
        assert len(found) == len(rows)


def test_a_small_grid_says_so_and_offers_split_k():
    """DEV and G3-02: 512 x 512 in tiles of 128 x 128 is 16 workgroups for the 80 CUs of a BW1000."""
    one = [{"block_m": 128, "block_n": 128, "block_k": 32, "warps": 4, "stages": 2}]
    found = tiles.rank("BW1000", m=512, n=512, k=8192, dtype="bf16", candidates=one)
    assert found.tiles[0].programs == 16
    assert "16 workgroups for 80 CUs: 64 stay idle" in found.advice[0]
    split = tiles.rank_tiles(
        "BW1000", m=512, n=512, k=8192, dtype="bf16", candidates=[{**one[0], "split_k": 4}]
    )
    assert split[0].seconds < found.tiles[0].seconds


@pytest.mark.parametrize(
    ("side", "tile", "workers", "rounds"),
    [(8192, 256, 200, 6), (8192, 128, 200, 21), (8192, 256, 248, 5), (8192, 128, 248, 17)],
)
def test_rounds_of_tritonblas_76(side, tile, workers, rounds):
    """DEV-005: 1024 and 4096 tiles on 200 and 248 workers."""
    from dataclasses import replace

    from wavefit.tiles.footprint import footprint
    from wavefit.tiles.shape import candidates, problem
    from wavefit.tiles.time import constants, estimate

    of, asked = chip("MI300X"), problem(side, side, 4096, "fp16")
    known = replace(constants(of, "fp16"), cus=workers)
    one = candidates([{"block_m": tile, "block_n": tile, "block_k": 32, "warps": 8}])
    found = estimate(known, asked, one, footprint(of, asked, one), persistent=True)
    assert found.programs[0] == (side // tile) ** 2
    assert found.rounds[0] == rounds


def test_occupancy_is_derived():
    """The Fit of a tile is the one of its registers, LDS and threads."""
    one = [{"block_m": 128, "block_n": 256, "block_k": 64, "warps": 8, "stages": 3}]
    tile = tiles.rank_tiles("H200", m=4096, n=4096, k=4096, dtype="bf16", candidates=one)[0]
    assert tile.lds == (147456, 147456)  # measured: gemm_bf16_triton_resources.csv
    assert tile.fit.workgroups == 1
    assert tile.fit.waves_per_simd == 2


def test_blocks_of_four_rows_are_legal():
    """Tuned kernels of gfx950 use 4 and 8 rows."""
    small = [{"block_m": 4, "block_n": 16, "block_k": 256, "warps": 4, "stages": 2}]
    assert tiles.rank_tiles("MI355X", m=4, n=4096, k=4096, dtype="bf16", candidates=small)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ({"chip": "MI300X", "m": 0}, "m must be from 1"),
        ({"chip": "MI300X", "m": 64, "dtype": "fp12"}, "unknown type 'fp12'"),
        ({"chip": "gfx942", "m": 64}, "needs a product"),
        ({"chip": "MI210", "m": 64}, "no est. of time"),
        ({"chip": "MI300X", "m": 64, "candidates": []}, "no candidates"),
        (
            {"chip": "MI300X", "m": 64, "candidates": [{"block_m": 64, "block_n": 64}]},
            "block_k must be a whole number",
        ),
        ({"chip": "MI300X", "m": 64, "candidates": [{"BLOCK_M": 64}]}, "unknown BLOCK_M"),
        (
            {"chip": "MI300X", "m": 64, "candidates": [{"block_m": 64, "block_n": 64, "block_k": 0}]},
            "candidate 0",
        ),
    ],
)
def test_bad_questions_say_what_is_wrong(question, says):
    asked = {"n": 64, "k": 64, "dtype": "fp16", **question}
    with pytest.raises(BadQuestion, match=says.replace("(", r"\(")):
        tiles.rank_tiles(asked.pop("chip"), **asked)


def test_a_pruned_autotune_on_an_h200_reached_97_percent_of_the_exhaustive_best() -> None:
    reached = autotuned()
    assert len(reached) == 6
    assert geometric(reached.values()) >= 0.97


@pytest.mark.parametrize("name", ["MI300X", "H200"])
def test_a_microscaled_type_is_refused_where_no_instruction_takes_it(name):
    with pytest.raises(BadQuestion, match=r"no matrix instruction of \w+ for mxfp8 is in the tables"):
        tiles.rank_tiles(name, m=4096, n=4096, k=4096, dtype="mxfp8")
    assert tiles.rank_tiles(name, m=4096, n=4096, k=4096, dtype="fp8", top=1)
    assert tiles.rank_tiles("MI355X", m=4096, n=4096, k=4096, dtype="mxfp8", top=1)


@pytest.mark.parametrize("name", ["MI308X", "K100_AI", "RX 7900 XTX", "MI455X"])
def test_a_product_is_told_which_number_of_it_is_not_known(name):
    assert chip(name).value("compute.cus") is not None
    with pytest.raises(BadQuestion, match=rf"{name}: no est\. of time, since its peak clock is not known"):
        tiles.rank_tiles(name, m=4096, n=4096, k=4096, dtype="fp16")
