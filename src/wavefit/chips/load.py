"""From a name to a Chip or a Target. One TOML page a target, one a product; pages.py reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from wavefit.chips.model import Chip, ChipNotFound, Target, Value
from wavefit.chips.pages import build_product, build_target, merged, page, read, read_head, stems

_MAKERS = frozenset({"amd", "instinct", "radeon", "nvidia", "geforce", "tesla", "hygon", "dcu"})
_SM_VARIANT = re.compile(r"^(sm\d+)[af]$")
_AS_PUBLISHED = "published"


def chip(name: str) -> Chip:
    """The Chip of a product (`MI355X`) or bare target (`gfx950`, `sm_90`) name.

    Case, punctuation, makers' words (`AMD Instinct`) and target features (`:xnack-`) do not matter.
    Raises ChipNotFound with near matches.
    """
    products, targets = _index()
    if stem := _find(name, products):
        return _product(stem)
    if stem := _find(name, targets):
        return bare(_target(stem))
    if stem := _find(name, _aliases()):
        return _product(stem)
    raise ChipNotFound(name, _near(name))


def target(name: str) -> Target:
    """The Target of an ISA name (`gfx950`). Raises ChipNotFound with near matches."""
    if stem := _find(name, _index()[1]):
        return _target(stem)
    raise ChipNotFound(name, _near(name))


def bare(of: Target) -> Chip:
    """A Chip of which only the Target is named."""
    return Chip(name=None, target=of, vendor=of.vendor)


def targets() -> Iterator[Target]:
    """Every Target, by file name."""
    return (_target(stem) for stem in stems("targets"))


def products() -> Iterator[Chip]:
    """Every product, by file name."""
    return (_product(stem) for stem in stems("products"))


def published(of: str) -> Iterator[Chip]:
    """Chips that hold what a guide in circulation prints about the product of this name."""
    pages = (_product(stem) for stem in stems("products") if _AS_PUBLISHED in stem)
    return (page for page in pages if page.value("published.about") == of)


def with_readings(of: Target, values: Mapping[str, Value]) -> Target:
    """The same Target with another reading of some Facts, by their paths."""
    table = merged(of.id)
    for path, value in values.items():
        *parents, leaf = path.split(".")
        node = table
        for parent in parents:
            node = node[parent]
        node[leaf] = {**node[leaf], "value": value, "readings": []}
    return build_target(of.id, table)


def keys(name: str) -> tuple[str, str]:
    """A name without case and punctuation: the makers' words moved to its end, and left out.

    The first tells two pages of one name apart (Hygon's gfx906 from AMD's).
    """
    words = re.findall(r"[a-z0-9]+", name.lower().rpartition("--")[2].partition(":")[0])
    plain = _SM_VARIANT.sub(r"\1", "".join(word for word in words if word not in _MAKERS))
    return plain + "".join(word for word in words if word in _MAKERS), plain


def by_key(pages: Iterable[str]) -> dict[str, str]:
    """Pages by every key that finds them; a page's own name goes before one with a maker left out."""
    pages = sorted(pages)
    return {**{keys(stem)[1]: stem for stem in pages}, **{keys(stem)[0]: stem for stem in pages}}


def _find(name: str, index: Mapping[str, str]) -> str | None:
    return next((index[key] for key in keys(name) if key in index), None)


def _near(name: str) -> tuple[str, ...]:
    """Up to four names like this one; pages as published are not the hardware and shown only if asked for."""
    import difflib

    products, targets = _index()
    key = keys(name)[1][:64]
    names = {**targets, **_aliases(), **products}
    if _AS_PUBLISHED not in key:
        names = {near: stem for near, stem in names.items() if _AS_PUBLISHED not in near}
    found = [near for near in sorted(names) if key and near.startswith(key)]
    found += difflib.get_close_matches(key, names, n=4, cutoff=0.6)
    found += [near for near in sorted(names) if key and key in near]
    return tuple(dict.fromkeys(_title(names[near]) for near in found))[:4]


def _title(stem: str) -> str:
    return str(read_head(page("products", stem))["name"]) if stem in stems("products") else stem


@cache
def _index() -> tuple[dict[str, str], dict[str, str]]:
    """Pages by key: products, targets."""
    return by_key(stems("products")), by_key(stems("targets"))


@cache
def _aliases() -> dict[str, str]:
    """Products by the key of each alias. Asked for last: it opens every product's page."""
    heads = {stem: read_head(page("products", stem)) for stem in stems("products")}
    return {keys(alias)[1]: stem for stem, head in heads.items() for alias in head.get("aliases", ())}


@cache
def _target(stem: str) -> Target:
    return build_target(stem, merged(stem))


@cache
def _product(stem: str) -> Chip:
    table = read(page("products", stem))
    return build_product(table, _target(table["target"]))
