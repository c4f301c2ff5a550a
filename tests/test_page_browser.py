"""The report's page in a real Chromium: it loads clean, sorts, filters, links, prints, speaks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.browser import PHONE, Watched, grave, watched
from tests.page_world import HOSTILE, examples, hostile, many
from wavefit.report.charts import Distributions
from wavefit.report.document import Report
from wavefit.report.names import printable
from wavefit.report.page import page
from wavefit.report.page.survey import overview
from wavefit.survey import Summary
from wavefit.survey.table import table

pytest_plugins = ["tests.browser"]
pytestmark = pytest.mark.heavy
REPORTS = {"examples": examples, "hostile": hostile, "many": lambda: many(10_000)}


@cache
def text_of(name: str) -> str:
    return page(REPORTS[name]())


@contextmanager
def opened(browser: Any, folder: Path, name: str, at: str = "", **how: Any) -> Iterator[Watched]:
    """The page of a report from a file, its script done."""
    file = folder / f"{name}.html"
    file.write_text(text_of(name), encoding="utf-8")
    with watched(browser, file.as_uri(), **how) as seen:
        seen.page.goto(file.as_uri() + at)
        seen.page.wait_for_selector("html[data-ready]")
        yield seen


def column(seen: Watched, number: int) -> list[str]:
    return [text.strip() for text in seen.page.locator(f"#rows tr > :nth-child({number})").all_inner_texts()]


@pytest.mark.parametrize("name", REPORTS)
def test_it_loads_without_an_error_or_a_request(browser: Any, tmp_path: Path, name: str) -> None:
    with opened(browser, tmp_path, name) as seen:
        kernels = len(REPORTS[name]().kernels)
        assert seen.page.inner_text("#found") == f"{kernels} of {kernels} kernels"
        assert seen.page.locator("#rows tr").count() == min(kernels, 100)
        seen.clean()


def test_the_table_and_the_sections_show_the_reports_numbers(browser: Any, tmp_path: Path) -> None:
    document = examples().to_dict()["kernels"]
    with opened(browser, tmp_path, "examples") as seen:
        for number, (row, kernel) in enumerate(
            zip(seen.page.locator("#rows tr").all(), document, strict=True)
        ):
            fit = kernel["fit"]
            cells = [cell.strip() for cell in row.locator("th, td").all_inner_texts()]
            assert cells[0] == kernel["name"]
            assert cells[2:4] == [str(kernel["total_vgprs"]), str(kernel["sgprs"])]
            assert cells[6:9] == [
                str(fit["threads"]),
                f"{fit['waves_per_simd']:g}",
                f"{fit['occupancy'] * 100:.4g} %",
            ]
            if number % 4:
                continue
            row.locator("a").click()
            shown = [
                line.split("\t") for line in seen.page.locator("#kernel table").first.inner_text().split("\n")
            ]
            limits = {line[0].split("binds")[0].strip(): line for line in shown}
            for limit in fit["limits"]:
                if limit["workgroups"] is not None:
                    name = {"slots": "wave slots", "workgroups": "workgroups"}.get(
                        limit["resource"], limit["resource"].upper()
                    )
                    asked, charged, granule, budget = (
                        limit[key] for key in ("requested", "allocated", "granule", "budget")
                    )
                    assert limits[name][1:5] == [
                        "-" if each is None else str(each) for each in (asked, charged, granule, budget)
                    ]
                    assert limits[name][6] == str(limit["workgroups"])
            text = seen.page.inner_text("#kernel")
            for step in (*fit["next_steps"], *fit["losses"]):
                for change in step["changes"]:
                    assert f"{change['from']} → {change['to']}" in text
            seen.page.go_back()
        seen.clean()


def test_it_sorts_and_filters(browser: Any, tmp_path: Path) -> None:
    with opened(browser, tmp_path, "examples") as seen:
        for direction in ("descending", "ascending"):
            seen.page.click("button[value=vgprs]")
            numbers = [int(text) for text in column(seen, 3)]
            assert numbers == sorted(numbers, reverse=direction == "descending")
            assert seen.page.get_attribute("th:has(button[value=vgprs])", "aria-sort") == direction
        expected = [
            k
            for k in examples().to_dict()["kernels"]
            if k["target"] == "gfx950" and "lds" in k["fit"]["binding"]
        ]
        seen.page.select_option("#target", "gfx950")
        seen.page.select_option("#binds", "lds")
        assert seen.page.inner_text("#found") == f"{len(expected)} of 12 kernels"
        seen.page.select_option("#binds", "")
        seen.page.fill("#search", "SOFT")
        assert column(seen, 1) == ["softmax"]
        seen.page.fill("#search", "nothing is called so")
        assert seen.page.inner_text("#found") == "0 of 12 kernels"
        seen.clean()


def test_ten_thousand_kernels_can_be_paged_searched_and_sorted(browser: Any, tmp_path: Path) -> None:
    report = many(10_000)
    with opened(browser, tmp_path, "many") as seen:
        names = [kernel.name for kernel, _ in report.kernels]
        seen.page.click("#on")
        assert column(seen, 1) == names[100:200]
        assert seen.page.inner_text("#page") == "page 2 of 100"
        wanted = [name for name in names if "MT256x256x64" in name]
        seen.page.fill("#search", "MT256x256x64")
        assert seen.page.inner_text("#found") == f"{len(wanted)} of 10000 kernels"
        seen.page.fill("#search", "")
        seen.page.click("button[value=occupancy]")
        best = max(fit.occupancy for _, fit in report.kernels)  # type: ignore[union-attr]
        assert column(seen, 9)[0] == f"{best * 100:.4g} %"
        seen.page.locator("#rows a").nth(50).click()
        assert seen.page.locator("#kernel svg.chart").count() >= 3
        seen.clean()


def test_hostile_names_show_as_text(browser: Any, tmp_path: Path) -> None:
    with opened(browser, tmp_path, "hostile") as seen:
        shown = column(seen, 1)
        for at, name in enumerate(HOSTILE.values()):
            assert shown[at].replace("\n", "") == " ".join(printable(name, 4000).split())
        for at in range(len(HOSTILE)):
            seen.page.locator("#rows a").nth(at).click()
            title = seen.page.locator("#kernel h1").text_content()
            assert title == printable(list(HOSTILE.values())[at], 4000)
            seen.page.go_back()
        assert seen.page.locator("img").count() == 0
        assert seen.page.title() == f"{len(HOSTILE)} kernels"
        seen.clean()


def test_a_deep_link_opens_its_kernel(browser: Any, tmp_path: Path) -> None:
    with opened(browser, tmp_path, "examples") as seen:
        links = seen.page.locator("#rows a").all()
        at, address = links[5].inner_text(), links[5].get_attribute("href")
    with opened(browser, tmp_path, "examples", address or "") as seen:
        assert seen.page.inner_text("#kernel h1") == at
        assert "gfx950_128x256x128_w8" in seen.page.inner_text("#kernel")
        assert seen.page.is_hidden("#overview")
        seen.page.click("text=All kernels")
        assert seen.page.is_visible("#overview")
        seen.page.goto(seen.page.url.split("#")[0] + "#k-gone")
        assert seen.page.is_visible("#overview")
        seen.clean()


@pytest.mark.parametrize("how", [{}, {"dark": True}, {"window": PHONE}], ids=["light", "dark", "narrow"])
@pytest.mark.parametrize("name", ["examples", "hostile"])
def test_axe_finds_nothing_serious(browser: Any, tmp_path: Path, name: str, how: dict[str, Any]) -> None:
    with opened(browser, tmp_path, name, **how) as seen:
        assert grave(seen.page) == []
        seen.page.locator("#rows a").nth(3).click()
        assert grave(seen.page) == []
        width = seen.page.evaluate("document.documentElement.scrollWidth")
        assert width <= seen.page.evaluate("innerWidth")


def test_the_keyboard_suffices(browser: Any, tmp_path: Path) -> None:
    with opened(browser, tmp_path, "many") as seen:
        keys = seen.page.keyboard

        def reach(selector: str) -> None:
            for _ in range(130):
                if seen.page.evaluate(
                    "document.activeElement.matches.bind(document.activeElement)", selector
                ):
                    return
                keys.press("Tab")
            raise AssertionError(f"no way to {selector}")

        reach("#search")
        keys.type("MT64x64")
        reach("button[value=vgprs]")
        keys.press("Enter")
        numbers = [int(text) for text in column(seen, 3)]
        assert numbers == sorted(numbers, reverse=True)
        reach("#rows a")
        opened_name = seen.page.evaluate("document.activeElement.textContent")
        keys.press("Enter")
        seen.page.wait_for_selector("#kernel h1")
        assert seen.page.evaluate("document.activeElement.textContent") == opened_name
        seen.clean()


def test_the_browsers_language_is_spoken_and_can_be_switched(browser: Any, tmp_path: Path) -> None:
    with opened(browser, tmp_path, "examples", locale="zh-CN") as seen:
        assert seen.page.inner_text("h1") == "12 个内核"
        seen.page.locator("#rows a").nth(5).click()
        assert "下一个工作组" in seen.page.inner_text(".verdict")
        seen.page.select_option("#language", "en")
        assert "stop the next workgroup" in seen.page.inner_text(".verdict")
        seen.clean()


def test_paper_gets_the_sections_of_the_kernels_in_the_table(browser: Any, tmp_path: Path) -> None:
    with opened(browser, tmp_path, "examples") as seen:
        seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert seen.page.locator("#paper article").count() == 12
        seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert seen.page.locator("#paper article").count() == 0
        seen.clean()


def test_without_script_the_first_kernels_are_there(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(text_of("examples"), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    shown = context.new_page()
    shown.goto(file.as_uri())
    assert shown.locator("#rows tr").count() == 12
    assert shown.is_visible("noscript")
    context.close()


@pytest.mark.parametrize("dark", [False, True])
def test_a_surveys_overview_is_clean(browser: Any, tmp_path: Path, dark: bool) -> None:
    report: Report = many(500)
    found, summary, rows = Distributions(), Summary(), table([kernel for kernel, _ in report.kernels])
    found.add(rows)
    summary.add(rows)
    file = tmp_path / "survey.html"
    file.write_text(overview(summary, found), encoding="utf-8")
    with watched(browser, file.as_uri(), dark=dark, locale="zh-CN") as seen:
        seen.page.goto(file.as_uri())
        seen.page.wait_for_selector("html[data-ready]")
        assert "什么是瓶颈" in seen.page.inner_text("main")
        assert grave(seen.page) == []
        seen.clean()
