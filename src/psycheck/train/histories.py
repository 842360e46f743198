"""Detection of conditions from histories: one binary model per label against controls (PsySym, 5.4)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.corpora.histories import against_controls, by_author
from psycheck.corpus import Corpus, History
from psycheck.model import FloatArray
from psycheck.models.histories import (
    BETWEEN,
    HISTORY_FILE,
    WEIGHTS_FILE,
    HistorySettings,
    features_by_history,
    history_settings,
    pooled,
)
from psycheck.models.posts import Features, PostFeatures
from psycheck.scoring.answers import answers, encode_once
from psycheck.train.linear import fit_heads, fit_tfidf, save_sklearn
from psycheck.train.parts import Data, Fitted, Part, Parts, Progress
from psycheck.train.recipe import HISTORY, Recipe, kind_of


def as_learned(corpus: Corpus, recipe: Recipe) -> Corpus:
    """The corpus of a recipe for histories, by author; any other as it is."""
    if kind_of(recipe) != HISTORY:
        return corpus
    settings = history_settings(recipe.start)
    histories = by_author(corpus, settings.most)
    return against_controls(histories) if settings.controls else histories


def data_as_learned(data: Data, recipe: Recipe) -> Data:
    """`as_learned` of a corpus, or of train and dev."""
    if isinstance(data, tuple):
        return as_learned(data[0], recipe), as_learned(data[1], recipe)
    return as_learned(data, recipe)


def fit_histories(parts: Parts, recipe: Recipe, progress: Progress | None = None) -> Fitted:
    """Fit the model that a recipe names; the features of posts are computed once, or come from the store."""
    settings = history_settings(recipe.start)
    if settings.words:
        joined = replace(parts, train=_joined(parts.train), dev=_joined(parts.dev))
        pipeline, heads = fit_tfidf(joined, recipe)
        save = partial(_save, settings, parts, {}, pipeline)
        return Fitted(heads.dev, heads.curve, None, save)
    opened = settings.open_features()
    both = (parts.train.texts, parts.dev.texts)
    features = _features(opened, [*both[0], *both[1]])
    train, dev = (features_by_history(histories, features) for histories in both)
    if settings.linear:
        heads = fit_heads(pooled(settings, train), pooled(settings, dev), parts, recipe)
        weights: Any = {
            name: np.concatenate([getattr(model, f"{kind}_") for model in heads.models])
            for name, kind in (("weights", "coef"), ("intercepts", "intercept"))
        }
        found, curve = heads.dev, heads.curve
    else:
        from psycheck.train.convolutions import convolve

        weights, found, curve = convolve(train, dev, parts, recipe, progress)
    return Fitted(found, curve, None, partial(_save, settings, parts, opened.fingerprints, weights))


def _joined(part: Part) -> Part:
    return Part([BETWEEN.join(history.posts) for history in part.texts], part.targets)


def _features(opened: PostFeatures, every: Sequence[History]) -> Callable[[Sequence[str]], Features]:
    """A function that looks up the features of posts, (n, d); those of all histories are computed here."""
    posts = list(dict.fromkeys(chain([""], *(history.posts for history in every))))
    columns: list[FloatArray] = []
    if opened.symptoms is not None:
        with answers([opened.symptoms], [(1.0, posts)]) as found:
            columns.append(found.views[0].of(posts))
    if opened.encoder is not None:
        columns.append(encode_once(opened.encoder, posts))
    table = np.hstack(columns).astype(np.float32)
    rows = {post: row for row, post in enumerate(posts)}

    def known(some: Sequence[str]) -> Features:
        return table[[rows[post] for post in some]]

    return known


def _save(
    settings: HistorySettings, parts: Parts, features: dict[str, str], weights: Any, folder: Path
) -> None:
    """Write history.json and the weights: arrays, tensors or a pipeline of words."""
    if settings.words:
        save_sklearn(weights, folder)
    elif settings.linear:
        from safetensors.numpy import save_file

        save_file(weights, folder / WEIGHTS_FILE)
    else:
        from safetensors.torch import save_file as save_tensors

        save_tensors(weights, folder / WEIGHTS_FILE)
    record = {"labels": list(parts.labels), "settings": asdict(settings), "features": features}
    (folder / HISTORY_FILE).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
