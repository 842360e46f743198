"""The posts of histories that speak for a condition, as a symptom model weighs them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

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
        # Where the posts of the next author begin: none begins after the last one.
        starts = np.cumsum(lengths)[:-1]

        columns: list[pl.Series] = []
        strongest = np.zeros(len(posts))
        for label, condition in self.conditions.items():
            weights = self._weights_for(condition, symptom_weights)
            strongest = np.maximum(strongest, weights)
            by_author = [part.tolist() for part in np.split(weights, starts)]
            column = pl.Series(EVIDENCE + label, by_author, pl.List(pl.Float64))
            columns.append(column)

        author_of_post = np.repeat(np.arange(len(corpus)), lengths)
        other_posts = self._posts_by_others(
            posts,
            author_of_post,
            is_free=strongest < CUT,
            authors=len(corpus),
        )
        columns.append(pl.Series(OTHER_POST, other_posts, pl.String))
        table = corpus.table.with_columns(*columns)
        return replace(corpus, table=table)

    def _weights_for(self, condition: str, symptom_weights: FloatArray) -> FloatArray:
        """The weight of each post for a condition, (posts,); `symptom_weights` is (posts, symptoms)."""
        symptoms = [symptom.name for symptom in self.graph.of(condition)]
        model_symptoms = self.weights.labels
        # A model may not know all symptoms of the graph; of none of them, a post is no evidence.
        columns = [model_symptoms.index(name) for name in symptoms if name in model_symptoms]
        strongest: FloatArray = symptom_weights[:, columns].max(axis=1, initial=0.0)
        return strongest

    def _posts_by_others(
        self,
        posts: Sequence[str],
        author_of_post: np.ndarray,
        *,
        is_free: np.ndarray,
        authors: int,
    ) -> list[str | None]:
        """For each author the next free post of a shuffled list that another author wrote."""
        rng = np.random.default_rng(self.seed)
        free_places = rng.permutation(np.flatnonzero(is_free))

        other_posts: list[str | None] = []
        for author in range(authors):
            # From another place of the list for each author, so that not all get the same post.
            start = author % max(1, len(free_places))
            in_turn = chain(free_places[start:], free_places[:start])
            by_others = (place for place in in_turn if author_of_post[place] != author)
            first_place = next(by_others, None)
            post = None
            if first_place is not None:
                post = posts[first_place]
            other_posts.append(post)
        return other_posts


def open_evidence_of_posts(spec: str, labels: Sequence[str], seed: int) -> PostEvidence | None:
    """The evidence for the labels that are conditions of the graph; None where none is."""
    _, _, options = parse_spec(spec)
    graph = read_graph(options.get("graph"))
    conditions: dict[str, str] = {}
    for label in labels:
        condition = graph.named(label)
        if condition:
            conditions[label] = condition

    # Before the model of posts is opened: it takes seconds.
    if not conditions:
        return None
    return PostEvidence(
        weights=open_post_symptoms(spec),
        graph=graph,
        conditions=conditions,
        seed=seed,
    )


def posts_of(corpus: Corpus) -> list[str]:
    """The posts of all authors, one after the other."""
    posts: list[str] = []
    for history in _histories(corpus):
        posts += history.posts
    return posts


def _histories(corpus: Corpus) -> list[History]:
    return [item for item in corpus.items if isinstance(item, History)]
