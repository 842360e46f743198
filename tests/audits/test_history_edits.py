"""Edits of histories: planted flaws are caught, a sound model passes, and chance raises few alarms."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest

from psycheck.audits.history_edits import (
    NO_EVIDENCE,
    NO_OTHERS,
    Histories,
    edits_of,
    with_post,
)
from psycheck.audits.history_evidence import EVIDENCE, OTHER_POST
from psycheck.core.arrays import FloatArray
from psycheck.core.audit import ScoreTraits
from psycheck.core.corpus import Corpus, History
from psycheck.core.finding import Finding, Findings
from psycheck.core.run import Run
from psycheck.corpora.posting_histories import by_author
from psycheck.report.history_edits import histories_section, history_headlines
from psycheck.report.sections import UnshownFindings

SYMPTOM = "so empty and tired"


@dataclass(frozen=True)
class Scored:
    """Scores of a function of one history."""

    of_one: Callable[[History], float]
    model: str = "planted"
    labels: tuple[str, ...] = ("depression",)

    @property
    def traits(self) -> ScoreTraits:
        return ScoreTraits()

    def of(self, items: Sequence[History]) -> FloatArray:
        return np.array([[self.of_one(item)] for item in items]).reshape(-1, 1)

    def read(self, items: Sequence[History]) -> np.ndarray:
        return np.array([item.size for item in items])


def people(authors: int = 60, seed: int = 0, posts: int = 10) -> Corpus:
    """Authors of some posts; of every second one, three to five mention a symptom."""
    random = np.random.default_rng(seed)
    texts, names = [], []
    for author in range(authors):
        count = posts + author % 5
        told = random.permutation(count)[: random.integers(3, 6) if author % 2 else 0]
        for place in range(count):
            texts.append(f"{author} {place} " + (SYMPTOM if place in told else "a walk in the park"))
            names.append(f"u{author}")
    corpus = by_author(Corpus.of("people", texts, author=names))
    weights = [[0.9 * (SYMPTOM in post) for post in item.posts] for item in histories(corpus)]
    others = pl.Series(OTHER_POST, ["we had pasta"] * len(corpus))
    weighed = corpus.table.with_columns(pl.Series(EVIDENCE + "depression", weights), others)
    return replace(corpus, table=weighed)


def histories(corpus: Corpus) -> Iterator[History]:
    return (item for item in corpus.items if isinstance(item, History))


def told(history: History) -> int:
    return sum(SYMPTOM in post for post in history.posts)


MODELS: dict[str, Callable[[History], float]] = {
    "sound": lambda history: 0.9 if told(history) else 0.1,
    "counts posts": lambda history: min(1.0, len(history.posts) / 14),
    "last post": lambda history: 0.9 if history.posts and SYMPTOM in history.posts[-1] else 0.2,
    "first post": lambda history: 0.9 if history.posts and SYMPTOM in history.posts[0] else 0.2,
    "ignores the text": lambda history: 0.8,
    "any edit": lambda history: (history.digest[0] % 100) / 100,
}
CAUGHT = {
    "sound": ["histories.sound"],
    "counts posts": ["histories.evidence", "histories.others_removed"],
    "last post": ["histories.post_appended", "histories.last_post"],
    "first post": ["histories.first_post"],
    "ignores the text": ["histories.evidence"],
}


def judged(model: str, corpus: Corpus | None = None) -> list[Finding]:
    return list(Histories().judge(corpus or people(240), Scored(MODELS[model])).findings)


def headlines(findings: Sequence[Finding]) -> list[str]:
    return [one.rule for one in history_headlines(Run({}, {}, Findings(findings)))]


@pytest.mark.parametrize("model", CAUGHT)
def test_a_planted_flaw_is_named_and_a_sound_model_passes(model: str) -> None:
    assert headlines(judged(model)) == CAUGHT[model]


def test_scores_that_any_edit_changes_are_not_steady() -> None:
    assert {"histories.others_removed", "histories.post_inserted"} <= set(headlines(judged("any edit")))


def test_every_author_is_in_the_ledger() -> None:
    corpus = people(40)
    for finding in judged("sound", corpus):
        if finding.measure == "history_pass_rate":
            counts = finding.counts
            assert (counts["authors"], counts["without_evidence"], counts["decided_0"]) == (40, 20, 0)
            assert (finding.n, finding.value) == (20, 1.0)
            assert counts["passed"] + counts["failed"] + counts["unanswered"] == 20
    low = Histories().judge(corpus, Scored(lambda history: 0.3)).findings
    assert {finding.counts.get("decided_0") for finding in low if "pass_rate" in finding.measure} == {20}
    assert not any(finding.tested for finding in low)
    assert headlines(list(low)) == ["histories.untested"]


def test_the_effect_is_the_difference_between_both_removals() -> None:
    (effect,) = [f for f in judged("sound") if f.measure == "evidence_effect"]
    assert effect.value == pytest.approx(0.8)  # 0.9 without others, 0.1 without evidence
    shifts = {f.where["edit"]: f for f in judged("sound") if f.measure == "history_shift"}
    assert shifts[NO_EVIDENCE].value == pytest.approx(-0.8)


def test_what_is_asked_is_what_is_looked_up() -> None:
    corpus, audit = people(30), Histories()
    asked = {item for piece in corpus.slices(7) for item in audit.ask(piece)}
    seen: set[History] = set()

    def of_one(history: History) -> float:
        seen.add(history)
        return 0.9

    audit.judge(corpus, Scored(of_one))
    assert seen <= asked


def test_a_history_without_answer_is_unanswered() -> None:
    found = Histories().judge(people(20), Scored(lambda history: 0.9 if told(history) else np.nan))
    (rate,) = [f for f in found.findings if f.where.get("edit") == NO_EVIDENCE and "rate" in f.measure]
    assert rate.counts["unanswered"] == 10
    assert not rate.tested


def test_edits_are_made_of_the_posts_they_name() -> None:
    history = History(tuple("abcdef"), tuple("123456"), tuple("uvwxyz"))
    found = np.array([False, True, False, True, False, False])
    edits = edits_of(history, found, "new", np.random.default_rng(0), 256)
    assert edits[NO_EVIDENCE].posts == ("a", "c", "e", "f")
    assert set(edits[NO_OTHERS].posts) > {"b", "d"}
    assert len(edits[NO_OTHERS].posts) == 4
    assert sorted(edits["shuffled"].posts) == list("abcdef")
    assert edits["shuffled"].times == history.times
    assert (edits["first_half"].posts, edits["last_half"].posts) == (tuple("abc"), tuple("def"))
    assert edits["post_appended"].posts[-1] == "new"
    assert "post_appended" not in edits_of(history, found, "new", np.random.default_rng(0), 6)
    only = edits_of(history.at([1]), np.array([True]), None, np.random.default_rng(0), 256)
    assert only == {NO_EVIDENCE: History(())}


def test_an_added_post_has_the_time_of_its_place() -> None:
    history = History(("a", "b"), ("1", "2"), ("x", "y"))
    assert with_post(history, "new", 1) == History(("a", "new", "b"), ("1", "2", "2"))
    assert with_post(history, "new", 2) == History(("a", "b", "new"), ("1", "2", "2"))


def test_the_section_names_authors_and_quotes_nobody() -> None:
    run = Run({}, {}, Findings(judged("counts posts", people(40))))
    (section,) = histories_section(UnshownFindings(run))
    assert run.findings.where(edit=NO_OTHERS, measure="history_pass_rate")[0].examples[0] in section.html
    assert SYMPTOM not in section.html
    assert "a walk" not in section.html


@pytest.mark.parametrize(
    ("edit", "share", "alarm"),
    [(NO_EVIDENCE, 0.5, "histories.evidence"), (NO_OTHERS, 0.9, "histories.others_removed")],
)
def test_chance_raises_an_alarm_in_few_runs(edit: str, share: float, alarm: str) -> None:
    # Models that are exactly at the bound: in so many authors the edit does what is expected.
    random, alarms, runs = np.random.default_rng(5), 0, 100
    corpus = people(60)
    for _ in range(runs):
        kept = {author: random.random() < share for author in range(60)}

        def of_one(history: History, kept: dict[int, bool] = kept) -> float:
            author = int(history.posts[history.posts[0].startswith("we")].split()[0])
            if edit == NO_EVIDENCE:
                return 0.9 if told(history) or not kept[author] else 0.1
            shorter = len(history.posts) < 10 + author % 5 and told(history)
            return 0.1 if not told(history) else 0.6 if shorter and not kept[author] else 0.9

        alarms += alarm in headlines(list(Histories().judge(corpus, Scored(of_one)).findings))
    assert alarms / runs <= 0.05


def test_a_sound_model_with_noise_raises_no_alarm() -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)

        def of_one(history: History, random: np.random.Generator = random) -> float:
            return float(np.clip((0.85 if told(history) else 0.15) + random.normal(0, 0.02), 0, 1))

        findings = Histories().judge(people(100, seed), Scored(of_one)).findings
        assert headlines(list(findings)) == ["histories.sound"]
