from collections.abc import Mapping
from dataclasses import replace

import pytest

from psycheck.core.finding import Finding, Findings
from psycheck.core.headline import Headline
from psycheck.core.run import PAIRS, Run, Shown
from psycheck.report.cards import MOST_CARDS, Example, cards, glance, title_of
from psycheck.report.display_names import words_of

PLACE = {"audit": "performance", "model": "m", "corpus": "posts", "label": "depression"}
VERDICT = ("caution", "performance", "checks", "gender", "groups", "histories", "run")


def finding(
    measure: str,
    value: float,
    interval: tuple[float, float] | None = None,
    where: Mapping[str, str] = PLACE,
    counts: Mapping[str, int] | None = None,
    n: int = 100,
) -> Finding:
    return Finding(measure=measure, value=value, n=n, interval=interval, where=where, counts=counts or {})


def run_with(*headlines: Headline, findings: tuple[Finding, ...] = ()) -> Run:
    return Run(plan={}, environment={}, findings=Findings(findings), headlines=headlines)


def claim(rule: str = "checks.fails", *figures: Mapping[str, str]) -> Headline:
    return Headline(rule=rule, sentence="A sentence.", severity="warning", figures=figures)


@pytest.mark.parametrize("kind", VERDICT)
def test_every_claim_of_a_verdict_has_a_title_of_few_words(kind: str) -> None:
    titles = words_of("card_titles")[kind]
    assert set(titles) == set(words_of("headlines")[kind])
    assert max(len(title.split()) for title in titles.values()) <= 8


def test_a_rule_of_another_package_is_named_by_itself() -> None:
    assert title_of("capitals.too_many") == "Too many"


def test_five_claims_are_on_the_first_screen_and_the_others_below() -> None:
    first, more = cards(run_with(*[claim()] * 7))
    assert (len(first), len(more)) == (MOST_CARDS, 2)


def test_the_picture_is_the_figure_with_the_interval_that_the_sentence_prints() -> None:
    rate = finding("pass_rate", 0.67, (0.66, 0.69))
    corrected = finding("pass_rate_among_checks", 0.67, (0.65, 0.70))
    figures = [{"measure": figure.measure, **PLACE} for figure in (rate, corrected)]
    ((card,), _) = cards(run_with(claim("checks.fails", *figures), findings=(rate, corrected)))
    assert card.lane is not None
    assert card.lane.ends == (0.65, 0.70)
    assert card.lane.marks == ((0.67, ""),)


def test_a_claim_about_ranking_shows_auc_beside_chance() -> None:
    share = finding("decided_1_share", 0.22, (0.17, 0.28))
    ranking = finding("auc_among_claims", 0.88, (0.83, 0.92))
    figures = [{"measure": figure.measure, **PLACE} for figure in (share, ranking)]
    for rule, marked in {"performance.better": 0.88, "performance.threshold": 0.22}.items():
        ((card,), _) = cards(run_with(claim(rule, *figures), findings=(share, ranking)))
        assert card.lane is not None
        assert card.lane.marks == ((marked, ""),)
        assert card.lane.mean == (0.5 if marked == 0.88 else None)


def test_a_figure_that_may_be_negative_has_no_picture() -> None:
    reaction = finding("reaction", -0.57, (-0.6, -0.54))
    ((card,), _) = cards(
        run_with(claim("checks.wrong_way", {"measure": "reaction", **PLACE}), findings=(reaction,))
    )
    assert card.lane is None


def test_a_glance_sets_the_share_decided_beside_the_share_annotated_and_the_ranking() -> None:
    counts = {"tp": 60, "fn": 0, "fp": 35, "tn": 5}
    share = finding("decided_1_share", 0.95, (0.9, 0.98), counts=counts)
    ranking = finding("auc_among_claims", 0.9, (0.85, 0.94), counts=counts)
    (line,) = glance(run_with(findings=(share, ranking)))
    assert line.decided.marks == ((0.95, ""),)
    assert line.decided.mean == 0.6  # 60 of 100 texts are annotated 1
    assert (line.annotated, line.auc, line.n) == ("60 %", "0.90 (0.85–0.94)", 100)


def test_a_corpus_of_one_class_has_no_ranking() -> None:
    share = finding("decided_1_share", 0.95, (0.9, 0.98), counts={"tp": 95, "fn": 5, "fp": 0, "tn": 0})
    (line,) = glance(run_with(findings=(share,)))
    assert (line.annotated, line.auc) == ("100 %", "–")


CHECK = {"model": "m", "corpus": "posts", "suite": "deck", "check": "T10"}


def shown(id: str, after: float, text: str | None = None, outcome: str = "failed") -> Shown:
    spans = ((0, 4),) if text else ()
    return Shown("m", "posts", "deck", "T10", id, outcome, 0.3, after, 1, text, spans)


def test_the_example_is_the_failed_case_whose_score_changes_most() -> None:
    run = run_with(claim("checks.fails", {"measure": "pass_rate", **CHECK}))
    cases = (shown("a", 0.4), shown("b", 0.9), shown("c", 0.99, outcome="passed"))
    ((card,), _) = cards(replace(run, shown=cases))
    assert card.example == Example(id="b", scores="0.30 → 0.90", text=None, anchor="cases-1")


def test_the_example_has_its_text_only_if_the_run_shows_texts() -> None:
    run = run_with(claim("checks.fails", {"measure": "pass_rate", **CHECK}))
    ((card,), _) = cards(replace(run, shown=(shown("a", 0.9, "Fine today"),)))
    assert card.example is not None
    assert card.example.text == "<mark>Fine</mark> today"


def test_a_claim_on_another_check_has_no_example() -> None:
    run = run_with(claim("checks.fails", {"measure": "pass_rate", **CHECK, "check": "T11"}))
    ((card,), _) = cards(replace(run, shown=(shown("a", 0.9),)))
    assert card.example is None


def test_the_example_of_a_claim_on_gender_is_a_pair() -> None:
    figure = {"measure": "flip_rate", **PLACE, "audit": "fairness", "unit": "pairs"}
    pair = Shown("m", "posts", PAIRS, "depression", "a", "failed", 0.3, 0.7, 1)
    ((card,), _) = cards(replace(run_with(claim("gender.flips", figure)), shown=(pair,)))
    assert card.example == Example(id="a", scores="0.30 → 0.70", text=None, anchor="fairness")
