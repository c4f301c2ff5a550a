"""The array form against the driver's answers, and row for row against `fit`."""

from __future__ import annotations

import numpy as np
import pytest

import wavefit as wf
from tests import oracles
from wavefit.chips import targets
from wavefit.occupancy.sweep import NO_LIMIT, RESOURCES, sweep


def test_a_sweep_equals_the_driver() -> None:
    rows = [row for row in oracles.rows("oracles/cuda_driver_sm90.csv") if row["carveout_pct"] == "-1"]
    rows = [row for row in rows if int(row["block"]) <= int(row["max_threads"])]

    def column(name: str) -> list[int]:
        return [int(row[name]) for row in rows]

    found = sweep(
        "H200",
        vgprs=column("regs"),
        lds=column("static_smem"),
        lds_dynamic=column("dyn_smem"),
        threads=column("block"),
    )
    assert len(rows) > 1000
    assert found.workgroups.tolist() == column("blocks_per_sm")


@pytest.mark.parametrize("target", [t for t in targets() if not t.unknown], ids=lambda target: target.id)
def test_a_sweep_is_fit_row_for_row(target: wf.Target) -> None:
    random = np.random.default_rng(7)
    size = 40
    numbers = {
        "total_vgprs": random.integers(-1, target.vgpr.addressable + 4, size),
        "sgprs": random.integers(-1, 112, size),
        "lds": random.integers(-1, target.lds.per_workgroup + 600, size) // random.integers(1, 30, size),
        "scratch": random.choice([-1, 0, 64], size),
        "threads": random.integers(1, 1100, size),
    }
    mode, wave = (random.choice(target.modes) if target.modes else None), random.choice(target.wave_sizes)
    found = sweep(target, mode=mode, wave=int(wave), **numbers)
    for index in range(size):
        one = {name: int(column[index]) for name, column in numbers.items() if column[index] >= 0}
        fit = wf.fit(target, mode=mode, wave=int(wave), **one)
        assert isinstance(fit, wf.Fit)
        assert found.workgroups[index] == fit.workgroups
        assert found.waves[index] == fit.waves
        assert found.occupancy[index] == fit.occupancy
        bits = [name for bit, name in enumerate(RESOURCES) if found.binding[index] >> bit & 1]
        assert tuple(bits) == fit.binding
        for limit in fit.limits:
            alone = found.alone[limit.resource][index]
            assert (None if alone == NO_LIMIT else alone) == limit.workgroups


def test_shapes_broadcast() -> None:
    found = sweep("gfx942", vgprs=np.arange(1, 257)[:, None], threads=np.array([64, 256, 1024]))
    assert found.workgroups.shape == (256, 3)


def test_the_same_refusals_as_fit() -> None:
    with pytest.raises(wf.BadQuestion, match="not both"):
        sweep("gfx942", vgprs=[1], total_vgprs=[2], threads=[64])
    with pytest.raises(wf.BadQuestion, match="nothing public"):
        sweep("gfx946", vgprs=[1], threads=[64])
