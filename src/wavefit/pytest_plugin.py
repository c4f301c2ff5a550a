"""A pytest plugin for tests of GPU kernels: what was compiled, does it still fit as it should?

    @pytest.mark.wavefit("occupancy >= 50%", "vgpr_spills == 0", chip="MI355X")
    def test_gemm(wavefit_kernel):
        wavefit_kernel(compiled)            # a path, the bytes of a code object, or what triton.compile gave

Rules are those of `wavefit gate`. A failing test shows the derivation of every Fit it asked for.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from wavefit.model import Kernel
    from wavefit.occupancy import Fit

MARK = "wavefit(*rules, chip=None, threads=None, lds_dynamic=None, baseline=None): rules that every kernel given to the wavefit_kernel fixture keeps"  # noqa: E501
_OPTIONS = ("chip", "threads", "lds_dynamic", "baseline")
_SEEN = pytest.StashKey[int]()
_BINARIES = ("hsaco", "cubin")
COMPILE_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Seen:
    """One compiled kernel with its Fit."""

    kernel: Kernel
    fit: Fit
    baseline: str | None = None

    def check(self, *rules: str) -> None:
        """Fails the test with the reason where a rule does not hold."""
        from wavefit.gate.budget import plain
        from wavefit.gate.check import gate
        from wavefit.gate.rows import BadDocument, convert
        from wavefit.gate.rule import BadRule
        from wavefit.report.document import Report
        from wavefit.report.gate import breach_line
        from wavefit.report.rows import load

        rows = convert(Report(((self.kernel, self.fit),), ()).to_dict()).kernels
        try:
            earlier = None if self.baseline is None else load([self.baseline], None, {})[0].rows
            breaches = gate(plain(rules), rows, earlier).breaches
        except (BadRule, BadDocument) as why:
            pytest.fail(str(why), pytrace=False)
        if breaches:
            pytest.fail("\n".join(map(breach_line, breaches)), pytrace=False)

    @property
    def derivation(self) -> str:
        """What the kernel spends, and the arithmetic of its Fit with who says each constant."""
        from wavefit.report.kernels import kernel_text

        return kernel_text(self.kernel, self.fit, explain=True)


class WavefitKernel:
    """The fixture: call it with something compiled, or with `triton` or `hip` to compile first."""

    def __init__(self, request: pytest.FixtureRequest, folder: Path) -> None:
        self._node = request.node
        self._root = request.config.rootpath
        self._folder = folder
        mark = request.node.get_closest_marker("wavefit")
        self._rules: tuple[str, ...] = () if mark is None else mark.args
        self._asked: dict[str, Any] = {} if mark is None else dict(mark.kwargs)
        unknown = sorted(set(self._asked) - set(_OPTIONS))
        if unknown:
            pytest.fail(
                f"mark wavefit: no option {', '.join(unknown)}; there are {', '.join(_OPTIONS)}", False
            )

    def __call__(self, compiled: Any, *, name: str = "", **launch: Any) -> Seen:
        """The one kernel in `compiled` whose name contains `name`, fitted; the mark's rules are checked.

        `compiled` is a path, bytes, or an object with Triton's `asm` and `metadata`. `launch` goes to
        `wavefit.fit` (threads, lds_dynamic, mode, wave, chip) before what the mark says.
        """
        import wavefit as wf

        asked = {**{key: value for key, value in self._asked.items() if key != "baseline"}, **launch}
        kernel = self._only(compiled, name)
        try:
            fit = wf.fit(kernel, **asked)
        except (wf.BadQuestion, wf.ChipNotFound) as why:
            pytest.fail(str(why), pytrace=False)
        if isinstance(fit, wf.FitRange):
            fit = fit.low
        baseline = self._asked.get("baseline")
        seen = Seen(kernel, fit, None if baseline is None else str(self._root / baseline))
        self._node.stash[_SEEN] = self._node.stash.get(_SEEN, 0) + 1
        self._node.add_report_section("call", "wavefit", seen.derivation)
        seen.check(*self._rules)
        return seen

    def triton(
        self,
        function: Any,
        *,
        target: str,
        signature: Mapping[str, str],
        constants: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Seen:
        """Compiles a `triton.jit` function for a target (no GPU needed), then as the call.

        `signature` gives each argument's type as Triton writes it (`*bf16`, `i32`), `constants` the values
        of its constexprs; pointers and sizes count as multiples of 16. `options` are num_warps and so on.
        """
        import triton
        from triton.backends.compiler import GPUTarget

        import wavefit as wf

        of = wf.chip(target).target
        aligned = {(at,): [["tt.divisibility", 16]] for at in range(len(signature))}
        types = {**signature, **dict.fromkeys(constants or {}, "constexpr")}
        source = triton.compiler.ASTSource(function, types, dict(constants or {}), aligned)
        if of.vendor == "NVIDIA":
            made = GPUTarget("cuda", int(of.name.removeprefix("sm_")), of.default_wave)
        else:
            made = GPUTarget("hip", of.name, of.default_wave)
        return self(triton.compile(source, target=made, options=options))

    def hip(
        self, source: str | os.PathLike[str], *, target: str, flags: Sequence[str] = (), name: str = ""
    ) -> Seen:
        """Compiles the device side of a HIP source with amdclang++, hipcc or clang++, then as the call."""
        import subprocess

        from wavefit.environment import find

        compiler = next((path for known in ("amdclang++", "hipcc", "clang++") if (path := find(known))), None)
        if compiler is None:
            pytest.fail("no amdclang++, hipcc or clang++ to compile HIP with", pytrace=False)
        out = self._folder / f"{Path(source).stem}_{target}.co"
        command = [compiler, "-x", "hip", "--offload-device-only", f"--offload-arch={target}", *flags]
        command += ["-o", str(out), os.fspath(source)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=COMPILE_SECONDS, errors="replace"
        )
        if done.returncode:
            pytest.fail(f"{' '.join(command)}\n{done.stderr}", pytrace=False)
        return self(out, name=name)

    def _only(self, compiled: Any, name: str) -> Kernel:
        import wavefit as wf

        path = self._path(compiled)
        found = list(wf.kernels(path))
        kernels = [item for item in found if isinstance(item, wf.Kernel) and name in item.name]
        if len(kernels) == 1:
            return kernels[0]
        errors = [str(item) for item in found if isinstance(item, wf.BadFile)]
        names = ", ".join(repr(kernel.name) for kernel in kernels[:10])
        why = f"{len(kernels)} kernels ({names}); choose one with name=" if kernels else "; ".join(errors)
        pytest.fail(f"{path}: {why or f'no kernel whose name contains {name!r}'}", pytrace=False)

    def _path(self, compiled: Any) -> Path:
        if isinstance(compiled, str | os.PathLike):
            return Path(compiled)
        if isinstance(compiled, bytes):
            return self._written(compiled)
        asm = getattr(compiled, "asm", None)
        kind = next((kind for kind in _BINARIES if isinstance(asm, Mapping) and kind in asm), None)
        if kind is None or asm is None:
            pytest.fail(
                f"not a path, bytes or a compiled Triton kernel: {type(compiled).__name__}", pytrace=False
            )
        said = compiled.metadata
        keys = ("name", "num_warps", "shared", "warp_size")
        side = {key: getattr(said, key) for key in keys if getattr(said, key, None) is not None}
        return self._written(asm[kind], side)

    def _written(self, content: bytes, side: Mapping[str, Any] | None = None) -> Path:
        """A file of its own for what was compiled, with Triton's side file beside it."""
        path = self._folder / f"kernel{len(os.listdir(self._folder))}.hsaco"
        path.write_bytes(content)
        if side is not None:
            path.with_suffix(".json").write_text(json.dumps(side))
        return path


def pytest_configure(config: pytest.Config) -> None:
    """Makes the mark known."""
    config.addinivalue_line("markers", MARK)


@pytest.fixture
def wavefit_kernel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> WavefitKernel:
    """Reads (or compiles) one kernel, fits it, and holds the mark's rules against it."""
    return WavefitKernel(request, tmp_path_factory.mktemp("wavefit"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """A marked test that looked at no kernel has checked nothing, and fails."""
    result = yield
    if item.get_closest_marker("wavefit") and not item.stash.get(_SEEN, 0):
        pytest.fail("marked wavefit, but no kernel was given to the wavefit_kernel fixture", pytrace=False)
    return result
