"""Logistic regression on fixed features: tf-idf, or the vectors of a frozen encoder."""

import json
import re
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np

from psycheck.errors import BadInput
from psycheck.model import FloatArray
from psycheck.scoring.answers import encode_once
from psycheck.train.figures import figures, merit
from psycheck.train.parts import Fitted, Parts, balancing_weights
from psycheck.train.recipe import Recipe, start_name

STRENGTHS = (0.1, 1.0, 10.0, 100.0)
MODEL_FILE = "model.skops"
_ADDRESS = re.compile(r'("__id__": |"file": ")(\d+)')
_INDENT = re.compile(r"\n *")
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Heads:
    """One fitted LogisticRegression per label, and the dev figures of each strength that was tried."""

    models: list[Any]
    strength: float
    dev: dict[str, float]
    curve: tuple[dict[str, float], ...]


def fit_heads(train: Any, dev: Any, parts: Parts, recipe: Recipe) -> Heads:
    """Fit each label on the rows annotated for it, with the C that has the best criterion on dev."""
    tried: list[tuple[list[Any], float, dict[str, float]]] = []
    control, shares = parts.train.control, np.ones(len(parts.train))
    if recipe.balanced and control is not None:  # what balanced batches are on average
        shares = len(control) / 2 / np.where(control, control.sum(), (~control).sum())
    for strength in STRENGTHS:
        models = [_fit_one(train, column, strength, recipe, shares) for column in parts.train.targets.T]
        scores = np.column_stack([model.predict_proba(dev)[:, 1] for model in models])
        tried.append((models, strength, figures(parts.dev.targets, scores, parts.labels)))
    best = max(tried, key=lambda one: merit(one[2], recipe.criterion))
    return Heads(*best, tuple({"C": strength, **found} for _, strength, found in tried))


def fit_tfidf(parts: Parts, recipe: Recipe) -> tuple[Any, Heads]:
    """Sublinear tf-idf of words ("I" included) and pairs of words, one logistic regression per label.

    The result is a plain scikit-learn pipeline: classes "not label" and "label" for one label; for several,
    a one-vs-rest classifier whose classes are the labels.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import LabelBinarizer

    words = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b", max_features=200_000
    )
    try:
        train = words.fit_transform(parts.train.texts)
    except ValueError as error:
        raise BadInput(f"train of corpus '{parts.name}' contains no words") from error
    heads = fit_heads(train, words.transform(parts.dev.texts), parts, recipe)
    if len(parts.labels) == 1:
        heads.models[0].classes_ = np.array([f"not {parts.labels[0]}", parts.labels[0]])
        return make_pipeline(words, heads.models[0]), heads
    # Assembled by hand, because OneVsRestClassifier cannot fit with missing labels.
    rest = OneVsRestClassifier(LogisticRegression(C=heads.strength))
    rest.estimators_ = heads.models
    rest.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(np.eye(len(parts.labels), dtype=np.int64))
    rest.label_binarizer_.classes_ = rest.classes_ = np.array(parts.labels)
    rest.n_features_in_ = train.shape[1]
    return make_pipeline(words, rest), heads


def fit_frozen(parts: Parts, recipe: Recipe) -> Fitted:
    """Encode the texts, or take their vectors from the store, then fit one logistic regression per label."""
    from psycheck.models.frozen import FROZEN_FILE, HEAD_FILE, open_frozen_encoder

    encoder = open_frozen_encoder(start_name(recipe), recipe.max_length)
    train, dev = (encode_once(encoder, part.texts) for part in (parts.train, parts.dev))
    heads = fit_heads(train, dev, parts, recipe)

    def save(folder: Path) -> None:
        from safetensors.numpy import save_file

        # Weights (k, d) and intercepts (k,).
        head = {
            name: np.concatenate([getattr(model, f"{kind}_") for model in heads.models])
            for name, kind in (("weights", "coef"), ("intercepts", "intercept"))
        }
        save_file(head, folder / HEAD_FILE)
        settings = {
            "encoder": start_name(recipe),
            "encoder_fingerprint": encoder.fingerprint,
            "labels": list(parts.labels),
            "max_length": encoder.max_length,
        }
        (folder / FROZEN_FILE).write_text(json.dumps(settings, indent=1, ensure_ascii=False) + "\n", "utf-8")

    return Fitted(heads.dev, heads.curve, encoder.max_length, save)


def save_sklearn(model: Any, folder: Path) -> None:
    """Write the model without pickle; the same training always gives the same bytes.

    skops names array files and JSON nodes by memory address and the archive holds the time of day: the names
    become running numbers, the time a constant.
    """
    from skops.io import dumps

    words = model.steps[0][1]
    vars(words).pop("_stop_words_id", None)  # a memory address, which scikit-learn does without
    # skops writes each NumPy integer as a file of its own.
    words.vocabulary_ = {word: int(column) for word, column in words.vocabulary_.items()}
    numbers: dict[str, str] = {}

    def numbered(match: re.Match[str]) -> str:
        return match[1] + numbers.setdefault(match[2], str(len(numbers)))

    with ZipFile(BytesIO(dumps(model))) as saved, ZipFile(folder / MODEL_FILE, "w") as archive:
        schema = _ADDRESS.sub(numbered, saved.read("schema.json").decode("utf-8"))
        arrays = [name for name in saved.namelist() if name != "schema.json"]
        content = {numbers[name.removesuffix(".npy")] + ".npy": saved.read(name) for name in arrays}
        for name, raw in [*sorted(content.items()), ("schema.json", _INDENT.sub("", schema).encode())]:
            archive.writestr(ZipInfo(name, _NO_TIME), raw, ZIP_DEFLATED)


def _fit_one(features: Any, targets: FloatArray, strength: float, recipe: Recipe, shares: FloatArray) -> Any:
    """Fit one label; a soft target counts in part for both classes, each text by its share, (n,)."""
    from sklearn.linear_model import LogisticRegression

    rows = np.flatnonzero(~np.isnan(targets))
    t = targets[rows]
    y, weights = t, shares[rows]
    if not np.isin(t, (0.0, 1.0)).all():
        y, weights = np.repeat([1.0, 0.0], len(t)), np.concatenate([t * weights, (1 - t) * weights])
        rows = np.concatenate([rows, rows])
    if recipe.class_weights:
        sides = balancing_weights(t[:, None])[:, 0]
        weights = weights * np.where(y == 1, sides[1], sides[0])
    model = LogisticRegression(C=strength, max_iter=2_000)
    model.fit(features[rows], y.astype(np.int64), sample_weight=weights)
    return model
