"""Suspect labels: a condition without its symptoms, or symptoms without the condition (PsySym Table 4)."""

from typing import Final

import numpy as np
import polars as pl

from psycheck.knowledge.explain import Explaining, Posts
from psycheck.knowledge.graph import Graph
from psycheck.model import FloatArray

PRIOR: Final = 5  # posts: a single post tells little about an author
WITHOUT, UNLABELLED = "condition without symptoms", "symptoms without condition"


def evidence_of(posts: Posts, graph: Graph, how: Explaining) -> dict[str, FloatArray]:
    """How much the posts of each author say about each condition, (authors,) in 0..1 by condition.

    It is the mean weight per post over the condition's symptoms; weights below the threshold count as 0. A
    symptom of m conditions counts 1/m, and every author gets `PRIOR` further posts of average weight.
    """
    heavy = np.where(posts.weights >= how.threshold, posts.weights, np.float32(0))
    sums = posts.by_author(heavy)
    counts = posts.by_author(np.ones((len(heavy), 1), np.float32))
    means = (sums + PRIOR * heavy.mean(0, dtype=np.float64)) / (counts + PRIOR)
    places = {name: number for number, name in enumerate(posts.symptoms)}
    found = {}
    for disease in graph.disease:
        own = [one for one in graph.of(disease) if one.name in places]
        if own:
            shares = np.array([1 / len(one.diseases) for one in own])
            found[disease] = means[:, [places[one.name] for one in own]] @ shares / shares.sum()
    return found


def rank_suspects(
    authors: list[str], evidence: dict[str, FloatArray], annotated: dict[str, FloatArray]
) -> pl.DataFrame:
    """All annotations of authors, (authors,) in 0..1 by condition, the most suspect first.

    The `score` of an author who is annotated 1 is the share of those annotated 0 who have at least as much
    evidence; of one who is annotated 0, the share of those annotated 1 who have at most as much. Half a case
    is added on each side, so that few authors give no extreme score. Of equal scores, the one whose evidence
    is further from that of its own side comes first. NaN and 0.5 are no annotation.
    """
    parts = []
    for condition, labels in annotated.items():
        own = evidence[condition]
        sides = {1: labels > 0.5, 0: labels < 0.5}
        for side, here in sides.items():
            others, values = np.sort(own[sides[1 - side]]), own[here]
            if not here.any():
                continue
            at_most = np.searchsorted(others, values, "right")
            at_least = len(others) - np.searchsorted(others, values, "left")
            fitting = at_least if side else at_most
            gap = values.mean() - values if side else values - values.mean()
            parts.append(
                pl.DataFrame(
                    {
                        "author": [authors[k] for k in np.flatnonzero(here)],
                        "label": condition,
                        "annotated": side,
                        "kind": WITHOUT if side else UNLABELLED,
                        "score": (fitting + 0.5) / (len(others) + 1),
                        "evidence": values,
                        "gap": gap / max(float(own.mean()), 1e-9),
                    }
                )
            )
    if not parts:
        return pl.DataFrame(
            schema={
                **dict.fromkeys(("author", "label", "kind"), pl.String),
                **{"annotated": pl.Int64, "score": pl.Float64, "evidence": pl.Float64, "rank": pl.Int64},
            }
        )
    ranked = pl.concat(parts).sort("score", "gap", "author", descending=[True, True, False])
    return ranked.drop("gap").with_columns(pl.int_range(1, pl.len() + 1).alias("rank"))
