"""Detection of conditions from histories: one binary model per label against controls (PsySym, 5.4)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus, History
from psycheck.corpora.posting_histories import against_controls, by_author
from psycheck.models.tfidf_file import save_tfidf
from psycheck.scoring.answers import answers
from psycheck.scoring.vectors import encode_once
from psycheck.symptoms.history_model import (
    BETWEEN,
    HISTORY_FILE,
    WEIGHTS_FILE,
    features_by_history,
    pooled,
)
from psycheck.symptoms.history_settings import HistorySettings, history_settings
from psycheck.symptoms.post_weights import Features, PostFeatures
from psycheck.training.linear import fit_heads, fit_tfidf
from psycheck.training.parts import Fitted, Part, Parts, Progress
from psycheck.training.recipe import Recipe


def by_author_as_learned(corpus: Corpus, recipe: Recipe) -> Corpus:
    """The corpus of a recipe for histories, by author."""
    settings = history_settings(recipe.start)
    histories = by_author(corpus, settings.most)
    if settings.controls:
        return against_controls(histories)
    return histories


def fit_histories(parts: Parts, recipe: Recipe, progress: Progress | None = None) -> Fitted:
    """Fit the model that a recipe names; the features of posts are computed once, or come from the store."""
    settings = history_settings(recipe.start)
    if settings.words:
        # Word counts do not need the posts apart: a history is one long text.
        joined = replace(parts, train=_joined(parts.train), dev=_joined(parts.dev))
        pipeline, heads = fit_tfidf(joined, recipe)
        save = partial(_save, settings, parts, {}, pipeline)
        return Fitted(
            dev=heads.dev,
            curve=heads.curve,
            window=None,
            save=save,
        )

    opened = settings.open_features()
    features = _features(opened, [*parts.train.texts, *parts.dev.texts])
    train = features_by_history(parts.train.texts, features)
    dev = features_by_history(parts.dev.texts, features)

    weights: Any
    if settings.linear:
        # A regression needs one vector per history, whatever the number of its posts.
        pooled_train = pooled(settings, train)
        pooled_dev = pooled(settings, dev)
        heads = fit_heads(pooled_train, pooled_dev, parts, recipe)
        weights = {
            "weights": np.concatenate([model.coef_ for model in heads.models]),
            "intercepts": np.concatenate([model.intercept_ for model in heads.models]),
        }
        dev_figures = heads.dev
        curve = heads.curve
    else:
        from psycheck.training.convolutions import convolve

        weights, dev_figures, curve = convolve(train, dev, parts, recipe, settings, progress)

    save = partial(_save, settings, parts, opened.fingerprints, weights)
    return Fitted(
        dev=dev_figures,
        curve=curve,
        window=None,
        save=save,
    )


def _joined(part: Part) -> Part:
    texts = [BETWEEN.join(history.posts) for history in part.texts]
    return Part(texts=texts, targets=part.targets)


def _features(opened: PostFeatures, histories: Sequence[History]) -> Callable[[Sequence[str]], Features]:
    """A function that looks up the features of posts, (n, d); those of all histories are computed here."""
    # The empty post stands for an author whose posts are all empty; equal posts are read once.
    all_posts = chain([""], *(history.posts for history in histories))
    posts = list(dict.fromkeys(all_posts))

    columns: list[FloatArray] = []
    if opened.symptoms is not None:
        with answers([opened.symptoms], [(1.0, posts)]) as answered:
            (view,) = answered.views
            columns.append(view.of(posts))
    if opened.encoder is not None:
        columns.append(encode_once(opened.encoder, posts))
    # In 32 bits: the posts of a large corpus would not fit into memory otherwise.
    table = np.hstack(columns).astype(np.float32)
    row_of_post = {post: row for row, post in enumerate(posts)}

    def look_up(requested_posts: Sequence[str]) -> Features:
        rows = [row_of_post[post] for post in requested_posts]
        return table[rows]

    return look_up


def _save(
    settings: HistorySettings,
    parts: Parts,
    features: dict[str, str],
    weights: Any,
    folder: Path,
) -> None:
    """Write history.json and the weights: arrays, tensors or a pipeline of words."""
    if settings.words:
        save_tfidf(weights, folder)
    elif settings.linear:
        from safetensors.numpy import save_file

        save_file(weights, folder / WEIGHTS_FILE)
    else:
        from safetensors.torch import save_file as save_tensors

        save_tensors(weights, folder / WEIGHTS_FILE)

    # The fingerprints of the features let a later opening refuse a symptom model that has changed since.
    record = {
        "labels": list(parts.labels),
        "settings": asdict(settings),
        "features": features,
    }
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    (folder / HISTORY_FILE).write_text(text, "utf-8")
