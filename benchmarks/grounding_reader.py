"""Which symptom reader should grounded models decide from? python benchmarks/grounding_reader.py [POSTS].

A smaller measurement than grounding.py, beside it: the beginnings of POSTS posts (200) of each of three
corpora of PSYCHECK_DATA. One half is for training and one for testing, cut anew by each seed; logistic
regressions on the evidence of two readers, on vectors and on words are trained on one corpus and rank the
texts of another. Printed are AUCs only.
"""

import os
import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.models.opening import open_encoder
from psycheck.symptoms.evidence import log_odds, open_evidence

CORPORA = ("depression_reddit", "depression_tweets", "counselchat")
CHARACTERS = 500  # of a post: about five sentences
SEEDS = 3
READERS = ("default", "descriptions")
Texts = dict[str, list[str]]
Features = dict[str, FloatArray]


def drawn(corpus: str, size: int) -> tuple[list[str], FloatArray]:
    """Beginnings of posts and their labels, as many of each label."""
    folder = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    posts = pl.read_csv(folder / f"{corpus}.csv").select("text", "depression").drop_nulls()
    sides = [posts.filter(pl.col("depression").cast(pl.Int64) == side) for side in (0, 1)]
    balanced = pl.concat([side.sample(min(size // 2, len(side)), seed=0) for side in sides])
    texts = [text[:CHARACTERS] for text in balanced["text"]]
    return texts, balanced["depression"].cast(pl.Float64).to_numpy()


def features_of(texts: Texts) -> dict[str, Features]:
    """What models decide from, by name and corpus."""
    features = {}
    for reader in READERS:
        evidence = open_evidence(reader)
        features[reader] = {corpus: log_odds(evidence.score(own)) for corpus, own in texts.items()}
    encoder = open_encoder("minilm")
    features["vectors"] = {corpus: encoder.encode(own) for corpus, own in texts.items()}
    words = TfidfVectorizer(sublinear_tf=True, min_df=2).fit([text for own in texts.values() for text in own])
    features["words"] = {corpus: words.transform(own).toarray() for corpus, own in texts.items()}
    return features


def halves(size: int, seed: int) -> tuple[IntArray, IntArray]:
    """The rows for training and for testing."""
    order = np.random.default_rng(seed).permutation(size)
    return order[: size // 2], order[size // 2 :]


def auc(features: Features, labels: Features, home: str, away: str, seed: int) -> float:
    """How a model of one corpus ranks the texts of another."""
    train, _ = halves(len(labels[home]), seed)
    _, test = halves(len(labels[away]), seed)
    scaler = StandardScaler().fit(features[home][train])
    model = LogisticRegression(max_iter=1000).fit(
        scaler.transform(features[home][train]), labels[home][train]
    )
    scores = model.decision_function(scaler.transform(features[away][test]))
    return float(roc_auc_score(labels[away][test], scores))


def main(size: int) -> None:
    """Print a row per direction, and the means over directions."""
    pairs = {corpus: drawn(corpus, size) for corpus in CORPORA}
    labels = {corpus: own for corpus, (_, own) in pairs.items()}
    features = features_of({corpus: texts for corpus, (texts, _) in pairs.items()})
    print(f"| from | to | {' | '.join(features)} |")
    means = []
    for home, away in permutations(CORPORA, 2):
        by_seed = [[auc(own, labels, home, away, seed) for own in features.values()] for seed in range(SEEDS)]
        row = np.mean(by_seed, axis=0)
        means.append(by_seed)
        print(f"| {home} | {away} | {' | '.join(f'{value:.3f}' for value in row)} |")
    of_seeds = np.mean(means, axis=0)
    mean = " | ".join(
        f"{value:.3f} ({spread:.3f})"
        for value, spread in zip(of_seeds.mean(0), of_seeds.std(0, ddof=1), strict=True)
    )
    print(f"| mean (over seeds) | | {mean} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
