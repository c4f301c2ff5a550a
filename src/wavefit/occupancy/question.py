"""From what a person gives (a chip and numbers, or a kernel that was read) to one checked question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import index
from typing import SupportsIndex

from wavefit.chips import Chip, Target, bare
from wavefit.chips import chip as find_chip
from wavefit.model import Kernel, Launch
from wavefit.occupancy.limits import total_vgprs
from wavefit.occupancy.result import BadQuestion

Threads = SupportsIndex | tuple[int, int] | None
Waves = Sequence[tuple[int, int]] | None
LARGEST = 2**31 - 1


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

    def representative(self) -> Iterator[int]:
        """The largest size of each wave count, the largest first: those between spend the same.

        Of sizes over the target's maximum, which all cannot launch, the largest alone.
        """
        low, high = self.sizes
        wave, most = self.launch.wave, self.chip.target.workgroup.max_threads
        if high > most:
            yield high
            high = most
        while high >= low:
            yield high
            high = (-(-high // wave) - 1) * wave

    def sized(self, threads: int) -> Launch:
        """The launch at one workgroup size."""
        return replace(self.launch, threads=threads)


def what_if(chip: Chip, given: Mapping[str, SupportsIndex | None], waves: Waves = None) -> Kernel:
    """A Kernel of plain numbers: vgprs, agprs or total_vgprs, or `waves` of unequal ones; the rest."""
    amounts = {name: whole(name, amount) for name, amount in given.items()}
    kinds = _kinds(waves)
    if kinds and any(amounts[name] is not None for name in ("vgprs", "agprs", "total_vgprs")):
        raise BadQuestion("waves already says how many vector registers each wave has")
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
    wave: SupportsIndex | None,
    lds_dynamic: SupportsIndex | None,
    barriers: SupportsIndex | None,
    carveout: SupportsIndex | None,
) -> Question:
    """The checked question. `read` says that the kernel comes from a file. Raises BadQuestion."""
    target = chip.target
    if target.unknown:
        raise BadQuestion(f"{target.name}: no Fit, since nothing public says {', '.join(target.unknown)}")
    said: list[str] = []
    lanes = _wave(target, kernel, whole("wave", wave), said)
    chosen = _mode(target, kernel, mode, said)
    sizes, is_range = _sizes(target, kernel, threads, lanes, said)
    given = whole("lds_dynamic", lds_dynamic)
    dynamic = kernel.lds_dynamic if given is None else given
    if read and dynamic is None:
        certain = "the kernel has some" if kernel.uses_dynamic_lds else "a code object does not hold it"
        said.append(f"lds_dynamic: not known ({certain}); counted as 0")
    launch = Launch(
        threads=sizes[1],
        wave=lanes,
        mode=chosen,
        lds_dynamic=dynamic,
        barriers=kernel.barriers if barriers is None else _barriers(target, whole("barriers", barriers)),
        carveout=_carveout(target, whole("carveout", carveout)),
    )
    _shared_evenly(target, kernel, launch, is_range)
    return Question(chip, kernel, launch, sizes, is_range, threads is not None, tuple(said))


def as_chip(subject: Chip | Target | str) -> Chip:
    """The Chip of a name, a Target or itself. Raises ChipNotFound, and BadQuestion for anything else."""
    if isinstance(subject, Chip):
        return subject
    if isinstance(subject, Target):
        return bare(subject)
    if isinstance(subject, Exception):  # what `kernels` yields in the place of a damaged one
        raise subject
    if not isinstance(subject, str):
        raise BadQuestion(f"a chip, a target, a name or a Kernel, not {subject!r}")
    return find_chip(subject)


def _sizes(
    target: Target, kernel: Kernel, threads: Threads, wave: int, said: list[str]
) -> tuple[tuple[int, int], bool]:
    most = target.workgroup.max_threads
    if isinstance(threads, tuple):
        return _range(threads), True
    asked = whole("threads", threads)
    if asked is not None:
        if asked < 1:
            raise BadQuestion(f"threads must be at least 1, not {asked}")
        return (asked, asked), False
    if kernel.wave_vgprs:
        waves = sum(count for count, _ in kernel.wave_vgprs)
        return (waves * wave,) * 2, False
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


def _range(threads: tuple[int, int]) -> tuple[int, int]:
    ends = [whole("threads", end) for end in threads]
    if len(ends) != 2 or None in ends:
        raise BadQuestion(f"threads: a range is (low, high), not {threads!r}")
    low, high = (end or 0 for end in ends)
    if low < 1:
        raise BadQuestion(f"threads must be at least 1, not {low}")
    if low > high:
        raise BadQuestion(f"threads: the range {low}:{high} is empty; write LOW:HIGH with LOW <= HIGH")
    return low, high


def _kinds(waves: Waves) -> tuple[tuple[int, int], ...]:
    try:
        pairs = [(whole("waves", count), whole("registers", each)) for count, each in waves or ()]
    except (TypeError, ValueError) as error:
        if isinstance(error, BadQuestion):
            raise
        raise BadQuestion(f"waves is a list of (count, registers), not {waves!r}") from None
    if any(not count or each is None for count, each in pairs):
        raise BadQuestion("waves: each kind has at least one wave and a number of registers")
    return tuple((count or 0, each or 0) for count, each in pairs)


def _shared_evenly(target: Target, kernel: Kernel, launch: Launch, is_range: bool) -> None:
    """Waves of unequal registers: each SIMD of the unit holds an equal share of every kind."""
    simds = target.unit(launch.mode).simds
    for count, registers in kernel.wave_vgprs:
        if count % simds:
            raise BadQuestion(
                f"waves {count}x{registers}: a SIMD holds an equal share of each kind, "
                f"so {count} must be a multiple of {simds}"
            )
    counted = sum(count for count, _ in kernel.wave_vgprs)
    if counted and (is_range or counted != launch.waves):
        raise BadQuestion(f"waves names {counted} waves, threads makes {launch.waves}")


def _barriers(target: Target, barriers: int | None) -> int | None:
    if barriers and target.workgroup.one_wave_exempt:
        raise BadQuestion(f"barriers counts named barriers, which {target.name} does not have")
    return barriers


def _carveout(target: Target, carveout: int | None) -> int | None:
    if carveout is not None and not target.lds.carveouts:
        raise BadQuestion(f"carveout: the LDS of {target.name} is not shared with a cache")
    if carveout is not None and carveout > 100:
        raise BadQuestion(f"carveout is a percentage, not {carveout}")
    return carveout


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


def whole(name: str, amount: SupportsIndex | None) -> int | None:
    """A whole number that is neither negative nor absurd, as Python's own int. Raises BadQuestion."""
    if amount is None:
        return None
    try:
        number = index(amount)
    except TypeError:
        number = None
    if number is None or isinstance(amount, bool):
        raise BadQuestion(f"{name} must be a whole number, not {amount!r}")
    if number < 0:
        raise BadQuestion(f"{name} cannot be negative ({number})")
    if number > LARGEST:
        raise BadQuestion(f"{name}: no chip has so many; the most that is taken is {LARGEST}")
    return number
