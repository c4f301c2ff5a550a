"""What the compiler wrote about each kernel: MessagePack from V3 on, YAML in V2.

Decoded by msgspec into typed records, which is what keeps it bounded and strict: unknown keys (a
kernel's arguments are most of the bytes) are stepped over without building objects, a wrong type or a
number out of range is an error that names its place. On 2,500 kernels it takes 6 ms where unpacking
everything with msgpack takes 72 (`bench/read_kernels.py`) and stepping through with msgpack's Unpacker
27. A kernel must have a name, so that the records stay within about 10 times the bytes they come from.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct, field

from wavefit.kernels.amd.yaml_subset import parse
from wavefit.kernels.source import Source

Count = Annotated[int, Meta(ge=0, le=2**32 - 1)]
Name = Annotated[str, Meta(min_length=1)]

DYNAMIC_LDS = b"\xab.value_kind\xb7hidden_dynamic_lds_size"
"""The key and value of the argument that carries a launch's dynamic LDS, as MessagePack."""


class Spend(Struct, frozen=True, gc=False):
    """One kernel's entry. Registers as counted; None where the entry does not say."""

    name: Name = field(name=".name")
    symbol: Name = field(name=".symbol")
    vgprs: Count | None = field(name=".vgpr_count", default=None)
    agprs: Count | None = field(name=".agpr_count", default=None)
    sgprs: Count | None = field(name=".sgpr_count", default=None)
    vgpr_spills: Count | None = field(name=".vgpr_spill_count", default=None)
    sgpr_spills: Count | None = field(name=".sgpr_spill_count", default=None)
    lds: Count | None = field(name=".group_segment_fixed_size", default=None)
    scratch: Count | None = field(name=".private_segment_fixed_size", default=None)
    max_threads: Count | None = field(name=".max_flat_workgroup_size", default=None)
    required_size: tuple[Count, Count, Count] | None = field(name=".reqd_workgroup_size", default=None)
    wave: Count | None = field(name=".wavefront_size", default=None)
    wgp_mode: bool | Count | None = field(name=".workgroup_processor_mode", default=None)
    dynamic_stack: bool | Count | None = field(name=".uses_dynamic_stack", default=None)
    arguments: Raw = field(name=".args", default=Raw())

    @property
    def uses_dynamic_lds(self) -> bool:
        """An argument takes the size of LDS that the launch adds."""
        return DYNAMIC_LDS in bytes(self.arguments)


class SpendWithoutArguments(Spend, frozen=True, gc=False):
    """The same from a note in which no kernel takes dynamic LDS, so that its arguments are stepped over."""

    arguments: Raw = field(name="none such", default=Raw())


class Metadata(Struct, frozen=True):
    """The whole note. `target` is a target string as written."""

    kernels: list[Spend] = field(name="amdhsa.kernels", default_factory=list)
    target: str | None = field(name="amdhsa.target", default=None)


class _MetadataWithoutArguments(Metadata, frozen=True):
    kernels: list[SpendWithoutArguments] = field(  # type: ignore[assignment]  # nobody adds to it
        name="amdhsa.kernels", default_factory=list
    )


class _Properties(Struct):
    vgprs: Count | None = field(name="NumVGPRs", default=None)
    sgprs: Count | None = field(name="NumSGPRs", default=None)
    vgpr_spills: Count | None = field(name="NumSpilledVGPRs", default=None)
    sgpr_spills: Count | None = field(name="NumSpilledSGPRs", default=None)
    lds: Count | None = field(name="GroupSegmentFixedSize", default=None)
    scratch: Count | None = field(name="PrivateSegmentFixedSize", default=None)
    max_threads: Count | None = field(name="MaxFlatWorkGroupSize", default=None)
    wave: Count | None = field(name="WavefrontSize", default=None)
    dynamic_stack: bool | None = field(name="IsDynamicCallStack", default=None)


class _Attributes(Struct):
    required_size: tuple[Count, Count, Count] | None = field(name="ReqdWorkGroupSize", default=None)


class _KernelV2(Struct):
    name: Name = field(name="Name")
    symbol: Name = field(name="SymbolName")
    attributes: _Attributes = field(name="Attrs", default_factory=_Attributes)
    properties: _Properties = field(name="CodeProps", default_factory=_Properties)


class _MetadataV2(Struct):
    kernels: list[_KernelV2] = field(name="Kernels", default_factory=list)


_decoder = msgspec.msgpack.Decoder(Metadata)
_decoder_without_arguments = msgspec.msgpack.Decoder(_MetadataWithoutArguments)


def metadata(source: Source) -> Metadata:
    """The MessagePack note that fills this Source. Raises BadFile."""
    try:
        note = source.read(0, source.size)
        return (_decoder if DYNAMIC_LDS in note else _decoder_without_arguments).decode(note)
    except (msgspec.DecodeError, RecursionError) as error:
        raise source.bad(0, f"kernel metadata: {error}") from None


def metadata_v2(source: Source) -> list[Spend]:
    """The kernels of the YAML note that fills this Source, symbols without their `@kd`. Raises BadFile."""
    try:
        text = source.read(0, source.size).rstrip(b"\0").decode()
        found = msgspec.convert(parse(text), _MetadataV2)
    except ValueError as error:  # of the decoding, of the parser and of msgspec
        raise source.bad(0, f"kernel metadata: {error}") from None
    return [_from_v2(kernel) for kernel in found.kernels]


def metadata_text(text: str) -> Metadata:
    """What assembly and LLVM's tools show of a note, of any version, as YAML. Raises ValueError."""
    found = parse(text)
    if isinstance(found, dict) and "Kernels" in found:
        return Metadata([_from_v2(kernel) for kernel in msgspec.convert(found, _MetadataV2).kernels])
    return _decoder.decode(msgspec.msgpack.encode(found))  # as a note, so that one schema serves both


def _from_v2(kernel: _KernelV2) -> Spend:
    said: dict[str, Any] = {
        **msgspec.structs.asdict(kernel.properties),
        **msgspec.structs.asdict(kernel.attributes),
    }
    return Spend(name=kernel.name, symbol=kernel.symbol.removesuffix("@kd"), **said)
