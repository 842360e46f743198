"""The scores of authors with and without their posts: by how much each post raises them.

A model of histories scores the history without the post; for a model of texts the score of an author is the
mean over the posts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import History
from psycheck.core.model import AnswersOf, Encoder, Model, capabilities_of
from psycheck.core.progress import Progress, silent
from psycheck.scoring.answers import answers
from psycheck.scoring.vectors import encode_once
from psycheck.symptoms.history_model import HistoryModel

CARRIERS: Final = 5  # posts that are taken away together


@dataclass(frozen=True, slots=True)
class ScoredAuthor:
    """The scores of one author, (k,), without each post, (n, k), and without those that carry each, (k,)."""

    whole: FloatArray
    without: FloatArray
    without_carriers: FloatArray

    @property
    def effects(self) -> FloatArray:
        """By how much each post raises each score, (n, k)."""
        return _effects(self.whole, self.without)


def _effects(whole: FloatArray, without: FloatArray) -> FloatArray:
    """By how much each post raises each score, (n, k); of a single post its whole score."""
    # Without its only post an author has no score.
    return whole - np.nan_to_num(without, nan=0.0)


def score_authors(
    model: Model, histories: Sequence[History], store: Path | None, progress: Progress
) -> list[ScoredAuthor]:
    """The scores of each author, as a whole and without posts."""
    if capabilities_of(model).takes == "histories":
        return _scored_histories(model, histories, store, progress)
    return _scored_texts(model, histories, store, progress)


def attention_of_posts(
    model: Model, histories: Sequence[History], store: Path | None
) -> list[FloatArray] | None:
    """What the model's attention gives the posts of each history, (posts, k); None for one without."""
    if not isinstance(model, HistoryModel) or model.attention_of is None:
        return None

    posts = list(dict.fromkeys(model.needed(histories))) or [""]
    row_of_post = {post: row for row, post in enumerate(posts)}
    tables = []
    for need in model.needs:
        # Scoring has stored what it needed of the posts.
        if isinstance(need, Encoder):
            tables.append(encode_once(need, posts, store=store))
        else:
            tables.append(_scores(need, posts, store, silent))

    def answers_of(table: FloatArray) -> AnswersOf:
        return lambda asked: table[[row_of_post[post] for post in asked]]

    return model.attention_from(histories, [answers_of(table) for table in tables])


def _scored_histories(
    model: Model, histories: Sequence[History], store: Path | None, progress: Progress
) -> list[ScoredAuthor]:
    """Every history as it is, without each of its posts, and without those that carry each label."""
    first_round: list[History] = []
    for history in histories:
        first_round.append(history)
        for place in range(len(history.posts)):
            first_round.append(_without(history, {place}))
    scores = _scores(
        model,
        first_round,
        store,
        progress,
    )

    # Only now it is known which posts carry each score: they are taken away together.
    wholes = []
    withouts = []
    second_round: list[History] = []
    start = 0
    for history in histories:
        end = start + 1 + len(history.posts)
        whole = scores[start]
        without = scores[start + 1 : end]
        wholes.append(whole)
        withouts.append(without)
        for effects in _effects(whole, without).T:
            second_round.append(_without(history, set(carriers(effects))))
        start = end

    labels = len(model.labels)
    flat = _scores(
        model,
        second_round,
        store,
        progress,
    )
    # For each author and label the scores of all labels, of which its own counts.
    without_carriers = np.diagonal(
        flat.reshape(-1, labels, labels),
        axis1=1,
        axis2=2,
    )
    return list(
        map(
            ScoredAuthor,
            wholes,
            withouts,
            without_carriers,
        )
    )


def _scored_texts(
    model: Model, histories: Sequence[History], store: Path | None, progress: Progress
) -> list[ScoredAuthor]:
    """The same for a model of texts: the score of an author is the mean of the posts'."""
    posts = list(chain.from_iterable(history.posts for history in histories))
    distinct = list(dict.fromkeys(posts))
    scores = _scores(
        model,
        distinct,
        store,
        progress,
    )
    score_of = dict(
        zip(
            distinct,
            scores,
            strict=True,
        )
    )

    scored = []
    for history in histories:
        of_posts = np.full((len(history.posts), len(model.labels)), np.nan)
        for place, post in enumerate(history.posts):
            of_posts[place] = score_of[post]
        scored.append(_mean_scores(of_posts))
    return scored


def _mean_scores(of_posts: FloatArray) -> ScoredAuthor:
    """The mean of the scores of posts, (n, k), without each post and without those that carry it."""
    n, labels = of_posts.shape
    without_carriers = np.full(labels, np.nan)
    if not n:
        return ScoredAuthor(
            without_carriers,
            of_posts,
            without_carriers,
        )

    whole = of_posts.mean(axis=0)
    without = np.full_like(of_posts, np.nan)
    if n > 1:
        without = (of_posts.sum(axis=0) - of_posts) / (n - 1)

    for column, effects in enumerate(_effects(whole, without).T):
        remaining = np.setdiff1d(np.arange(n), carriers(effects))
        if len(remaining):
            without_carriers[column] = of_posts[remaining, column].mean()
    return ScoredAuthor(
        whole,
        without,
        without_carriers,
    )


def _scores(
    model: Model,
    items: Sequence[Any],
    store: Path | None,
    progress: Progress,
) -> FloatArray:
    """The scores of items, (n, k), through the store."""
    with answers(
        [model],
        [(1.0, items)],
        store=store,
        progress=progress,
    ) as answered:
        (view,) = answered.views
        return view.of(items)


def _without(history: History, places: set[int]) -> History:
    """A history without the posts at some places."""
    kept = [place for place in range(len(history.posts)) if place not in places]
    return History(
        posts=tuple(history.posts[place] for place in kept),
        times=tuple(history.times[place] for place in kept) if history.times else (),
        ids=tuple(history.ids[place] for place in kept) if history.ids else (),
    )


def carriers(effects: FloatArray) -> list[int]:
    """The places of the posts that raise a score most, effects (n,): at most `CARRIERS`."""
    by_effect = np.argsort(-effects, kind="stable")
    return [int(place) for place in by_effect[:CARRIERS] if effects[place] > 0]
