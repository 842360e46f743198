"""The posts of histories that speak for a condition, as a symptom model weighs them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus, History
from psycheck.core.model import AnswersOf, Model
from psycheck.models.opening import parse_spec
from psycheck.symptoms.graph import Graph, read_graph
from psycheck.symptoms.post_weights import open_post_symptoms

EVIDENCE = "evidence:"  # a column per label: the weights of an author's posts
OTHER_POST = "other_post"  # a column: a post of another author that is evidence of no condition
CUT = 0.5  # the weight from which a post counts as evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PostEvidence:
    """Which posts are evidence of a condition, by the symptom weights of a model of posts.

    `conditions` maps labels of the run to conditions of the graph. The weight of a post for a condition is
    that of the condition's strongest symptom in it.
    """

    weights: Model = field(repr=False)
    graph: Graph = field(repr=False)
    conditions: Mapping[str, str]
    seed: int = 0

    def weighed(self, corpus: Corpus, weights_of: AnswersOf) -> Corpus:
        """A corpus with its columns of evidence and of posts by others."""
        posts = posts_of(corpus)
        symptom_weights = weights_of(posts)
        lengths = [len(history.posts) for history in _histories(corpus)]
        ends = np.cumsum(lengths)

        columns: list[pl.Series] = []
        strongest = np.zeros(len(posts))
        for label, condition in self.conditions.items():
            weights = self._weights_for(condition, symptom_weights)
            strongest = np.maximum(strongest, weights)
            by_author = [part.tolist() for part in np.split(weights, ends[:-1])]
            columns.append(pl.Series(EVIDENCE + label, by_author, pl.List(pl.Float64)))

        author_of_post = np.repeat(np.arange(len(corpus)), lengths)
        others = self._posts_by_others(posts, author_of_post, is_free=strongest < CUT, authors=len(corpus))
        columns.append(pl.Series(OTHER_POST, others, pl.String))
        return replace(corpus, table=corpus.table.with_columns(*columns))

    def _weights_for(self, condition: str, symptom_weights: FloatArray) -> FloatArray:
        """The weight of each post for a condition, (posts,); `symptom_weights` is (posts, symptoms)."""
        symptoms = [symptom.name for symptom in self.graph.of(condition)]
        columns = [self.weights.labels.index(name) for name in symptoms if name in self.weights.labels]
        strongest: FloatArray = symptom_weights[:, columns].max(axis=1, initial=0.0)
        return strongest

    def _posts_by_others(
        self, posts: Sequence[str], author_of_post: np.ndarray, *, is_free: np.ndarray, authors: int
    ) -> list[str | None]:
        """For each author the next free post of a shuffled list that another author wrote."""
        free = np.random.default_rng(self.seed).permutation(np.flatnonzero(is_free))
        others: list[str | None] = []
        for author in range(authors):
            in_turn = (free[(author + k) % len(free)] for k in range(len(free)))
            place = next((place for place in in_turn if author_of_post[place] != author), None)
            others.append(None if place is None else posts[place])
        return others


def open_evidence_of_posts(spec: str, labels: Sequence[str], seed: int) -> PostEvidence | None:
    """The evidence for the labels that are conditions of the graph; None where none is."""
    graph = read_graph(parse_spec(spec)[2].get("graph"))
    conditions = {label: graph.named(label) for label in labels}
    conditions_of_graph = {label: condition for label, condition in conditions.items() if condition}
    if not conditions_of_graph:
        return None
    return PostEvidence(
        weights=open_post_symptoms(spec),
        graph=graph,
        conditions=conditions_of_graph,
        seed=seed,
    )


def posts_of(corpus: Corpus) -> list[str]:
    """The posts of all authors, one after the other."""
    return [post for history in _histories(corpus) for post in history.posts]


def _histories(corpus: Corpus) -> list[History]:
    return [item for item in corpus.items if isinstance(item, History)]
