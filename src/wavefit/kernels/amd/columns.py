"""All kernels of a code object at once: the rules of `join` over NumPy arrays.

For objects in which everything is as compilers write it; `columns` gives None for any other, and the
kernels are then joined one after the other. The tests hold the two ways against each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from wavefit.chips.model import Target
from wavefit.kernels.amd.descriptor import SIZE
from wavefit.kernels.amd.metadata import Spend, SpendWithoutArguments
from wavefit.kernels.elf import ET_REL, SHN_LORESERVE, SHT_DYNSYM, SHT_NOBITS, SHT_SYMTAB, Elf
from wavefit.kernels.rows import CodeObject, Rows
from wavefit.kernels.source import BadFile

Column = npt.NDArray[np.int64]

LARGEST_SECTION = 1 << 26
"""Bytes of the section that holds the descriptors, read as a whole."""
RSRC3, RSRC1, PROPERTIES = 11, 12, 14
"""Where the fields stand in a descriptor, in words of 4 bytes."""
SYMBOL = np.dtype("<u4,u1,u1,<u2,<u8,<u8")
SYMBOL.names = ("name", "info", "other", "section", "value", "size")
NEEDED = ("vgprs", "sgprs", "lds", "scratch")
ENTRY = (
    *NEEDED, "agprs", "vgpr_spills", "sgpr_spills", "max_threads", "wave", "wgp_mode", "dynamic_stack",
)  # fmt: skip
"""What is taken from each entry, in the words of Spend."""


def columns(elf: Elf, code: CodeObject, said: Sequence[Spend]) -> Rows | None:
    """The kernels of the metadata, in their order, if they are all that the object holds."""
    target = code.limits
    if target is None:
        return None
    try:
        words = _descriptors(elf, [spend.symbol for spend in said])
        if words is None:
            return None
        counted = _counted(said)
    except (BadFile, ArithmeticError, LookupError, TypeError, ValueError):
        return None  # damage, or a count that an entry leaves out
    numbers = _joined(target, words, counted)
    if numbers is None:
        return None
    return Rows(
        code=code,
        names=[spend.name for spend in said],
        symbols=[spend.symbol for spend in said],
        required_sizes=[size if size and all(size) else None for size in (s.required_size for s in said)],
        columns=numbers,
    )


def _descriptors(elf: Elf, symbols: list[str]) -> Column | None:
    """The words of every named descriptor, a row a kernel; None unless they are all and in one section."""
    wanted = [symbol.encode() for symbol in symbols]
    found: dict[bytes, tuple[int, int]] = {}
    for kind in (SHT_DYNSYM, SHT_SYMTAB):
        if tables := elf.tables(kind):
            found = {**_named_kd(*tables), **found}
        if all(map(found.__contains__, wanted)):
            break
    if len(found) != len(wanted):  # others that only have a descriptor, or one name twice
        return None
    places = np.array([found[name] for name in wanted], dtype=np.int64)
    return _words(elf, places[:, 0], places[:, 1])


def _named_kd(entries: bytes, names: bytes) -> dict[bytes, tuple[int, int]]:
    """Section and value of every symbol whose name ends like a descriptor's; the first of a name counts."""
    table = np.frombuffer(entries, dtype=SYMBOL)
    table = table[(table["section"] > 0) & (table["section"] < SHN_LORESERVE)]
    text = np.frombuffer(names, dtype=np.uint8)
    ends = np.flatnonzero(text == 0)
    starts = table["name"].astype(np.int64)
    ends = ends[np.searchsorted(ends, starts)]  # IndexError: a name that does not end
    is_kd = (
        (ends - starts >= 3)
        & (text[ends - 3] == ord("."))
        & (text[ends - 2] == ord("k"))
        & (text[ends - 1] == ord("d"))
    )
    starts, ends, table = starts[is_kd][::-1], ends[is_kd][::-1], table[is_kd][::-1]
    if (ends - starts).sum() > 16 * len(names) + (1 << 20):
        raise ValueError("names overlap without end")
    keys = [names[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    return dict(zip(keys, zip(table["section"].tolist(), table["value"].tolist(), strict=True), strict=True))


def _words(elf: Elf, sections: Column, values: Column) -> Column | None:
    if (sections != sections[0]).any() or not 0 < sections[0] < len(elf.sections):
        return None
    section = elf.sections[sections[0]]
    offsets = values if elf.type == ET_REL else values - section.address
    if section.type == SHT_NOBITS or section.size > LARGEST_SECTION:
        return None
    if (offsets < 0).any() or (offsets > section.size - SIZE).any() or (offsets % 4).any():
        return None
    data = elf.content(section).read(0, section.size // 4 * 4)
    words = np.frombuffer(data, dtype="<u4")
    chosen: Column = words[offsets[:, None] // 4 + np.arange(SIZE // 4)].astype(np.int64)
    return chosen


def _counted(said: Sequence[Spend]) -> dict[str, Column]:
    """The entries by column; TypeError where one leaves out what its descriptor would have to say."""
    by_column = dict(zip(ENTRY, zip(*map(attrgetter(*ENTRY), said), strict=True), strict=True))
    counted = {name: np.array(by_column[name], dtype=np.int64) for name in NEEDED}
    counted["uses_dynamic_lds"] = np.zeros(len(said), dtype=np.int64)
    if not isinstance(said[0], SpendWithoutArguments):
        counted["uses_dynamic_lds"][:] = [spend.uses_dynamic_lds for spend in said]
    return counted | {name: _or_less(by_column[name]) for name in ENTRY if name not in NEEDED}


def _or_less(values: Sequence[int | None]) -> Column:
    """With -1 for None."""
    left_out = values.count(None)
    if left_out == len(values):
        return np.full(len(values), -1, dtype=np.int64)
    if left_out:
        values = [-1 if value is None else value for value in values]
    return np.array(values, dtype=np.int64)


def _joined(target: Target, words: Column, counted: dict[str, Column]) -> dict[str, Column] | None:
    """The columns of Rows; None where an entry contradicts itself or the target."""
    told_wave = np.where(words[:, PROPERTIES] >> 10 & 1, 32, 64)
    known = np.isin(told_wave, target.wave_sizes)
    wave = np.where(counted["wave"] >= 0, counted["wave"], np.where(known, told_wave, target.default_wave))
    if not np.isin(wave, target.wave_sizes).all():
        return None
    split = _registers(target, words[:, RSRC3], counted["vgprs"], counted["agprs"])
    if split is None:
        return None
    return {
        "vgprs": split[0],
        "agprs": split[1],
        "total_vgprs": counted["vgprs"],
        "allocated_vgprs": _allocated_vgprs(target, words[:, RSRC1], wave),
        "sgprs": counted["sgprs"],
        "allocated_sgprs": _allocated_sgprs(target, words[:, RSRC1]),
        "wave": wave,
        "mode": _mode(target, words[:, RSRC1], counted["wgp_mode"]),
        "dynamic_stack": np.maximum(counted["dynamic_stack"] > 0, words[:, PROPERTIES] >> 11 & 1),
        **{
            name: counted[name]
            for name in ("lds", "scratch", "vgpr_spills", "sgpr_spills", "max_threads", "uses_dynamic_lds")
        },
    }


def _registers(target: Target, rsrc3: Column, total: Column, agprs: Column) -> tuple[Column, Column] | None:
    """Regular and accumulator VGPRs, as `join` splits them."""
    if target.vgpr.accumulator != "unified":
        return total, agprs
    offset = ((rsrc3 & 0x3F) + 1) * target.vgpr.accumulator_granule
    agprs = np.where(agprs < 0, np.maximum(0, total - offset), agprs)
    return None if (agprs > total).any() else (total - agprs, agprs)


def _allocated_vgprs(target: Target, rsrc1: Column, wave: Column) -> Column:
    granules = {size: file.encode_granule for size, file in target.vgpr.files.items()}
    allocated = np.full(len(wave), -1, dtype=np.int64)
    for size, granule in granules.items():
        if granule is not None:
            allocated = np.where(wave == size, ((rsrc1 & 0x3F) + 1) * granule, allocated)
    return allocated


def _allocated_sgprs(target: Target, rsrc1: Column) -> Column:
    granule = target.sgpr.encode_granule
    if granule is None or target.sgpr.limits == "never":
        return np.full(len(rsrc1), -1, dtype=np.int64)
    return ((rsrc1 >> 6 & 0xF) * 8 // granule + 1) * granule


def _mode(target: Target, rsrc1: Column, said: Column) -> Column:
    """-1 where the target has one mode, else 0 for `cu` and 1 for `wgp`."""
    if not target.modes:
        return np.full(len(rsrc1), -1, dtype=np.int64)
    return np.where(said >= 0, said > 0, rsrc1 >> 29 & 1).astype(np.int64)
