"""The figures of the site, drawn by the library's own charts when the site is built.

A page names one as `{{ figure:NAME }}`. Each is drawn for a light and for a dark page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import wavefit as wf
from wavefit.feed import compare, feed_curves, memory_curves, read_measured, roofline, summed_up, trap
from wavefit.report import charts
from wavefit.report.charts import DARK, LIGHT, Spec, Theme
from wavefit.report.feed import Overlay
from wavefit.report.tile_order import order_svg
from wavefit.tiles import orders
from wavefit.tiles.order import Order

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples/compiled/gemm_mxfp8_gfx950_128x256x128_w8.hsaco"
MEASURED = ROOT / "tests/data/feed/mma_fma_ilp_sweep.csv"
MXFP8, MMAC = "v_mfma_f32_16x16x128_f8f6f4", "v_mmac_f32_16x16x16_bf16"


@dataclass(frozen=True)
class Figure:
    """A drawing with what it shows, in words for those who do not see it."""

    draw: Callable[[Theme], str]
    english: str
    chinese: str


def _chart(make: Callable[[], Spec]) -> Callable[[Theme], str]:
    return lambda theme: charts.svg(make(), theme)


def _example() -> wf.Kernel:
    kernel = next(wf.kernels(EXAMPLE))
    assert isinstance(kernel, wf.Kernel)
    return kernel


def _fit(subject: wf.Kernel | str, **asked: int | str) -> wf.Fit:
    found = wf.fit(subject, **asked)  # type: ignore[arg-type]
    assert isinstance(found, wf.Fit)
    return found


def _two_chips() -> Spec:
    spent = {"vgprs": 128, "sgprs": 48, "lds": 36864, "threads": 256}
    return charts.occupancy(_fit("MI355X", **spent), _fit("MI300X", **spent))


def _stairs(resource: str, *chips: str, **spent: int) -> Callable[[], Spec]:
    """One resource alone: the first panel of a kernel that spends nothing else."""

    def make() -> Spec:
        whole = charts.occupancy(*(_fit(chip, **{resource: spent[resource]}, threads=256) for chip in chips))
        return {**whole, "concat": whole["concat"][:1], "columns": 1}

    return make


def _overlay() -> Spec:
    rows = compare("H200", read_measured(MEASURED))
    return charts.measured(Overlay("H200", MEASURED.name, rows, summed_up(rows)))


def _order(group: int, chunk: int | None = None) -> Callable[[Theme], str]:
    def draw(theme: Theme) -> str:
        tile = {"block_m": 256, "block_n": 256, "block_k": 128}
        found = orders.compare("MI355X", m=8192, n=8192, k=4096, dtype="fp8", tile=tile,
                               orders=[Order(group_m=group, chunk=chunk)])  # fmt: skip
        title = "row-major" if group == 1 else f"groups of {group}"
        return order_svg(found.orders[0].traffic.walk, title=title, theme=theme)

    return draw


FIGURES: Mapping[str, Figure] = {
    "occupancy": Figure(
        _chart(lambda: charts.occupancy(_fit(_example(), chip="MI355X"))),
        "Waves a SIMD against registers, LDS and workgroup size for the MXFP8 GEMM on MI355X: "
        "it stands at 2 waves; VGPR and LDS limit.",
        "MXFP8 GEMM 在 MI355X 上：每 SIMD 的 wave 数随寄存器、LDS 与工作组大小变化；"
        "当前 2 个 wave，瓶颈是 VGPR 与 LDS。",
    ),
    "two-chips": Figure(
        _chart(_two_chips),
        "The same kernel on MI355X and MI300X: registers give the same stairs, LDS different ones.",
        "同一内核在 MI355X 与 MI300X 上：寄存器的阶梯相同，LDS 的阶梯不同。",
    ),
    "stairs-vgpr-mi355x": Figure(
        _chart(_stairs("vgprs", "MI355X", vgprs=128)),
        "Waves a SIMD against VGPRs on MI355X: a staircase, steps at 64, 72, 80, 96, 128, 168 and 256.",
        "MI355X 上每 SIMD 的 wave 数随 VGPR 变化：一道阶梯，台阶位于 64、72、80、96、128、168 与 256。",
    ),
    "stairs-lds": Figure(
        _chart(_stairs("lds", "MI355X", "MI300X", lds=32768)),
        "Waves a SIMD against LDS on MI355X and MI300X: two staircases, the larger pool further right.",
        "MI355X 与 MI300X 上每 SIMD 的 wave 数随 LDS 变化：两道阶梯，LDS 较大的一道更靠右。",
    ),
    "throughput-ilp": Figure(
        _chart(lambda: charts.throughput(feed_curves("MI355X", MXFP8))),
        "Throughput against occupancy on MI355X, one curve an ILP: with ILP 4 one wave is enough (est.).",
        "MI355X 上吞吐随占用率的变化，每条曲线对应一个 ILP：ILP 为 4 时一个 wave 即可（估算）。",
    ),
    "throughput-bw1000": Figure(
        _chart(lambda: charts.throughput(feed_curves("BW1000", MMAC))),
        "Throughput against occupancy on BW1000, one curve an ILP: six chains must be in flight (est.).",
        "BW1000 上吞吐随占用率的变化，每条曲线对应一个 ILP：需要六条依赖链在途（估算）。",
    ),
    "bandwidth": Figure(
        _chart(lambda: charts.bandwidth(memory_curves("H200"))),
        "Bandwidth of an H200 against bytes in flight, beside Little's law (est.).",
        "H200 的带宽随在途字节数的变化，旁边是利特尔法则（估算）。",
    ),
    "roofline": Figure(
        _chart(lambda: charts.roofline(roofline("MI355X", "mxfp8", tiles=[(128, 128), (256, 256)]))),
        "Roofline of MI355X for MXFP8 with two tiles under it.",
        "MI355X 的 MXFP8 屋顶线模型，以及其下的两种分块。",
    ),
    "trap": Figure(
        _chart(lambda: charts.trap(trap("MI355X", MXFP8))),
        "From few waves with large tiles to many with small ones on MI355X: throughput falls where "
        "tiles are too small to reuse their bytes (est.).",
        "MI355X 上从少而大的分块到多而小的分块：分块太小、数据复用不足时吞吐下降（估算）。",
    ),
    "measured": Figure(
        _chart(_overlay),
        "Measured throughput of an H200 as points, the model as lines, against warps a scheduler.",
        "H200 实测吞吐（点）与模型（线），横轴为每个调度器的 warp 数。",
    ),
    "order-rows": Figure(
        _order(1), "A grid of tiles in row-major order, coloured by die.", "行主序的分块网格，颜色表示芯粒。",
    ),
    "order-map": Figure(
        _order(8, 64), "The same grid in groups of 8 with chunks of 64 tiles a die.",
        "同一网格：每组 8 行，每个芯粒 64 个分块为一段。",
    ),
}  # fmt: skip


def write(folder: Path, names: set[str]) -> None:
    """Draw the named figures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in sorted(names):
        for theme in (LIGHT, DARK):
            (folder / f"{name}-{theme.name}.svg").write_text(FIGURES[name].draw(theme), encoding="utf-8")


def html(name: str, language: str, folder: str) -> str:
    """The figure as HTML: the drawing for a light page and the one for a dark page."""
    return f"<figure>\n{''.join(_images(FIGURES[name], name, language, folder))}</figure>\n"


def _images(figure: Figure, name: str, language: str, folder: str) -> Iterator[str]:
    says = figure.english if language == "en" else figure.chinese
    for theme in (LIGHT, DARK):
        yield f'<img src="{folder}/{name}-{theme.name}.svg#only-{theme.name}" alt="{says}" loading="lazy">\n'
