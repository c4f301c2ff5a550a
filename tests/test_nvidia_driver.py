"""Thirty kernels of our own against an H200's driver, read from their cubin: attributes and occupancy."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import pytest

import wavefit as wf
from tests.nvidia_files import DATA, Row
from wavefit.model import Kernel

TABLE = DATA / "h200_driver_check.csv"
KERNELS = 30
QUESTIONS = 120
"""Of each kernel, see `tools/nvidia_driver_check.cpp`."""
ABSENT = f"{TABLE.name} is not here: run tools/nvidia_driver_check.cpp on an H200 (its header says how)"


def rows() -> Iterator[Row]:
    with TABLE.open(newline="") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


@lru_cache(maxsize=1)
def kernels() -> dict[str, Kernel]:
    found = list(wf.kernels(DATA / "driver_check.cubin"))
    return {kernel.name: kernel for kernel in found if isinstance(kernel, Kernel)}


def fit_of(row: Row, kernel: Kernel, barriers: int | None = None) -> wf.Fit:
    carveout = int(row["carveout_pct"])
    fit = wf.fit(
        kernel,
        chip="H200",
        threads=int(row["block"]),
        lds_dynamic=int(row["dyn_smem"]),
        carveout=None if carveout < 0 else carveout,
        barriers=barriers,
    )
    assert isinstance(fit, wf.Fit)
    return fit


def differences(barriers: int | None = None) -> list[tuple[Row, int | None]]:
    """Rows where our blocks of one SM are not the driver's.

    The driver's query does not look at the bound that a kernel declares (a launch does): nor do we here.
    """
    unbounded = {name: replace(kernel, max_threads=None) for name, kernel in kernels().items()}
    found = ((row, fit_of(row, unbounded[row["kernel"]], barriers).workgroups) for row in rows())
    return [(row, ours) for row, ours in found if ours != int(row["blocks_per_sm"])]


def test_the_cubin_has_thirty_kernels_that_differ() -> None:
    assert len(kernels()) == KERNELS
    spends = {(k.vgprs, k.lds, k.scratch, k.max_threads, k.barriers) for k in kernels().values()}
    assert len(spends) == KERNELS


@pytest.mark.skipif(not TABLE.exists(), reason=ABSENT)
def test_the_driver_reads_the_same_from_the_cubin() -> None:
    checked = set()
    for row in rows():
        kernel = kernels()[row["kernel"]]
        told = int(row["regs"]), int(row["static_smem"]), int(row["local"])
        assert (kernel.vgprs, kernel.lds, kernel.scratch) == told, row
        assert (kernel.max_threads or int(row["max_threads"])) == int(row["max_threads"]), row
        checked.add(kernel.name)
    assert checked == set(kernels())


@pytest.mark.skipif(not TABLE.exists(), reason=ABSENT)
def test_the_fit_of_every_kernel_is_the_drivers() -> None:
    assert len(list(rows())) == KERNELS * QUESTIONS
    assert differences() == []


@pytest.mark.skipif(not TABLE.exists(), reason=ABSENT)
def test_named_barriers_count_with_the_driver() -> None:
    without = differences(barriers=0)
    assert len(without) > 100
    assert {row["kernel"] for row, _ in without} <= {
        name for name, k in kernels().items() if (k.barriers or 0) > 2
    }


@pytest.mark.skipif(not TABLE.exists(), reason=ABSENT)
def test_a_block_over_the_bound_that_a_kernel_declares_cannot_launch() -> None:
    over = [row for row in rows() if int(row["block"]) > (kernels()[row["kernel"]].max_threads or 1024)]
    assert over
    for row in over:
        fit = fit_of(row, kernels()[row["kernel"]])
        assert fit.workgroups == 0, row
        assert "threads" in fit.binding, row
