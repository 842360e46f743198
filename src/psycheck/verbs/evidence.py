"""The posts of histories that speak for a condition, as a symptom model weighs them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from psycheck.audits.histories import CUT, EVIDENCE, OTHER_POST
from psycheck.corpus import Corpus, History
from psycheck.knowledge.graph import Graph, read_graph
from psycheck.model import FloatArray
from psycheck.models.open import parse_spec
from psycheck.models.posts import open_post_symptoms
from psycheck.scoring.answers import answers, in_equal_shares
from psycheck.scoring.engine import Progress, silent


def with_evidence(
    corpora: Sequence[Corpus],
    labels: Sequence[str],
    spec: str,
    store: Path | None = None,
    progress: Progress = silent,
    seed: int = 0,
) -> list[Corpus]:
    """Corpora of histories with the weight of each post for each label that is a condition of the graph.

    The weight is that of the strongest symptom of the condition. A column holds for each author a post of
    another one that is evidence of no condition.
    """
    graph = read_graph(parse_spec(spec)[2].get("graph"))
    known = {label: disease for label in labels if (disease := graph.named(label))}
    if not known:
        return list(corpora)
    symptoms = open_post_symptoms(spec)
    pieces = [[post for item in corpus.items for post in _posts(item)] for corpus in corpora]
    with answers([symptoms], in_equal_shares(pieces), store=store, progress=progress) as found:
        return [
            _weighed(corpus, posts, found.views[0].of(posts), known, symptoms.labels, graph, seed)
            for corpus, posts in zip(corpora, pieces, strict=True)
        ]


def _posts(item: str | History) -> tuple[str, ...]:
    return () if isinstance(item, str) else item.posts


def _weighed(
    corpus: Corpus,
    posts: Sequence[str],
    weights: FloatArray,
    known: dict[str, str],
    symptoms: Sequence[str],
    graph: Graph,
    seed: int,
) -> Corpus:
    """A corpus with its columns of evidence and of posts by others; `weights` is (posts, symptoms)."""
    lengths = [len(_posts(item)) for item in corpus.items]
    ends = np.cumsum(lengths)
    columns, strongest = [], np.zeros(len(posts))
    for label, disease in known.items():
        mine = [symptoms.index(one.name) for one in graph.of(disease) if one.name in symptoms]
        weight = weights[:, mine].max(axis=1, initial=0.0)
        strongest = np.maximum(strongest, weight)
        lists = [one.tolist() for one in np.split(weight, ends[:-1])]
        columns.append(pl.Series(EVIDENCE + label, lists, pl.List(pl.Float64)))
    owner = np.repeat(np.arange(len(corpus)), lengths)
    free = np.random.default_rng(seed).permutation(np.flatnonzero(strongest < CUT))
    # The next free post of the shuffled list that another author wrote.
    others: list[str | None] = []
    for row in range(len(corpus)):
        turned = (free[(row + k) % len(free)] for k in range(len(free)))
        place = next((at for at in turned if owner[at] != row), None)
        others.append(None if place is None else posts[place])
    return replace(
        corpus, table=corpus.table.with_columns(*columns, pl.Series(OTHER_POST, others, pl.String))
    )
