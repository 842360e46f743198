"""Choose from which score on a reader may name each symptom.

python benchmarks/symptom_thresholds.py READER FILE

READER is the folder of a reader that learned from FILE, which `symptom_labelled.py` wrote. Its layer is
trained four times, without a quarter of the posts of FILE each time, and scores that quarter.
`symptom_named.csv` (names of an early reader, judged once by one reader) and the tweets of the first two
draws, from which no layer learns, are scored by all four. The lowest threshold is taken from which on enough
of the names that are known are right; a symptom of which too little is known is not named. What thresholds
that were chosen on three quarters give on the fourth is printed, too: it is the honest estimate.
"""

import csv
import os
import sys
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from psycheck.core.arrays import FloatArray
from psycheck.symptoms.adapted_reader import AdaptedReader, open_adapted, token_states
from psycheck.symptoms.bank_sentences import BANK, Labelled, read_bank, read_sentences
from psycheck.symptoms.reader import model_of_reader
from psycheck.symptoms.statements import weighted
from psycheck.symptoms.suicidal_rule import SUICIDAL
from psycheck.training.reader_layer import refined_layer
from symptom_labelled import EARLIER, labels
from symptom_reader import FULL, SYMPTOMS, read_truth
from symptom_sentences import DRAWN, post_of, sentences_of

GRID = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.985, 0.99, 0.995)
# Chosen above what is wanted, 0.80: the best of many thresholds is partly luck (see the last line printed).
PRECISION = 0.9
PRECISION_OF_SUICIDAL = 0.75  # no reader may miss them: more names of them may be wrong
FEWEST = 5  # names that must be known from the threshold on
SHRINKAGE = 4  # names that count as right as often as those of all symptoms together
FOLDS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Scores of sentences and symptoms, (n, k), and whether each is right; NaN where nobody knows."""

    scores: FloatArray
    right: FloatArray
    folds: NDArray[np.int64]

    def names_from(self, threshold: float) -> NDArray[np.bool_]:
        """What is named from a threshold on, of what is known, (n, k)."""
        return (self.scores >= threshold) & ~np.isnan(self.right)

    def at(self, is_chosen: NDArray[np.bool_]) -> "Known":
        """Some of the sentences."""
        return Known(self.scores[is_chosen], self.right[is_chosen], self.folds[is_chosen])


def judged_names() -> list[tuple[str, str, bool]]:
    """Texts, symptoms, and whether the name is right."""
    folder = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    texts = {}
    for name in DRAWN:
        for _, text in sentences_of(folder / f"{name}.csv"):
            texts[sha256(text.encode()).hexdigest()] = text
    with Path(__file__).with_name("symptom_named.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    return [(texts[row["sha256"]], row["symptom"], row["right"] == "1") for row in rows]


def fold_of_texts(texts: list[str]) -> NDArray[np.int64]:
    """The fold of each labelled sentence: those of one post are in one fold."""
    post_of_hash = {row["sha256"]: post_of(row["id"]) for row in labels()}
    return np.array([_fold(post_of_hash[sha256(text.encode()).hexdigest()]) for text in texts])


def _fold(post: str) -> int:
    return int(sha256(post.encode()).hexdigest(), 16) % FOLDS


def known_right(names: list[tuple[str, str, bool]]) -> tuple[list[str], FloatArray]:
    """The texts whose names are known and that no layer learns from, and what is right of them, (n, k)."""
    truth = read_truth(*EARLIER)
    tweets = [row for row, id_ in enumerate(truth.ids) if id_.startswith("depression_tweets")]
    # Up to four symptoms are labelled: of a fifth nothing is known.
    is_full = truth.mentioned.sum(1, keepdims=True) >= FULL
    of_tweets = np.where(is_full & ~truth.present, np.nan, truth.present)[tweets]
    judged = np.full((len(names), len(SYMPTOMS)), np.nan)
    for row, (_, symptom, is_right) in enumerate(names):
        judged[row, SYMPTOMS.index(symptom)] = is_right
    texts = [truth.texts[row] for row in tweets] + [text for text, _, _ in names]
    return texts, np.vstack([of_tweets, judged])


def scores_by(reader: AdaptedReader, texts: list[str]) -> FloatArray:
    """The scores of texts by a reader with the rules, without thresholds, (n, k)."""
    return weighted(model_of_reader(reader, "fold").tag(texts))


def cross_validated(reader: AdaptedReader, labelled: Labelled) -> Known:
    """What readers say of sentences that they did not learn from."""
    further = read_sentences(BANK / "posts.csv", SYMPTOMS) + read_bank("train", SYMPTOMS)
    lessons = labelled + further
    states = token_states(reader.encoder, lessons.texts)
    folds = fold_of_texts(labelled.texts)
    other_texts, other_right = known_right(judged_names())

    scores = np.empty(labelled.present.shape)
    other_scores = np.zeros(other_right.shape)
    for fold in range(FOLDS):
        is_held_out = np.concatenate([folds == fold, np.zeros(len(further.texts), np.bool_)])
        learned = np.flatnonzero(~is_held_out)
        layer = refined_layer([states[row] for row in learned], reader.layer, lessons.at(learned), seed=fold)
        fold_reader = replace(reader, layer=layer)
        rows = np.flatnonzero(folds == fold)
        scores[rows] = scores_by(fold_reader, labelled.at(rows).texts)
        other_scores += scores_by(fold_reader, other_texts) / FOLDS
    other_folds = np.array([_fold(text) for text in other_texts])
    return Known(
        scores=np.vstack([scores, other_scores]),
        right=np.vstack([labelled.present, other_right]),
        folds=np.concatenate([folds, other_folds]),
    )


def threshold_of(known: Known, column: int) -> float | None:
    """The lowest threshold from which on enough names are known and right, if there is one."""
    for threshold in GRID:
        is_named = known.names_from(threshold)
        right = known.right[is_named[:, column], column]
        of_all = known.right[is_named].mean()
        # A few names tell little: they are moved towards the precision of all symptoms at this threshold.
        precision = (right.sum() + SHRINKAGE * of_all) / (len(right) + SHRINKAGE)
        least_precision = PRECISION_OF_SUICIDAL if SYMPTOMS[column] == SUICIDAL else PRECISION
        if len(right) >= FEWEST and precision >= least_precision:
            return threshold
    return None


def thresholds_by(known: Known) -> FloatArray:
    """The threshold of each symptom, (k,); infinite for one that is not named."""
    thresholds = [threshold_of(known, column) for column in range(len(SYMPTOMS))]
    return np.array([np.inf if threshold is None else threshold for threshold in thresholds])


def counts(known: Known, limits: FloatArray) -> NDArray[np.float64]:
    """How many symptoms are named, how many of them are right, and how many there are."""
    is_named = (known.scores >= limits) & ~np.isnan(known.right)
    return np.array([is_named.sum(), np.nansum(known.right * is_named), np.nansum(known.right)])


def main(folder: str, file: str) -> None:
    """Print the thresholds as they stand in the card of a reader, and what they gave on these sentences."""
    reader = open_adapted(Path(folder), None)
    known = cross_validated(reader, read_sentences(Path(file), SYMPTOMS))
    limits = thresholds_by(known)
    print("[thresholds]")
    for symptom, threshold in zip(SYMPTOMS, limits, strict=True):
        if np.isfinite(threshold):
            print(f"{symptom} = {threshold}")

    named, right, present = counts(known, limits)
    print(f"# {named:.0f} names, precision {right / named:.2f}, recall {right / present:.2f} (chosen here)")
    of_folds = np.zeros(3)
    for fold in range(FOLDS):
        is_held_out = known.folds == fold
        chosen = thresholds_by(known.at(~is_held_out))
        of_folds += counts(known.at(is_held_out), chosen)
    named, right, present = of_folds
    print(f"# {named:.0f} names, precision {right / named:.2f}, recall {right / present:.2f} (held out)")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
