"""The report in a real browser: folds, drill-down, search and sort, narrow screens, dark and paper."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from psycheck.core.run import Run
from psycheck.report.audit_page import render

MakeRun = Callable[..., Run]
WHITE, BLACK = "rgb(255, 255, 255)", "rgb(20, 24, 29)"


@pytest.fixture
def report(tmp_path: Path, make_run: MakeRun) -> str:
    path = tmp_path / "report.html"
    path.write_text(render(make_run(texts=True)), "utf-8")
    return path.as_uri()


@pytest.fixture
def page(chromium: Browser, report: str) -> Page:
    opened = chromium.new_page(viewport={"width": 1280, "height": 900})
    opened.goto(report)
    return opened


def ids(page: Page, check: str) -> list[str]:
    rows = f"details.cases[data-check={check}] tbody tr:not([hidden]) th"
    return page.locator(rows).all_text_contents()


def test_a_figure_opens_its_cases(page: Page) -> None:
    assert not page.locator("#cases").is_visible()
    page.click("nav a[href='#checks']")
    assert page.locator("#checks").is_visible()
    page.click("#checks tr:has(b:text-is('T8')) a.drill")
    assert page.locator("details.cases[data-check=T8] tbody tr").first.is_visible()
    assert not page.locator("details.cases[data-check=T3] tbody tr").first.is_visible()


def test_a_search_leaves_the_cases_that_have_the_words(page: Page) -> None:
    page.click("nav a[href='#cases']")
    page.fill("input[type=search]", "P99")
    assert page.text_content("output") == "3 cases"
    assert ids(page, "T8") == ["p99"]
    page.fill("input[type=search]", "hurting myself")
    assert page.text_content("output") == "36 cases"
    page.select_option("select[name=o]", "failed")
    assert page.text_content("output") == "15 cases"


def test_a_click_on_a_head_sorts_by_number_and_another_turns_the_order(page: Page) -> None:
    page.evaluate("location.hash = '#cases-1'")
    table = page.locator("#cases-1 table")
    id_head = table.locator("thead button").nth(0)
    id_head.click()
    assert ids(page, "T3")[:3] == ["p0", "p1", "p2"]
    assert ids(page, "T3")[-1] == "p99"
    id_head.click()
    assert ids(page, "T3")[:2] == ["p99", "p11"]
    assert table.locator("thead th").nth(0).get_attribute("aria-sort") == "descending"
    # The scores of p0 rise by 0.29, those of p11 by 0.015; p99 has no answer.
    table.locator("thead button").nth(2).click()
    assert ids(page, "T3")[:2] == ["p99", "p11"]
    assert ids(page, "T3")[-1] == "p0"


def test_a_narrow_screen_needs_no_scrolling_sideways(chromium: Browser, report: str) -> None:
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.goto(report)
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_dark_where_the_screen_is_dark_and_white_on_paper(chromium: Browser, report: str) -> None:
    page = chromium.new_page(color_scheme="dark")
    page.goto(report)
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == BLACK
    page.emulate_media(media="print")
    assert page.evaluate(paper) == WHITE


def test_paper_has_what_was_unfolded_and_always_the_limits(page: Page) -> None:
    page.click("nav a[href='#checks']")
    page.emulate_media(media="print")
    seen = {name: page.locator(f"#{name}").is_visible() for name in ("checks", "performance", "methods")}
    assert seen == {"checks": True, "performance": False, "methods": False}
    assert page.locator("#reading li").first.bounding_box() is not None
