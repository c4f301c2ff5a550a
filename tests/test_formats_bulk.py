"""Columns for whole libraries: the same kernels as one after the other, whatever the object says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.containers_builder import bundle, compressed, host_elf, zipped
from tests.kernels_builder import ENTRY, code_object, descriptor, metadata, note
from tests.test_formats_bundles import GFX950, ID
from wavefit.chips import target as find_target
from wavefit.kernels import BadFile, NoKernels, kernels
from wavefit.kernels.backing import Memory
from wavefit.kernels.bounds import Reading
from wavefit.kernels.bulk import Leaf, Rows, find, rows, rows_in
from wavefit.kernels.formats import amd_code_object
from wavefit.kernels.open import Found, read
from wavefit.kernels.source import Source
from wavefit.model import Kernel

DATA = Path(__file__).parent / "data/kernels"
OBJECTS = sorted(
    str(file.relative_to(DATA)) for suffix in ("co", "o", "hsaco") for file in DATA.rglob(f"*.{suffix}")
)
TARGETS = (
    "gfx803",
    "gfx900",
    "gfx906",
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx950",
    "gfx1030",
    "gfx1100",
    "gfx1250",
)


def found(data: bytes, *, by_rows: bool = True) -> list[Found]:
    reading = Reading(by_rows=by_rows)
    return list(read(Source(Memory(data), len(data), "f", reading=reading)))


def singly(items: list[Found]) -> list[Kernel | str]:
    """Kernels without the remarks that columns leave out, and what was wrong."""
    out: list[Kernel | str] = []
    for item in items:
        if isinstance(item, BadFile):
            out.append(str(item))
        else:
            out += [replace(k, notes=()) for k in (item.kernels() if isinstance(item, Rows) else (item,))]
    return out


def same_both_ways(data: bytes) -> list[Found]:
    """The items by rows, held against the other way."""
    items = found(data)
    assert singly(items) == singly(found(data, by_rows=False))
    return items


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amd_code_object, "MANY", 1)


@pytest.mark.parametrize("name", OBJECTS)
def test_every_code_object_gives_the_same_by_column(name: str) -> None:
    items = same_both_ways((DATA / name).read_bytes())
    version = next(iter(singly(items))).code_version  # type: ignore[union-attr]
    assert isinstance(items[0], Rows) or version == 2  # V2's are always read one after the other


def many(
    target: str, entries: list[dict[str, Any]], descriptors: list[bytes], name: str | None = None
) -> bytes:
    said = [{**ENTRY, ".wavefront_size": find_target(target).default_wave, **entry} for entry in entries]
    for number, entry in enumerate(said):
        entry.update({".name": f"k{number}", ".symbol": f"k{number}.kd"})
    told = {f"k{number}.kd": content for number, content in enumerate(descriptors)}
    return code_object(note(metadata(*said, target=f"amdgcn-amd-amdhsa--{name or target}")), told)


COUNT = st.none() | st.integers(0, 600)
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        ".vgpr_count": st.integers(0, 512),
        ".agpr_count": COUNT,
        ".sgpr_count": COUNT,
        ".group_segment_fixed_size": COUNT,
        ".wavefront_size": st.sampled_from([None, 32, 64, 16]),
        ".workgroup_processor_mode": st.none() | st.booleans() | st.integers(0, 1),
        ".uses_dynamic_stack": st.none() | st.booleans(),
        ".vgpr_spill_count": COUNT,
        ".max_flat_workgroup_size": COUNT,
        ".reqd_workgroup_size": st.none() | st.tuples(*[st.integers(0, 64)] * 3),
        ".args": st.sampled_from(
            [[], [{".value_kind": "hidden_dynamic_lds_size"}], [{".value_kind": "by_value"}]]
        ),
    },
)
TOLD = st.builds(
    lambda rsrc1, rsrc3, properties: descriptor(0, 0, rsrc1, rsrc3, properties=properties),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**16 - 1),
)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(TARGETS), st.lists(st.tuples(ENTRIES, TOLD), min_size=1, max_size=6), st.integers(0, 3)
)
def test_whatever_entries_and_descriptors_say(
    target: str, pairs: list[tuple[dict[str, Any], bytes]], dropped: int
) -> None:
    descriptors = [told for _, told in pairs]
    same_both_ways(many(target, [entry for entry, _ in pairs], descriptors[dropped // 2 :]))


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([DATA / "k_gfx950.co", DATA / "clang19_cov5_gfx90a.co", DATA / "targets/gfx1100.o"]),
    st.data(),
)
def test_changed_bytes(seed: Path, data: st.DataObject) -> None:
    changed = bytearray(seed.read_bytes())
    places = st.tuples(st.integers(0, len(changed) - 1), st.integers(0, 255))
    for at, value in data.draw(st.lists(places, max_size=8)):
        changed[at] = value
    same_both_ways(bytes(changed))


@pytest.mark.parametrize("name", ["k_gfx950.co", "k_gfx906.co", "targets/gfx1100.o"])
def test_few_changed_bytes_many_times(name: str) -> None:
    """Most such objects are still read by column; names, sections and symbols then contradict each other."""
    random, whole = Random(name), (DATA / name).read_bytes()
    by_column = 0
    for _ in range(500):
        changed = bytearray(whole)
        for _ in range(random.randint(1, 3)):
            changed[random.randrange(len(whole))] = random.choice((0, 255, random.randrange(256)))
        by_column += any(isinstance(item, Rows) for item in same_both_ways(bytes(changed)))
    assert by_column > 250


def test_a_code_object_without_kernels_is_a_row_of_nothing_and_the_file_says_so() -> None:
    empty = code_object(note(metadata()), {})
    items = found(empty)
    assert [len(item) for item in items if isinstance(item, Rows)] == [0]
    assert isinstance(items[-1], NoKernels)
    counted = found(bundle({f"{ID}gfx950": GFX950, f"{ID}gfx90a": empty}))
    assert [len(item) for item in counted if isinstance(item, Rows)] == [3, 0]


def test_remarks_on_the_code_object_stay() -> None:
    (item,) = found(many("gfx942", [{}], [descriptor()], name="gfx940"))
    assert isinstance(item, Rows)
    (kernel,) = item.kernels()
    assert any("gfx942" in remark for remark in kernel.notes)


def test_the_parts_of_a_file_are_the_whole_file(tmp_path: Path) -> None:
    plain = bundle({f"{ID}gfx950": GFX950, f"{ID}gfx90a": GFX950, "host-x86_64-unknown-linux-gnu-": b"x"})
    library = host_elf([(".hip_fatbin", plain.ljust(16384, b"\0") + compressed(plain) + GFX950)])
    for data in (library, GFX950, zipped({"a.co": GFX950, "b.so": library, "c.so": library, "d.txt": b"x"})):
        file = tmp_path / "file"
        file.write_bytes(data)
        parts: list[Found] = []
        for part in find(str(file)):
            parts += rows_in(str(file), [part]) if isinstance(part, Leaf) else [part]
        whole = singly(list(rows(file)))
        assert singly([part for part in parts if not isinstance(part, NoKernels)]) == whole
        assert len(whole) > 0


def test_side_files_reach_single_kernels_only(tmp_path: Path) -> None:
    stem = DATA / "triton/softmax_gfx942_4096_w8"
    (item,) = rows(f"{stem}.hsaco")
    assert isinstance(item, Kernel)
    assert item.side_threads == 512
    assert list(kernels(f"{stem}.hsaco")) == [item] or item.notes == ()
    (tmp_path / "k.hsaco").write_bytes(Path(f"{stem}.hsaco").read_bytes())
    (many_,) = rows(tmp_path)
    assert isinstance(many_, Rows)
