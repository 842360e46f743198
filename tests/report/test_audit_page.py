import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest

from psycheck.audits.gates import judge_gates, parse_gate
from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run, Shown
from psycheck.report.audit_page import render
from psycheck.report.numbers import plain, unbroken
from psycheck.report.performance_tables import pictures

MakeRun = Callable[..., Run]
VOID = {"meta", "br", "input", "link", "img", "hr"}


class Reader(HTMLParser):
    """Checks that every tag is closed where it was opened, and keeps words, ids and links."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.words: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in ("href", "src", "action", "xlink:href", "data", "poster", "srcset"):
                self.links.append(value or "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)


class Unfolded(HTMLParser):
    """Keeps the words that are seen while every fold is closed: of a fold, those of its summary."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            is_open = tag == "details" and "open" in dict(attrs)
            self.open.append("details open" if is_open else tag)

    def handle_endtag(self, tag: str) -> None:
        self.open.pop()

    def handle_data(self, data: str) -> None:
        folds = self.open.count("details")
        is_seen = folds == 0 or (folds == 1 and "summary" in self.open)
        if is_seen and not {"style", "script", "title"} & set(self.open):
            self.words.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def words(page: str) -> str:
    return " ".join(" ".join(read(page).words).split())


@pytest.fixture(
    params=[
        {},
        {"models": ("a", "b"), "corpora": ("posts", "tweets")},
        {"labels": ("x", "y"), "models": ("a", "b")},
    ]
)
def page(request: pytest.FixtureRequest, make_run: MakeRun) -> str:
    return render(make_run(texts=True, **request.param))


def test_a_command_that_mends_several_cautions_is_shown_once(make_run: MakeRun) -> None:
    run, command = make_run(), "psycheck clean posts.csv --without-word zebra --out mended.csv"
    where = {"audit": "compare", "part": "caution", "corpus": "posts", "command": command}
    told = {name: f"The {name} tells the label." for name in ("word", "length")}
    places = [{**where, "caution": name, "sentence": sentence} for name, sentence in told.items()]
    cautions = [Finding("caution", 1.0, 40, where=place) for place in places]
    page = render(replace(run, findings=Findings((*run.findings, *cautions))))
    assert page.count(command) == 1
    assert "posts: The word tells the label. posts: The length tells the label." in words(page)
    # The length is a claim of the verdict: its card has the command, so the list of commands is not needed.
    assert page.index('class="remedy"') < page.index(command)
    assert "What to do:" not in words(page)


def test_the_page_is_well_formed_with_unique_ids_and_no_dead_anchor(page: str) -> None:
    reader = read(page)
    assert page.startswith("<!DOCTYPE html>")
    assert len(reader.ids) == len(set(reader.ids))
    assert {link.removeprefix("#") for link in reader.links} <= set(reader.ids)


def test_a_sentence_points_to_a_section_that_exists(make_run: MakeRun) -> None:
    run = make_run()
    rest = tuple(f for f in run.findings if f.measure not in ("reliability", "pass_rate"))
    reader = read(render(replace(run, findings=Findings(rest))))
    assert {link.removeprefix("#") for link in reader.links} <= set(reader.ids)
    assert "calibration" not in reader.ids


def test_nothing_is_fetched(page: str) -> None:
    reader = read(page)
    assert all(link.startswith("#") for link in reader.links)
    assert not re.search(r"https?://|url\(|@import", page)
    assert reader.tags.count("script") == 1
    assert not {"link", "img", "iframe", "object", "embed"} & set(reader.tags)


def test_the_reader_meets_the_sections_in_order(page: str) -> None:
    order = [
        "verdict",
        "learned",
        "checks",
        "performance",
        "calibration",
        "length",
        "cases",
        "ledger",
        "reading",
    ]
    ids = read(page).ids
    assert [name for name in ids if name in (*order, "methods")] == [*order, "methods"]


def test_the_verdict_is_on_top_and_a_screening_score_is_no_diagnosis(make_run: MakeRun) -> None:
    said = words(render(make_run()))
    assert said.index("Fails most on absence of suicidal ideation: T23,") < said.index(
        "What the model learned"
    )
    assert "A screening score is not a diagnosis" in said
    assert "negative predictive power" in said


def test_a_check_that_was_not_tested_is_shown_as_such(make_run: MakeRun) -> None:
    page = render(make_run())
    row = page[page.index("<b>T6</b>") :].split("</tr>")[0]
    assert "not tested: the edit changes no text" in row
    assert 'class="dot' not in row
    assert "100" not in re.sub(r'[xy][12]="[^"]*"', "", row)


def test_below_the_mean_is_a_shape_not_only_a_colour(make_run: MakeRun) -> None:
    page = render(make_run())
    shapes = {
        check: re.findall(
            r'class="(dot[ a-z]*)" d="([^"]*)"', page[page.index(f"<b>{check}</b>") :].split("</tr>")[0]
        )
        for check in ("T7", "T23")
    }
    assert shapes["T7"][0][0] == "dot"
    assert shapes["T23"][0][0] == "dot low"
    assert shapes["T7"][0][1] != shapes["T23"][0][1]


def test_presence_stands_beside_absence_and_pronouns_come_first(make_run: MakeRun) -> None:
    page = render(make_run())
    checks = re.findall(r'<th scope="row"><b>(T\d+)</b>', page[: page.index('id="performance"')])
    assert checks[:8] == ["T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8"]
    assert checks[-2:] == ["T22", "T23"]


def test_texts_are_escaped(make_run: MakeRun) -> None:
    evil = "<script>alert('x')</script>"
    run = make_run(models=(evil,), corpora=(evil,), labels=(evil,), notes=(evil,), environment={"date": evil})
    shown = Shown(evil, evil, evil, evil, evil, evil, 0.1, 0.9, 1, evil + " I am here", ((0, 8), (28, 37)))
    where = {"audit": "new", "model": evil, "title": evil, "check": evil, "symptom": evil, "topic": evil}
    odd = Finding(
        evil, 0.5, 3, interval=(0.1, 0.9), where=where, counts={evil: 1}, examples=(evil,), flags=(evil,)
    )
    rate = Finding("pass_rate", 0.01, 30, interval=(0.0, 0.1), where=where)
    page = render(
        replace(run, shown=(shown,), findings=Findings((*run.findings, odd, rate)), plan={"models": [evil]})
    )
    assert read(page).tags.count("script") == 1
    assert "<script>alert" not in page


def test_texts_are_absent_unless_they_were_asked_for(make_run: MakeRun) -> None:
    without, with_texts = render(make_run()), render(make_run(texts=True))
    assert "--show-texts" in without
    assert "<mark>" not in without
    assert "my sister is at work" not in without
    assert "--show-texts" not in with_texts
    assert "my sister is at work. <mark>I never think about hurting myself</mark>" in with_texts


def test_every_value_appears(make_run: MakeRun) -> None:
    run = make_run(models=("a", "b"), corpora=("posts", "tweets"))
    strange = tuple(
        Finding(
            "fnr_ratio",
            0.4567 + k / 1000,
            312,
            interval=(0.3, 0.6),
            where={"audit": "fairness", "group": f"g{k}"},
        )
        for k in range(3)
    )
    again = replace(run.findings[0], value=0.12345)  # a second figure for the same check
    said = words(render(replace(run, findings=Findings((*run.findings, *strange, again)))))
    for finding in (*run.findings, *strange, again):
        if not finding.tested:
            continue
        value = finding.value
        forms = {
            f"{value:.3f}".replace("-", "−"),
            f"{100 * value:.1f}",
            f"{100 * value:.0f} %",
            f"{value:,.1f}",
        }
        forms |= {"<0.001"} if finding.measure.endswith("_p") and value < 0.001 else set()
        assert any(form in said for form in forms), finding
    other = said[said.index("Findings that have no section of their own") :]
    assert all(f"group g{k}" in other for k in range(3))
    assert "12.3 %" in other


def test_the_ledger_shows_every_count(make_run: MakeRun) -> None:
    said = words(render(make_run()))
    ledger = said[said.index("generated = passed + failed + unchanged") :]
    assert "T1 2,000 785 15 1,200 0 0 0" in ledger
    assert "T6 2,000 0 0 2,000 0 0 0" in ledger


def test_in_and_out_of_distribution_are_marked_only_where_known(make_run: MakeRun) -> None:
    run = make_run(corpora=("posts", "tweets"))
    # The glossary explains both words on every page.
    known, unknown = (
        words(render(each)).split("Words explained")[0] for each in (run, replace(run, plan={}))
    )
    assert "in distribution" in known
    assert "out of distribution" in known
    assert "of distribution" not in unknown
    assert "in distribution" not in unknown


def test_few_places_are_a_dot_plot_and_many_a_heat_map_and_never_both(make_run: MakeRun) -> None:
    few, many = render(make_run(models=("a", "b"))), render(make_run(models=("a", "b", "c", "d")))
    assert ('class="heat"' in few, 'class="plot' in few) == (False, True)
    assert ('class="heat"' in many, 'class="plot' in many) == (True, False)
    cell = many[many.index("<b>T23</b>") :].split("</td>")[0]
    assert all(figure in cell for figure in ("61.0 %", "58.8–63.1", 'title="n 1,990"'))


def test_means_over_corpora_stand_with_their_suite(make_run: MakeRun) -> None:
    run = make_run(corpora=("posts", "tweets"))
    where = {
        "audit": "behaviour",
        "model": "minilm",
        "corpus": "all",
        "suite": "deck",
        "by": "kind",
        "kind": "DIR",
    }
    pooled = Finding(
        "pass_rate_mean",
        0.7117,
        50000,
        interval=(0.7, 0.72),
        where=where,
        counts={"checks": 26, "corpora": 2},
    )
    page = render(replace(run, findings=Findings((*run.findings, pooled))))
    assert "71.2 %" in page
    assert 'id="other"' not in page
    assert "minilm on posts and tweets" in words(page)


def test_gates_are_told_at_the_top(make_run: MakeRun) -> None:
    run = make_run()
    gates = judge_gates([parse_gate("pass_rate>=0.7 where kind=DIR"), parse_gate("f1>=0.5")], run.findings)
    said = words(render(replace(run, gates=gates)))
    top = said[: said.index("What the model learned")]
    assert "Gate fails: pass_rate>=0.7 where kind=DIR 3 of 13 outside the bound" in top
    assert "T23, absence of suicidal ideation, minilm on posts: 61.0 % (58.8–63.1), n 1,990" in top
    assert "Gate holds: f1>=0.5" in top


def test_what_was_tested_names_sizes_and_rows_left_out(make_run: MakeRun) -> None:
    said = words(render(make_run()))
    assert "Tested: 18 checks of deck on posts (2,000 texts) with minilm." in said
    assert "Not tested: T6: the edit changes no text." in said
    assert "Rows left out of posts: empty text 3." in said


def test_an_incomplete_run_says_so(make_run: MakeRun) -> None:
    assert "Incomplete. 12 texts could not be scored" in words(render(make_run(incomplete=12)))
    assert "Incomplete" not in words(render(make_run()))


def test_an_empty_run_is_still_a_page() -> None:
    said = words(render(Run(plan={}, environment={}, findings=Findings())))
    assert "No check was tested in this run, and no model was compared with a trivial answer." in said


def test_findings_without_a_value_and_odd_keys_do_not_break_the_page() -> None:
    odd = (
        Finding("pass_rate", math.nan, 0, where={"check": "X"}),
        Finding("f1", math.nan, 0, where={"audit": "performance"}, flags=("one_class",)),
        Finding("reliability", math.nan, 0, where={"audit": "performance", "mean_score": "0.1", "bin": "1"}),
        Finding("reliability", 0.5, 9, interval=(0.2, 0.8), where={"audit": "performance", "bin": "2"}),
        Finding("length_p", math.nan, 0, where={"audit": "length"}),
        Finding("pass_rate_mean", math.nan, 0, where={"by": "kind"}),
        Finding(
            "pass_rate", 1.0, 4, interval=(0.5, 1.0), where={"check": "Y", "topic": "typos", "kind": "DIR"}
        ),
    )
    said = words(
        render(Run(plan={"corpora": {"c": {"n": 3}}, "models": "m"}, environment={}, findings=Findings(odd)))
    )
    assert "not tested: one class only" in said
    assert "Typos" in said


def test_many_cases_stay_under_a_megabyte(make_run: MakeRun) -> None:
    shown = tuple(
        Shown(
            "minilm",
            "posts",
            "deck",
            f"T{i % 23 + 1}",
            f"post-{i}",
            "failed" if i % 3 else "passed",
            0.4,
            0.6,
            1,
        )
        for i in range(5000)
    )
    page = render(make_run(shown=shown))
    assert len(page.encode()) < 1_000_000
    assert page.count("<tr data-o=") == 5000


def test_everything_but_the_first_screen_is_folded(page: str) -> None:
    unfolded = Unfolded()
    unfolded.feed(page)
    said = " ".join(unfolded.words).split()
    assert "Fails" in said
    assert len(said) <= 2500


def test_a_figure_is_told_once_below_the_first_screen(make_run: MakeRun) -> None:
    run = make_run(corpora=("posts", "tweets"))
    said = words(render(run))
    below = said[said.index("Every check, by symptom") : said.index("How to read this")]
    with_interval = [f for f in run.findings if f.tested and f.interval and "_among_" not in f.measure]
    told = Counter(plain(f).replace("(", "").rstrip(")") for f in with_interval)
    assert len(told) > 50
    assert {text: below.count(f" {text} ") for text in told} == told


def test_a_figure_leads_to_its_cases(make_run: MakeRun) -> None:
    page = render(make_run())
    row = page[page.index("<b>T23</b>") :].split("</tr>")[0]
    (anchor,) = re.findall(r'href="#(cases-\d+)"', row)
    cases = page[page.index(f'id="{anchor}"') :]
    assert cases.split(">")[0].split('aria-label="')[1].startswith("Cases of T23 ")


def test_a_check_without_shown_cases_leads_nowhere(make_run: MakeRun) -> None:
    page = render(make_run())
    assert "href" not in page[page.index("<b>T7</b>") :].split("</tr>")[0]


def test_one_check_and_one_text_are_spoken_of_as_one(make_run: MakeRun) -> None:
    run = make_run()
    one = next(f for f in run.findings if f.where.get("check") == "T9" and f.measure == "pass_rate")
    plan = {**run.plan, "corpora": [{"name": "posts", "texts": 1}]}
    assert "Tested: 1 check of deck on posts (1 text) with minilm." in words(
        render(replace(run, plan=plan, findings=Findings((one,))))
    )


def test_decisions_and_scores_are_drawn_by_class() -> None:
    """Four texts: 0.9 is a hit and a false alarm, 0.8 a hit, 0.3 rightly 0; half of each class per step."""
    place = {"model": "m", "corpus": "c", "label": "low"}
    counts = {"tp": 2, "fp": 1, "fn": 0, "tn": 1}
    auc = Finding(
        "auc", 0.875, 4, interval=(0.4, 1.0), where={**place, "audit": "performance"}, counts=counts
    )
    rows = {"id": ["a", "b", "c", "d", "e", "f"], "target": [1.0, 0.0, 1.0, 0.0, None, 0.5]}
    table = pl.DataFrame({**rows, "score": [0.9, 0.9, 0.8, 0.3, 0.4, 0.1]})
    table = table.with_columns(**{key: pl.lit(value) for key, value in place.items()})
    run = Run(plan={}, environment={}, findings=Findings([auc]), tables={"predictions": table})
    (picture,) = pictures(run)
    assert picture["roc"] == [(0, 0), (0.5, 0.5), (0.5, 1.0), (1.0, 1.0), (1, 1)]
    bars = {at: tuple(shares) for at, shares in enumerate(picture["bars"]) if any(shares)}
    assert bars == {6: (0.5, 0.0), 16: (0.0, 0.5), 18: (0.5, 0.5)}
    page = render(run)
    for title in ("ROC curve, c", "Scores by class, c", "Confusion matrix"):
        assert title in page
    said = words(page)
    assert "annotated 0 1 1 annotated 1 0 2" in said
    assert "Confusion" not in render(replace(run, tables={}))


def test_a_word_is_never_split_by_a_figure() -> None:
    drawn = unbroken("The decision changes in 1 % (0–4) of 90 texts, n 90.")
    assert drawn == (
        'The decision changes in <span class="fig">1 % (0–4)</span> of 90 texts, '
        '<span class="fig">n 90</span>.'
    )


def test_cases_are_titled_by_what_they_test(make_run: MakeRun) -> None:
    run = make_run()
    found = tuple(
        replace(f, counts={**f.counts, "passed_unedited": 400}, flags=("helped",))
        if f.where.get("check") == "T3"
        else f
        for f in run.findings
    )
    said = words(render(replace(run, findings=Findings(found))))
    assert "T3 I becomes they shown: 5 failed, 1 unanswered, 7 passed; 50 % before: the edit helped" in said
    assert "T8 absence of low interest, adds" in said


def test_a_strong_effect_of_length_is_in_the_summary(make_run: MakeRun) -> None:
    where = {"audit": "length", "model": "minilm", "corpus": "posts", "feature": "words", "unit": "text"}
    run = make_run()
    assert "Length:" not in words(render(run))
    found = [
        Finding("length_effect", -0.74, 800, interval=(-0.79, -0.67), where=where),
        Finding("length_p", 0.0001, 800, where=where, flags=("significant",)),
        Finding("length_median", 81.0, 500, where={**where, "outcome": "failed"}),
        Finding("length_median", 95.0, 300, where={**where, "outcome": "passed"}),
    ]
    said = words(render(replace(run, findings=Findings([*run.findings, *found]))))
    assert (
        "Length: texts that fail a DIR check have fewer words than those that pass all: median 81.0" in said
    )
