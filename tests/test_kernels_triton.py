"""Triton's side file: the launch that it describes, and whatever else may stand under its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wavefit.kernels import kernels
from wavefit.model import Kernel

DATA = Path(__file__).parent / "data/kernels"
OBJECT = (DATA / "triton/matmul_gfx950_64x64x32_w4_s1_wpe2.hsaco").read_bytes()


def beside(folder: Path, side: str | bytes | None, data: bytes = OBJECT) -> Kernel:
    (folder / "m.hsaco").write_bytes(data)
    if side is not None:
        (folder / "m.json").write_bytes(side.encode() if isinstance(side, str) else side)
    first = next(iter(kernels(folder / "m.hsaco")))
    assert isinstance(first, Kernel), str(first)
    return first


def test_without_a_side_file_the_launch_is_not_known(tmp_path: Path) -> None:
    kernel = beside(tmp_path, None)
    assert (kernel.lds_dynamic, kernel.side_threads) == (None, None)


def test_launch_lds_is_shared_without_the_static_bytes(tmp_path: Path) -> None:
    side = json.dumps({"name": "ldsk", "shared": 20000, "num_warps": 4, "warp_size": 64})
    beside(tmp_path, side, (DATA / "k_gfx90a.co").read_bytes())
    found = {
        k.name: (k.lds, k.lds_dynamic, k.side_threads) for k in kernels(tmp_path) if isinstance(k, Kernel)
    }
    assert found["ldsk"] == (16384, 20000 - 16384, 256)
    assert found["axpy"] == (0, None, None)


def test_shared_below_the_static_bytes_leaves_none_at_launch(tmp_path: Path) -> None:
    beside(tmp_path, json.dumps({"shared": 0, "num_warps": 1}), (DATA / "k_gfx90a.co").read_bytes())
    assert {k.lds_dynamic for k in kernels(tmp_path) if isinstance(k, Kernel)} == {0}


def test_the_warp_size_may_stand_in_the_target_or_nowhere(tmp_path: Path) -> None:
    target = {"backend": "hip", "arch": "gfx950", "warp_size": 32}
    assert beside(tmp_path, json.dumps({"num_warps": 8, "target": target})).side_threads == 256
    assert beside(tmp_path, json.dumps({"num_warps": 8})).side_threads == 512  # the kernel's own wave64


def test_a_side_file_of_another_kernel_says_nothing(tmp_path: Path) -> None:
    kernel = beside(tmp_path, json.dumps({"name": "other", "shared": 4096, "num_warps": 4}))
    assert (kernel.lds_dynamic, kernel.side_threads) == (None, None)


@pytest.mark.parametrize("side", ["{}", "[]", "null", '{"compiler": "x"}'])
def test_json_that_is_not_tritons_is_passed_over(tmp_path: Path, side: str) -> None:
    assert beside(tmp_path, side) == beside(tmp_path, None)
    assert not any("side file" in note for note in beside(tmp_path, side).notes)


@pytest.mark.parametrize(
    "side",
    [
        "{", "", b"\xff\xfe\x00", "[" * 100_000, '{"shared": -1}', '{"shared": "16K"}', '{"num_warps": true}',
        '{"shared": 1e99}', '{"num_warps": 99999999999999999999}', '{"shared": 4096.0}', b" " * (2 << 20),
        '{"num_warps": ' + "9" * 5000 + "}",
    ],
    ids=range(12),
)  # fmt: skip
def test_a_broken_side_file_is_said_and_the_kernel_is_read(tmp_path: Path, side: str | bytes) -> None:
    kernel = beside(tmp_path, side)
    assert (kernel.total_vgprs, kernel.lds_dynamic, kernel.side_threads) == (62, None, None)
    assert any("side file (.json) cannot be used" in note for note in kernel.notes)


def test_a_folder_under_its_name_is_said(tmp_path: Path) -> None:
    (tmp_path / "m.json").mkdir()
    assert any("not a regular file" in note for note in beside(tmp_path, None).notes)


def test_a_cache_folder_with_its_group_file(tmp_path: Path) -> None:
    beside(tmp_path, json.dumps({"shared": 4096, "num_warps": 4, "warp_size": 64}))
    (tmp_path / "__grp__m.json").write_text(json.dumps({"child_paths": {"m.hsaco": "/elsewhere/m.hsaco"}}))
    (kernel,) = kernels(tmp_path)
    assert isinstance(kernel, Kernel)
    assert (kernel.lds_dynamic, kernel.side_threads) == (4096, 256)
