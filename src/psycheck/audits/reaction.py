"""Whether a model reacts to an added sentence: more than to a neutral one of its length, and the right way.

A pass rate of a DIR check says that a score does not move the wrong way: a model that does not notice the
sentence passes. Here the score with the sentence is set against that with a placebo at the same place, on the
scale of ranks: a text moves if it passes at least `STEP` of the corpus's unedited texts.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from psycheck.audits.figures import measured
from psycheck.audits.suite import Check
from psycheck.core.arrays import FloatArray
from psycheck.core.audit import Scores
from psycheck.core.finding import Finding
from psycheck.statistics.clustered import Clusters, difference_interval

REACTION: Final = "reaction"
STEP: Final = 0.05  # of the unedited texts
UP, DOWN = 1, -1
_DIRECTIONS: Final = {"not_down": UP, "not_up": DOWN}


class Moves(NamedTuple):
    """How each text of a check moves beyond its placebo, all (m,); shares of the sentences added to it.

    `room` counts the sentences after which it could move the right way, `right` and `wrong` those after which
    it moves; `turned` is 1 where a sentence turns the decision the wrong way and its placebo does not.
    """

    room: FloatArray
    right: FloatArray
    wrong: FloatArray
    turned: FloatArray


def direction(check: Check) -> int:
    """Which way the sentences of a check should move a score; 0 where it has none or expects no move."""
    if not check.sentences:
        return 0
    return _DIRECTIONS.get(check.expect.kind, 0)


def with_placebos(texts: Sequence[str], sentence: str) -> list[str]:
    """The texts, each with the placebo of a sentence; the length of a text draws one of several."""
    placebos = placebos_of(sentence)
    count = len(placebos)
    # As `append_to_all` does it; an empty text draws the first placebo, and is that placebo.
    tails = [f" {placebo}" for placebo in placebos]
    longer_texts = []
    for text in texts:
        longer = text + tails[len(text) % count]
        longer_texts.append(longer if text else placebos[0])
    return longer_texts


@cache
def placebos_of(sentence: str) -> tuple[str, ...]:
    """The neutral sentences whose number of words is nearest to that of a sentence."""
    words = len(sentence.split())
    by_length = _placebo_sentences()
    nearest_length = min(by_length, key=lambda length: abs(length - words))
    return by_length[nearest_length]


@cache
def _placebo_sentences() -> dict[int, tuple[str, ...]]:
    path = Path(__file__).with_name("placebo_sentences.toml")
    raw = tomllib.loads(path.read_text("utf-8"))
    return {int(length): tuple(sentences) for length, sentences in raw.items()}


class PlaceboScores:
    """The scores of texts with their placebos, each looked up once.

    Sentences of about the same length share their placebos: the 37 sentences of DECK need 4 look-ups.
    """

    def __init__(self, scores: Scores) -> None:
        self._scores = scores
        self._scores_of_texts: dict[tuple[tuple[str, ...], ...], FloatArray] = {}

    def of(self, texts: Sequence[str], sentence: str) -> FloatArray:
        """The scores of the texts with the placebos of a sentence, (n, k)."""
        key = (placebos_of(sentence), tuple(texts))
        if key not in self._scores_of_texts:
            self._scores_of_texts[key] = self._scores.of(with_placebos(texts, sentence))
        return self._scores_of_texts[key]


@dataclass(frozen=True, slots=True)
class Ranks:
    """The scores of the unedited texts for one label, sorted, as a scale.

    Models use their scores differently, some near 0 and 1 alone; a share of texts means the same for all.
    """

    scores: FloatArray

    @classmethod
    def of(cls, scores: FloatArray) -> "Ranks":
        """The scale of scores, (n,); those without an answer are left out."""
        answered = scores[~np.isnan(scores)]
        return cls(np.sort(answered))

    def at(self, scores: FloatArray) -> FloatArray:
        """The share of unedited texts below each score, ties as a half, (m,); NaN stays NaN."""
        below = np.searchsorted(self.scores, scores, "left")
        up_to = np.searchsorted(self.scores, scores, "right")
        texts = max(len(self.scores), 1)
        # Ties as a half: a model with few different scores moves by whole groups of texts.
        shares: FloatArray = (below + up_to) / (2 * texts)
        return np.where(np.isnan(scores), np.nan, shares)


def no_moves(texts: int) -> Moves:
    """The moves of texts before any sentence was added, and those of checks without a direction."""
    return Moves(*np.zeros((4, texts)))


def add_moves(
    moves: Moves,
    positions: NDArray[np.int64],
    *,
    way: int,
    rank: FloatArray,
    placebo_rank: FloatArray,
    decided: FloatArray,
    placebo_decided: FloatArray,
) -> None:
    """Count one sentence in the moves of the texts at `positions`, all others (p,)."""
    beyond = way * (rank - placebo_rank)
    # A text at the end of the scale cannot move further, whatever the model thinks of the sentence.
    room = placebo_rank <= 1 - STEP if way == UP else placebo_rank >= STEP
    room &= ~np.isnan(beyond)

    wrong_decision = 0 if way == UP else 1
    right_decision = 1 - wrong_decision
    # Only what the sentence itself turns: a decision may be so close that any sentence turns it.
    turned = (decided == wrong_decision) & (placebo_decided == right_decision)

    moves.room[positions] += room
    moves.right[positions] += room & (beyond >= STEP)
    moves.wrong[positions] += room & (beyond <= -STEP)
    moves.turned[positions] = np.maximum(moves.turned[positions], turned)


def reaction_finding(
    rate: Finding,
    moves: Moves,
    rows: NDArray[np.int64],
    clusters: Clusters,
    *,
    way: int,
    among: int,
) -> Finding:
    """The share of texts that move the right way beyond the placebo, less that of the wrong way.

    The interval holds together with those of `among` checks.
    """
    has_room = moves.room > 0
    room = moves.room[has_room]
    # Shares of a text's sentences: a text counts once, however many sentences were added to it.
    right = moves.right[has_room] / room
    wrong = moves.wrong[has_room] / room
    n = len(room)
    units = clusters.at(rows[has_room])

    value = float("nan")
    interval = None
    if n:
        value = float(right.mean() - wrong.mean())
        ones = np.ones(n)
        interval = difference_interval(
            (right, ones),
            (wrong, ones),
            units,
            among=max(among, 1),
        )

    counts = {
        "moved_right": int(np.sum(right > 0)),
        "moved_wrong": int(np.sum(wrong > 0)),
        "turned_wrong": int(moves.turned.sum()),
        "tested": rate.n,
        "units": units.count,
    }
    expected = "up" if way == UP else "down"
    where = {**rate.where, "expected": expected}
    return measured(
        REACTION,
        value,
        n,
        interval=interval,
        where=where,
        counts=counts,
    )
