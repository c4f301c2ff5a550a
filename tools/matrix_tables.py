"""Rebuilds and checks the tables of matrix instructions against LLVM 22: `python tools/matrix_tables.py`.

Without an option it compares: every mnemonic that LLVM assembles for a target against the table (both
ways), the registers of each operand (exactly one choice assembles), the formats of f8f6f4, and the cycles
that llvm-mca models. Differences stand in EXPECTED with their reason; any other makes the exit status 1.
`--write` puts LLVM's registers, passes and cycles into the tables, `--freeze FILE` writes what LLVM says as
test data.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import matrix_llvm as llvm

DATA = Path(__file__).parents[1] / "src" / "wavefit" / "matrix" / "data"
TARGETS = {
    "gfx908": (64,), "gfx90a": (64,), "gfx942": (64,), "gfx950": (64,),
    "gfx1100": (32, 64), "gfx1200": (32, 64), "gfx1250": (32,), "gfx1251": (32,),
}  # fmt: skip
"""Targets whose tables LLVM can check, with their wave sizes."""

CLOCKS = {"gfx908": 4, "gfx90a": 4, "gfx942": 4, "gfx950": 4, "gfx1250": 1, "gfx1251": 1}
"""Clocks of one cycle of llvm-mca's model (a pass is four); targets without matrix cycles are absent."""

EXPECTED = (
    (
        "name",
        "gfx125",
        "16x16x16_",
        "LLVM 22 assembles gfx12's WMMA shapes here; LLVM main gives gfx125x none",
    ),
    (
        "name",
        "gfx125",
        "16x16x32_iu4",
        "LLVM 22 assembles gfx12's WMMA shapes here; LLVM main gives gfx125x none",
    ),
    ("name", "gfx1251", "v_wmma_f64", "in LLVM main, not in LLVM 22"),
    (
        "cycles",
        "gfx950",
        "f8f6f4",
        "llvm-mca prints one value for all formats; SISchedule.td doubles 8-bit ones",
    ),
    ("cycles", "gfx1250", "", "LLVM main of 2026 changed the model after LLVM 22"),
    ("cycles", "gfx1251", "", "LLVM 22 gives gfx1251 the model of gfx1250; LLVM main has its own"),
)
"""Differences that are known: what differs, target prefix, part of the name, and why."""

FROZEN = (
    "target", "wave", "name", "spelt", "a", "b", "a_regs", "b_regs", "c_regs", "d_regs", "rthroughput",
)  # fmt: skip

Row = dict[str, str]
Key = tuple[str, str, str, str]
"""Name, wave, and the formats of A and B where the instruction leaves them free."""


@dataclass(frozen=True)
class Difference:
    """One thing that LLVM and a table say differently."""

    what: str
    target: str
    name: str
    llvm: str
    table: str

    @property
    def reason(self) -> str | None:
        """Why this difference stands, None where nothing explains it."""
        for what, target, name, reason in EXPECTED:
            if what == self.what and self.target.startswith(target) and name in self.name:
                return reason
        return None


@dataclass(frozen=True)
class Said:
    """What LLVM says of one instruction of one target, in one wave size."""

    target: str
    wave: int
    name: str
    spelt: str
    a: str
    b: str
    registers: tuple[int, int, int, int]
    rthroughput: float

    @property
    def key(self) -> Key:
        """As `key_of` a table row."""
        return self.name, str(self.wave), self.a, self.b


def ask(target: str) -> Iterator[Said]:
    """LLVM's word on every spelling of every matrix instruction of a target."""
    for wave in TARGETS[target]:
        found = llvm.accepted(target, wave)
        cycles = llvm.throughput([llvm.text(form, target) for form in found], target, wave)
        for (form, name), rthroughput in zip(found.items(), cycles, strict=True):
            widths = (form.a, form.b, form.c, form.d)
            yield Said(target, wave, name, form.name, form.a_format, form.b_format, widths, rthroughput)


def table(target: str) -> tuple[list[str], list[Row]]:
    """The comment lines and rows of a target's table."""
    lines = (DATA / f"{target}.csv").read_text(encoding="utf-8").splitlines()
    comments = [line for line in lines if line.startswith("#")]
    return comments, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def key_of(row: Mapping[str, str]) -> Key:
    """What LLVM tells rows apart by: name, wave, and formats where the instruction leaves them free."""
    free = "f8f6f4" in row["name"]
    return row["name"], row["wave"], row["a"] if free else "", row["b"] if free else ""


def compare(target: str, words: Iterable[Said]) -> tuple[dict[str, tuple[int, int]], list[Difference]]:
    """Counts (equal, compared) by what was compared with LLVM's words, and the differences."""
    said: dict[Key, list[Said]] = {}
    for each in words:
        said.setdefault(each.key, []).append(each)
    rows = {key_of(row): row for row in table(target)[1]}
    differences = [
        *(Difference("name", target, key[0], "has it", "lacks it") for key in said.keys() - rows.keys()),
        *(Difference("name", target, key[0], "lacks it", "has it") for key in rows.keys() - said.keys()),
    ]
    totals = {"name": len(said.keys() | rows.keys()), "registers": 0, "cycles": 0}
    for key in sorted(said.keys() & rows.keys()):
        for what, llvms, tables in _numbers(target, said[key], rows[key]):
            totals[what] += 1
            if llvms != tables:
                differences.append(Difference(what, target, " ".join(key), llvms, tables))
    short = Counter(each.what for each in differences)
    return {what: (total - short[what], total) for what, total in totals.items()}, differences


def _numbers(target: str, said: Sequence[Said], row: Row) -> Iterator[tuple[str, str, str]]:
    """What is compared for one instruction: LLVM's word (every spelling's) beside the table's."""
    widths = {each.registers for each in said}
    yield "registers", str(widths), str({tuple(int(row[f"{operand}_regs"]) for operand in "abcd")})
    # The model prints 1, one issue slot, for what it does not model.
    passes = {each.rthroughput for each in said} - {1.0}
    if target in CLOCKS and passes and row["cycles"]:
        yield "cycles", str({each * CLOCKS[target] for each in passes}), str({float(row["cycles"])})


def codes(target: str) -> tuple[int, int]:
    """Pairs of format codes of f8f6f4 that take the registers of their width class, of how many."""
    forms = [form for form in llvm.accepted(target, TARGETS[target][0]) if form.a_format]
    lines = []
    for form in forms:
        formats = llvm.FORMATS[llvm.parts(form.name)["family"]]
        for a in range(len(formats[form.a_format])):
            lines += [llvm.text(form, target, a, b) for b in range(len(formats[form.b_format]))]
    answers = llvm.assemble(lines, target, TARGETS[target][0])
    return sum(answer is not None for answer in answers), len(lines)


def rewrite(target: str) -> int:
    """Put LLVM's registers and cycles into a target's table; rows it alone has come last. Returns changes."""
    comments, rows = table(target)
    said = {each.key: each for each in ask(target)}
    changed = 0
    for row in rows:
        each = said.get(key_of(row))
        if each is None:
            continue
        new = {f"{operand}_regs": str(width) for operand, width in zip("abcd", each.registers, strict=True)}
        difference = Difference("cycles", target, " ".join(each.key), "", "")
        if target in CLOCKS and difference.reason is None:
            new["cycles"] = f"{each.rthroughput * CLOCKS[target]:g}"
            new["passes"] = f"{each.rthroughput:g}" if CLOCKS[target] == 4 else ""
        changed += any(row[field] != value for field, value in new.items())
        row.update(new)
    with (DATA / f"{target}.csv").open("w", newline="", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in comments)
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return changed


def freeze(path: Path) -> int:
    """Write what LLVM says of every target as test data. Returns the number of rows."""
    found = [each for target in TARGETS for each in ask(target)]
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(f"# LLVM {llvm.version()} (llvm-mc, llvm-mca), by tools/matrix_tables.py --freeze FILE\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FROZEN)
        for each in found:
            words = (each.target, each.wave, each.name, each.spelt, each.a, each.b)
            writer.writerow((*words, *each.registers, each.rthroughput))
    return len(found)


def frozen(path: Path) -> list[Said]:
    """What `freeze` wrote."""
    lines = (line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return [
        Said(
            row["target"], int(row["wave"]), row["name"], row["spelt"], row["a"], row["b"],
            (int(row["a_regs"]), int(row["b_regs"]), int(row["c_regs"]), int(row["d_regs"])),
            float(row["rthroughput"]),
        )
        for row in csv.DictReader(lines)
    ]  # fmt: skip


def main() -> int:
    """Compare, or write, or freeze. Returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--write", action="store_true", help="put LLVM's registers and cycles into the tables"
    )
    parser.add_argument("--freeze", type=Path, metavar="FILE", help="write what LLVM says as test data")
    options = parser.parse_args()
    if options.freeze:
        print(f"{freeze(options.freeze)} rows in {options.freeze}")
        return 0
    if options.write:
        for target in TARGETS:
            print(f"{target}: {rewrite(target)} rows changed")
        return 0
    return check()


def check() -> int:
    """Print the comparison of every target. Returns 1 where a difference has no reason."""
    unexplained = 0
    reasons: Counter[str] = Counter()
    for target in TARGETS:
        counts, differences = compare(target, ask(target))
        print(
            f"{target:8}",
            *(f"{what} {equal} of {total}" for what, (equal, total) in counts.items()),
            sep="  ",
        )
        for each in differences:
            if each.reason is None:
                unexplained += 1
                print(f"  {each.what}: {each.name}: LLVM {each.llvm}, table {each.table}")
            else:
                reasons[f"{target} {each.what}: {each.reason}"] += 1
    for target in ("gfx950", "gfx1250"):
        equal, total = codes(target)
        unexplained += total - equal
        print(f"{target}: {equal} of {total} pairs of format codes take the registers of their width class")
    for reason, count in reasons.items():
        print(f"  {count:3} {reason}")
    return int(bool(unexplained))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except llvm.NoLlvm as missing:
        sys.exit(f"matrix_tables: {missing}")
