"""Train the learners of the gender study as models: grid search by folds of train, then a safe file."""

import json
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.model import Encoder
from psycheck.models.fingerprint import hashed
from psycheck.models.hf import HfEncoder
from psycheck.models.learner_file import (
    CLASSIFIERS_FILE,
    LEARNER_FILE,
    open_learned_encoder,
    scores_of_classifiers,
    zeros_for_unknown,
)
from psycheck.scoring.vectors import encode_once
from psycheck.statistics.classification import firm, gold
from psycheck.training.dev_figures import figures
from psycheck.training.learners import (
    Features,
    Folds,
    Grid,
    Searched,
    cut_folds,
    fit_estimator,
    grid,
    made_for,
    rows_of,
    search,
)
from psycheck.training.parts import Fitted, Part, Parts, balancing_weights
from psycheck.training.recipe import Recipe, learner_encoder

# The least slope: scores of a learner that ranks no better than chance stay near 0.5, and keep its order.
_LEAST_SLOPE = 0.01


def learner_fingerprint(recipe: Recipe) -> str:
    """A hash of the learner, its grid and what its features come from."""
    learner = grid(recipe.start)
    encoder = _encoder_of(recipe)
    design = json.dumps([learner.estimator, learner.fixed, learner.tuned], sort_keys=True)
    return hashed(recipe.start, design, encoder.fingerprint if encoder else "tfidf")


def fit_learner(parts: Parts, recipe: Recipe) -> Fitted:
    """Search the grid of a learner for each label and fit it with the best point.

    A soft label counts as the class that it is nearer to; one of exactly 0.5 is left out.
    """
    learner = grid(recipe.start)
    encoder = _encoder_of(recipe)
    train = _features(parts.train, encoder)
    dev = _features(parts.dev, encoder)

    searched: list[Searched] = []
    slopes: list[float | None] = []
    for targets in parts.train.targets.T:
        result, slope = _fit_label(learner, train, targets, parts.train.owners, recipe)
        searched.append(result)
        slopes.append(slope)

    classifiers = [result.model for result in searched]
    scores = scores_of_classifiers(classifiers, slopes, dev)
    dev_figures = figures(parts.dev.targets, scores, parts.labels)

    settings: dict[str, Any] = {
        "labels": list(parts.labels),
        "learner": recipe.start,
        "slopes": slopes,
        "chosen": [dict(result.chosen) for result in searched],
        "macro_f1_over_folds": [result.score for result in searched],
        "converged": [result.converged for result in searched],
    }
    if encoder is not None:
        settings["encoder"] = learner_encoder(recipe)
        settings["encoder_fingerprint"] = encoder.fingerprint
        settings["max_length"] = recipe.max_length

    def save(folder: Path) -> None:
        import skops.io

        skops.io.dump(classifiers, folder / CLASSIFIERS_FILE)
        text = json.dumps(settings, indent=1, ensure_ascii=False) + "\n"
        (folder / LEARNER_FILE).write_text(text, "utf-8")

    # Words and static vectors have no window: they read the whole text.
    window = encoder.max_length if isinstance(encoder, HfEncoder) else None
    return Fitted(
        dev=dev_figures,
        curve=(dev_figures,),
        window=window,
        save=save,
    )


def _encoder_of(recipe: Recipe) -> Encoder | None:
    spec = learner_encoder(recipe)
    if spec is None:
        return None
    return open_learned_encoder(spec, recipe.max_length)


def _features(part: Part, encoder: Encoder | None) -> Features:
    """Vectors of the texts, (n, d), from the store where it holds them; the texts themselves for words."""
    if encoder is None:
        return part.texts
    return zeros_for_unknown(encode_once(encoder, part.texts))


def _fit_label(
    learner: Grid,
    features: Features,
    targets: FloatArray,
    owners: tuple[str, ...],
    recipe: Recipe,
) -> tuple[Searched, float | None]:
    """The learner of one label with targets (n,), and the slope of its margins if it has no probabilities."""
    is_annotated = ~np.isnan(firm(targets))
    annotated = rows_of(features, is_annotated)
    marks = gold(targets[is_annotated])
    owners_of_rows = list(compress(owners, is_annotated))
    folds = cut_folds(marks.astype(np.int64), owners_of_rows, seed=recipe.seed)

    weights = None
    if recipe.class_weights:
        targets_of_label = marks[:, None].astype(np.float64)
        negative_weight, positive_weight = balancing_weights(targets_of_label)[:, 0]
        weights = np.where(marks, positive_weight, negative_weight)

    result = search(
        learner,
        annotated,
        marks,
        folds,
        seed=recipe.seed,
        weights=weights,
    )
    if hasattr(result.model, "predict_proba"):
        return result, None
    # Margins of texts that were learned from are too sure: each comes from a model without its fold.
    margins = _margins_over_folds(
        learner,
        result,
        annotated,
        marks,
        folds,
        recipe.seed,
        weights,
    )
    return result, slope_of(margins, marks)


def _margins_over_folds(
    learner: Grid,
    result: Searched,
    features: Features,
    marks: Any,
    folds: Folds,
    seed: int,
    weights: FloatArray | None,
) -> FloatArray:
    """The margin of each row, (n,), by the chosen learner fitted without the row's fold."""
    margins = np.zeros(len(marks))
    for fold in np.unique(folds):
        in_fold = folds == fold
        model = made_for(learner, result.chosen, features, seed)
        fold_weights = None if weights is None else weights[~in_fold]
        fit_estimator(model, rows_of(features, ~in_fold), marks[~in_fold], fold_weights)
        margins[in_fold] = model.decision_function(rows_of(features, in_fold))
    return margins


def slope_of(margins: FloatArray, marks: Any) -> float:
    """How steeply margins (n,) become probabilities of the marks (n,): Platt's sigmoid through 0.5 at 0.

    Without an intercept, so that a score of 0.5 or more is the classifier's own decision.
    """
    from sklearn.linear_model import LogisticRegression

    # Hardly regularised: there is one number to fit.
    model = LogisticRegression(
        fit_intercept=False,
        C=1e6,
        max_iter=1_000,
    )
    model.fit(margins[:, None], marks)
    return max(float(model.coef_[0, 0]), _LEAST_SLOPE)
