"""Which compiled kernel a profiled one is: by symbol, then by name, and by its cost where names repeat."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from wavefit.model import Kernel
from wavefit.profiles.names import bare, base


@dataclass(frozen=True, slots=True)
class Joined:
    """The compiled kernel, or why there is none. `how` is the name that matched: symbol or base name."""

    kernel: Kernel | None
    how: str


@dataclass(slots=True)
class Compiled:
    """Compiled kernels by their names. `taken` are those that some profiled kernel was."""

    kernels: tuple[Kernel, ...]
    exact: dict[str, list[Kernel]] = field(default_factory=lambda: defaultdict(list))
    loose: dict[str, list[Kernel]] = field(default_factory=lambda: defaultdict(list))
    taken: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, kernels: Iterable[Kernel]) -> Compiled:
        """The index of a pile of kernels."""
        index = cls(tuple(kernels))
        for kernel in index.kernels:
            for name in {bare(kernel.symbol), bare(kernel.name)} - {""}:
                index.exact[name].append(kernel)
            own = base(kernel.symbol or kernel.name)
            if own:
                index.loose[own].append(kernel)
        return index

    @property
    def only_target(self) -> str | None:
        """The target that all of them are compiled for, if it is one."""
        targets = {kernel.target for kernel in self.kernels}
        return targets.pop() if len(targets) == 1 else None

    def unseen(self) -> tuple[str, ...]:
        """Names of those that no profiled kernel was."""
        return tuple(sorted({k.name or bare(k.symbol) for k in self.kernels if id(k) not in self.taken}))

    def find(
        self, names: Iterable[str], target: str | None, total_vgprs: int | None, sgprs: int | None
    ) -> Joined:
        """The compiled kernel that these names and counts (as charged; None unknown) are of."""
        for how, index, forms in (
            ("symbol", self.exact, [bare(name) for name in names if name]),
            ("base name", self.loose, [base(name) for name in names if name]),
        ):
            for form in forms:
                found = [k for k in index.get(form, ()) if target is None or k.target == target]
                if found:
                    return self._one(found, how, total_vgprs, sgprs)
                if form in index:
                    others = ", ".join(sorted({k.target for k in index[form]}))
                    return Joined(None, f"compiled for {others} only")
        return Joined(None, "no compiled kernel has this name")

    def _one(self, found: list[Kernel], how: str, total_vgprs: int | None, sgprs: int | None) -> Joined:
        """One of several of a name: the one whose counts fit, if all that fit cost the same."""
        alike = [k for k in found if _fits(k, total_vgprs, sgprs)] or found
        costs = {(k.charged_vgprs, k.charged_sgprs, k.lds, k.scratch) for k in alike}
        if len(costs) > 1:
            return Joined(None, f"{len(alike)} compiled kernels of different cost have this {how}")
        if alike is found and len(found) > 1 and not _fits(found[0], total_vgprs, sgprs):
            return Joined(None, f"{len(found)} compiled kernels have this {how}, none with these registers")
        self.taken.update(id(k) for k in alike)
        return Joined(alike[0], how)


def _fits(kernel: Kernel, total_vgprs: int | None, sgprs: int | None) -> bool:
    """True where no count that both sides know differs by more than the profiler's rounding."""
    for mine, seen, granule in ((kernel.charged_vgprs, total_vgprs, 8), (kernel.charged_sgprs, sgprs, 16)):
        if mine is not None and seen is not None and -(-mine // granule) != -(-seen // granule):
            return False
    return True
