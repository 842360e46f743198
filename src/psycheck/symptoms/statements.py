"""What sentences say of symptoms: mentioned, present in the writer, and how much that counts as evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray
from psycheck.io.toml import parse_toml
from psycheck.text.status import Status

# The weight of the subject, w_subj of formula (1): the writer, or somebody else.
OWN_WEIGHT: Final = 0.9
OTHER_WEIGHT: Final = 0.1
NOT_PRESENT_WEIGHT: Final = 0.1  # what the words of the text put in the past, in doubt or in somebody else

STATUSES: Final = (*(status.value for status in Status), "other")
"""What a text says of a symptom: present in the writer, denied, past, uncertain, or other people's."""
PRESENT: Final = STATUSES.index(Status.PRESENT.value)
OTHER: Final = STATUSES.index("other")
NAMED: Final = 0.5
"""The weight from which a symptom is named: weights are moved so that each threshold lies there."""
_UNNAMED: Final = 0.49  # the most that a symptom weighs of which too little is known to name it
_LEAST: Final = 1e-6  # probabilities are kept this far from 0 and 1, so that log-odds stay finite


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """What a reader may name, as measured on sentences labelled by hand.

    `thresholds` has the probability (present in the writer) from which a symptom is named; a symptom that it
    lacks is never named, since too little is known about it. `precision` and `recall` are those of what is
    named, on `sentences` sentences, described by `source`.
    """

    thresholds: Mapping[str, float]
    precision: float
    recall: float
    sentences: int
    source: str


def read_naming(card: Path) -> Naming | None:
    """The part of a reader's card (TOML) that says what it may name; None if that was not measured."""
    tables = parse_toml(card.read_text("utf-8"))
    if "thresholds" not in tables:
        return None
    measured = tables["measured"]
    return Naming(
        thresholds=tables["thresholds"],
        precision=measured["precision"],
        recall=measured["recall"],
        sentences=measured["sentences"],
        source=measured["source"],
    )


def thresholds_of(naming: Naming | None, labels: Sequence[str]) -> FloatArray:
    """The thresholds of symptoms, (k,): 0.5 where nothing was measured, NaN where too little is known."""
    if naming is None:
        return np.full(len(labels), NAMED)
    return np.array([naming.thresholds.get(label, np.nan) for label in labels])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tags:
    """What a model and the rules of the text say of n sentences and k symptoms.

    `relevance`, `present` and `uncertain` are those of the model (`Readings`); `status` (n, k) is the place
    in `STATUSES` of what the text says of it; `own` (n,) is whether the writer speaks of themselves;
    `thresholds` (k,) is the probability from which a symptom is named.
    """

    relevance: FloatArray
    present: FloatArray
    uncertain: FloatArray
    status: NDArray[np.int8]
    own: NDArray[np.bool_]
    thresholds: FloatArray

    def at(self, rows: NDArray[np.int64]) -> "Tags":
        """The tags of some sentences, or of some of them more than once."""
        return Tags(
            relevance=self.relevance[rows],
            present=self.present[rows],
            uncertain=self.uncertain[rows],
            status=self.status[rows],
            own=self.own[rows],
            thresholds=self.thresholds,
        )


def weighted(tags: Tags, *, status: bool = True, subject: bool = True) -> FloatArray:
    """How much each sentence counts as evidence of each symptom in the writer, now, (n, k) in 0..1.

    A model that says what is present in the writer gives its probability. Of others it is relevance ×
    P(certain) × 0.9 for the writer's own or 0.1 for another's: formula (1), each factor a switch. What the
    text itself denies, puts in the past or in doubt counts a tenth.
    """
    factor = np.ones(len(tags.own))
    if status:
        factor *= np.where(np.isnan(tags.uncertain), 1.0, 1 - tags.uncertain)
    if subject:
        factor *= np.where(tags.own, OWN_WEIGHT, OTHER_WEIGHT)
    weights = tags.relevance * factor[:, None]

    is_other = tags.status == OTHER
    # The probability holds for both at once: with one of them switched off, it says something else.
    if status and subject:
        is_read = ~np.isnan(tags.present)
        present = np.where(is_other, tags.present * NOT_PRESENT_WEIGHT, tags.present)
        weights = np.where(is_read, present, weights)
    if status:
        is_over = (tags.status != PRESENT) & ~is_other
        weights = np.where(is_over, weights * NOT_PRESENT_WEIGHT, weights)
    return from_thresholds(weights, tags.thresholds)


def from_thresholds(probabilities: FloatArray, thresholds: FloatArray) -> FloatArray:
    """Probabilities (n, k) moved, in log-odds, so that each threshold (k,) becomes 0.5.

    Whoever reads weights then needs no thresholds. A symptom without one stays below 0.5.
    """
    is_known = ~np.isnan(thresholds)
    shift = _log_odds(np.where(is_known, thresholds, NAMED))
    # Where the threshold is 0.5, the values stay as they are, to the last digit.
    moved = np.where(shift == 0, probabilities, 1 / (1 + np.exp(shift - _log_odds(probabilities))))
    return np.asarray(np.where(is_known, moved, np.minimum(moved, _UNNAMED)))


def _log_odds(probabilities: FloatArray) -> FloatArray:
    inner = np.clip(probabilities, _LEAST, 1 - _LEAST)
    return np.asarray(np.log(inner) - np.log1p(-inner))
