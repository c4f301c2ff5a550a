"""Cubins as read against cuobjdump, nvdisasm and the compiler itself: 278 files, 599 kernels."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest

import wavefit as wf
from tests.nvidia_files import DATA, SAID, Row, content, found, number, ours
from wavefit.chips import targets
from wavefit.kernels import BadFile
from wavefit.kernels.nvidia.arch import RESERVE, RESERVE_IN_FILE
from wavefit.model import Kernel

IN_FILE = [row for row in SAID if "unlinked" not in row["file"]]
RELEASES = ("cuda11.8", "cuda12.4", "cuda12.9", "cuda13.4")


def kernel_of(row: Row) -> Kernel:
    return ours()[row["file"], row["kernel"]]


def test_there_are_enough_files_for_every_target_and_compiler() -> None:
    files = {row["file"] for row in SAID}
    assert len(files) >= 270
    assert all(any(release in file for file in files) for release in RELEASES)
    assert {number(row["target"]) for row in SAID} >= {
        number(t.name) for t in targets() if t.vendor == "NVIDIA"
    }


def test_the_kernels_are_those_that_cuobjdump_lists() -> None:
    assert set(ours()) == {(row["file"], row["kernel"]) for row in SAID}


def test_registers_are_cuobjdumps() -> None:
    assert [r for r in SAID if kernel_of(r).vgprs != int(r["registers"])] == []
    assert all(k.total_vgprs == k.allocated_vgprs == k.vgprs for k in ours().values())


def test_stack_is_cuobjdumps_and_recursion_has_no_bound() -> None:
    def says(kernel: Kernel) -> str:
        return "UNKNOWN" if kernel.dynamic_stack else str(kernel.scratch)

    assert [r for r in IN_FILE if says(kernel_of(r)) != r["stack"]] == []
    assert any(kernel.dynamic_stack for kernel in ours().values())


def test_shared_memory_is_what_the_compiler_counted() -> None:
    said = [row for row in SAID if row["static"]]
    assert len(said) > 500
    assert [row for row in said if kernel_of(row).lds != int(row["static"])] == []


def test_shared_memory_is_cuobjdumps_without_the_reserve_that_linking_adds_from_sm_90_on() -> None:
    for row in SAID:
        kernel, shared = kernel_of(row), int(row["shared"])
        added = RESERVE if number(row["target"]) >= RESERVE_IN_FILE and row in IN_FILE and shared else 0
        assert kernel.lds == shared - added, row


def test_the_reserve_in_the_file_is_the_one_that_the_target_charges() -> None:
    reserves = {
        t.lds.reserve for t in targets() if t.vendor == "NVIDIA" and number(t.name) >= RESERVE_IN_FILE
    }
    assert reserves == {RESERVE}


def test_barriers_are_the_compilers() -> None:
    said = [row for row in SAID if row["barriers"]]
    assert len(said) > 500
    assert [row for row in said if kernel_of(row).barriers != int(row["barriers"])] == []


def test_largest_and_required_sizes_are_as_cuobjdump_decodes_them() -> None:
    for row in SAID:
        kernel = kernel_of(row)
        most = [int(n) for n in row["max_threads"].split("*") if n]
        required = tuple(int(n) for n in row["required"].split("*") if n)
        assert kernel.max_threads == (most[0] * most[1] * most[2] if most else None), row
        assert kernel.required_size == (required or None), row
    assert any(row["required"] for row in SAID)


def test_the_target_is_cuobjdumps_with_the_letter_that_ties_code_to_it() -> None:
    for row in SAID:
        kernel = kernel_of(row)
        assert kernel.target == row["target"].rstrip("a"), row
        assert kernel.features == ((row["target"],) if row["target"].endswith("a") else ()), row


def test_code_before_linking_says_that_it_may_need_more() -> None:
    notes = {file: kernel.notes for (file, _), kernel in ours().items()}
    assert all(("not linked" in " ".join(said)) == ("unlinked" in file) for file, said in notes.items())


@pytest.mark.parametrize(
    ("name", "shared", "warps"),
    [
        ("softmax_sm90_4096_w8", 32, 8),
        ("matmul_sm120_64x64x32_w4_s2", 8192, 4),
        ("matmul_sm89_64x64x32_w4_s2", 8192, 4),
    ],
)
def test_tritons_launch_comes_from_its_side_file(name: str, shared: int, warps: int) -> None:
    (kernel,) = wf.kernels(DATA / "triton" / f"{name}.cubin")
    assert isinstance(kernel, Kernel)
    assert (kernel.lds, kernel.lds_dynamic, kernel.side_threads) == (0, shared, 32 * warps)
    fit = wf.fit(kernel)
    assert isinstance(fit, wf.Fit)
    assert (fit.threads, fit.limit("lds").requested) == (32 * warps, shared)
    reserve, granule = fit.of.lds.reserve, fit.of.lds.granule
    assert fit.limit("lds").allocated == -(-(shared + reserve) // granule) * granule


def test_a_kernel_that_was_read_fits_as_its_numbers_do() -> None:
    """The reserve is charged once, whether the file held it or not."""
    for kernel in ours().values():
        if kernel.target == "sm_88":
            continue
        threads, dynamic = kernel.required_threads or kernel.max_threads or 128, 1000
        by_file = wf.fit(kernel, threads=threads, lds_dynamic=dynamic)
        by_hand = wf.fit(
            kernel.target,
            vgprs=kernel.vgprs,
            lds=kernel.lds,
            lds_dynamic=dynamic,
            threads=threads,
            barriers=kernel.barriers,
        )
        assert isinstance(by_file, wf.Fit)
        assert isinstance(by_hand, wf.Fit)
        assert (by_file.workgroups, by_file.binding) == (by_hand.workgroups, by_hand.binding)
        assert by_file.limit("lds").allocated == by_hand.limit("lds").allocated


def test_a_target_without_a_page_is_named_and_has_no_fit() -> None:
    kernel = ours()["sm_88_00.cubin", "spend"]
    assert kernel.target == "sm_88"
    assert kernel.notes == ("no data on sm_88: no Fit is possible",)
    with pytest.raises(LookupError, match="sm_88"):
        wf.fit(kernel)


def test_registers_of_compilers_that_say_them_in_the_section_header_alone() -> None:
    """Without the attribute (renamed here), sh_info of the code holds the same number, up to ABI 7."""
    row = next(r for r in SAID if r["file"] == "sm_70_08_cuda11.8.cubin" and r["kernel"] == "spend")
    data = content(row["file"]).replace(b"\x04\x2f\x08\x00", b"\x04\x7f\x08\x00")
    kernels = {kernel.name: kernel for kernel in found(data) if isinstance(kernel, Kernel)}
    assert kernels["spend"].vgprs == int(row["registers"])


def test_a_file_that_says_no_registers_says_so() -> None:
    data = content("sm_90_08.cubin").replace(b"\x04\x2f\x08\x00", b"\x04\x7f\x08\x00")
    for kernel in found(data):
        assert isinstance(kernel, Kernel)
        assert kernel.vgprs is None
        assert "how many registers" in " ".join(kernel.notes)


def test_damaged_attributes_of_one_kernel_leave_the_others(tmp_path: Path) -> None:
    whole = content("sm_80_05.cubin")
    first = found(whole)[0]
    assert isinstance(first, Kernel)
    mark = b"\x04\x37\x04\x00"  # the API version, with which each kernel's own attributes begin
    assert whole.count(mark) >= 2
    at = whole.index(mark)
    path = tmp_path / "damaged.cubin"
    path.write_bytes(whole[:at] + b"\x09" + whole[at + 1 :])
    kinds = [type(item) for item in wf.kernels(path)]
    assert sorted(kinds, key=lambda kind: kind.__name__) == [BadFile, Kernel]
    (bad,) = (item for item in wf.kernels(path) if isinstance(item, BadFile))
    assert "attribute of format 9" in str(bad)
    assert str(path) in str(bad)


def test_each_limit_is_nsight_computes_on_an_h200() -> None:
    """Its occupancy section, but for shared memory: that it counts as the driver had set it."""
    folder = DATA.parent / "profiles/ncu-h200"
    kernels = {k.name: k for k in wf.kernels(folder / "occ_profile_sm90.cubin") if isinstance(k, Kernel)}
    with gzip.open(folder / "ncu_raw.csv.gz", "rt", newline="") as file:
        lines = file.read().splitlines()
    start = next(number for number, line in enumerate(lines) if '"Kernel Name"' in line)
    launches = [row for row in csv.DictReader(lines[start:]) if row["ID"]]
    assert len({row["Kernel Name"] for row in launches}) == 7
    for row in launches:
        said = {key.removeprefix("launch__"): value.replace(",", "") for key, value in row.items()}
        kernel = kernels[row["Kernel Name"]]
        dynamic, block = int(said["shared_mem_per_block_dynamic"]), int(said["block_size"])
        fit = wf.fit(kernel, chip="H200", threads=block, lds_dynamic=dynamic)
        assert isinstance(fit, wf.Fit)
        assert kernel.lds == int(said["shared_mem_per_block_static"])
        assert fit.limit("vgpr").allocated == int(said["registers_per_thread_allocated"])
        assert fit.limit("vgpr").workgroups == int(said["occupancy_limit_registers"])
        assert fit.limit("slots").workgroups == int(said["occupancy_limit_warps"])
        assert fit.limit("workgroups").workgroups == int(said["occupancy_limit_blocks"])
        assert fit.limit("lds").allocated == int(said["shared_mem_per_block_allocated"])
