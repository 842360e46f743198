"""Cautions come first in a verdict, with the command that helps, and each kind once."""

from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.report.cautions import caution_headlines
from psycheck.report.verdict import chosen_headlines


def caution(name: str, value: float = 0.3, *, corpus: str = "posts", command: str = "") -> Finding:
    where = {"corpus": corpus, "caution": name, "sentence": f"It is {value}.", "command": command}
    return Finding("caution", value, 100, where=where)


def run_of(*findings: Finding) -> Run:
    return Run(plan={}, environment={}, findings=Findings(findings))


def test_leaks_come_before_shortcuts_and_both_before_everything_else() -> None:
    run = run_of(caution("single_word"), caution("authors_across_splits"))
    rules = [claim.rule for claim in chosen_headlines(run)]
    assert rules == ["caution.authors_across_splits", "caution.single_word", "run.nothing"]


def test_the_worst_of_a_kind_is_named_with_its_command_and_the_others_are_counted() -> None:
    first = caution("single_word", 0.9, corpus="a", command="psycheck clean a")
    second = caution("single_word", 0.95, corpus="b", command="psycheck clean b")
    (claim,) = caution_headlines(run_of(first, second))
    assert claim.sentence.startswith("b: It is 0.95.")
    assert "1 more caution" in claim.sentence
    assert (claim.remedy, claim.severity) == ("psycheck clean b", "warning")
    assert len(claim.figures) == 2


def test_a_caution_that_does_not_doubt_a_figure_is_for_the_page_alone() -> None:
    assert caution_headlines(run_of(caution("imbalance"), caution("missing_labels"))) == []
