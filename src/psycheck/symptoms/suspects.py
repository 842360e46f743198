"""Suspect labels: a condition without its symptoms, or symptoms without the condition (PsySym Table 4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from psycheck.core.arrays import FloatArray
from psycheck.symptoms.explanation import Posts
from psycheck.symptoms.graph import Graph

PRIOR: Final = 10  # posts: the first few tell little about an author
_USUAL: Final = 0.5  # the share of authors with a condition who must name a symptom of it
WITHOUT = "condition without symptoms"
UNLABELLED = "symptoms without condition"
_COLUMNS: Final = {
    "author": pl.String,
    "label": pl.String,
    "kind": pl.String,
    "annotated": pl.Int64,
    "score": pl.Float64,
    "evidence": pl.Float64,
    "fit": pl.Float64,
}


@dataclass(frozen=True, slots=True, eq=False)
class ConditionEvidence:
    """How much the posts of each author say about each condition, (authors, conditions) in 0..1.

    `whole` counts all symptoms of a condition, `unexplained` those of no condition that the author is
    annotated with; these others count as much as they do on average at most.
    """

    conditions: tuple[str, ...]
    whole: FloatArray
    unexplained: FloatArray


def evidence_of(posts: Posts, graph: Graph, annotated: Mapping[str, FloatArray]) -> ConditionEvidence:
    """The mean weight per post over the symptoms of each condition.

    A symptom of m conditions counts 1/m, and every author gets `PRIOR` further posts of average weight.
    `annotated` holds the labels of the authors, (authors,) in 0..1, by condition.
    """
    average = posts.weights.mean(0, dtype=np.float64)
    one_per_post = np.ones((len(posts.weights), 1), np.float32)
    counts = posts.by_author(one_per_post)
    sums = posts.by_author(posts.weights)
    # An author with one post is close to the average, and far from it only with many.
    means = (sums + PRIOR * average) / (counts + PRIOR)

    parts = _symptom_parts(graph, posts.symptoms)
    shares = np.array([part / part.sum() for part in parts.values()])

    # Conditions share symptoms: those of a condition that the author has tell nothing about others.
    explained = np.zeros(means.shape, np.bool_)
    for condition, labels in annotated.items():
        explained |= np.outer(labels > 0.5, parts[condition] > 0)

    at_most_average = np.minimum(means, average)
    unexplained = np.where(explained, at_most_average, means)
    return ConditionEvidence(
        conditions=tuple(parts),
        whole=means @ shares.T,
        unexplained=unexplained @ shares.T,
    )


def _symptom_parts(graph: Graph, symptoms: Sequence[str]) -> dict[str, FloatArray]:
    """How much each symptom counts for each condition, (symptoms,); conditions without any are left out."""
    by_name = {symptom.name: symptom for symptom in graph.symptom}
    parts = {}
    for condition in graph.disease:
        names = {symptom.name for symptom in graph.of(condition)}
        if not names.intersection(symptoms):
            continue
        part = np.zeros(len(symptoms))
        for place, name in enumerate(symptoms):
            if name in names:
                # What many conditions have tells them apart less.
                part[place] = 1 / len(by_name[name].diseases)
        parts[condition] = part
    return parts


def rank_suspects(
    authors: list[str], evidence: ConditionEvidence, annotated: Mapping[str, FloatArray]
) -> pl.DataFrame:
    """All annotations of authors, the most suspect first.

    The `score` of an author who is annotated 1 is the share of those annotated 0 who have at least as much
    evidence; of one who is annotated 0, the share of those annotated 1 whose evidence is at most the author's
    unexplained one. Half a case is added on each side, so that few authors give no extreme score. Of the
    conditions that an author is annotated 0 with, only the one that fits best has a score (the others: null):
    the largest ratio to the mean evidence of those annotated 1. NaN and 0.5 are no annotation.
    """
    tables = [pl.DataFrame(schema=_COLUMNS)]
    for condition, labels in annotated.items():
        tables += _suspects_of(condition, labels, authors, evidence)

    # An author with symptoms of one condition has some of many: one suspicion per author is enough.
    place_by_fit = pl.col("fit").rank("ordinal", descending=True).over("author", "annotated")
    is_best_fit = place_by_fit == 1
    has_score = is_best_fit | (pl.col("annotated") == 1)
    ranked = (
        pl.concat(tables)
        .with_columns(score=pl.when(has_score).then("score"))
        .sort("score", "fit", "author", descending=[True, True, False], nulls_last=True)
    )
    rank = pl.int_range(1, pl.len() + 1)
    return ranked.drop("fit").with_columns(rank.alias("rank"))


def scored_with_evidence(ranked: pl.DataFrame, coverage: pl.DataFrame) -> pl.DataFrame:
    """The annotations without the scores of those for which one side shows no symptom at all.

    An author annotated 0 is suspect only if the own posts name a typical symptom. One annotated 1 is suspect
    only if most authors annotated 1 have such posts: else the lack of symptoms tells of the reader.
    """
    named = coverage.select("author", label="condition", names=pl.col("found") > 0)
    joined = ranked.join(named, on=["author", "label"], how="left", maintain_order="left")
    is_one = pl.col("annotated") == 1
    usual = pl.col("names").filter(is_one).mean().over("label") > _USUAL
    has_evidence = pl.when(is_one).then(usual).otherwise(pl.col("names"))
    scored = joined.with_columns(score=pl.when(has_evidence).then("score"))
    # Those without a score go last; the others keep their order.
    ordered = scored.sort("score", descending=True, nulls_last=True, maintain_order=True)
    rank = pl.int_range(1, pl.len() + 1)
    return ordered.drop("names").with_columns(rank=rank.cast(ranked.schema["rank"]))


def scored_with_words(
    ranked: pl.DataFrame, doubts: Mapping[str, FloatArray], authors: list[str]
) -> pl.DataFrame:
    """The annotations, scored by the symptoms and by what a classifier of words makes of the label.

    `doubts` holds the probability of the other side, (authors,), by label (`disagreements`). The odds of both
    are multiplied; symptoms that tell nothing leave the words alone. An author annotated 1 is suspect without
    symptoms only if the words doubt the label, too; one annotated 0 only if a typical symptom is named.
    """
    tables = [
        pl.DataFrame({"author": authors, "label": label, "doubt": values}).with_columns(
            pl.col("doubt").fill_nan(None)
        )
        for label, values in doubts.items()
    ]
    if not tables:
        return ranked
    joined = ranked.join(pl.concat(tables), on=["author", "label"], how="left", maintain_order="left")
    odds_of_words = _odds(pl.col("doubt"))
    odds_of_symptoms = _odds(pl.col("score").fill_null(0.5))
    odds = odds_of_words * odds_of_symptoms
    # Without symptoms on the author's side, a label of 1 needs the doubt of the words.
    is_doubted = (pl.col("annotated") == 1) & (pl.col("doubt") >= 0.5)
    has_evidence = pl.col("score").is_not_null() | is_doubted
    combined = pl.when(pl.col("doubt").is_null()).then("score").when(has_evidence).then(odds / (1 + odds))
    ordered = joined.with_columns(score=combined).sort(
        "score", descending=True, nulls_last=True, maintain_order=True
    )
    rank = pl.int_range(1, pl.len() + 1)
    return ordered.drop("doubt").with_columns(rank=rank.cast(ranked.schema["rank"]))


def _odds(probability: pl.Expr) -> pl.Expr:
    """The odds of a probability that is kept away from 0 and 1, where it would decide alone."""
    inner = probability.clip(0.02, 0.98)
    return inner / (1 - inner)


def _suspects_of(
    condition: str, labels: FloatArray, authors: list[str], evidence: ConditionEvidence
) -> list[pl.DataFrame]:
    """The annotations of one condition: those of 1 and those of 0, each with its score and its fit."""
    place = evidence.conditions.index(condition)
    whole = evidence.whole[:, place]
    unexplained = evidence.unexplained[:, place]
    ones = np.flatnonzero(labels > 0.5)
    zeros = np.flatnonzero(labels < 0.5)
    annotated_or_all = whole[ones] if len(ones) else whole
    usual = float(annotated_or_all.mean()) or 1.0  # without any evidence, every fit is 0

    # "left" and "right" count ties as cases: equal evidence makes a label suspect.
    sorted_zeros = np.sort(whole[zeros])
    sorted_ones = np.sort(whole[ones])
    zeros_with_as_much = len(zeros) - np.searchsorted(sorted_zeros, whole[ones], "left")
    ones_with_as_little = np.searchsorted(sorted_ones, unexplained[zeros], "right")
    annotated_1 = {
        "author": [authors[row] for row in ones],
        "label": condition,
        "kind": WITHOUT,
        "annotated": 1,
        "score": (zeros_with_as_much + 0.5) / (len(zeros) + 1),
        "evidence": whole[ones],
        "fit": -whole[ones] / usual,
    }
    annotated_0 = {
        "author": [authors[row] for row in zeros],
        "label": condition,
        "kind": UNLABELLED,
        "annotated": 0,
        "score": (ones_with_as_little + 0.5) / (len(ones) + 1),
        "evidence": unexplained[zeros],
        "fit": unexplained[zeros] / usual,
    }
    return [pl.DataFrame(annotated_1, _COLUMNS), pl.DataFrame(annotated_0, _COLUMNS)]
