"""Claims on performance: what is wrong (threshold, ranking or both), at every place, by its rule."""

import pytest

from claim_findings import check, performance, reaction, rules, run_of, sentence_of
from psycheck.core.finding import Finding
from psycheck.report.performance_claims import alike_places
from psycheck.report.verdict import chosen_headlines

SAID = {"sentence": "A word tells.", "command": ""}
CHANCE = (0.4, 0.6)
BETTER = (0.51, 0.8)
WORSE = (0.2, 0.49)
NEARLY = ("nearly_one_decision",)
PERHAPS = ("perhaps_one_decision",)


@pytest.mark.parametrize(
    ("findings", "rule"),
    [
        (performance(auc=CHANCE, balanced=CHANCE, flags=("constant",)), "constant"),
        (performance(auc=WORSE, balanced=CHANCE), "inverted"),
        (performance(auc=CHANCE, balanced=WORSE), "inverted"),
        (performance(auc=CHANCE, balanced=CHANCE, flags=NEARLY), "both"),
        (performance(auc=CHANCE, balanced=CHANCE, flags=("one_decision",)), "both"),
        (performance(auc=BETTER, balanced=CHANCE, flags=NEARLY), "threshold"),
        # A threshold is at fault even where the few other decisions are right.
        (performance(auc=BETTER, balanced=BETTER, flags=NEARLY), "threshold"),
        (performance(balanced=CHANCE, ranked=False, flags=NEARLY), "one_decision"),
        (performance(auc=BETTER, balanced=CHANCE), "decisions_not_shown"),
        (performance(auc=BETTER, balanced=BETTER), "better"),
        (performance(balanced=BETTER, ranked=False), "better"),
        (performance(auc=CHANCE, balanced=CHANCE), "hardly_better"),
        (performance(balanced=CHANCE, ranked=False), "hardly_better"),
        # Better than chance, and useless all the same.
        (performance(auc=(0.51, 0.6), balanced=(0.51, 0.6)), "hardly_better"),
        # Not shown to be better, but it may be: 0.65 is within the interval.
        (performance(auc=(0.4, 0.7), balanced=CHANCE), "not_better"),
        (performance(auc=CHANCE, balanced=(0.4, 0.65)), "not_better"),
        (performance(auc=CHANCE, balanced=CHANCE, flags=PERHAPS), "hardly_better"),
        (performance(auc=(0.3, 0.7), balanced=CHANCE, flags=PERHAPS), "perhaps_one_decision"),
        (performance(auc=BETTER, balanced=CHANCE, flags=PERHAPS), "perhaps_one_decision"),
        (performance(auc=BETTER, balanced=BETTER, flags=PERHAPS), "better"),
        (performance(auc=None, balanced=None), "not_better"),
        (performance(auc=(0.5, 0.8), balanced=CHANCE), "not_better"),
        # Fewer than 15 texts bear no claim, whatever their intervals.
        (performance(decided_1=7, annotated_1=7, n=14), "not_better"),
        (performance(decided_1=7, annotated_1=7, n=14, auc=WORSE), "not_better"),
        (performance(decided_1=14, annotated_1=7, n=14, flags=("one_decision",)), "not_better"),
        (performance(annotated_1=100, auc=None, balanced=None), "one_class"),
    ],
)
def test_what_is_wrong_is_a_rule(findings: list[Finding], rule: str) -> None:
    assert rules(*findings) == [f"performance.{rule}"]


def test_shares_decided_and_annotated_stand_beside_ranking_and_decisions() -> None:
    findings = performance(decided_1=599, annotated_1=312, n=600, auc=(0.78, 0.88), flags=NEARLY)
    said = sentence_of("performance.threshold", findings)
    assert "1 is decided for 99.8 % and annotated for 52 % of 600 texts" in said
    assert "AUC 0.83 (0.78–0.88)" in said


def test_every_corpus_with_the_same_fault_is_named_with_its_interval() -> None:
    findings = [
        *performance(auc=WORSE, corpus="posts"),
        *performance(auc=(0.3, 0.4), corpus="notes"),
        *performance(corpus="forum"),
    ]
    assert rules(*findings) == ["performance.inverted", "performance.better"]
    said = sentence_of("performance.inverted", findings)
    assert said.startswith("The model on posts and notes is worse than chance: posts: 1 is decided")
    assert "0.35 (0.30–0.40)" in said


def test_the_worst_model_comes_first_by_its_name() -> None:
    findings = [*performance(model="a"), *performance(model="b", auc=WORSE)]
    first, second = chosen_headlines(run_of(*findings))
    assert (first.rule, first.sentence.split()[0]) == ("performance.inverted", "b")
    assert (second.rule, second.sentence.split()[0]) == ("performance.better", "a")


def test_labels_are_named_where_there_are_several() -> None:
    findings = [*performance(), *performance(label="fear", auc=WORSE)]
    assert "c (label fear)" in sentence_of("performance.inverted", findings)


def test_what_makes_a_model_useless_stands_before_cautions_and_what_may_impress_after_them() -> None:
    caution = Finding("caution", 0.9, 9, where={"caution": "single_word", "corpus": "c", **SAID})
    useless = performance(auc=CHANCE, balanced=CHANCE)
    assert rules(caution, *useless) == ["performance.hardly_better", "caution.single_word"]
    unsure = performance(auc=(0.4, 0.7), balanced=CHANCE)
    assert rules(caution, *unsure) == ["caution.single_word", "performance.not_better"]
    assert rules(caution, *performance()) == ["caution.single_word", "performance.measured"]


def test_a_model_that_is_not_shown_to_be_better_than_chance_is_told_so_before_its_checks() -> None:
    deaf = reaction((-0.1, 0.1))
    assert rules(check(), deaf, *performance(auc=(0.4, 0.7), balanced=CHANCE)) == [
        "performance.not_better",
        "checks.deaf",
    ]
    assert rules(check(), deaf, *performance())[0] == "checks.deaf"


def test_a_claim_names_the_findings_behind_it() -> None:
    (claim,) = chosen_headlines(run_of(*performance()))
    measures = [figure["measure"] for figure in claim.figures]
    assert measures == ["decided_1_share", "auc_among_claims", "hard_auc_among_claims"]


def test_places_with_one_decision_are_known_with_and_without_annotations() -> None:
    annotated = performance(flags=NEARLY)
    unannotated = Finding("pass_rate", 1.0, 9, where={"model": "m", "corpus": "d"}, flags=("not_evidence",))
    found = alike_places(run_of(*annotated, *performance(corpus="e"), unannotated))
    assert found == {("m", "c"): "decision", ("m", "d"): "decision"}


def test_decisions_that_are_perhaps_all_alike_explain_what_passes() -> None:
    assert alike_places(run_of(*performance(flags=PERHAPS))) == {("m", "c"): "decision"}
