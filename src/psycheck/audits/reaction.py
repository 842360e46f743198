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
from psycheck.core.finding import Finding
from psycheck.statistics.clustered import Clusters, difference_interval
from psycheck.text.edits import append_to_all

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
    return _DIRECTIONS.get(check.expect.kind, 0) if check.sentences else 0


def with_placebos(texts: Sequence[str], sentence: str) -> list[str]:
    """The texts, each with the placebo of a sentence; the length of a text draws one of several."""
    placebos = placebos_of(sentence)
    appended = [append_to_all(texts, placebo) for placebo in placebos]
    return [appended[len(text) % len(placebos)][row] for row, text in enumerate(texts)]


@cache
def placebos_of(sentence: str) -> tuple[str, ...]:
    """The neutral sentences whose number of words is nearest to that of a sentence."""
    words = len(sentence.split())
    by_length = _placebo_sentences()
    return by_length[min(by_length, key=lambda length: abs(length - words))]


@cache
def _placebo_sentences() -> dict[int, tuple[str, ...]]:
    raw = tomllib.loads(Path(__file__).with_name("placebo_sentences.toml").read_text("utf-8"))
    return {int(length): tuple(sentences) for length, sentences in raw.items()}


@dataclass(frozen=True, slots=True)
class Ranks:
    """The scores of the unedited texts for one label, sorted, as a scale."""

    scores: FloatArray

    @classmethod
    def of(cls, scores: FloatArray) -> "Ranks":
        """The scale of scores, (n,); those without an answer are left out."""
        return cls(np.sort(scores[~np.isnan(scores)]))

    def at(self, scores: FloatArray) -> FloatArray:
        """The share of unedited texts below each score, ties as a half, (m,); NaN stays NaN."""
        below = np.searchsorted(self.scores, scores, "left")
        up_to = np.searchsorted(self.scores, scores, "right")
        shares: FloatArray = (below + up_to) / (2 * max(len(self.scores), 1))
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
    turned = (decided == wrong_decision) & (placebo_decided == 1 - wrong_decision)

    moves.room[positions] += room
    moves.right[positions] += room & (beyond >= STEP)
    moves.wrong[positions] += room & (beyond <= -STEP)
    moves.turned[positions] = np.maximum(moves.turned[positions], turned)


def reaction_finding(
    rate: Finding, moves: Moves, rows: NDArray[np.int64], clusters: Clusters, *, way: int, among: int
) -> Finding:
    """The share of texts that move the right way beyond the placebo, less that of the wrong way.

    The interval holds together with those of `among` checks.
    """
    has_room = moves.room > 0
    room = moves.room[has_room]
    right = moves.right[has_room] / room
    wrong = moves.wrong[has_room] / room
    n = len(room)

    units = clusters.at(rows[has_room])
    ones = np.ones(n)
    interval = difference_interval((right, ones), (wrong, ones), units, among=max(among, 1)) if n else None
    counts = {
        "moved_right": int(np.sum(right > 0)),
        "moved_wrong": int(np.sum(wrong > 0)),
        "turned_wrong": int(moves.turned.sum()),
        "tested": rate.n,
        "units": units.count,
    }
    where = {**rate.where, "expected": "up" if way == UP else "down"}
    value = float(right.mean() - wrong.mean()) if n else float("nan")
    return measured(REACTION, value, n, interval, where, counts)
