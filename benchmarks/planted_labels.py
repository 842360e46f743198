"""Do planted wrong labels lead the suspects of `explain`? python benchmarks/planted_labels.py [TEXTS].

In two corpora of PSYCHECK_DATA 5 % of the labels "depression" are flipped, three times. Each text is
explained alone. Printed is how many of the first 20 suspects are planted, beside cleanlab's order (TF-IDF and
logistic regression, five folds) and chance. Labels that are wrong already count as false alarms.
"""

import os
import sys
from pathlib import Path

import numpy as np
import polars as pl
from cleanlab.rank import get_label_quality_scores
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from psycheck.commands.person_tables import SUSPECT
from psycheck.core.arrays import FloatArray
from psycheck.symptoms.explanation import Explaining, Posts, explain_posts
from psycheck.symptoms.graph import read_graph
from psycheck.symptoms.label_disagreement import disagreements
from psycheck.symptoms.post_weights import open_post_symptoms
from psycheck.symptoms.suspects import evidence_of, rank_suspects, scored_with_evidence, scored_with_words

CORPORA = ("counselchat", "depression_tweets")
MODELS = ("symptoms:default",)
MOST_TEXTS = int(sys.argv[1]) if len(sys.argv) > 1 else 780
FLIPPED = 0.05
SEEDS = 3
FIRST = 20


def first_suspects(posts: Posts, texts: list[str], labels: FloatArray) -> NDArray[np.int64]:
    """The rows of the first suspects of `explain`."""
    graph = read_graph()
    annotated = {"depression": labels}
    ranked = rank_suspects(posts.authors, evidence_of(posts, graph, annotated), annotated)
    coverage = explain_posts(posts, graph, Explaining()).coverage
    with_evidence = scored_with_evidence(ranked, coverage)
    scored = scored_with_words(with_evidence, disagreements(texts, annotated), posts.authors)
    suspects = scored.filter(pl.col("score") >= SUSPECT)
    return suspects["author"].head(FIRST).cast(pl.Int64).to_numpy()


def first_of_cleanlab(texts: list[str], labels: FloatArray) -> NDArray[np.int64]:
    """The rows of the labels that cleanlab finds the most doubtful."""
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
    pipeline = make_pipeline(words, LogisticRegression(C=10, max_iter=500))
    classes = labels.astype(int)
    probabilities = cross_val_predict(pipeline, texts, classes, cv=5, method="predict_proba")
    return np.argsort(get_label_quality_scores(classes, probabilities))[:FIRST]


def posts_of(weights: FloatArray, symptoms: tuple[str, ...]) -> Posts:
    """Texts that are each an author of their own, called by their row."""
    rows = [str(row) for row in range(len(weights))]
    when = pl.Series([None] * len(rows), dtype=pl.Int64)
    table = pl.DataFrame({"id": rows, "author": rows, "when": when, "sentences": [1] * len(rows)})
    return Posts(table, weights.astype(np.float32), symptoms)


def main() -> None:
    """Print a row per corpus and seed."""
    folder = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    print("| corpus | texts | flipped | " + " | ".join(MODELS) + " | cleanlab | chance |")
    for corpus in CORPORA:
        frame = pl.read_csv(folder / f"{corpus}.csv").select("text", "depression").drop_nulls()
        frame = frame.sample(min(MOST_TEXTS, len(frame)), seed=0)
        texts = frame["text"].to_list()
        given = frame["depression"].cast(pl.Float64).to_numpy()
        posts = []
        for spec in MODELS:
            model = open_post_symptoms(spec)
            posts.append(posts_of(model.score(texts), model.labels))

        for seed in range(SEEDS):
            flipped = np.random.default_rng(seed).choice(len(texts), int(FLIPPED * len(texts)), replace=False)
            labels = given.copy()
            labels[flipped] = 1 - labels[flipped]
            lists = [first_suspects(tagged, texts, labels) for tagged in posts]
            lists.append(first_of_cleanlab(texts, labels))
            found = [f"{np.isin(rows, flipped).sum()} of {len(rows)}" for rows in lists]
            print(
                f"| {corpus} | {len(texts)} | {len(flipped)} | {' | '.join(found)} | {FIRST * FLIPPED:.0f} |"
            )


if __name__ == "__main__":
    main()
