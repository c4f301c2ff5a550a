"""From what a person gives (a chip and numbers, or a kernel that was read) to one checked question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wavefit.chips import Chip, Target, bare
from wavefit.chips import chip as find_chip
from wavefit.model import Kernel, Launch
from wavefit.occupancy.limits import total_vgprs
from wavefit.occupancy.result import BadQuestion

Threads = int | tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Question:
    """A chip, what the kernel spends, how it is started, and over which workgroup sizes.

    `launch.threads` is the largest of `sizes`; `sizes` are (low, high), equal for a single size.
    `threads_given` tells a size that was asked for from a default. `said` are the defaults the answer
    rests on.
    """

    chip: Chip
    kernel: Kernel
    launch: Launch
    sizes: tuple[int, int]
    is_range: bool
    threads_given: bool
    said: tuple[str, ...]

    def sized(self, threads: int) -> Launch:
        """The launch at one workgroup size."""
        return replace(self.launch, threads=threads)


Waves = Sequence[tuple[int, int]] | None


def what_if(chip: Chip, amounts: dict[str, int | None], waves: Waves = None) -> Kernel:
    """A Kernel of plain numbers: vgprs, agprs or total_vgprs, or `waves` of unequal ones; the rest."""
    _counts(amounts)
    kinds = tuple((count, registers) for count, registers in waves or ())
    _unequal(chip.target, kinds, amounts)
    vgprs, agprs, total = amounts["vgprs"], amounts["agprs"], amounts["total_vgprs"]
    if total is not None and (vgprs is not None or agprs is not None):
        raise BadQuestion("total_vgprs is vgprs and agprs together: give it, or them, not both")
    if agprs and not chip.target.vgpr.agprs:
        raise BadQuestion(f"{chip.target.name} has no accumulator registers (agprs)")
    return Kernel(
        target=chip.target.name,
        vgprs=vgprs,
        agprs=agprs,
        total_vgprs=total_vgprs(chip.target, vgprs, agprs) if total is None else total,
        wave_vgprs=kinds,
        sgprs=amounts["sgprs"],
        lds=amounts["lds"],
        scratch=amounts["scratch"],
    )


def ask(
    chip: Chip,
    kernel: Kernel,
    *,
    read: bool,
    threads: Threads,
    mode: str | None,
    wave: int | None,
    lds_dynamic: int | None,
    barriers: int | None,
    carveout: int | None,
) -> Question:
    """The checked question. `read` says that the kernel comes from a file. Raises BadQuestion."""
    target = chip.target
    if target.unknown:
        raise BadQuestion(f"{target.name}: no Fit, since nothing public says {', '.join(target.unknown)}")
    _counts({"lds_dynamic": lds_dynamic, "barriers": barriers, "carveout": carveout})
    said: list[str] = []
    sizes, is_range = _sizes(target, kernel, threads, said)
    dynamic = kernel.lds_dynamic if lds_dynamic is None else lds_dynamic
    if read and dynamic is None:
        certain = "the kernel has some" if kernel.uses_dynamic_lds else "a code object does not hold it"
        said.append(f"lds_dynamic: not known ({certain}); counted as 0")
    launch = Launch(
        threads=sizes[1],
        wave=_wave(target, kernel, wave, said),
        mode=_mode(target, kernel, mode, said),
        lds_dynamic=dynamic,
        barriers=barriers,
        carveout=carveout,
    )
    counted = sum(count for count, _ in kernel.wave_vgprs)
    if counted and (is_range or counted != launch.waves):
        raise BadQuestion(f"waves names {counted} waves, threads makes {launch.waves}")
    return Question(chip, kernel, launch, sizes, is_range, threads is not None, tuple(said))


def as_chip(subject: Chip | Target | str) -> Chip:
    """The Chip of a name, a Target or itself. Raises ChipNotFound."""
    if isinstance(subject, Chip):
        return subject
    return bare(subject) if isinstance(subject, Target) else find_chip(subject)


def _sizes(target: Target, kernel: Kernel, threads: Threads, said: list[str]) -> tuple[tuple[int, int], bool]:
    most = target.workgroup.max_threads
    if isinstance(threads, tuple):
        low, high = threads
        _counts({"threads": low})
        _counts({"threads": high})
        if not 1 <= low <= high:
            raise BadQuestion(
                f"threads: the range {low}:{high} is empty; write LOW:HIGH with 1 <= LOW <= HIGH"
            )
        return (low, high), True
    if threads is not None:
        _counts({"threads": threads})
        if threads < 1:
            raise BadQuestion(f"threads must be at least 1, not {threads}")
        return (threads, threads), False
    if kernel.wave_vgprs:
        waves = sum(count for count, _ in kernel.wave_vgprs)
        return (waves * target.default_wave,) * 2, False
    if kernel.required_threads:
        return (kernel.required_threads,) * 2, False
    if kernel.side_threads:
        said.append(f"threads: {kernel.side_threads}, from the side file")
        return (kernel.side_threads,) * 2, False
    if kernel.max_threads:
        said.append(f"threads: not required by the kernel; taken at its largest, {kernel.max_threads}")
        return (kernel.max_threads,) * 2, False
    said.append(f"threads: not given; every size from 1 to {most}")
    return (1, most), True


def _unequal(target: Target, kinds: tuple[tuple[int, int], ...], amounts: dict[str, int | None]) -> None:
    """Waves of unequal registers stand alone and share evenly over the SIMDs."""
    if not kinds:
        return
    if any(amounts[name] is not None for name in ("vgprs", "agprs", "total_vgprs")):
        raise BadQuestion("waves already says how many vector registers each wave has")
    simds = {unit.simds for unit in target.units.values()}
    for count, registers in kinds:
        _counts({"waves": count, "registers": registers})
        if count < 1 or any(count % each for each in simds):
            each = " or ".join(map(str, sorted(simds)))
            raise BadQuestion(
                f"waves {count}x{registers}: a SIMD holds an equal share of each kind, "
                f"so {count} must be a multiple of {each}"
            )


def _wave(target: Target, kernel: Kernel, wave: int | None, said: list[str]) -> int:
    chosen = kernel.wave if wave is None else wave
    if chosen is None:
        if len(target.wave_sizes) > 1:
            said.append(f"wave: {target.default_wave} lanes, the compiler's default for {target.name}")
        return target.default_wave
    if chosen not in target.wave_sizes:
        sizes = " or ".join(map(str, target.wave_sizes))
        raise BadQuestion(f"{target.name} has waves of {sizes} lanes, not {chosen}")
    return chosen


def _mode(target: Target, kernel: Kernel, mode: str | None, said: list[str]) -> str | None:
    chosen = kernel.mode if mode is None else mode
    if not target.modes:
        if mode is not None and mode not in target.units:
            raise BadQuestion(f"{target.name} has one mode only; leave out mode={mode}")
        return None
    if chosen is None:
        said.append(f"mode: {target.modes[0]}, the compiler's default for {target.name}")
        return target.modes[0]
    if chosen not in target.modes:
        raise BadQuestion(f"{target.name} runs in mode {' or '.join(target.modes)}, not {chosen!r}")
    return chosen


def _counts(amounts: dict[str, int | None]) -> None:
    """Every amount that is given is a whole number, not negative."""
    for name, amount in amounts.items():
        if amount is None:
            continue
        if isinstance(amount, bool) or not hasattr(amount, "__index__"):
            raise BadQuestion(f"{name} must be a whole number, not {amount!r}")
        if amount < 0:
            raise BadQuestion(f"{name} cannot be negative ({amount})")
