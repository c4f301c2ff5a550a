"""Holds the pages of `data/` against their own rules: `wavefit chips --check`.

A target's page: `units`, `vgpr`, `sgpr`, `lds`, `workgroup`, where it applies `scratch` and `modes`, and a
`view.NAME` for what an authority reads instead. A product's page, every section optional:

    [compute]      cus, dies, cus_per_die
    [clock]        peak_mhz (the highest), published_mhz (where published peaks hold, if lower)
    [cache]        l1_bytes, l2_bytes, l2_bytes_per_die, mall_bytes, scalar_bytes, instruction_bytes
    [memory]       bytes, type, bandwidth and *_bandwidth_measured in bytes/s
    [rate.vector]  [rate.matrix]  by data type: FLOP (or OP) per clock per CU, dense, FMA counted as two
    [latency]      *_cycles, *_ns
    [measured]     [published]    FLOP/s of the whole chip; published.about: the chip a guide wrote of
    [identity]     pci_id
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from wavefit.chips.load import by_key, keys
from wavefit.chips.model import STATUSES, Chip, Target
from wavefit.chips.pages import DATA, Folder, build_product, build_target, merged, read, stems

_WORDS = {
    "": {"name", "vendor", "family", "like", "target", "aliases", "note"}
    | {"wave_sizes", "default_wave", "modes"},
    "units": {"name"},
    "vgpr": {"accumulator"},
    "sgpr": {"limits"},
    "workgroup": {"one_wave_exempt"},
}
"""What a page says without a source, by the first section: how to read it, not what was measured."""

_FACT = {"value", "unit", "source", "status", "note", "readings"}
_VIEW = {"sgpr_steps", "sgpr_granule", "lds_granule", "lds_pool_wgp", "trap_reserve", "wave_slots"}


def check(folder: Folder = DATA) -> list[str]:
    """Problems of all pages under `folder`, one line each with page, place and cause; empty if none."""
    found: list[str] = []
    folder = Path(folder)
    targets = _each(folder, "targets", _target, found)
    _each(folder, "products", lambda _, page: _product(page, targets), found)
    return [*found, *_names(folder)]


def _each(
    folder: Path,
    kind: str,
    examine: Callable[[Path, dict[str, Any]], tuple[Any, list[str]]],
    found: list[str],
) -> dict[str, Any]:
    """What was built of each page; a page that cannot be read or built is a problem, not an exception."""
    built: dict[str, Any] = {}
    for stem in stems(kind, folder):
        path = folder / kind / f"{stem}.toml"
        try:
            page = read(path)
            problems = [*_page(page)]
            built[stem], more = (None, []) if problems else examine(path, page)
            problems += more
        except KeyError as error:
            problems = [f"{error.args[0]} is missing"]
        except (OSError, ValueError, TypeError, AttributeError) as error:
            problems = [f"cannot be read: {error}"]
        found += [f"{kind}/{path.name}: {problem}" for problem in problems]
    return built


# Every page: what is a Fact and what is not


def _page(page: Mapping[str, Any], path: str = "") -> Iterator[str]:
    words = _WORDS.get(path.partition(".")[0], set())
    for key, value in page.items():
        at = f"{path}.{key}" if path else key
        if isinstance(value, dict) and _FACT & value.keys():
            yield from (f"{at}: {problem}" for problem in _fact(value))
        elif isinstance(value, dict):
            yield from _page(value, at)
        elif key not in words:
            yield f"{at}: {value!r} stands without a source"


def _fact(fact: Mapping[str, Any]) -> Iterator[str]:
    value, status, readings = fact.get("value"), fact.get("status"), fact.get("readings", [])
    if status not in STATUSES:
        yield f"status {status!r} is none of {', '.join(STATUSES)}"
    if not str(fact.get("source", "")).strip():
        yield "no source"
    if (value is None) != (status == "unknown"):
        yield "unknown with a value" if status == "unknown" else "no value, yet not unknown"
    if _is_number(value) and not str(fact.get("unit", "")).strip():
        yield "a number without a unit"
    if any(number < 0 for number in _numbers(value)):
        yield f"negative: {value}"
    if status == "contradicted" and not (readings or fact.get("note")):
        yield "contradicted, but neither a reading nor a note says by what"
    if any(reading.get("value") is None or not reading.get("source") for reading in readings):
        yield "a reading without value or source"
    if extra := fact.keys() - _FACT:
        yield f"unknown words {', '.join(sorted(extra))}"


def _numbers(value: object) -> list[int | float]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, (int, float)) and not isinstance(item, bool)]


def _is_number(value: object) -> bool:
    return bool(_numbers(value))


# Targets: numbers that must agree with one another


def _target(path: Path, page: dict[str, Any]) -> tuple[Target, list[str]]:
    table = merged(path.stem, path.parent.parent)
    target = build_target(path.stem, table)
    if holes := [*_holes(target)]:
        return target, holes
    rules = (_units, _vgpr, _sgpr, _lds, _views) if not target.unknown else ()
    return target, [*_waves(target, table), *(problem for rule in rules for problem in rule(target))]


def _holes(target: Target) -> Iterator[str]:
    """Numbers that a Fit needs and that are neither there nor said to be unknown, and zeros that stop it."""
    for path in target.unknown:
        if path not in target.facts:
            yield f"{path} is missing"
        elif target.facts[path].status != "unknown":
            yield f"{path}: {target.facts[path].value!r} is no whole number"
    for path, fact in target.facts.items():
        if _is_number(fact.value) and fact.value == 0 and not path.endswith("reserve"):
            yield f"{path}: zero"


def _waves(target: Target, table: Mapping[str, Any]) -> Iterator[str]:
    sections = {key for key in table["vgpr"] if key.startswith("wave")}
    if sections != {f"wave{wave}" for wave in target.wave_sizes}:
        yield f"vgpr: sections {sorted(sections)}, but wave_sizes {list(target.wave_sizes)}"
    if target.default_wave not in target.wave_sizes:
        yield f"default_wave: {target.default_wave} is not a wave size"
    if any(target.workgroup.max_threads % wave for wave in target.wave_sizes):
        yield f"workgroup.max_threads: {target.workgroup.max_threads} is not whole waves"


def _units(target: Target) -> Iterator[str]:
    first, *others = target.units.values()
    for key, unit in target.units.items():
        waves = unit.wave_slots * unit.simds
        if unit.workgroups is not None and unit.workgroups > waves:
            yield f"units.{key}.workgroups: {unit.workgroups}, more than its {waves} waves"
        if unit.lds_pool % target.lds.granule:
            yield f"units.{key}.lds_pool: {unit.lds_pool} is no multiple of the granule {target.lds.granule}"
        if target.scratch_waves is not None and target.scratch_waves > waves:
            yield f"scratch.waves: {target.scratch_waves}, more than the {waves} of {key}"
    for unit in others:
        whole, half = (first.simds, first.lds_pool), (2 * unit.simds, 2 * unit.lds_pool)
        if whole != half or first.wave_slots != unit.wave_slots:
            yield f"units: {unit.name} is not half of {first.name} with the same wave slots"


def _vgpr(target: Target) -> Iterator[str]:
    vgpr = target.vgpr
    for wave, file in vgpr.files.items():
        if file.granule < 1 or file.file % file.granule:
            yield f"vgpr.wave{wave}.granule: {file.granule} does not divide the file of {file.file}"
        elif file.encode_granule is not None and file.granule % (file.encode_granule or file.granule + 1):
            yield f"vgpr.wave{wave}.encode_granule: {file.encode_granule} does not divide {file.granule}"
        if vgpr.addressable > file.file:
            yield f"vgpr.addressable: {vgpr.addressable}, more than the file of {file.file}"
    for small, large in pairwise(sorted(vgpr.files)):
        if vgpr.files[small].file * small != vgpr.files[large].file * large:
            yield f"vgpr: wave{small} and wave{large} see files of different size"
    kinds = {"none": vgpr.addressable_arch, "separate": max(vgpr.addressable_arch, vgpr.agprs)}
    kinds["unified"] = vgpr.addressable_arch + vgpr.agprs
    if vgpr.accumulator not in kinds:
        yield f"vgpr.accumulator: {vgpr.accumulator!r} is none of {', '.join(kinds)}"
    elif vgpr.addressable != kinds[vgpr.accumulator] or (vgpr.agprs > 0) == (vgpr.accumulator == "none"):
        yield f"vgpr.addressable: {vgpr.addressable} does not follow from both kinds ({vgpr.accumulator})"


def _sgpr(target: Target) -> Iterator[str]:
    sgpr = target.sgpr
    if sgpr.limits not in {"yes", "never", "unknown"}:
        yield f"sgpr.limits: {sgpr.limits!r} is none of yes, never, unknown"
    if sgpr.limits == "yes":
        if not sgpr.file or not sgpr.granule:
            yield "sgpr: limits, but file or granule is missing"
        elif sgpr.file % sgpr.granule:
            yield f"sgpr.granule: {sgpr.granule} does not divide the file of {sgpr.file}"
    if sgpr.limits == "never" and sgpr.file:
        yield "sgpr.file: given, but never limits"
    if sgpr.granule and sgpr.encode_granule and sgpr.granule % sgpr.encode_granule:
        yield f"sgpr.encode_granule: {sgpr.encode_granule} does not divide {sgpr.granule}"


def _lds(target: Target) -> Iterator[str]:
    lds, pool = target.lds, max(unit.lds_pool for unit in target.units.values())
    if lds.per_workgroup + lds.reserve > pool:
        yield f"lds.per_workgroup: {lds.per_workgroup} and the reserve, more than the pool of {pool}"
    if lds.carveouts and (lds.carveouts[-1] != pool or any(a >= b for a, b in pairwise(lds.carveouts))):
        yield f"lds.carveouts: not ascending to the pool of {pool}"


def _views(target: Target) -> Iterator[str]:
    for name, view in target.views.items():
        if extra := view.keys() - _VIEW:
            yield f"view.{name}: unknown words {', '.join(sorted(extra))}"
        steps = view.get("sgpr_steps", ())
        numbers = [int(step) for step in steps] if isinstance(steps, tuple) else []
        most, waves = numbers[::2], numbers[1::2]
        if len(most) != len(waves) or most != sorted(set(most)) or waves != sorted(set(waves), reverse=True):
            yield f"view.{name}.sgpr_steps: not pairs of more registers and fewer waves"


# Products: their target, their dies, their names


def _product(page: dict[str, Any], targets: Mapping[str, Target | None]) -> tuple[Chip | None, list[str]]:
    target = targets.get(page["target"])
    if target is None:
        return None, [f"target: no sound page targets/{page['target']}.toml"]
    chip = build_product(page, target)
    return chip, [*_sums(chip), *_rates(chip)]


def _sums(chip: Chip) -> Iterator[str]:
    """The maker is the target's; what one die has, times the dies, is what the chip has."""
    if chip.vendor != chip.target.vendor:
        yield f"vendor: {chip.vendor}, but {chip.target.id} is {chip.target.vendor}'s"
    dies = chip.value("compute.dies")
    for path in ("compute.cus", "cache.l2_bytes"):
        whole, part = chip.value(path), chip.value(f"{path}_per_die")
        if isinstance(dies, int) and isinstance(part, int) and whole not in {None, dies * part}:
            yield f"{path}: {whole} is not {dies} dies of {part}"


def _rates(chip: Chip) -> Iterator[str]:
    for path, fact in chip.facts.items():
        unit = fact.unit or ""
        if path.startswith("rate.") and "per clock per" not in unit:
            yield f"{path}: a rate in {unit!r}, not per clock per CU"
        if "bandwidth" in path and unit != "bytes/s":
            yield f"{path}: a bandwidth in {unit!r}, not bytes/s"


def _names(folder: Path) -> Iterator[str]:
    """A name finds one page, its own."""
    for kind in ("targets", "products"):
        pages = stems(kind, folder)
        twins = [key for key, times in Counter(keys(stem)[0] for stem in pages).items() if times > 1]
        yield from (f"{kind}: {key} finds several pages" for key in twins)
    index = {**by_key(stems("targets", folder)), **by_key(stems("products", folder))}
    for stem in stems("products", folder):
        try:
            page = read(folder / "products" / f"{stem}.toml")
        except ValueError:
            continue  # told already
        for name in (str(page.get("name", "")), *page.get("aliases", ())):
            if index.setdefault(keys(name)[1], stem) != stem:
                yield f"products/{stem}.toml: {name} finds {index[keys(name)[1]]} first"
