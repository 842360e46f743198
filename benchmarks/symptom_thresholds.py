"""Choose from which score on a reader may name each symptom: python benchmarks/symptom_thresholds.py MODEL.

`symptom_named.csv` says of sentences that an early reader scored high, and of some that it scored lower,
whether the symptom is present in the writer (ids, hashes and labels; texts come from PSYCHECK_DATA). They
were read once, by one reader. The half "choose" of the truth is used, too. The lowest threshold is taken from
which on enough names are known and enough of them are right; a symptom without one is not named.
"""

import csv
import os
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.models.opening import open_model
from psycheck.symptoms.reader import SymptomModel
from psycheck.symptoms.statements import weighted
from symptom_reader import FULL, SYMPTOMS, read_truth
from symptom_sentences import DRAWN, sentences_of

GRID = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.985, 0.99, 0.995)
PRECISION = 0.8
FEWEST = 6  # names that must be known from the threshold on


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


def threshold_of(weights: FloatArray, right: FloatArray) -> float | None:
    """The lowest threshold from which on enough names are known and right, if there is one."""
    for threshold in GRID:
        is_named = weights >= threshold
        if is_named.sum() >= FEWEST and right[is_named].mean() >= PRECISION:
            return threshold
    return None


def main(spec: str) -> None:
    """Print the thresholds as they stand in the card of a reader."""
    model = open_model(spec)
    assert isinstance(model, SymptomModel)
    unlimited = replace(model, naming=None)
    truth = read_truth("choose")
    names = judged_names()
    chosen_weights = weighted(unlimited.tag(truth.texts))
    named_weights = weighted(unlimited.tag([text for text, _, _ in names]))
    # Up to four symptoms are labelled: of a fifth nothing is known.
    is_full = truth.mentioned.sum(1) >= FULL

    print("[thresholds]")
    for column, symptom in enumerate(SYMPTOMS):
        rows = [row for row, name in enumerate(names) if name[1] == symptom]
        is_known = ~is_full | truth.present[:, column]
        weights = np.concatenate([named_weights[rows, column], chosen_weights[is_known, column]])
        right = np.concatenate([[names[row][2] for row in rows], truth.present[is_known, column]])
        threshold = threshold_of(weights, right.astype(float))
        if threshold is not None:
            print(f"{symptom} = {threshold}")


if __name__ == "__main__":
    main(sys.argv[1])
