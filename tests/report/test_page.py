"""Every page is one file with the same frame."""

from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup, escape

import psycheck.report.page
from psycheck.core.finding import Findings
from psycheck.core.run import Run
from psycheck.report.page import draw, glossary, with_terms
from psycheck.report.studies.gender_tables import flips_plot
from psycheck.report.tables import Table

FOLDER = Path(psycheck.report.page.__file__).parent
SHARED = ("page.html.j2", "table.html.j2", "charts.html.j2", "fold.html.j2", "sections.html.j2")
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


def test_terms_of_the_field_are_explained_and_tags_stay_as_they_are() -> None:
    explained = with_terms(Markup('<b title="AUC">AUCs</b> of <i>'))
    meaning = glossary()["AUC"]
    assert explained == f'<b title="AUC"><abbr title="{meaning}">AUC</abbr>s</b> of <i>'


def test_of_two_terms_the_longer_is_explained_and_parts_of_words_are_not() -> None:
    assert with_terms("balanced accuracy").count("<abbr") == 1
    assert "<abbr" not in with_terms("DIRECT inaccuracy")
    assert "<abbr" in with_terms("Interval")


def test_words_with_terms_are_escaped() -> None:
    assert with_terms("<AUC>").startswith("&lt;<abbr")


def test_every_page_explains_its_words() -> None:
    page = draw("gender", RUN, corpus="c", vectors="v", sentences=[], plot=flips_plot([]), tables=[])
    assert all(f"<dt>{escape(name)}</dt>" in page for name in glossary())
