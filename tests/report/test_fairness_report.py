"""The section on fairness: pairs, groups, ids, and the sentence at the top that links to it."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from planted import Planted, flips_on_she, oracle
from psycheck.audits.fairness import Fairness
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.audit import ScoreTraits
from psycheck.core.corpus import Corpus
from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.report.audit_page import render
from psycheck.report.gender_and_groups import fairness
from psycheck.report.learned import learned
from psycheck.report.sections import UnshownFindings
from psycheck.report.tested import untested
from psycheck.text.gender.edits import Scope

SWAPPED = "when he and she, nouns (woman, father) and titles (Ms, Mr) are swapped"


def corpus(name: str = "notes", groups: bool = True) -> Corpus:
    texts = [
        f"{'She' if i % 2 else 'He'} {'is hopeless' if i % 4 < 2 else 'went home'} {i}." for i in range(40)
    ]
    texts += ["The garden is wet.", "They gave her flowers."]
    marks = [float(i % 4 < 2) for i in range(40)] + [0.0, 0.0]
    named = {"gender": ["women" if i % 2 else "men" for i in range(42)]} if groups else None
    return Corpus.of(name, texts, labels={"depression": marks}, groups=named)


class Scores:
    """What a planted model says, as the store would give it."""

    def __init__(self, score: Callable[[str], float], name: str = "planted") -> None:
        self.inner, self.model, self.labels = Planted(name, score), name, ("depression",)

    @property
    def traits(self) -> ScoreTraits:
        return ScoreTraits()

    def of(self, texts: Sequence[str]) -> FloatArray:
        return self.inner.score(texts)

    def read(self, texts: Sequence[str]) -> IntArray:
        return np.array([len(text) for text in texts], np.int64)


def found(score: Callable[[str], float], name: str = "planted", groups: bool = True) -> tuple[Finding, ...]:
    return Fairness().judge(corpus(groups=groups), Scores(score, name)).findings


def run_of(*findings: Finding) -> Run:
    return Run({"models": [], "corpora": [], "threshold": 0.5}, {}, Findings(findings))


def test_the_section_takes_every_finding_of_the_audit() -> None:
    shelf = UnshownFindings(run_of(*found(flips_on_she)))
    (part,) = fairness(shelf)
    assert shelf == []
    assert part.name == ""
    assert part.undecided == ("42",)


def test_the_table_of_pairs_has_value_interval_n_and_both_p() -> None:
    (part,) = fairness(UnshownFindings(run_of(*found(flips_on_she))))
    assert part.pairs is not None
    rows = {row[0]: row[1:] for row in part.pairs.rows}
    assert "50 %" in rows["Texts whose decision changes"][0]
    assert "n 40" in rows["Texts whose decision changes"][0]
    value, p, adjusted = rows["Demographic parity difference, female minus male"]
    assert ">0.500<" in value
    assert (p, adjusted) == ("<0.001", "<b>&lt;0.001</b>")
    assert len(part.flipped) == 20


def test_groups_have_their_rates_and_their_comparison() -> None:
    (part,) = fairness(UnshownFindings(run_of(*found(flips_on_she))))
    (column,) = part.columns
    rates, compared = column.tables
    assert (column.name, column.open) == ("gender", True)
    assert column.summary == "2 groups; they differ after Holm's correction"
    assert [row[0] for row in rates.rows] == ["men", "women"]
    # The plot has the false negative rates.
    assert rates.head == ("Gender", "False positive rate", "Positive decisions")
    assert [row[0] for row in compared.rows] == ["men minus women"]
    assert part.plot is not None
    assert [name for name, _, _ in part.plot.groups] == ["The same texts in both wordings", "Gender"]


def test_the_ledger_shows_where_every_text_went() -> None:
    (part,) = fairness(UnshownFindings(run_of(*found(oracle))))
    assert part.ledger is not None
    (row,) = part.ledger.rows
    assert dict(zip(part.ledger.head[1:], row[1:], strict=True)) == {
        "generated": "41",
        "passed": "40",
        "failed": "0",
        "unchanged": "1",
        "unseen": "0",
        "unanswered": "0",
        "undecided": "1",
        "both genders": "0",
    }


def test_the_ledger_says_where_a_noun_gives_the_gender_away() -> None:
    said = Corpus.of("c", ["A woman of 40. She slept.", "He slept."], labels={"depression": [1, 0]})
    for scope, told in ((Scope(), True), (Scope(nouns=True, titles=True), False)):
        judged = Fairness(scope=scope).judge(said, Scores(oracle)).findings
        (part,) = fairness(UnshownFindings(run_of(*judged)))
        assert part.ledger is not None
        assert ("1 of the pairs also have a gendered noun or title" in part.ledger.note) is told


def test_two_models_have_a_part_each() -> None:
    parts = fairness(UnshownFindings(run_of(*found(oracle, "sound"), *found(flips_on_she, "she"))))
    assert [part.name for part in parts] == ["sound", "she"]


def test_without_pairs_the_page_says_that_nothing_was_tested() -> None:
    plain = Corpus.of("c", ["The garden is wet."], labels={"depression": [0.0]})
    findings = Fairness().judge(plain, Scores(oracle)).findings
    (part,) = fairness(UnshownFindings(run_of(*findings)))
    assert (part.pairs, part.plot) == (None, None)
    assert "no text could be swapped" in render(run_of(*findings))


def test_a_column_of_small_groups_is_named_as_not_tested() -> None:
    few = Corpus.of("c", ["She left.", "He left."], groups={"ward": ["a", "b"]})
    (part,) = fairness(UnshownFindings(run_of(*Fairness().judge(few, Scores(oracle)).findings)))
    (table,) = part.columns[0].tables
    assert table.rows[0][0] == "no group is large enough"
    assert table.note == "Not compared: 2 texts in groups of fewer than 5."


def test_the_page_says_what_was_done_with_the_values_of_a_column() -> None:
    texts = [f"Text {i}." for i in range(22)]
    ages = ["30"] * 8 + ["adult"] * 8 + ["Adult"] * 3 + ["NA", "-1", None]
    odd = Corpus.of("c", texts, labels={"depression": [0.0] * 22}, groups={"age": ages})
    (part,) = fairness(UnshownFindings(run_of(*Fairness().judge(odd, Scores(oracle)).findings)))
    assert part.columns[0].tables[0].note == (
        "Not compared: 3 texts without a group (2 by a word or code such as NA). "
        "3 texts counted under the most common spelling of the group. "
        "No age bands: more than a fifth of the values (11) are not numbers."
    )


def test_the_page_shows_some_undecided_and_flipped_ids_and_says_where_all_are() -> None:
    texts = [f"They gave her flowers on day {i}." for i in range(60)]
    texts += [f"She went home on day {i}." for i in range(53)]
    findings = Fairness().judge(Corpus.of("c", texts), Scores(flips_on_she)).findings
    (part,) = fairness(UnshownFindings(run_of(*findings)))
    assert (len(part.undecided), part.undecided_more) == (50, 10)
    assert (len(part.flipped), part.flipped_more) == (50, 3)
    page = render(run_of(*findings))
    assert "50 and 10 more; <code>pairs.parquet</code> lists all (outcome <i>undecided</i>)." in page
    assert " and 3 more; <code>pairs.parquet</code> lists all (outcome <i>failed</i>)" in page


def test_the_plot_of_misses_names_its_columns_for_a_screen_reader() -> None:
    page = render(run_of(*found(flips_on_she)))
    assert '<span class="hidden">Wording or group</span>' in page
    assert '<span class="hidden">False negative rate</span>' in page
    assert "Pass rate" not in page


def test_the_page_has_the_section_and_escapes_the_names_of_groups() -> None:
    named = ["<b>x</b>" if i % 2 else "men" for i in range(42)]
    odd = Corpus.of(
        "notes", corpus().texts, labels={"depression": [1.0, 0.0] * 21}, groups={"<i>ward": named}
    )
    page = render(run_of(*Fairness().judge(odd, Scores(flips_on_she)).findings))
    assert '<section id="fairness"' in page
    assert '<a href="#fairness">Fairness</a>' in page
    assert "<b>x</b>" not in page
    assert "<i>ward" not in page


@pytest.mark.parametrize(
    ("score", "said", "groups"),
    [
        (
            flips_on_she,
            f"the decision changes in 50 % (35–65) of 40 texts {SWAPPED}",
            "groups differ by gender (men against women) after Holm's correction",
        ),
        (
            oracle,
            f"no difference by gender found: the decision changes in 0 % (0–9) of 40 texts {SWAPPED}",
            "no difference found between groups by gender; a gap of up to ",
        ),
    ],
)
def test_the_sentence_at_the_top_names_the_share_and_links_to_the_section(
    score: Callable[[str], float], said: str, groups: str
) -> None:
    run = run_of(*found(score))
    (gender,) = [s for s in learned(run) if s.subject == "Gender"]
    assert gender.words.startswith(said)
    assert groups in gender.words
    assert (gender.anchor, gender.tested) == ("fairness", True)
    assert not any("fairness" in line for line in untested(run))


def test_the_sentence_says_who_is_missed_more() -> None:
    def needs_she(text: str) -> float:
        return 0.9 if text.startswith("She") or text.endswith("1.") else 0.1

    run = run_of(*found(needs_she, groups=False))
    (gender,) = [s for s in learned(run) if s.subject == "Gender"]
    missed = "the male wording is missed more often: 90 % (70–98) against 0 % (0–16) of 20 texts annotated 1"
    assert missed in gender.words


def test_the_sentence_tells_a_shift_that_stays_below_the_threshold() -> None:
    run = run_of(*found(lambda text: 0.4 if text.startswith("She") else 0.2 + len(text) / 1000, groups=False))
    (gender,) = [s for s in learned(run) if s.subject == "Gender"]
    assert gender.words.startswith(
        "the female wording scores higher by 0.18 (0.18–0.18) on average in 40 texts"
    )
