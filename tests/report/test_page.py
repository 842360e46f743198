"""Every page is one file with the same frame."""

from pathlib import Path

import pytest
from jinja2 import UndefinedError

import psycheck.report.page
from psycheck.core.finding import Findings
from psycheck.core.run import Run
from psycheck.report.page import draw
from psycheck.report.studies.gender_tables import flips_plot
from psycheck.report.tables import Table

FOLDER = Path(psycheck.report.page.__file__).parent
SHARED = ("page.html.j2", "table.html.j2", "charts.html.j2", "sections.html.j2")
PAGES = sorted(path.name for path in FOLDER.glob("*.j2") if path.name not in SHARED)
RUN = Run({"corpora": ["a"]}, {"date": "2026-01-01"}, Findings(), notes=("<b>said</b>",))


@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_the_shared_frame(name: str) -> None:
    written = (FOLDER / name).read_text("utf-8")
    assert written.startswith('{% extends "page.html.j2" %}\n')
    assert "<head>" not in written


def test_a_page_says_what_was_run_and_escapes_it() -> None:
    page = draw("gender", RUN, corpus="<i>", vectors="v", sentences=["s"], plot=flips_plot([]), tables=[])
    assert "<title>psycheck study gender: &lt;i&gt;</title>" in page
    assert '<p class="small">2026-01-01 · A label is what an annotator recorded' in page
    assert "<li>&lt;b&gt;said&lt;/b&gt;</li>" in page
    assert '"corpora"' in page


def test_a_page_without_a_script_allows_none() -> None:
    page = draw("gender", RUN, corpus="c", vectors="v", sentences=[], plot=flips_plot([]), tables=[])
    assert """content="default-src 'none'; style-src 'unsafe-inline'">""" in page
    assert "<script" not in page


def test_a_part_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="sentences"):
        draw("gender", RUN, corpus="c", vectors="v", plot=flips_plot([]), tables=[])


def test_numbers_stand_right_of_words_and_a_note_below() -> None:
    table = Table("cap", ("what", "why", "n"), (("a", "b", "1"),), words=2, note="noted")
    page = draw("gender", RUN, corpus="c", vectors="v", sentences=[], plot=flips_plot([]), tables=[table])
    assert '<th scope="row">a</th><td>b</td><td class="num">1</td>' in page
    assert '<p class="small">noted</p>' in page
