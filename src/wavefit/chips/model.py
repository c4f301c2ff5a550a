"""What is known of a chip: Facts with sources, and the plain numbers the mathematics reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

STATUSES = (
    "measured", "runtime", "compiler", "documented", "derived",
    "secondary", "assumed", "contradicted", "unknown",
)  # fmt: skip
"""From the firmest to the weakest. The last four (SOFT) make an answer say that it rests on them."""

SOFT = frozenset({"secondary", "assumed", "contradicted", "unknown"})

Number = int | float
Value = int | float | str | bool | tuple[int, ...] | tuple[str, ...] | None


class ChipNotFound(LookupError):
    """No chip or target has this name; `near` holds the closest names."""

    def __init__(self, name: str, near: tuple[str, ...] = ()) -> None:
        self.name, self.near = name, near
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        super().__init__(f"unknown chip {name[:80]!r}{hint}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.name, self.near)


@dataclass(frozen=True, slots=True)
class Fact:
    """One number (or word) of a Target or Chip: `value` in `unit`, who says so, and how firmly.

    `source` is where it can be looked up, `status` one of STATUSES, `note` a remark. `readings` holds other
    values that a source gives for the same thing.
    """

    value: Value
    source: str
    status: str
    unit: str | None = None
    note: str | None = None
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """Another authority's `value` for a Fact, and the `source` that a result on it is called by."""

    value: Value
    source: str


@dataclass(frozen=True, slots=True)
class Unit:
    """Where workgroups share LDS: a CU, a WGP, an SM, by `name`.

    `simds` of it, `wave_slots` of each SIMD, `lds_pool` in bytes of the whole unit.
    """

    name: str
    simds: int
    wave_slots: int
    lds_pool: int
    workgroups: int | None
    """Workgroups resident at once (barrier slots on AMD); None where only wave slots limit."""


@dataclass(frozen=True, slots=True)
class VectorFile:
    """The vector register file of one SIMD as waves of one size see it, in registers per lane.

    `file` is the whole of it, `granule` what is given out at once, `encode_granule` the unit in which kernel
    descriptors count (None where they do not).
    """

    file: int
    granule: int
    encode_granule: int | None


@dataclass(frozen=True, slots=True)
class Vgpr:
    """Vector registers: a file per wave size, and how many of each kind one wave can name.

    `files` by lanes of a wave; `addressable_arch` regular ones and `agprs` accumulators, per lane;
    `accumulator_granule` is what the regular ones are rounded up to before accumulators follow.
    """

    files: Mapping[int, VectorFile]
    addressable: int
    """Of all kinds together."""
    addressable_arch: int
    agprs: int
    accumulator: str
    """`none`, `separate` (the larger of the two kinds is charged) or `unified` (their sum)."""
    accumulator_granule: int


@dataclass(frozen=True, slots=True)
class Sgpr:
    """Scalar registers of one SIMD. `file` is None where they never limit or nothing is known.

    A wave names at most `addressable`, is given whole `granule`s and `trap_reserve` more; kernel
    descriptors count in `encode_granule`s.
    """

    limits: str
    """`yes`, `never` (fixed allotment) or `unknown`."""
    file: int | None
    granule: int | None
    encode_granule: int | None
    addressable: int | None
    extra: int | None
    """VCC, FLAT_SCRATCH and XNACK on top of the addressable ones, at most."""
    trap_reserve: int
    fixed: int | None
    """Allocated whatever the kernel asks (a hardware bug of two targets)."""


@dataclass(frozen=True, slots=True)
class Lds:
    """LDS allocation, in bytes: given out in `granule`s, at most `per_workgroup` to one workgroup."""

    granule: int
    per_workgroup: int
    reserve: int
    """Charged to each workgroup on top of what it asks."""
    carveouts: tuple[int, ...]
    """Sizes the pool can be set to, ascending; empty where it is fixed."""


@dataclass(frozen=True, slots=True)
class Workgroup:
    """What one workgroup may be: `max_threads` work-items.

    `barriers` is a pool of named barriers per unit (NVIDIA 9.0 on).
    """

    max_threads: int
    one_wave_exempt: bool
    """One-wave workgroups use no workgroup slot (AMD: no barrier)."""
    barriers: int | None


@dataclass(frozen=True, slots=True)
class Target:
    """One ISA target: what one CU has and how it is allocated.

    The numbers are plain so that arithmetic reads like arithmetic; `facts` holds the Fact behind each, by
    its path (`vgpr.wave64.granule`, `units.cu.lds_pool`). `id` is unique, `name` what the compiler calls it
    (gfx906 is two makers'), `vendor` and `family` say whose. `wave_sizes` are the lanes that a wave may
    have, `default_wave` what the compiler takes. `vgpr`, `sgpr`, `lds`, `workgroup` hold what is allocated
    and how; `scratch_waves` of one unit can have scratch, None where that is not limited.
    """

    id: str
    name: str
    vendor: str
    family: str
    wave_sizes: tuple[int, ...]
    default_wave: int
    modes: tuple[str, ...]
    """(`wgp`, `cu`) where the kernel chooses, default first; else empty."""
    units: Mapping[str, Unit]
    """By mode, or one under its own lower-case name."""
    vgpr: Vgpr
    sgpr: Sgpr
    lds: Lds
    workgroup: Workgroup
    scratch_waves: int | None
    views: Mapping[str, Mapping[str, Value]]
    """What an authority's View reads instead: `{"llvm-22": {"lds_granule": 1}}`."""
    facts: Mapping[str, Fact]
    unknown: tuple[str, ...] = ()
    """Paths without which no Fit can be computed."""

    def unit(self, mode: str | None = None) -> Unit:
        """The unit that workgroups share in this mode (default: the target's first)."""
        return self.units[mode] if mode else next(iter(self.units.values()))


@dataclass(frozen=True, slots=True)
class Chip:
    """One product: a Target plus how many of it and around it. `name` is None for a bare target.

    `vendor` is who sells it, `aliases` other names it goes by, `note` a remark. `facts` holds what is known
    of the product by path (`compute.cus`, `memory.bandwidth`); those of its target are in `target.facts`.
    """

    name: str | None
    target: Target
    vendor: str
    aliases: tuple[str, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)
    note: str | None = None

    def peak(self, type: str, *, path: str = "matrix", clock_mhz: float | None = None) -> float:  # noqa: A002
        """FLOP/s (operations/s for integers) of the chip for a data type, dense.

        `path` is `matrix` or `vector`, `clock_mhz` a clock other than the one that peaks are published
        at. Raises wavefit.matrix's errors where the rate, the CUs or the clock are not known. Its rates
        are the matrix room's, which is loaded for this and not before.
        """
        from importlib import import_module

        peak = import_module("wavefit.matrix").peak(self, type, path=path, clock_mhz=clock_mhz)
        return float(peak.flops)

    def value(self, path: str) -> Value:
        """The value of a Fact of the product, or None where it is not known."""
        fact = self.facts.get(path)
        return None if fact is None else fact.value
