"""Charts: what they draw is what the results hold, they can be read by everyone, and they need no network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import wavefit as wf
from tests.accuracy_feed import DATA
from wavefit.feed import Curve, compare, feed_curves, memory_curves, read_measured, roofline, summed_up, trap
from wavefit.profiles.reasons import ABOVE, Reason
from wavefit.report import charts
from wavefit.report.charts.steps import stairs
from wavefit.report.charts.style import DASHES, SHAPES, THEMES, decades
from wavefit.report.feed import Overlay
from wavefit.survey.table import table
from wavefit.tiles.order import Order, Walk
from wavefit.tiles.orders import compare as orders

ROOT = Path(__file__).parents[1]

MMA, F8F6F4 = "mma.m16n8k16.bf16", "v_mfma_f32_16x16x128_f8f6f4"
FITS = {
    "MI355X": {"vgprs": 155, "agprs": 0, "sgprs": 43, "lds": 61440, "threads": 512},
    "MI300X": {"vgprs": 155, "agprs": 0, "sgprs": 43, "lds": 61440, "threads": 512},
    "H200": {"vgprs": 128, "lds": 49152, "threads": 256},
    "gfx1100": {"vgprs": 96, "lds": 16384, "threads": 256},
    "gfx906": {"vgprs": 40, "sgprs": 90, "lds": 9000, "threads": 192},
}


def fitted(chip: str) -> wf.Fit:
    found = wf.fit(chip, **FITS[chip])
    assert isinstance(found, wf.Fit)
    return found


def curves() -> tuple[Curve, ...]:
    return feed_curves("H200", MMA, instructions=1024)


def overlay(chip: str, file: str) -> Overlay:
    rows = compare(chip, read_measured(DATA / file))
    return Overlay(chip, file, rows, summed_up(rows))


def walked(m: int, n: int) -> Walk:
    tile = {"block_m": 256, "block_n": 256, "block_k": 64}
    found = orders("MI355X", m=m, n=n, k=4096, dtype="bf16", tile=tile, orders=[Order(8, 64)])
    return found.orders[0].traffic.walk


def confirmed() -> Sequence[Any]:
    return wf.confirm(str(ROOT / "tests/data/profiles/ncu-h200/ncu_details.csv.gz"))


def surveyed() -> charts.Distributions:
    found = charts.Distributions()
    found.add(
        table([each for each in wf.kernels(str(ROOT / "examples/compiled")) if isinstance(each, wf.Kernel)])
    )
    return found


CHARTS: dict[str, Any] = {
    "throughput": lambda: charts.throughput(curves(), wf.feed("H200", MMA, ilp=2, waves=3)),
    "bare target": lambda: charts.throughput(feed_curves("gfx942", "v_mfma_f32_32x32x8_f16", ilps=(1, 2))),
    "bandwidth": lambda: charts.bandwidth(memory_curves("H200")),
    "measured, few ILPs": lambda: charts.measured(overlay("MI355X", "mfma_ilp_sweep.csv")),
    "measured, many": lambda: charts.measured(overlay("H200", "h200_feed_run.csv")),
    "measured, one shape": lambda: charts.measured(overlay("BW1000", "hbm_read_by_workgroups.csv")),
    "roofline": lambda: charts.roofline(roofline("BW1000", "bf16", tiles=((128, 128), (256, 256)))),
    "trap": lambda: charts.trap(trap("MI355X", F8F6F4)),
    "occupancy": lambda: charts.occupancy(fitted("MI355X")),
    "two chips": lambda: charts.occupancy(fitted("MI355X"), fitted("MI300X")),
    "tile order": lambda: charts.tile_order(walked(8192, 8192)),
    "tile order, cut": lambda: charts.tile_order(walked(40000, 512)),
    "confirmed": lambda: charts.confirmed(confirmed()),
    "survey": lambda: charts.distributions(surveyed()),
}


@pytest.fixture(scope="module", params=CHARTS)
def spec(request: pytest.FixtureRequest) -> charts.Spec:
    made: charts.Spec = CHARTS[request.param]()
    return made


def data(spec: Any, *fields: str) -> list[tuple[Any, ...]]:
    """Every row of a specification that has these fields."""
    if isinstance(spec, list):
        return [row for part in spec for row in data(part, *fields)]
    if not isinstance(spec, dict):
        return []
    own = spec.get("data", {}).get("values", [])
    rows = [tuple(row[field] for field in fields) for row in own if set(fields) <= set(row)]
    return rows + [row for key, part in spec.items() if key != "data" for row in data(part, *fields)]


# What is drawn is what the results hold


def test_throughput_draws_every_point_that_can_be_resident():
    expected = {
        (f"ILP {curve.ilp}", point.waves, point.flops)
        for curve in curves()
        for point in curve.points
        if point.flops is not None
    }
    drawn = charts.throughput(curves())
    assert set(data(drawn, "series", "waves", "est")) == expected


def test_a_measured_chart_draws_each_row_and_its_estimate():
    found = overlay("H200", "h200_feed_run.csv")
    drawn = data(charts.measured(found), "measured", "est")
    assert sorted(drawn) == sorted((row.row.amount, row.estimate) for row in found.rows if row.estimate)


def test_the_trap_draws_the_least_of_its_limits():
    found = trap("MI355X", F8F6F4)
    drawn = data(charts.trap(found), "waves", "flops", "registers")
    assert set(drawn) == {(point.waves, point.flops, point.registers) for point in found.points}


def test_the_map_of_tiles_draws_each_tile_once_with_its_round_and_die():
    walk = walked(8192, 4096)
    expected = set(
        zip(*(part.tolist() for part in (walk.row, walk.column, walk.die, walk.round)), strict=True)
    )
    assert len(expected) == 32 * 16
    when, where = (
        data(panel, "row", "column", "die", "round") for panel in charts.tile_order(walk)["hconcat"]
    )
    assert len(when) == len(expected)
    assert set(when) == expected
    assert set(where) == {tile for tile in expected if tile[0] < 24 and tile[1] < 24}


def test_theory_beside_measurement_draws_what_confirm_found():
    found = confirmed()
    drawn = data(charts.confirmed(found), "ceiling", "grid", "achieved")
    assert len(drawn) == 24 < len(found)
    assert drawn == [(item.ceiling, item.grid_ceiling, item.achieved) for item in list(found)[:24]]


def test_more_than_fits_is_marked():
    item = next(iter(confirmed()))
    wrong = replace(item, achieved=0.9, reasons=(Reason(ABOVE, "more was measured than fits", None, False),))
    marked = charts.confirmed([wrong, item])["layer"][-1]
    assert marked["mark"]["text"] == "above the ceiling"
    assert len(marked["data"]["values"]) == 1


def test_distributions_of_a_survey_count_every_kernel():
    found = surveyed()
    merged = charts.Distributions()
    for _ in range(2):
        merged.merge(found)
    fits = [fit for each in wf.kernels(str(ROOT / "examples/compiled")) if isinstance(each, wf.Kernel)
            for fit in [wf.fit(each)]]  # fmt: skip
    expected = Counter((fit.waves_per_simd, "+".join(fit.binding)) for fit in fits)
    assert found.waves == expected
    assert merged.waves == expected + expected
    drawn = data(charts.distributions(found), "waves", "limiter", "kernels")
    assert sum(count for *_, count in drawn) == len(fits)


def test_a_roof_is_the_least_of_peak_and_slope():
    (memory, *_) = roofline("BW1000", "bf16").roofs
    low, ridge, high = memory.corners(1, 10_000)
    assert low == (1, memory.bandwidth)
    assert ridge == (pytest.approx(memory.balance), pytest.approx(memory.peak))
    assert high == (10_000, memory.peak)


@pytest.mark.parametrize("chip", FITS)
def test_stairs_are_what_fit_answers_at_every_edge(chip: str):
    names = {"vgpr": "total_vgprs", "sgpr": "sgprs", "lds": "lds", "threads": "threads"}
    asked = {"total_vgprs": FITS[chip]["vgprs"], **FITS[chip]}
    del asked["vgprs"]
    asked.pop("agprs", None)
    for found in stairs(fitted(chip)):
        edges = [amount for stair in found.stairs for amount in (stair.low, stair.high)]
        assert edges[::2] == [edges[0], *(edge + 1 for edge in edges[1:-1:2])]  # nothing left out
        for stair in found.stairs:
            for amount in (stair.low, stair.high):
                if found.resource == "vgpr" and not amount:
                    continue
                again = wf.fit(chip, **{**asked, names[found.resource]: amount})
                assert (again.waves_per_simd if again.workgroups else 0) == stair.waves


@pytest.mark.parametrize("chip", FITS)
def test_cliffs_are_the_fits_own_steps_and_losses(chip: str):
    fit = fitted(chip)
    by_resource = {found.resource: found for found in stairs(fit)}
    for loss in fit.losses:
        (change,) = loss.changes
        more = by_resource[change.resource].more
        assert more is not None
        assert more.low == change.to
    for step in fit.next_steps:
        if len(step.changes) == 1 and step.changes[0].resource != "threads":
            fewer = by_resource[step.changes[0].resource].fewer
            assert fewer is not None
            assert fewer.high == step.changes[0].to


def test_what_limits_is_marked_and_a_joint_limit_says_that_one_alone_gains_nothing():
    both = fitted("MI300X")
    assert set(both.binding) == {"vgpr", "lds"}
    panels = charts.occupancy(both)["concat"]
    limiting = [panel["title"] for panel in panels if panel["title"]["style"] == "limit-title"]
    assert [title["text"] for title in limiting] == ["VGPR limits", "LDS limits"]
    assert all("less alone gains nothing" in title["subtitle"][0] for title in limiting)


def test_another_view_has_no_steps():
    with pytest.raises(wf.BadQuestion, match="only the hardware view"):
        charts.occupancy(wf.fit("MI355X", vgprs=64, threads=256, view="llvm-22"))


def test_ticks_of_a_logarithmic_axis():
    assert decades(7, 250) == [10, 20, 50, 100, 200]


# Everyone can read them


def linear(colour: str) -> list[float]:
    """WCAG 2.2: a colour's channels in linear light."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]


def contrast(one: str, other: str) -> float:
    weights = (0.2126, 0.7152, 0.0722)
    a, b = (
        sum(w * c for w, c in zip(weights, linear(colour), strict=True)) + 0.05 for colour in (one, other)
    )
    return max(a, b) / min(a, b)


SEEN = {  # Machado, Oliveira, Fernandes 2009: severity 1.0
    "protanopia": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900),
    ),
}  # fmt: skip


def lab(colour: str, seen: tuple[tuple[float, ...], ...]) -> tuple[float, float, float]:
    """CIE L*a*b* (D65) of a colour as it is seen."""
    light = [min(1.0, max(0.0, sum(m * c for m, c in zip(row, linear(colour), strict=True)))) for row in seen]
    to_xyz = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(m * c for m, c in zip(row, light, strict=True)) for row in to_xyz]
    x, y, z = (
        t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
        for t in (value / white for value, white in zip(xyz, (0.9505, 1, 1.089), strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
def test_text_has_4_5_to_1_and_marks_3_to_1(theme: charts.Theme):
    assert all(contrast(colour, theme.background) >= 4.5 for colour in (theme.text, theme.quiet, theme.limit))
    marks = (*theme.series, theme.line, theme.good, theme.axis)
    assert all(contrast(colour, theme.background) >= 3 for colour in marks)


@pytest.mark.parametrize("theme", THEMES.values(), ids=lambda theme: theme.name)
@pytest.mark.parametrize("sight", SEEN)
def test_series_stay_apart_for_the_colour_blind(theme: charts.Theme, sight: str):
    for one, other in combinations(theme.series, 2):
        a, b = lab(one, SEEN[sight]), lab(other, SEEN[sight])
        assert sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) ** 0.5 > 15


def test_series_differ_without_colour():
    assert len(SHAPES) == len(set(SHAPES)) == len(charts.LIGHT.series) == len(charts.DARK.series)
    assert len({tuple(dash) for dash in DASHES}) == len(DASHES) == len(SHAPES)


def test_every_text_of_a_picture_can_be_read(spec: charts.Spec):
    pytest.importorskip("vl_convert", reason="pictures need vl-convert-python (wavefit[charts])")
    for theme in THEMES.values():
        picture = ElementTree.fromstring(charts.svg(spec, theme))
        texts = [each for each in picture.iter() if each.tag.endswith("}text") and "".join(each.itertext())]
        assert len(texts) > 10
        for text in texts:
            assert contrast(str(text.get("fill")), theme.background) >= 4.5, "".join(text.itertext())


# They need nothing from outside


def test_a_specification_is_plain_json_in_no_colour(spec: charts.Spec):
    text = json.dumps(spec, allow_nan=False)
    assert not re.search(r"#[0-9a-f]{6}", text)


def test_pictures_and_pages_are_whole(spec: charts.Spec, tmp_path: Path):
    pytest.importorskip("vl_convert", reason="pictures need vl-convert-python (wavefit[charts])")
    for name in ("chart.svg", "chart.PNG", "chart.html"):
        charts.save(spec, tmp_path / name, theme="dark")
    assert charts.DARK.background in (tmp_path / "chart.svg").read_text()
    assert (tmp_path / "chart.PNG").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    page = (tmp_path / "chart.html").read_text()
    assert len(page.encode()) < 2_000_000
    markup = re.sub(r"<script\b.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"(src|href)\s*=|@import|url\(", markup)


def test_text_in_a_page_cannot_end_its_script():
    pytest.importorskip("vl_convert", reason="pages need vl-convert-python (wavefit[charts])")
    hostile = {"title": "</script><script>alert(1)</script>", **charts.throughput(curves())}
    hostile["title"] = "</script><script>alert(1)</script>"
    page = charts.html(hostile, title="<b>")
    assert "<script>alert" not in page
    assert "<title>&lt;b&gt;</title>" in page
    assert page.count("</script>") == 3


@pytest.mark.heavy
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_browser_without_a_network_draws_the_page(tmp_path: Path, scheme: str):
    pytest.importorskip("vl_convert", reason="pages need vl-convert-python (wavefit[charts])")
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("no chromium here")
    (tmp_path / "chart.html").write_text(charts.html(charts.throughput(curves())))
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    done = subprocess.run(
        [browser, *options, *dark, "--virtual-time-budget=10000", "--dump-dom", f"file://{tmp_path}/chart.html"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "<svg" in done.stdout
    assert "ILP 8" in done.stdout
    assert THEMES[scheme].text in done.stdout.split("<svg", 1)[1]
