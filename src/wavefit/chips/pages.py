"""From one page of `data/` to a Target or a Chip: TOML in, frozen dataclasses out.

A page `like` another holds only what differs. A table with a `status` is a Fact, any other a section.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from wavefit.chips.model import (
    Chip,
    Fact,
    Lds,
    Reading,
    Sgpr,
    Target,
    Unit,
    Value,
    VectorFile,
    Vgpr,
    Workgroup,
)
from wavefit.toml import load, loads

Folder = str | os.PathLike[str]
DATA: Folder = os.path.join(os.path.dirname(__file__), "data")  # pathlib would cost the first answer 5 ms
_UNKNOWN = Fact(None, "not public", "unknown")


def page(kind: str, stem: str, folder: Folder = DATA) -> str:
    """Where one page of a kind (`targets`, `products`) is."""
    return os.path.join(folder, kind, f"{stem}.toml")


def read(path: Folder) -> dict[str, Any]:
    """The tables of one page as written."""
    with open(path, "rb") as file:
        return load(file)


def read_head(path: Folder) -> dict[str, Any]:
    """What a page says before its first section: enough to find it, quick to parse."""
    with open(path, encoding="utf-8") as file:
        return loads(file.read().partition("\n[")[0])


def stems(kind: str, folder: Folder = DATA) -> list[str]:
    """Names of the pages of one kind, sorted."""
    names = (os.path.splitext(name) for name in os.listdir(os.path.join(folder, kind)))
    return sorted(stem for stem, suffix in names if suffix == ".toml")


def merged(stem: str, folder: Folder = DATA, above: tuple[str, ...] = ()) -> dict[str, Any]:
    """The page of a target with the pages it is `like` underneath. Raises ValueError if they go in a ring."""
    if stem in above:
        raise ValueError(f"a ring of pages: {' like '.join((*above, stem))}")
    table = read(page("targets", stem, folder))
    base = table.pop("like", None)
    return _overlay(merged(base, folder, (*above, stem)), table) if base else table


def _overlay(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Sections are merged; a Fact is replaced whole, with its source."""
    for key, value in above.items():
        old = below.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and "status" not in value:
            below[key] = _overlay(old, value)
        else:
            below[key] = value
    return below


def facts_of(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Fact]]:
    """Every Fact of a page with its path (`vgpr.wave64.granule`)."""
    for key, value in table.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict) and "status" in value:
            yield path, _fact(value)
        elif isinstance(value, dict):
            yield from facts_of(value, f"{path}.")


def _fact(table: Mapping[str, Any]) -> Fact:
    readings = tuple(Reading(_frozen(r["value"]), r["source"]) for r in table.get("readings", ()))
    return Fact(
        value=_frozen(table.get("value")),
        source=table["source"],
        status=table["status"],
        unit=table.get("unit"),
        note=table.get("note"),
        readings=readings,
    )


def _frozen(value: Any) -> Value:
    return tuple(value) if isinstance(value, list) else value


def build_product(table: Mapping[str, Any], target: Target) -> Chip:
    """The Chip of a product's page."""
    return Chip(
        name=table["name"],
        target=target,
        vendor=table["vendor"],
        aliases=tuple(table.get("aliases", ())),
        facts=dict(facts_of(table)),
        note=table.get("note"),
    )


def build_target(stem: str, table: Mapping[str, Any]) -> Target:
    """The Target of a merged page. Raises KeyError where a section that every target has is missing."""
    facts = dict(facts_of(table))
    number = _Numbers(facts)
    modes = tuple(table.get("modes", ()))
    units = {key: _unit(key, unit, number) for key, unit in table["units"].items()}
    return Target(
        id=stem,
        name=table["name"],
        vendor=table["vendor"],
        family=table["family"],
        wave_sizes=tuple(table["wave_sizes"]),
        default_wave=table.get("default_wave", table["wave_sizes"][0]),
        modes=modes,
        units={mode: units[mode] for mode in modes} if modes else units,
        vgpr=_vgpr(table, number),
        sgpr=_sgpr(table, number),
        lds=Lds(
            granule=number("lds.granule"),
            per_workgroup=number("lds.per_workgroup"),
            reserve=number.maybe("lds.reserve") or 0,
            carveouts=number.several("lds.carveouts"),
        ),
        workgroup=Workgroup(
            max_threads=number("workgroup.max_threads"),
            one_wave_exempt=bool(table["workgroup"].get("one_wave_exempt", False)),
            barriers=number.maybe("workgroup.barriers"),
        ),
        scratch_waves=number.maybe("scratch.waves"),
        views={name: _plain(view) for name, view in table.get("view", {}).items()},
        facts=facts,
        unknown=tuple(number.missing),
    )


def _unit(key: str, unit: Mapping[str, Any], number: _Numbers) -> Unit:
    return Unit(
        name=unit.get("name", key.upper()),
        simds=number(f"units.{key}.simds"),
        wave_slots=number(f"units.{key}.wave_slots"),
        lds_pool=number(f"units.{key}.lds_pool"),
        workgroups=number.maybe(f"units.{key}.workgroups"),
    )


def _vgpr(table: Mapping[str, Any], number: _Numbers) -> Vgpr:
    files = {
        wave: VectorFile(
            file=number(f"vgpr.wave{wave}.file"),
            granule=number(f"vgpr.wave{wave}.granule"),
            encode_granule=number.maybe(f"vgpr.wave{wave}.encode_granule"),
        )
        for wave in table["wave_sizes"]
    }
    return Vgpr(
        files=files,
        addressable=number("vgpr.addressable"),
        addressable_arch=number("vgpr.addressable_arch"),
        agprs=number.maybe("vgpr.agprs") or 0,
        accumulator=table["vgpr"].get("accumulator", "none"),
        accumulator_granule=number.maybe("vgpr.accumulator_granule") or 1,
    )


def _sgpr(table: Mapping[str, Any], number: _Numbers) -> Sgpr:
    return Sgpr(
        limits=table["sgpr"]["limits"],
        file=number.maybe("sgpr.file"),
        granule=number.maybe("sgpr.granule"),
        encode_granule=number.maybe("sgpr.encode_granule"),
        addressable=number.maybe("sgpr.addressable"),
        extra=number.maybe("sgpr.extra"),
        trap_reserve=number.maybe("sgpr.trap_reserve") or 0,
        fixed=number.maybe("sgpr.fixed"),
    )


def _plain(view: Mapping[str, Any]) -> dict[str, Value]:
    return {key: _frozen(fact.get("value") if isinstance(fact, dict) else fact) for key, fact in view.items()}


class _Numbers:
    """Reads whole numbers out of Facts and keeps a list of those that a Fit needs and nobody knows."""

    def __init__(self, facts: Mapping[str, Fact]) -> None:
        self.facts, self.missing = facts, list[str]()

    def __call__(self, path: str) -> int:
        value = self.maybe(path)
        if value is None:
            self.missing.append(path)
        return value or 0

    def maybe(self, path: str) -> int | None:
        value = self.facts.get(path, _UNKNOWN).value
        return value if isinstance(value, int) else None

    def several(self, path: str) -> tuple[int, ...]:
        value = self.facts.get(path, _UNKNOWN).value
        return tuple(int(item) for item in value) if isinstance(value, tuple) else ()
