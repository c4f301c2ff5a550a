"""One Kernel out of its two halves: what the compiler counted and what the hardware is told."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from wavefit.chips.model import Target
from wavefit.kernels.amd.descriptor import Descriptor
from wavefit.kernels.amd.metadata import Spend
from wavefit.kernels.rows import CodeObject
from wavefit.model import Kernel


def joined(code: CodeObject, spend: Spend, descriptor: Descriptor | None) -> Kernel:
    """The Kernel of a metadata entry and its descriptor (None where the file has none for it).

    Raises ValueError where the entry contradicts itself or the target.
    """
    target = code.limits
    counted, spend = spend, _completed(spend, descriptor)
    wave = _wave(spend, descriptor, target)
    vgprs, agprs = _registers(spend, descriptor, target)
    allocated = _allocated(descriptor, target, wave)
    return Kernel(
        target=code.target,
        features=code.features,
        name=spend.name,
        symbol=spend.symbol,
        file=code.file,
        member=code.member,
        vgprs=vgprs,
        agprs=agprs,
        total_vgprs=spend.vgprs,
        allocated_vgprs=allocated[0],
        sgprs=spend.sgprs,
        allocated_sgprs=allocated[1],
        lds=spend.lds,
        uses_dynamic_lds=spend.uses_dynamic_lds,
        scratch=spend.scratch,
        dynamic_stack=bool(spend.dynamic_stack or (descriptor and descriptor.dynamic_stack)),
        vgpr_spills=spend.vgpr_spills,
        sgpr_spills=spend.sgpr_spills,
        max_threads=spend.max_threads,
        required_size=spend.required_size if all(spend.required_size or (0,)) else None,
        wave=wave,
        mode=_mode(spend, descriptor, target),
        code_version=code.version,
        notes=(*code.notes, *_remarks(counted, descriptor, target, wave, allocated)),
    )


def _completed(spend: Spend, descriptor: Descriptor | None) -> Spend:
    """The entry with what it leaves out taken from the descriptor."""
    left_out = [name for name in ("vgprs", "sgprs", "lds", "scratch") if getattr(spend, name) is None]
    if descriptor is None or not left_out:
        return spend
    return structs.replace(spend, **{name: getattr(descriptor, name) for name in left_out})


def _wave(spend: Spend, descriptor: Descriptor | None, target: Target | None) -> int | None:
    if target is None:
        return spend.wave
    if spend.wave is not None and spend.wave not in target.wave_sizes:
        raise ValueError(f"wave size {spend.wave}, which {target.name} does not have")
    if spend.wave is None and descriptor and descriptor.wave in target.wave_sizes:
        return descriptor.wave
    return spend.wave or target.default_wave


def _mode(spend: Spend, descriptor: Descriptor | None, target: Target | None) -> str | None:
    """`wgp` or `cu` on a target that has both; the metadata say it from V5 on."""
    if target is None or not target.modes:
        return None
    if spend.wgp_mode is not None:
        return "wgp" if spend.wgp_mode else "cu"
    if descriptor is None:
        return None
    return "wgp" if descriptor.wgp_mode() else "cu"


def _registers(
    spend: Spend, descriptor: Descriptor | None, target: Target | None
) -> tuple[int | None, int | None]:
    """Regular and accumulator VGPRs out of the count, which on a unified file holds both.

    With accumulators the regular ones come out rounded up to 4 there, and as the larger of the two kinds
    on separate files: the metadata do not say more. An entry without `.agpr_count` (hand-written
    kernels) is split at the descriptor's accumulator offset.
    """
    total, agprs = spend.vgprs, spend.agprs
    if total is None or target is None or target.vgpr.accumulator != "unified":
        return (None if target is None else total), agprs
    if agprs is None:
        offset = descriptor.accumulator_offset(target) if descriptor else None
        if offset is None:
            return None, None
        agprs = max(0, total - offset)
    if agprs > total:
        raise ValueError(f"{agprs} AGPRs of {total} VGPRs in all")
    return total - agprs, agprs


def _allocated(
    descriptor: Descriptor | None, target: Target | None, wave: int | None
) -> tuple[int | None, int | None]:
    """VGPRs and SGPRs that the descriptor encodes."""
    if descriptor is None or target is None or wave is None:
        return None, None
    return descriptor.allocated_vgprs(target, wave), descriptor.allocated_sgprs(target)


def _remarks(
    spend: Spend,
    descriptor: Descriptor | None,
    target: Target | None,
    wave: int | None,
    allocated: tuple[int | None, int | None],
) -> Iterator[str]:
    """What a person should know where the two halves do not say the same."""
    if descriptor is None:
        yield "the file has no descriptor for it: what is allocated is not known"
        return
    if target and wave:
        steps = target.vgpr.files[wave].encode_granule, target.sgpr.encode_granule
        yield from _padding("VGPRs", spend.vgprs, allocated[0], steps[0])
        yield from _padding("SGPRs", spend.sgprs, allocated[1], steps[1])
    pairs = (("LDS", spend.lds, descriptor.lds), ("scratch", spend.scratch, descriptor.scratch))
    for what, counted, told in pairs:
        if counted is not None and counted != told:
            yield f"the metadata say {counted} bytes of {what}, the descriptor {told}"


def _padding(what: str, counted: int | None, taken: int | None, step: int | None) -> Iterator[str]:
    if counted is None or taken is None or step is None:
        return
    if taken < counted:
        yield f"the descriptor allocates {taken} {what}, fewer than the {counted} of the metadata"
    elif taken >= max(counted, 1) + step:
        yield f"{counted} {what} are used and {taken} allocated: padding that the hardware charges"
