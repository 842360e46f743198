"""Suspect labels: a condition without its symptoms, or symptoms without the condition (PsySym Table 4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from psycheck.knowledge.explain import Posts
from psycheck.knowledge.graph import Graph, Symptom
from psycheck.model import FloatArray

PRIOR: Final = 10  # posts: the first few tell little about an author
WITHOUT, UNLABELLED = "condition without symptoms", "symptoms without condition"
_COLUMNS: Final = {
    **dict.fromkeys(("author", "label", "kind"), pl.String),
    **{"annotated": pl.Int64, "score": pl.Float64, "evidence": pl.Float64, "fit": pl.Float64},
}


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """How much the posts of each author say about each condition, (authors, conditions) in 0..1.

    `whole` counts all symptoms of a condition, `unexplained` those of no condition that the author is
    annotated with; these others count as much as they do on average at most.
    """

    conditions: tuple[str, ...]
    whole: FloatArray
    unexplained: FloatArray


def evidence_of(posts: Posts, graph: Graph, annotated: Mapping[str, FloatArray]) -> Evidence:
    """The mean weight per post over the symptoms of each condition.

    A symptom of m conditions counts 1/m, and every author gets `PRIOR` further posts of average weight.
    `annotated` holds the labels of the authors, (authors,) in 0..1, by condition.
    """
    average = posts.weights.mean(0, dtype=np.float64)
    counts = posts.by_author(np.ones((len(posts.weights), 1), np.float32))
    means = (posts.by_author(posts.weights) + PRIOR * average) / (counts + PRIOR)
    parts = {
        disease: np.array([(one.name in names) / len(one.diseases) for one in _in_order(graph, posts)])
        for disease in graph.disease
        if (names := {one.name for one in graph.of(disease)} & set(posts.symptoms))
    }
    shares = np.array([part / part.sum() for part in parts.values()])
    explained = np.zeros(means.shape, np.bool_)
    for disease, labels in annotated.items():
        explained |= np.outer(labels > 0.5, parts[disease] > 0)
    rest = np.where(explained, np.minimum(means, average), means)
    return Evidence(tuple(parts), means @ shares.T, rest @ shares.T)


def _in_order(graph: Graph, posts: Posts) -> list[Symptom]:
    known = {one.name: one for one in graph.symptom}
    return [known[name] for name in posts.symptoms]


def rank_suspects(
    authors: list[str], evidence: Evidence, annotated: Mapping[str, FloatArray]
) -> pl.DataFrame:
    """All annotations of authors, the most suspect first.

    The `score` of an author who is annotated 1 is the share of those annotated 0 who have at least as much
    evidence; of one who is annotated 0, the share of those annotated 1 whose evidence is at most the author's
    unexplained one. Half a case is added on each side, so that few authors give no extreme score. Of the
    conditions that an author is annotated 0 with, only the one that fits best has a score (the others: null):
    the largest ratio to the mean evidence of those annotated 1. NaN and 0.5 are no annotation.
    """
    parts = [pl.DataFrame(schema=_COLUMNS)]
    for condition, labels in annotated.items():
        place = evidence.conditions.index(condition)
        whole, unexplained = evidence.whole[:, place], evidence.unexplained[:, place]
        ones, zeros = np.flatnonzero(labels > 0.5), np.flatnonzero(labels < 0.5)
        usual = float(whole[ones].mean() if len(ones) else whole.mean()) or 1.0
        as_much = len(zeros) - np.searchsorted(np.sort(whole[zeros]), whole[ones], "left")
        as_little = np.searchsorted(np.sort(whole[ones]), unexplained[zeros], "right")
        for rows, values, fitting, others in (
            (ones, whole[ones], as_much, zeros),
            (zeros, unexplained[zeros], as_little, ones),
        ):
            side = int(rows is ones)
            columns = {
                "author": [authors[row] for row in rows],
                "label": condition,
                "kind": WITHOUT if side else UNLABELLED,
                "annotated": side,
                "score": (fitting + 0.5) / (len(others) + 1),
                "evidence": values,
                "fit": (1 - 2 * side) * values / usual,
            }
            parts.append(pl.DataFrame(columns, _COLUMNS))
    best = (pl.col("fit").rank("ordinal", descending=True).over("author", "annotated") == 1) | (
        pl.col("annotated") == 1
    )
    ranked = pl.concat(parts).with_columns(score=pl.when(best).then("score"))
    ranked = ranked.sort("score", "fit", "author", descending=[True, True, False], nulls_last=True)
    return ranked.drop("fit").with_columns(pl.int_range(1, pl.len() + 1).alias("rank"))
