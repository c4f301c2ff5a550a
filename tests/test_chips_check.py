"""Names find one page each; `check()` is silent on the shipped pages and finds every planted fault."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import wavefit.chips as chips
from wavefit.chips import STATUSES, ChipNotFound, load, pages
from wavefit.chips.check import check

# Names


@pytest.mark.parametrize(
    ("said", "name", "target"),
    [
        ("MI355X", "MI355X", "gfx950"),
        ("mi355x", "MI355X", "gfx950"),
        ("AMD Instinct MI355X", "MI355X", "gfx950"),
        ("amd-instinct_mi300x", "MI300X", "gfx942"),
        ("RX 7900 XTX", "RX 7900 XTX", "gfx1100"),
        ("AMD Radeon RX 7900 XTX", "RX 7900 XTX", "gfx1100"),
        ("rx7900xtx", "RX 7900 XTX", "gfx1100"),
        ("Radeon PRO W7900", "Radeon PRO W7900", "gfx1100"),
        ("W7900", "Radeon PRO W7900", "gfx1100"),
        ("Radeon VII", "Radeon VII", "gfx906"),
        ("Radeon Pro VII", "Radeon Pro VII", "gfx906"),
        ("MI50 (32GB)", "MI50 (32GB)", "gfx906"),
        ("NVIDIA H200", "H200", "sm_90"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090", "sm_89"),
        ("Hygon K100-AI", "K100_AI", "gfx928"),
        ("bw1000", "BW1000", "gfx936"),
        ("gfx950", None, "gfx950"),
        ("GFX942:sramecc+:xnack-", None, "gfx942"),
        ("gfx936:sramecc+:xnack-", None, "gfx936"),
        ("sm_90", None, "sm_90"),
        ("SM90a", None, "sm_90"),
        ("sm_100f", None, "sm_100"),
        ("gfx9-4-generic", None, "gfx9-4-generic"),
    ],
)
def test_a_name_finds_its_chip(said: str, name: str | None, target: str) -> None:
    chip = chips.chip(said)
    assert (chip.name, chip.target.id) == (name, target)


def test_gfx906_is_two_targets() -> None:
    amd, hygon = chips.chip("gfx906"), chips.chip("Hygon gfx906")
    assert (amd.vendor, amd.target.sgpr.limits) == ("AMD", "yes")
    assert (hygon.vendor, hygon.target.sgpr.limits) == ("Hygon", "unknown")
    assert hygon.target is chips.target("gfx906-hygon") is chips.chip("Z100").target
    assert amd.target.name == hygon.target.name == "gfx906"


@pytest.mark.parametrize(
    ("said", "near"),
    [
        ("MI355", "MI355X"),
        ("gfx95", "gfx950"),
        ("MI50", "MI50 (16GB)"),
        ("H20", "H200"),
        ("rx 7900", "RX 7900 XTX"),
        ("bw100O", "BW1000"),
        ("sm_91", "sm_90"),
    ],
)
def test_an_unknown_name_names_its_neighbours(said: str, near: str) -> None:
    with pytest.raises(ChipNotFound) as caught:
        chips.chip(said)
    assert near in caught.value.near
    assert said in str(caught.value)
    assert near in str(caught.value)


@pytest.mark.parametrize(
    "said", ["", "AMD", "\x1b[31m", "/etc/passwd", "../products/mi355x.toml\0", "x" * 100_000]
)
def test_a_hostile_name_is_only_unknown(said: str) -> None:
    with pytest.raises(ChipNotFound) as caught:
        chips.chip(said)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_every_page_is_found_by_its_own_name() -> None:
    for chip in chips.products():
        for name in (str(chip.name), *chip.aliases, f"{chip.vendor} {chip.name}"):
            assert chips.chip(name) is chip, name
    for target in chips.targets():
        assert chips.target(target.id) is target


def test_one_chip_costs_at_most_three_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    read = pages.read

    def counted(path: str) -> dict[str, object]:
        opened.append(Path(path))
        return read(path)

    monkeypatch.setattr(pages, "read", counted)
    monkeypatch.setattr(load, "read", counted)
    for stem in pages.stems("products"):
        opened.clear()
        load._target.cache_clear()
        load._product.cache_clear()
        chips.chip(stem)
        assert 2 <= len(opened) <= 3, stem
        assert sum(path.stat().st_size for path in opened) < 24_000


# As published


PUBLISHED = "mi355x-as-published-zh"


def test_the_published_chip_is_found_by_its_full_name_only() -> None:
    assert chips.chip(PUBLISHED).target.id == "gfx950-as-published-zh"
    for chip in chips.products():
        for name in (str(chip.name), *chip.aliases):
            assert ("published" in chips.chip(name).target.id) == (name == PUBLISHED)
    for said in ("MI355", "MI355X-zh", "mi355x as", "gfx950-zh", "355"):
        with pytest.raises(ChipNotFound) as caught:
            chips.chip(said)
        assert not any("published" in near for near in caught.value.near)


def test_what_the_published_chip_says_is_marked_and_answered() -> None:
    chip = chips.chip(PUBLISHED)
    assert chip.value("published.about") == chips.chip("MI355X").name
    facts = {**chip.target.facts, **chip.facts}
    wrong = {path: fact for path, fact in facts.items() if fact.status == "contradicted"}
    assert all("G2-" in fact.source and fact.note for fact in wrong.values())
    # G2-01, 02, 04, 05, 06, 07, 10, 11, 16, 17: the statements that the hardware facts contradict
    told = set(re.findall(r"G2-\d\d", " ".join(fact.source for fact in wrong.values())))
    assert told >= {f"G2-{n:02}" for n in (1, 2, 4, 5, 6, 7, 10, 11, 16, 17)}
    real = chips.target("gfx950").facts
    for path in ("vgpr.wave64.granule", "sgpr.file", "sgpr.granule", "lds.granule", "lds.per_workgroup"):
        published = facts[path.replace("64", "32")]
        assert published.value != real[path].value
        assert str(real[path].value) in str(published.note)


def test_the_published_numbers() -> None:
    target, unit = chips.target("gfx950-as-published-zh"), chips.target("gfx950-as-published-zh").unit()
    assert (unit.name, unit.simds, unit.wave_slots, unit.lds_pool, unit.workgroups) == (
        "SIMD",
        1,
        16,
        32768,
        16,
    )
    file = target.vgpr.files[32]
    assert (target.wave_sizes, file.file * 32, file.granule) == ((32,), 16384, 1)
    assert (target.sgpr.file, target.sgpr.granule, target.sgpr.trap_reserve) == (6144, 1, 0)
    assert target.sgpr.addressable is None
    assert not target.workgroup.one_wave_exempt


# The check


def test_shipped_pages_are_sound() -> None:
    assert check() == []


def test_every_fact_has_a_source_and_a_status() -> None:
    facts = [fact for target in chips.targets() for fact in target.facts.values()]
    facts += [fact for chip in chips.products() for fact in chip.facts.values()]
    assert all(fact.status in STATUSES and fact.source.strip() for fact in facts)
    assert len(facts) > 2500


KEPT = {
    "targets": ["gfx900", "gfx908", "gfx950", "gfx1100", "gfx1102", "sm_80", "sm_90", "gfx938", "gfx928"],
    "products": ["mi355x", "mi100", "rx-7600", "h200", "bw1100"],
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of some shipped pages, without a fault."""
    folder = tmp_path_factory.mktemp("sound")
    for kind, stems in KEPT.items():
        (folder / kind).mkdir()
        for stem in stems:
            shutil.copy(pages.page(kind, stem), folder / kind)
    assert check(folder) == []
    return folder


@pytest.fixture
def few(sound: Path, tmp_path: Path) -> Path:
    """A copy of it to be spoilt."""
    return Path(shutil.copytree(sound, tmp_path / "data"))


FAULTS = [
    # one Fact
    ("targets/gfx950", r'("bytes per CU", +)source = "[^"]+"', r'\1source = ""', "no source"),
    ("targets/gfx950", r'source = "LLVM IsaInfo", ', "", "no source"),
    ("targets/gfx950", 'status = "compiler"', 'status = "believed"', "status 'believed' is none of"),
    ("targets/gfx950", r', status = "compiler"', "", "status None is none of"),
    ("targets/gfx950", r'unit = "per lane", ', "", "a number without a unit"),
    ("targets/gfx950", r"value = 1280, ", "", "no value, yet not unknown"),
    ("targets/gfx950", r'(value = 1280,.*?status = )"runtime"', r'\1"unknown"', "unknown with a value"),
    ("targets/gfx950", r"value = 1280", "value = -1280", "negative"),
    ("targets/gfx950", r"granule +=.*1280.*", "granule = 1280", "1280 stands without a source"),
    ("targets/gfx950", r'(value = 1280,.*?)"runtime"', r'\1"contradicted"', "nor a note says by what"),
    ("targets/gfx950", 'note = "VCC', 'notes = "VCC', "unknown words notes"),
    ("targets/gfx938", r'value = 768, source = "[^"]+"', "value = 768", "a reading without value or source"),
    ("products/mi355x", r'unit = "MHz", ', "", "a number without a unit"),
    # one target
    ("targets/gfx950", r"\[lds\]\ngranule .*\n", "[lds]\n", "lds.granule is missing"),
    ("targets/gfx950", r"\[lds\]\n.*\n.*\n", "", "lds.granule is missing"),
    ("targets/gfx950", r"\[sgpr\]\n(.*\n)+?\n", "", "sgpr is missing"),
    ("targets/gfx950", r'family = "CDNA4"\n', "", "family is missing"),
    ("targets/gfx950", "value = 1280,", "value = 0,", "lds.granule: zero"),
    ("targets/gfx950", "value = 1280,", 'value = "1280",', "lds.granule: '1280' is no whole number"),
    ("targets/gfx950", "value = 1280,", "value = 1000,", "no multiple of the granule"),
    ("targets/gfx950", r"(granule        = \{ value = )8", r"\g<1>7", "does not divide the file of 512"),
    ("targets/gfx950", r"(encode_granule = \{ value = )8", r"\g<1>16", "16 does not divide 8"),
    ("targets/gfx950", r"(agprs +=.*?value = )256", r"\g<1>128", "does not follow from both kinds"),
    ("targets/gfx950", '"unified"', '"shared"', "'shared' is none of"),
    ("targets/gfx908", r"agprs .*\n", "", "does not follow from both kinds"),
    ("targets/gfx950", "value = 800,", "value = 808,", "16 does not divide the file of 808"),
    ("targets/gfx950", r'(limits +=) "yes"', r'\1 "no"', "'no' is none of yes"),
    ("targets/gfx1100", r'(limits +=) "never"', r'\1 "yes"', "file or granule is missing"),
    ("targets/gfx950", r"(per_workgroup = \{ value = )163840", r"\g<1>163841", "more than the pool"),
    ("targets/gfx950", r"(workgroups = \{ value = )16,", r"\g<1>64,", "more than its 32 waves"),
    ("targets/gfx950", r"(waves = \{ value = )32", r"\g<1>40", "more than the 32 of cu"),
    ("targets/gfx950", r"wave_sizes = \[64\]", "wave_sizes = [32, 64]", "vgpr.wave32.file is missing"),
    ("targets/gfx950", r"wave_sizes = \[64\]", "wave_sizes = 64", "cannot be read"),
    ("targets/gfx950", r"value = 1024", "value = 1000", "1000 is not whole waves"),
    ("targets/gfx1100", "default_wave = 32", "default_wave = 16", "16 is not a wave size"),
    ("targets/gfx1100", r"wave_sizes = \[32, 64\]", "wave_sizes = [32]", "sections ['wave32', 'wave64']"),
    ("targets/gfx1100", r"modes = .*", 'modes = ["wgp", "wgp2"]', "wgp2 is missing"),
    ("targets/gfx1100", r"(simds      = \{ value = )2", r"\g<1>4", "not half of WGP"),
    ("targets/gfx1102", r"value = 512,", "value = 520,", "see files of different size"),
    ("targets/gfx950", r"100, 8, 108, 7", "100, 8, 90, 7", "not pairs of more registers"),
    ("targets/gfx950", "lds_granule", "lds_grain", "view.llvm-22: unknown words lds_grain"),
    ("targets/sm_80", r"0, 8192, 16384", "0, 16384, 8192", "not ascending to the pool"),
    ("targets/sm_80", r"135168, 167936", "135168", "not ascending to the pool"),
    ("targets/sm_80", r"(reserve  .*?value = )1024", r"\g<1>2048", "and the reserve, more than the pool"),
    ("targets/gfx1102", 'like = "gfx1100"', 'like = "gfx1199"', "cannot be read"),
    ("targets/gfx1100", 'name = "gfx1100"', 'name = "gfx1100"\nlike = "gfx1102"', "a ring of pages"),
    ("targets/gfx950", r"\[lds\]", "[lds", "cannot be read"),
    # one product
    ("products/mi355x", 'target = "gfx950"', 'target = "gfx951"', "no sound page targets/gfx951.toml"),
    ("products/mi355x", 'target = "gfx950"\n', "", "target is missing"),
    ("products/mi355x", 'name = "MI355X"\n', "", "name is missing"),
    ("products/mi355x", 'vendor = "AMD"', 'vendor = "NVIDIA"', "vendor: NVIDIA, but gfx950 is AMD's"),
    ("products/mi355x", "value = 256, unit", "value = 255, unit", "255 is not 8 dies of 32"),
    ("products/mi355x", "value = 33_554_432", "value = 33_554_431", "33554431 is not 8 dies of 4194304"),
    ("products/mi355x", "FLOP per clock per CU", "TFLOPS", "not per clock per CU"),
    ("products/mi355x", "bytes/s", "GB/s", "not bytes/s"),
    ("products/mi355x", 'name = "MI355X"', 'name = "MI100"', "MI100 finds mi100 first"),
    ("products/mi355x", "target = ", 'aliases = ["gfx908"]\ntarget = ', "gfx908 finds gfx908 first"),
    ("products/mi355x", r"\[compute\]", "[compute", "cannot be read"),
]  # fmt: skip


@pytest.mark.parametrize(("page", "old", "new", "problem"), FAULTS, ids=[f"{f[0]}: {f[3]}" for f in FAULTS])
def test_a_planted_fault_is_found(few: Path, page: str, old: str, new: str, problem: str) -> None:
    path = few / f"{page}.toml"
    text = path.read_text(encoding="utf-8")
    spoilt, times = re.subn(old, new, text, count=1)
    assert times == 1
    assert spoilt != text
    path.write_text(spoilt, encoding="utf-8")
    found = check(few)
    assert any(line.startswith(f"{page}.toml: ") and problem in line for line in found), found


def test_two_pages_of_one_name_are_found(few: Path) -> None:
    shutil.copy(few / "targets" / "gfx950.toml", few / "targets" / "GFX-950.toml")
    assert "targets: gfx950 finds several pages" in check(few)


def test_a_page_that_is_no_text_is_one_problem(few: Path) -> None:
    (few / "products" / "h200.toml").write_bytes(b"\xff\xfe\x00")
    assert [line.partition(":")[0] for line in check(few)] == ["products/h200.toml"]
