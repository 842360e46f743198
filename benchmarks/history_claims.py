"""How often the page on histories claims what is not so, and how often it names what a model rests on.

Histories have ten posts, three of which mention a symptom; each post names the luck of its author. Models
fail for a share of the authors: exactly at the bound of a claim, or far beyond it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from psycheck.audits.history_edits import Histories
from psycheck.audits.history_evidence import EVIDENCE, OTHER_POST
from psycheck.core.arrays import FloatArray
from psycheck.core.audit import ScoreTraits
from psycheck.core.corpus import Corpus, History
from psycheck.core.finding import Findings
from psycheck.core.run import Run
from psycheck.corpora.posting_histories import by_author
from psycheck.report.history_edits import history_headlines
from trials import Trial

SYMPTOM = "so empty and tired"
STRANGE = "0 we had pasta"  # the post of another author
POSTS, MENTIONS = 10, 3
HIGH, LOW, OTHER = 0.9, 0.1, 0.6
AUTHORS = (30, 120)
Reader = Callable[[History], float]


@dataclass(frozen=True)
class HistoryScores:
    """Scores of a function of a history."""

    read_history: Reader
    model: str = "planted"
    labels: tuple[str, ...] = ("depression",)

    @property
    def traits(self) -> ScoreTraits:
        """Scores are decided at 0.5."""
        return ScoreTraits()

    def of(self, items: Sequence[History]) -> FloatArray:
        """Scores, (n, 1)."""
        return np.array([[self.read_history(item)] for item in items]).reshape(-1, 1)

    def read(self, items: Sequence[History]) -> np.ndarray:
        """Everything is read."""
        return np.array([item.size for item in items])


def trials() -> list[Trial]:
    """Rates exactly at the bound of each claim, where it is false, and flaws that it must name."""
    at_bounds = (
        ("half react to evidence", ("histories.evidence", "histories.sound"), reacting(0.5)),
        ("one in ten moves without other posts", ("histories.others_removed",), resting_on_number(0.1)),
        ("one in ten moves with a strange post", STRANGE_POSTS, moved_by_strangers(0.1)),
        ("one in five moves with the last post alone", ("histories.last_post",), decided_by_last(0.2)),
        ("one in five moves with the first post alone", ("histories.first_post",), decided_by_first(0.2)),
    )
    flaws = (
        ("one in five reacts to evidence", ("histories.evidence",), reacting(0.2)),
        ("all react to evidence", ("histories.sound",), reacting(1.0)),
        ("four in ten move without other posts", ("histories.others_removed",), resting_on_number(0.4)),
        ("four in ten move with a strange post", STRANGE_POSTS, moved_by_strangers(0.4)),
        ("the last post decides", ("histories.last_post",), decided_by_last(0.02)),
        ("the first post decides", ("histories.first_post",), decided_by_first(0.02)),
    )
    settings = [(name, rules, reader, False) for name, rules, reader in at_bounds]
    settings += [(name, rules, reader, True) for name, rules, reader in flaws]
    return [
        Trial(f"{name}, {authors} authors", rules, _page_of(reader, authors), is_flaw)
        for name, rules, reader, is_flaw in settings
        for authors in AUTHORS
    ]


STRANGE_POSTS = ("histories.post_inserted", "histories.post_appended")


def _page_of(reader: Reader, authors: int) -> Callable[[int], set[str]]:
    def drawn(seed: int) -> set[str]:
        judgement = Histories().judge(people(authors, seed), HistoryScores(reader))
        run = Run({}, {}, Findings(judgement.findings))
        return {claim.rule for claim in history_headlines(run)}

    return drawn


def reacting(share: float) -> Reader:
    """The other authors keep a high score without their evidence."""

    def read(history: History) -> float:
        return HIGH if _mentions(history) or _luck(history) >= share else LOW

    return read


def resting_on_number(share: float) -> Reader:
    """For a share of the authors the score falls where posts without a symptom are missing."""

    def read(history: History) -> float:
        plain_posts = sum(SYMPTOM not in post for post in history.posts)
        few = len(history.posts) > 1 and plain_posts < POSTS - MENTIONS
        if few and _mentions(history) and _luck(history) < share:
            return OTHER
        return HIGH if _mentions(history) else LOW

    return read


def moved_by_strangers(share: float) -> Reader:
    """For a share of the authors the score falls with a post of somebody else."""

    def read(history: History) -> float:
        has_strange_post = STRANGE in history.posts
        if has_strange_post and _luck(history) < share:
            return OTHER
        return HIGH if _mentions(history) else LOW

    return read


def decided_by_last(share: float) -> Reader:
    """The last post alone gives the score of the whole history, but for a share of the authors."""
    return _decided_by(POSTS - 1, share)


def decided_by_first(share: float) -> Reader:
    """The first post alone gives the score of the whole history, but for a share of the authors."""
    return _decided_by(0, share)


def _decided_by(place: int, share: float) -> Reader:
    def read(history: History) -> float:
        is_alone = len(history.posts) == 1
        if not is_alone:
            return HIGH
        decides = history.posts[0].split()[2] == str(place)
        return HIGH if decides and _luck(history) >= share else LOW

    return read


def _mentions(history: History) -> bool:
    return any(SYMPTOM in post for post in history.posts)


def _luck(history: History) -> float:
    """A number from 0 to 1 that belongs to an author: each of their posts names it."""
    own_posts = [post for post in history.posts if post != STRANGE]
    return float(own_posts[0].split()[0]) if own_posts else 0.0


def people(authors: int, seed: int) -> Corpus:
    """Authors of ten posts, three of which mention a symptom; each post names luck, author and place."""
    random = np.random.default_rng(seed)
    texts = []
    names = []
    for author in range(authors):
        luck = random.uniform(0, 1)
        places = set(random.permutation(POSTS)[:MENTIONS].tolist())
        for place in range(POSTS):
            subject = SYMPTOM if place in places else "a walk in the park"
            texts.append(f"{luck} {author} {place} {subject}")
            names.append(f"author {author}")

    corpus = by_author(Corpus.of("people", texts, author=names))
    weights = [[HIGH * (SYMPTOM in post) for post in _posts(item)] for item in corpus.items]
    strange_posts = pl.Series(OTHER_POST, [STRANGE] * len(corpus))
    weighed = corpus.table.with_columns(pl.Series(EVIDENCE + "depression", weights), strange_posts)
    return replace(corpus, table=weighed)


def _posts(item: object) -> Sequence[str]:
    return item.posts if isinstance(item, History) else ()
