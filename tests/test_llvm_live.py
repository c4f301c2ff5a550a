"""View `llvm-22` against LLVM 22 itself: random resources, compiled here and now.

WAVEFIT_SEED draws others than the default ones; a failure names the seed and the call that repeats it.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import cycle, islice

import pytest

import wavefit as wf
from tests import llvm_oracle, oracles

SEED = os.environ.get("WAVEFIT_SEED", "2026")
KERNELS = 16
"""To compile for each processor."""

PROCESSORS = (
    "gfx600", "gfx601", "gfx602", "gfx700", "gfx701", "gfx702", "gfx703", "gfx704", "gfx705",
    "gfx801", "gfx802", "gfx803", "gfx805", "gfx810", "gfx900", "gfx902", "gfx904", "gfx906", "gfx908",
    "gfx909", "gfx90a", "gfx90c", "gfx942", "gfx950", "gfx9-generic", "gfx9-4-generic",
    "gfx1010", "gfx1011", "gfx1012", "gfx1013", "gfx10-1-generic",
    "gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036", "gfx10-3-generic",
    "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx11-generic",
    "gfx1200", "gfx1201", "gfx12-generic", "gfx1250", "gfx1251",
)  # fmt: skip


def ours(cpu: str, features: str, says: llvm_oracle.LlvmSays, wg: tuple[int, int]) -> int | float:
    """wavefit's integer for the resources that LLVM counted."""
    answer = wf.fit(
        cpu,
        view="llvm-22",
        total_vgprs=says.total_vgprs,
        sgprs=says.sgprs,
        lds=says.lds,
        threads=wg,
        **oracles.from_features(cpu, features),
    )
    return oracles.high(answer).waves_per_simd


def workgroup_sizes(draw: random.Random) -> tuple[int, int]:
    """One size, or a range; whole waves and odd sizes alike, small ones as often as large ones."""

    def size() -> int:
        waves = draw.choice((draw.randint(1, 4), draw.randint(1, 16)))
        return waves * draw.choice((32, 64)) - draw.choice((0, 0, 0, 1, 31))

    low, high = sorted((size(), size()))
    return (low, high) if draw.random() < 0.6 else (high, high)


def near_a_step(draw: random.Random, pool: int, most: int) -> int:
    """An amount at, just over or just under an even share of the pool, or any amount."""
    share = pool // draw.randint(1, 20) + draw.choice((-1, 0, 1))
    return min(most, max(0, draw.choice((share, share, draw.randint(0, most)))))


def resources(cpu: str, draw: random.Random) -> dict[str, int]:
    """What the next kernel for this processor shall need; each kind is absent half the time.

    LLVM steps its scalar registers at multiples of 8 and at 100, counted with the 0 to 6 that it adds.
    """
    lds_most = llvm_oracle.lds_cap(cpu)
    step = draw.choice((48, 56, 64, 72, 80, 88, 96, 100, 108)) - draw.choice((-1, 0, 1, 4, 5, 6))
    needs = {
        "vgprs": near_a_step(draw, draw.choice((256, 512, 768, 1024, 1536)), llvm_oracle.CLOBBERABLE),
        "agprs": draw.randint(0, 256) if llvm_oracle.has_agprs(cpu) else 0,
        "sgprs": min(step, llvm_oracle.sgpr_cap(cpu)),
        "lds": near_a_step(draw, lds_most * draw.choice((1, 2)), lds_most),
    }
    return {kind: amount if draw.random() < 0.5 else 0 for kind, amount in needs.items()}


def kernels(cpu: str) -> Iterator[tuple[str, dict[str, int], tuple[int, int]]]:
    """Feature string, resources and workgroup sizes of each kernel to compile, the same for a seed."""
    draw = random.Random(f"{SEED}/{cpu}")
    for features in islice(cycle(llvm_oracle.variants(cpu)), KERNELS):
        yield features, resources(cpu, draw), workgroup_sizes(draw)


@pytest.mark.parametrize("cpu", PROCESSORS)
def test_llvm_prints_our_occupancy(cpu: str) -> None:
    print(f"WAVEFIT_SEED={SEED}")
    wrong = []
    for features, wanted, wg in kernels(cpu):
        says = llvm_oracle.occupancy(cpu, features, **wanted, wg=wg)
        got = ours(cpu, features, says, wg)
        if got != says.occupancy:
            wrong.append(f"occupancy({cpu!r}, {features!r}, **{wanted}, wg={wg}): {says}, ours {got}")
        # the kernel that was compiled is the kernel that was drawn
        assert (says.vgprs, says.agprs, says.lds) == (wanted["vgprs"], wanted["agprs"], wanted["lds"])
        assert says.sgprs >= wanted["sgprs"]
        assert says.scratch == 0
    assert not wrong, "\n".join([f"WAVEFIT_SEED={SEED}", *wrong])


@pytest.mark.parametrize("cpu", ["gfx1250", "gfx1251"])
@pytest.mark.parametrize("vgprs", [260, 340, 344, 508, 516, 1016])
def test_llvm_prints_our_occupancy_over_256_registers(cpu: str, vgprs: int) -> None:
    says = llvm_oracle.occupancy(cpu, vgprs=vgprs, wg=(32, 128))
    assert vgprs <= says.vgprs <= vgprs + 4  # the values and the address that they come from
    assert says.scratch == 0
    assert ours(cpu, "", says, (32, 128)) == says.occupancy


def test_a_range_of_sizes_holds_more_waves_than_either_end() -> None:
    # gfx90a, 192 to 704 threads, 8000 bytes: LLVM prints 8, each end alone 6
    for wg, expected in (((192, 704), 8), ((192, 192), 6), ((704, 704), 6)):
        says = llvm_oracle.occupancy("gfx90a", vgprs=10, lds=8000, wg=wg)
        assert (says.occupancy, ours("gfx90a", "", says, wg)) == (expected, expected)


def test_every_processor_that_llvm_lists_is_compiled_for(capfd: pytest.CaptureFixture[str]) -> None:
    llvm_oracle.list_processors()
    listed = {line.split()[0] for line in capfd.readouterr().err.splitlines() if "processor." in line}
    assert {name for name in listed if name.startswith("gfx")} == set(PROCESSORS)


def test_the_compiler_is_the_one_of_the_view() -> None:
    assert llvm_oracle.VERSION[0] == 22, "llvmlite 0.50 carries LLVM 22"


def test_enough_kernels_are_compiled() -> None:
    assert sum(len(list(kernels(cpu))) for cpu in PROCESSORS) >= 300


def test_the_harness_repeats_recorded_compiles_exactly() -> None:
    # every twentieth row of the table made with llc 22.1.8: registers, LDS and occupancy
    for row in islice(oracles.rows("oracles/llc22_occupancy_golden.csv"), 0, None, 20):
        cpu, features, wg = row["gfx"], row["mattr"], (int(row["wg_min"]), int(row["wg_max"]))
        extra = llvm_oracle.occupancy(cpu, features, wg=wg).sgprs
        says = llvm_oracle.occupancy(
            cpu,
            features,
            vgprs=int(row["num_vgprs"]),
            agprs=int(row["num_agprs"]),
            sgprs=max(0, int(row["total_sgprs"]) - extra),
            lds=int(row["lds_bytes"]),
            wg=wg,
        )
        recorded = [int(row[name]) for name in ("total_vgprs", "total_sgprs", "lds_bytes", "llc22_occupancy")]
        assert [says.total_vgprs, says.sgprs, says.lds, says.occupancy] == recorded, row
