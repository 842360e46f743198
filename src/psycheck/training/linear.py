"""Logistic regression on fixed features: tf-idf, the vectors of a frozen encoder, evidence for symptoms."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput
from psycheck.scoring.answers import answers, in_equal_shares
from psycheck.scoring.vectors import encode_once
from psycheck.symptoms.evidence import Evidence, log_odds, open_evidence
from psycheck.training.dev_figures import figures, merit
from psycheck.training.parts import Fitted, Part, Parts, balancing_weights
from psycheck.training.recipe import Recipe, evidence_target, has_vectors, start_name

# The values of C, the inverse of the regularisation, of which dev chooses one.
STRENGTHS = (0.1, 1.0, 10.0, 100.0)
# More words and pairs of words than this are rare ones, which make a file large and decide little.
_MOST_FEATURES = 200_000
MODEL_FILE = "model.skops"
# The description of the objects in an archive of skops, and what in it differs from run to run.
_SCHEMA = "schema.json"
_ADDRESS = re.compile(r'("__id__": |"file": ")(\d+)')
_INDENT = re.compile(r"\n *")
# The earliest time that an archive can have.
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
        tried.append(Heads(models=models, strength=strength, dev=dev_figures, curve=()))

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
        classifier = _one_versus_rest(heads, parts.labels, features=train.shape[1])
    return make_pipeline(words, classifier), heads


def _one_versus_rest(heads: Heads, labels: Sequence[str], *, features: int) -> Any:
    """The fitted models of several labels as one classifier of scikit-learn.

    Assembled by hand, because OneVsRestClassifier cannot fit with missing labels.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import LabelBinarizer

    one_of_each_label = np.eye(len(labels), dtype=np.int64)
    binarizer = LabelBinarizer(sparse_output=True).fit(one_of_each_label)
    binarizer.classes_ = np.array(labels)

    classifier = OneVsRestClassifier(LogisticRegression(C=heads.strength))
    classifier.estimators_ = heads.models
    classifier.label_binarizer_ = binarizer
    classifier.classes_ = binarizer.classes_
    classifier.n_features_in_ = features
    return classifier


def fit_frozen(parts: Parts, recipe: Recipe) -> Fitted:
    """Fit one logistic regression per label on evidence for symptoms, an encoder's vectors, or both.

    What the store holds is not computed again.
    """
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
    return Fitted(dev=heads.dev, curve=heads.curve, window=window, save=save)


def evidence_of(evidence: Evidence, texts: Sequence[str]) -> FloatArray:
    """The evidence for symptoms in texts, (n, 2 m), from the store where it holds it."""
    with answers([evidence], in_equal_shares([texts])) as answered:
        (view,) = answered.views
        return view.of(texts)


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

    with ZipFile(BytesIO(dumps(model))) as saved:
        # The schema comes first: it gives the arrays their numbers.
        raw_schema = saved.read(_SCHEMA).decode("utf-8")
        schema = _ADDRESS.sub(numbered, raw_schema)
        content: dict[str, bytes] = {}
        for name in saved.namelist():
            if name != _SCHEMA:
                number = numbers[name.removesuffix(".npy")]
                content[f"{number}.npy"] = saved.read(name)

    files = [*sorted(content.items()), (_SCHEMA, _INDENT.sub("", schema).encode())]
    with ZipFile(folder / MODEL_FILE, "w") as archive:
        for name, raw in files:
            archive.writestr(ZipInfo(name, _NO_TIME), raw, ZIP_DEFLATED)


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
