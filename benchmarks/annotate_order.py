"""Labels needed by random order and by what a model is least sure of (`psycheck annotate next`).

Reads counselchat and depression_tweets from $PSYCHECK_DATA (default ../shared/data) and writes figures only.
Of each corpus a third is held out for measuring; texts of the rest are labelled in rounds, as an export and
`annotate next` would have it. The labels are those of the corpora: no annotator errs.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from psycheck.annotate.order import unsureness
from psycheck.core.arrays import FloatArray, IntArray
from psycheck.corpora.opening import open_corpus
from timing import machine, table

SEEDS = range(5)
FIRST, PER_ROUND, MOST = 50, 50, 500  # labels
CORPORA = {"counselchat": ("depression", "anxiety"), "depression_tweets": ("depression",)}
AIMS = (200, 300, 400)  # random order with so many labels sets the AUC to reach
Choice = Callable[[FloatArray, IntArray, np.random.Generator], IntArray]


def at_random(scores: FloatArray, waiting: IntArray, rng: np.random.Generator) -> IntArray:
    """The next texts in an order that knows nothing of the scores."""
    return rng.permutation(waiting)


def least_sure(scores: FloatArray, waiting: IntArray, rng: np.random.Generator) -> IntArray:
    """Those first whose label the model is least sure of."""
    return waiting[np.argsort(-unsureness([scores]), kind="stable")]


def half_at_random(scores: FloatArray, waiting: IntArray, rng: np.random.Generator) -> IntArray:
    """By turns one that the model is least sure of, and one at random."""
    by_turns = np.column_stack([least_sure(scores, waiting, rng), rng.permutation(waiting)]).ravel()
    _, first_places = np.unique(by_turns, return_index=True)
    return by_turns[np.sort(first_places)]


CHOICES: dict[str, Choice] = {"random": at_random, "least sure": least_sure, "half and half": half_at_random}


def curve(texts: list[str], targets: FloatArray, choose: Choice, seed: int) -> list[float]:
    """The mean AUC over labels on held-out texts after each round of labels; `targets` are (n, k)."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(texts))
    held_out = order[: len(texts) // 3]
    pool = order[len(texts) // 3 :]

    # The same first texts for every choice: nobody has a model before there are labels.
    labelled = pool[:FIRST]
    aucs = []
    while True:
        held_out_scores, waiting_scores, waiting = _fitted(texts, targets, labelled, held_out, pool)
        columns = range(targets.shape[1])
        of_labels = [
            roc_auc_score(targets[held_out, column], held_out_scores[:, column]) for column in columns
        ]
        aucs.append(float(np.mean(of_labels)))
        if len(labelled) >= MOST:
            return aucs
        chosen = choose(waiting_scores, waiting, rng)[:PER_ROUND]
        labelled = np.concatenate([labelled, chosen])


def _fitted(
    texts: list[str],
    targets: FloatArray,
    labelled: IntArray,
    held_out: IntArray,
    pool: IntArray,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Scores of the held-out texts and of those that wait, (n, k), and which wait."""
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
    features = words.fit_transform([texts[place] for place in labelled])
    waiting = np.setdiff1d(pool, labelled)
    rest = words.transform([texts[place] for place in np.concatenate([held_out, waiting])])

    scores = np.full((rest.shape[0], targets.shape[1]), 0.5)
    for column, marks in enumerate(targets[labelled].T):
        # With one class there is nothing to learn yet, and every text is as unsure as any other.
        if len(np.unique(marks)) == 2:
            model = LogisticRegression(C=10, max_iter=2_000).fit(features, marks)
            scores[:, column] = model.predict_proba(rest)[:, 1]
    return scores[: len(held_out)], scores[len(held_out) :], waiting


def labels_needed(aucs: list[float], aim: float) -> float:
    """The labels after which a curve first reaches an AUC, by a straight line between rounds; NaN: never."""
    for place, auc in enumerate(aucs):
        if auc < aim:
            continue
        if place == 0:
            return FIRST
        before = aucs[place - 1]
        return FIRST + PER_ROUND * (place - 1 + (aim - before) / (auc - before))
    return float("nan")


def main() -> None:
    """Print the AUC after each number of labels, and the labels needed for that of random order."""
    folder = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    print(f"\n## Labels by order ({machine()})\n")
    aim_rows, curve_rows = [], []
    for name, labels in CORPORA.items():
        corpus = open_corpus(folder / f"{name}.csv", text="text", labels=labels)
        targets = corpus.targets(labels)
        curves = {
            choice: np.array([curve(corpus.texts, targets, choose, seed) for seed in SEEDS])
            for choice, choose in CHOICES.items()
        }
        for choice, aucs in curves.items():
            means, spread = aucs.mean(axis=0), aucs.std(axis=0, ddof=1)
            places = [(labels_given - FIRST) // PER_ROUND for labels_given in (100, *AIMS, MOST)]
            curve_rows.append(
                [name, choice, *(f"{means[place]:.3f} ± {spread[place]:.3f}" for place in places)]
            )
            needed = []
            for aim in AIMS:
                aim_aucs = curves["random"][:, (aim - FIRST) // PER_ROUND]
                of_seeds = [
                    labels_needed(list(row), target) for row, target in zip(aucs, aim_aucs, strict=True)
                ]
                reached = int(np.isfinite(of_seeds).sum())
                # A seed that never gets there needs more than all: the median stands as long as most do.
                median = float(np.median(np.nan_to_num(of_seeds, nan=np.inf)))
                needed.append(f"{median:.0f} ({reached} of {len(SEEDS)})")
            aim_rows.append([name, choice, *needed])
    print(table(["corpus", "order", *(f"AUC, {n} labels" for n in (100, *AIMS, MOST))], curve_rows))
    print()
    print(table(["corpus", "order", *(f"labels for random's AUC at {aim}" for aim in AIMS)], aim_rows))


if __name__ == "__main__":
    main()
