"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.gate_run import EXAMPLES, STORY, run
from wavefit.environment import find

pytest_plugins = "pytester"

HEAD = f"""
import pathlib
import pytest
STORY = pathlib.Path({str(STORY)!r})
EXAMPLES = pathlib.Path({str(EXAMPLES)!r})
"""


@pytest.fixture
def tested(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Other plugins stay out; ours comes by name, whether or not it is installed as an entry point."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return pytester


def outcome(tested: pytest.Pytester, body: str, *args: str) -> pytest.RunResult:
    tested.makepyfile(HEAD + body)
    return tested.runpytest("-p", "wavefit.pytest_plugin", "--strict-markers", *args)


def test_a_kept_rule_passes(tested: pytest.Pytester) -> None:
    outcome(
        tested,
        """
@pytest.mark.wavefit("waves_per_simd >= 5", "vgpr_spills == 0", chip="MI355X")
def test_kernel(wavefit_kernel):
    seen = wavefit_kernel(STORY / "main/tile_sum.o")
    assert seen.fit.chip == "MI355X"
    assert seen.kernel.total_vgprs == 96
""",
    ).assert_outcomes(passed=1)


def test_a_broken_rule_fails_with_the_reason_and_the_derivation(tested: pytest.Pytester) -> None:
    result = outcome(
        tested,
        """
@pytest.mark.wavefit("waves_per_simd >= 5")
def test_kernel(wavefit_kernel):
    wavefit_kernel(STORY / "change/tile_sum.o")
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*tile_sum: waves_per_simd >= 5: waves_per_simd is 4; bound by vgpr*next: vgpr 112 -> 96*",
            "*floor(512 / roundup(112, 8)) = 4 waves/SIMD",
            "*vgpr.wave64.granule*[[]compiler]*",
        ]
    )
    assert "Traceback" not in result.stdout.str()


def test_a_failing_assertion_on_the_fit_shows_the_derivation_too(tested: pytest.Pytester) -> None:
    result = outcome(
        tested,
        """
def test_kernel(wavefit_kernel):
    assert wavefit_kernel(STORY / "change/tile_sum.o").fit.occupancy > 0.6
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*floor(512 / roundup(112, 8)) = 4 waves/SIMD"])


def test_a_baseline_counts_from_the_root_of_the_tests(tested: pytest.Pytester) -> None:
    (tested.path / "main.json").write_text(run("report", STORY / "main", "--json").out)
    result = outcome(
        tested,
        """
@pytest.mark.wavefit("waves_per_simd >= baseline", baseline="main.json")
@pytest.mark.parametrize("build", ["main", "change"])
def test_kernel(wavefit_kernel, build):
    wavefit_kernel((STORY / build / "tile_sum.o").read_bytes())
""",
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*total_vgprs 96 -> 105*past 97*"])


def test_a_compiled_triton_kernel_brings_its_launch(tested: pytest.Pytester) -> None:
    """A stand-in with the attributes that triton.compile's result has; the heavy test has the real one."""
    outcome(
        tested,
        """
import json, types
NAME = "gemm_mxfp8_gfx950_128x256x128_w8"
def test_kernel(wavefit_kernel):
    side = json.loads((EXAMPLES / f"{NAME}.json").read_text())
    said = types.SimpleNamespace(**side)
    compiled = types.SimpleNamespace(asm={"hsaco": (EXAMPLES / f"{NAME}.hsaco").read_bytes()}, metadata=said)
    seen = wavefit_kernel(compiled)
    assert seen.fit.threads == 512
    assert seen.kernel.lds_dynamic == side["shared"] == 102880
""",
    ).assert_outcomes(passed=1)


def test_further_rules_can_be_checked_by_hand(tested: pytest.Pytester) -> None:
    result = outcome(
        tested,
        """
def test_kernel(wavefit_kernel):
    seen = wavefit_kernel(EXAMPLES / "softmax_gfx950_32768_w8.hsaco", threads=256)
    seen.check("threads == 256")
    seen.check("occupancy > 90%")
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*occupancy > 90%: occupancy is 0.5*"])


MARKED = '@pytest.mark.wavefit("vgprs > 0")\ndef test_kernel(): pass'
MISSPELT = '@pytest.mark.wavefit("vgprs > 0", chp="x")\ndef test_kernel(wavefit_kernel): pass'
WRONG = [
    (MARKED, "failed", "no kernel was given"),
    (MISSPELT, "errors", "no option chp"),
    ("wavefit_kernel(EXAMPLES)", "failed", "12 kernels*choose one with name="),
    ("wavefit_kernel('no-such.co')", "failed", "no-such.co"),
    ("wavefit_kernel(42)", "failed", "not a path, bytes or a compiled*int"),
    ("wavefit_kernel(STORY / 'main', name='zz')", "failed", "name contains 'zz'"),
    ("wavefit_kernel(b'junk')", "failed", "not a code object"),
    ("wavefit_kernel(STORY / 'main', threads=-1)", "failed", "threads"),
    ("wavefit_kernel(STORY / 'main', chip='MI999')", "failed", "unknown chip 'MI999'"),
    ("wavefit_kernel(STORY / 'main').check('vgprz > 0')", "failed", "no field 'vgprz'*"),
    ("wavefit_kernel(STORY / 'main').check('vgprs > baseline')", "failed", "needs a baseline*"),
]


@pytest.mark.parametrize(("body", "ends", "says"), WRONG, ids=[says for _, _, says in WRONG])
def test_wrong_use_is_one_line(tested: pytest.Pytester, body: str, ends: str, says: str) -> None:
    whole = body if "def " in body else f"def test_kernel(wavefit_kernel):\n    {body}"
    result = outcome(tested, whole)
    result.assert_outcomes(**{ends: 1})
    result.stdout.fnmatch_lines([f"*{says}*"])
    assert "site-packages" not in result.stdout.str()
    assert "src/wavefit" not in result.stdout.str()


def test_a_run_that_does_not_use_the_fixture_loads_nothing_more(tested: pytest.Pytester) -> None:
    tested.makepyfile("import sys\ndef test_light():\n    assert 'wavefit.chips' not in sys.modules\n")
    tested.runpytest_subprocess("-p", "wavefit.pytest_plugin").assert_outcomes(passed=1)


@pytest.mark.heavy
def test_hip_is_compiled_first(tested: pytest.Pytester) -> None:
    if not any(find(name) for name in ("amdclang++", "hipcc", "clang++")):
        pytest.skip("no compiler for HIP here")
    result = outcome(
        tested,
        """
SOURCE = '''extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, 256)))
void saxpy(float a, const float *x, float *y) {
    int i = __builtin_amdgcn_workitem_id_x();
    y[i] += a * x[i];
}'''
def test_kernel(wavefit_kernel, tmp_path):
    (tmp_path / "k.hip").write_text(SOURCE)
    seen = wavefit_kernel.hip(tmp_path / "k.hip", target="gfx950", flags=["-nogpuinc", "-nogpulib"])
    assert seen.kernel.name == "saxpy"
    assert seen.fit.occupancy == 1
def test_error(wavefit_kernel, tmp_path):
    (tmp_path / "k.hip").write_text("nonsense")
    wavefit_kernel.hip(tmp_path / "k.hip", target="gfx950", flags=["-nogpuinc", "-nogpulib"])
""",
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*error:*"])


@pytest.mark.heavy
def test_triton_compiles_the_example_to_what_is_committed(tested: pytest.Pytester) -> None:
    """The softmax of examples/, whose code object lies there: the same registers, launch and Fit."""
    pytest.importorskip("triton", reason="needs Triton (wavefit[triton])")
    shutil.copy(EXAMPLES.parent / "softmax.py", tested.path / "softmax.py")
    result = outcome(
        tested,
        """
import sys
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import wavefit as wf
def test_kernel(wavefit_kernel):
    from softmax import softmax
    seen = wavefit_kernel.triton(
        softmax, target="gfx950", signature={"x": "*bf16", "y": "*bf16", "columns": "i32"},
        constants={"width": 32768}, num_warps=8, num_stages=2, enable_fp_fusion=True,
    )
    (committed,) = wf.kernels(EXAMPLES / "softmax_gfx950_32768_w8.hsaco")
    assert seen.kernel.total_vgprs == committed.total_vgprs
    assert seen.fit.to_dict() == wf.fit(committed).to_dict()
""",
    )
    result.assert_outcomes(passed=1)


def test_the_plugin_leaves_no_files_beside_the_tests(tested: pytest.Pytester) -> None:
    before = set(Path(STORY / "main").iterdir())
    outcome(tested, "def test_kernel(wavefit_kernel):\n    wavefit_kernel(STORY / 'main')").assert_outcomes(
        passed=1
    )
    assert set(Path(STORY / "main").iterdir()) == before
