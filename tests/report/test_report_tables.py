"""One table in three forms: HTML for pages, Markdown for files, aligned text for terminals."""

from psycheck.core.finding import Finding
from psycheck.report.studies.published_figures import document, interval_of, over_seeds, p_values
from psycheck.report.tables import Table

TABLE = Table("F1 <all>", ("model", "F1"), (("a|b [x]", "0.5"), ("plain", "0.831 (0.81–0.85)")), note="n 40.")


def test_html_is_escaped_and_numbers_are_marked() -> None:
    page = TABLE.to_html()
    assert ">F1</abbr> &lt;all&gt;</caption>" in page
    assert '<th scope="row">a|b [x]</th><td class="num">0.5</td>' in page
    assert '<p class="small">n 40.</p>' in page


def test_markdown_has_a_heading_and_escapes_the_bars_of_cells() -> None:
    rows = "| model | F1 |\n| --- | --- |\n| a\\|b [x] | 0.5 |\n| plain | 0.831 (0.81–0.85) |\n"
    assert TABLE.to_markdown() == f"## F1 <all>\n\n{rows}\nn 40.\n"
    assert TABLE.to_markdown("# Title").startswith("# Title\n\n| model")


def test_text_is_aligned_numbers_to_the_right_and_brackets_are_no_markup() -> None:
    assert TABLE.to_console().splitlines() == [
        "F1 <all>",
        "model                   F1",
        "a|b [x]                0.5",
        "plain    0.831 (0.81–0.85)",
    ]


def test_a_wide_table_is_not_wrapped() -> None:
    wide = Table("Wide", ("text",), (("word " * 100 + "end",),))
    assert len(wide.to_console().splitlines()) == 3


def test_a_document_has_its_tables_and_notes_apart_by_empty_lines() -> None:
    table = Table("One", ("a",), (("1",),))
    assert document(["# Title", "", "Text."], [table], ["first", "second"]) == (
        "# Title\n\nText.\n\n## One\n\n| a |\n| --- |\n| 1 |\n\n## Notes\n\n- first\n- second\n"
    )


def test_seeds_are_averaged_and_one_seed_keeps_its_interval() -> None:
    one = Finding("f1", 0.5, 40, (0.4, 0.65))
    untested = Finding("f1", float("nan"), 0)
    assert over_seeds([untested, one]) == "0.500 (0.40 to 0.65)"
    assert over_seeds([one], scale=100, digits=1) == "50.0 (40 to 65)"
    # The mean of 0.5 and 0.7 is 0.6; the deviations are ±0.1, so the variance is 0.02.
    assert over_seeds([one, Finding("f1", 0.7, 40, None)]) == "0.600 (sd 0.141)"
    assert over_seeds([untested]) == "–"
    assert interval_of(Finding("f1_change", 0.0, 40, (-0.1, 0.1))) == "-0.10 to +0.10"
    assert p_values([Finding("p", 0.0316, 9), untested, Finding("p", 1e-5, 9)]) == "0.032, <0.001"
