"""Results in notebooks and as data frames: what they show is what the results hold."""

from __future__ import annotations

import builtins
from html.parser import HTMLParser
from typing import Any

import pytest

import wavefit as wf
from tests.page_world import HOSTILE, examples, hostile
from wavefit.advise import Advice
from wavefit.feed import feed_curves, memory_curves
from wavefit.shown import Listed, Shown

MMA = "mma.m16n8k16.bf16"


def fitted() -> wf.Fit:
    found = wf.fit("MI355X", vgprs=155, agprs=0, sgprs=43, lds=61440, threads=512)
    assert isinstance(found, wf.Fit)
    return found


def advice() -> Listed[Advice]:
    return Listed((Advice(HOSTILE["script"], "spills", "stop", (HOSTILE["ends"],), "exact", "none"),))


RESULTS: dict[str, tuple[Any, int]] = {
    "Fit": (fitted(), 1),
    "FitRange": (wf.fit("H200", vgprs=64, threads=(64, 1024)), 2),
    "Report": (examples(), 12),
    "hostile Report": (hostile(), len(HOSTILE)),
    "Advice": (advice()[0], 1),
    "advice": (advice(), 1),
    "Instruction": (wf.matrix("MI355X", type="fp8")[0], 1),
    "instructions": (wf.matrix("MI355X"), len(wf.matrix("MI355X"))),
    "Curve": (feed_curves("H200", MMA, ilps=(2,), instructions=64)[0], 16),
    "curves": (feed_curves("H200", MMA, ilps=(1, 2), instructions=64), 32),
    "memory curves": (memory_curves("H200", shapes=((16, 2),)), 16),
}


class Cells(HTMLParser):
    """Tags, attributes and the text of table cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []
        self.on: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.on += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.cells.append(data)


@pytest.mark.parametrize("name", RESULTS)
def test_a_card_is_whole_and_believes_no_name(name: str) -> None:
    found, _ = RESULTS[name]
    assert isinstance(found, Shown)
    read = Cells(found._repr_html_())
    assert not {"script", "img", "iframe", "link"} & set(read.tags)
    assert not read.on


def test_a_fits_card_says_what_the_fit_holds() -> None:
    fit = fitted()
    cells = Cells(fit._repr_html_()).cells
    for limit in fit.limits:
        if limit.workgroups is not None:
            name = {"slots": "wave slots", "workgroups": "workgroups"}.get(
                limit.resource, limit.resource.upper()
            )
            at = next(at for at in range(cells.index("spare"), len(cells)) if cells[at].startswith(name))
            numbers = (limit.requested, limit.allocated, limit.budget)
            assert tuple(cells[at + 1 : at + 4]) == tuple(
                "-" if each is None else str(each) for each in numbers
            )


@pytest.mark.heavy
def test_ipython_takes_text_and_html() -> None:
    formatters = pytest.importorskip("IPython.core.formatters", reason="needs IPython")
    shown, _ = formatters.DisplayFormatter().format(fitted())
    assert set(shown) == {"text/plain", "text/html"}
    assert "512 threads = 8 waves of 64" in shown["text/plain"]
    assert shown["text/html"].startswith("<div")


def test_a_bundle_holds_what_is_asked_for() -> None:
    fit = fitted()
    assert set(fit._repr_mimebundle_(include=["text/html"])) == {"text/html"}
    assert set(fit._repr_mimebundle_(exclude=["text/html"])) == {"text/plain"}


@pytest.mark.parametrize(
    "library",
    [
        pytest.param("pandas", marks=pytest.mark.heavy),
        pytest.param("polars", marks=pytest.mark.heavy),
        "pyarrow",
    ],
)
@pytest.mark.parametrize("name", RESULTS)
def test_frames_have_a_row_for_each(name: str, library: str) -> None:
    pytest.importorskip(library, reason=f"needs {library}")
    found, count = RESULTS[name]
    frame = getattr(found, f"to_{library.removeprefix('py')}")()
    assert frame.shape[0] == count


def test_a_reports_frame_holds_the_documents_numbers() -> None:
    pytest.importorskip("pyarrow")
    document = examples().to_dict()["kernels"]
    for row, kernel in zip(examples().to_arrow().to_pylist(), document, strict=True):
        assert row["name"] == kernel["name"]
        for key in ("total_vgprs", "sgprs", "lds", "vgpr_spills", "max_threads"):
            assert row[key] == kernel[key]
        for key in ("threads", "workgroups", "waves", "occupancy", "waves_per_simd"):
            assert row[key] == kernel["fit"][key]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_missing_library_is_one_clear_line(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    real = importlib.import_module

    def missing(name: str, package: str | None = None) -> Any:
        if name == library:
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(LookupError, match=f"needs {library}: pip install {library}"):
        getattr(fitted(), f"to_{library.removeprefix('py')}")()


def test_without_the_charting_library_a_card_has_no_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name == "vl_convert":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    assert "61440" in fitted()._repr_html_()


def test_results_stay_tuples_and_plain_values() -> None:
    found = wf.matrix("MI355X", type="fp8")
    assert isinstance(found, tuple)
    assert tuple(found) == found
    assert fitted() == fitted()
    assert hash(advice()) == hash(tuple(advice()))


@pytest.mark.heavy
def test_a_notebook_runs_and_holds_the_cards(tmp_path: Any) -> None:
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient")
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat")
    pytest.importorskip("ipykernel", reason="needs ipykernel")
    cells = [
        "import wavefit as wf\nwf.fit('MI355X', vgprs=128, agprs=0, sgprs=50, lds=32768, threads=256)",
        "wf.matrix('MI355X', type='fp8')",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    for cell, words in zip(book.cells, ("4 of 8 waves a SIMD", "v_mfma_"), strict=True):
        (output,) = cell.outputs
        assert words in output["data"]["text/html"]
