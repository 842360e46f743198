"""Logistic regression on fixed features: tf-idf, the vectors of a frozen encoder, evidence for symptoms."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput
from psycheck.models.tfidf_file import one_versus_rest
from psycheck.scoring.answers import answers, in_equal_shares
from psycheck.scoring.vectors import encode_once
from psycheck.training.dev_figures import figures, merit
from psycheck.training.parts import Fitted, Part, Parts, balancing_weights
from psycheck.training.recipe import Recipe, evidence_target, has_vectors, start_name

if TYPE_CHECKING:
    from psycheck.symptoms.evidence import Evidence

# The values of C, the inverse of the regularisation, of which dev chooses one.
STRENGTHS = (0.1, 1.0, 10.0, 100.0)
# More words and pairs of words than this are rare ones, which make a file large and decide little.
_MOST_FEATURES = 200_000


@dataclass(frozen=True, slots=True)
class Heads:
    """One fitted LogisticRegression per label, and the dev figures of each strength that was tried."""

    models: list[Any]
    strength: float
    dev: dict[str, float]
    curve: tuple[dict[str, float], ...]


def fit_heads(
    train: Any,
    dev: Any,
    parts: Parts,
    recipe: Recipe,
) -> Heads:
    """Fit each label on the rows annotated for it, with the C that has the best criterion on dev."""
    text_weights = _text_weights(parts, recipe)
    tried: list[Heads] = []
    for strength in STRENGTHS:
        models = []
        for targets in parts.train.targets.T:
            model = _fit_label(train, targets, strength, recipe, text_weights)
            models.append(model)

        scores_by_label = [model.predict_proba(dev)[:, 1] for model in models]
        scores = np.column_stack(scores_by_label)
        dev_figures = figures(parts.dev.targets, scores, parts.labels)
        tried.append(
            Heads(
                models=models,
                strength=strength,
                dev=dev_figures,
                curve=(),
            )
        )

    # Between equal figures, the stronger regularisation: it is tried first.
    best = max(tried, key=lambda heads: merit(heads.dev, recipe.criterion))
    curve = tuple({"C": heads.strength, **heads.dev} for heads in tried)
    return replace(best, curve=curve)


def _text_weights(parts: Parts, recipe: Recipe) -> FloatArray:
    """How much each text of train counts, (n,): controls as much as all others if they are balanced."""
    control = parts.train.control
    if not recipe.balanced or control is None:
        return np.ones(len(parts.train))

    # What balanced batches are on average.
    controls = control.sum()
    not_controls = (~control).sum()
    texts_of_side = np.where(control, controls, not_controls)
    weights: FloatArray = len(control) / 2 / texts_of_side
    return weights


def fit_tfidf(parts: Parts, recipe: Recipe) -> tuple[Any, Heads]:
    """Sublinear tf-idf of words ("I" included) and pairs of words, one logistic regression per label.

    The result is a plain scikit-learn pipeline: classes "not label" and "label" for one label; for several,
    a one-vs-rest classifier whose classes are the labels.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    words = TfidfVectorizer(
        ngram_range=(1, 2),
        sublinear_tf=True,
        # The default drops words of one letter, and "I" tells much about depression.
        token_pattern=r"(?u)\b\w+\b",
        max_features=_MOST_FEATURES,
    )
    try:
        train = words.fit_transform(parts.train.texts)
    except ValueError as error:
        raise BadInput(f"train of corpus '{parts.name}' contains no words", code="train.no-words") from error
    dev = words.transform(parts.dev.texts)
    heads = fit_heads(train, dev, parts, recipe)

    if len(parts.labels) == 1:
        (label,) = parts.labels
        classifier = heads.models[0]
        classifier.classes_ = np.array([f"not {label}", label])
    else:
        classifier = one_versus_rest(heads.models, parts.labels)
    return make_pipeline(words, classifier), heads


def fit_frozen(parts: Parts, recipe: Recipe) -> Fitted:
    """Fit one logistic regression per label on evidence for symptoms, an encoder's vectors, or both.

    What the store holds is not computed again.
    """
    from psycheck.symptoms.evidence import log_odds, open_evidence
    from psycheck.symptoms.frozen_model import FROZEN_FILE, HEAD_FILE, open_frozen_encoder

    target = evidence_target(recipe)
    evidence = None if target is None else open_evidence(target)
    encoder = None
    if has_vectors(recipe):
        encoder = open_frozen_encoder(start_name(recipe), recipe.max_length)

    def features(part: Part) -> FloatArray:
        columns: list[FloatArray] = []
        if evidence is not None:
            # Relevance is a probability; the regression adds up log-odds.
            relevance = evidence_of(evidence, part.texts)
            columns.append(log_odds(relevance))
        if encoder is not None:
            columns.append(encode_once(encoder, part.texts))
        return np.hstack(columns)

    train = features(parts.train)
    dev = features(parts.dev)
    heads = fit_heads(train, dev, parts, recipe)

    def save(folder: Path) -> None:
        from safetensors.numpy import save_file

        # Weights (k, d) and intercepts (k,), and the mean (d,) of what they were fitted on: the reasons for a
        # score are told against a mean training text.
        head = {
            "weights": np.concatenate([model.coef_ for model in heads.models]),
            "intercepts": np.concatenate([model.intercept_ for model in heads.models]),
            "means": train.mean(axis=0),
        }
        save_file(head, folder / HEAD_FILE)

        # The fingerprints let a later opening refuse an encoder or symptoms that have changed since.
        settings: dict[str, Any] = {"labels": list(parts.labels)}
        if encoder is not None:
            settings["encoder"] = start_name(recipe)
            settings["encoder_fingerprint"] = encoder.fingerprint
            settings["max_length"] = encoder.max_length
        if evidence is not None:
            settings["evidence"] = target
            settings["evidence_fingerprint"] = evidence.fingerprint
        text = json.dumps(settings, indent=1, ensure_ascii=False) + "\n"
        (folder / FROZEN_FILE).write_text(text, "utf-8")

    # Evidence is gathered from all sentences, so only vectors alone have a window.
    window = None
    if encoder is not None and evidence is None:
        window = encoder.max_length
    return Fitted(
        dev=heads.dev,
        curve=heads.curve,
        window=window,
        save=save,
    )


def evidence_of(evidence: "Evidence", texts: Sequence[str]) -> FloatArray:
    """The evidence for symptoms in texts, (n, 2 m), from the store where it holds it."""
    with answers([evidence], in_equal_shares([texts])) as answered:
        (view,) = answered.views
        return view.of(texts)


def _fit_label(
    features: Any,
    targets: FloatArray,
    strength: float,
    recipe: Recipe,
    text_weights: FloatArray,
) -> Any:
    """Fit one label; a soft target counts in part for both classes, each text by its weight, (n,)."""
    from sklearn.linear_model import LogisticRegression

    rows = np.flatnonzero(~np.isnan(targets))
    marks = targets[rows]
    classes = marks
    weights = text_weights[rows]
    if not np.isin(marks, (0.0, 1.0)).all():
        # Each text twice: as positive by its mark, as negative by the rest.
        positive_weights = marks * weights
        negative_weights = (1 - marks) * weights
        classes = np.repeat([1.0, 0.0], len(marks))
        weights = np.concatenate([positive_weights, negative_weights])
        rows = np.concatenate([rows, rows])

    if recipe.class_weights:
        negative_weight, positive_weight = balancing_weights(marks[:, None])[:, 0]
        class_weights = np.where(classes == 1, positive_weight, negative_weight)
        weights = weights * class_weights

    # The default of 100 iterations is too few for weak regularisation.
    model = LogisticRegression(C=strength, max_iter=2_000)
    model.fit(features[rows], classes.astype(np.int64), sample_weight=weights)
    return model
