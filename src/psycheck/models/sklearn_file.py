"""scikit-learn pipelines that take raw texts, from a file."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.errors import BadInput, ModelFailure, PsycheckWarning
from psycheck.model import FloatArray
from psycheck.models.fingerprint import file_hash, hashed_parts
from psycheck.models.labels import class_index, column_names, guessed_positive, positive_class
from psycheck.models.options import ModelOptions
from psycheck.models.output import checked_scores

BATCH = 2048
_PROBE = "I went for a walk today."
# Parts of fitted scikit-learn models that skops does not list as safe: holders of numbers, no code of a user.
_HARMLESS = frozenset(
    {
        "scipy.sparse._csr.csr_matrix",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.tree._tree.Tree",
        "sklearn.utils._bunch.Bunch",
    }
)


_TRAINED = "model.skops"  # what `psycheck train` writes into its folder


@dataclass(frozen=True, slots=True)
class SklearnModel:
    """A fitted pipeline from raw texts to probabilities; `columns` are those that are kept as labels."""

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    parts: Mapping[str, str]
    columns: tuple[int, ...]
    batch: int
    pipeline: Any = field(repr=False)
    notes: tuple[str, ...] = ()

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]."""
        if not texts:
            return np.empty((0, len(self.labels)))
        kept = _probabilities(self.pipeline, list(texts))[:, self.columns]
        return checked_scores(kept, len(texts), self.labels, model=self.name)


def open_sklearn(target: str, options: ModelOptions) -> SklearnModel:
    """Open a fitted pipeline from a .skops file, or from a pickle where the user trusts it."""
    path = Path(target).expanduser()
    path = path / _TRAINED if path.is_dir() else path
    if not path.is_file():
        raise BadInput(
            f"there is no file '{target}'", allowed="a .skops file of a fitted scikit-learn pipeline"
        )
    pipeline = _load(path, options)
    if not hasattr(pipeline, "predict_proba"):
        raise ModelFailure(
            f"the {type(_classifier(pipeline)).__name__} in the file gives no probabilities",
            where=target,
            allowed="a pipeline with predict_proba",
            do="wrap the classifier in sklearn.calibration.CalibratedClassifierCV and fit it again",
        )
    try:
        _probabilities(pipeline, [_PROBE])
    except Exception as error:
        raise ModelFailure(
            f"the pipeline cannot score a raw text ({type(error).__name__})",
            where=target,
            allowed="a fitted pipeline whose first step takes texts, such as TfidfVectorizer",
            do="save the vectorizer and the classifier together: make_pipeline(vectorizer, classifier)",
        ) from error
    columns, labels, notes = _columns(pipeline, options, where=target)
    parts = {
        "file": file_hash(path),
        "labels": ",".join(f"{column}={label}" for column, label in zip(columns, labels, strict=True)),
    }
    name = options.name or _name(path)
    batch = options.batch or BATCH
    return SklearnModel(name, labels, hashed_parts(parts), parts, columns, batch, pipeline, notes)


def _name(path: Path) -> str:
    """The file's name, or that of the folder that `psycheck train` made."""
    return path.resolve().parent.name if path.name == _TRAINED else path.name.removesuffix(path.suffix)


def _load(path: Path, options: ModelOptions) -> Any:
    if path.suffix != ".skops":
        return _load_pickle(path, options)
    import skops.io

    try:
        strange = [kind for kind in skops.io.get_untrusted_types(file=path) if kind not in _HARMLESS]
    except Exception as error:
        raise BadInput(
            f"the file is no readable skops file ({type(error).__name__})", where=str(path)
        ) from error
    if strange and not options.trust_pickle:
        raise BadInput(
            f"the file holds types that could run code when it is opened: {', '.join(strange)}",
            where=str(path),
            allowed="types of scikit-learn, NumPy and SciPy",
            do="read what these types do; if you trust them, add ?trust_pickle=true to the model",
        )
    if strange:
        _warn(f"{path.name} holds types that could run code when it is opened ({', '.join(strange)})")
    try:
        return skops.io.load(path, trusted=[*_HARMLESS, *strange])
    except Exception as error:
        raise ModelFailure(
            f"the file cannot be opened ({type(error).__name__})",
            where=str(path),
            do="install the version of scikit-learn that it was saved with, or save it again",
        ) from error


def _load_pickle(path: Path, options: ModelOptions) -> Any:
    if path.suffix not in (".joblib", ".pkl", ".pickle"):
        raise BadInput(
            "the file has an unknown ending",
            where=str(path),
            allowed=".skops; .joblib or .pkl with trust_pickle=true",
        )
    if not options.trust_pickle:
        raise BadInput(
            "the file is a pickle, and opening a pickle can run any code",
            where=str(path),
            allowed="a .skops file",
            do="save it with skops.io.dump(pipeline, FILE); or, if you trust it, append ?trust_pickle=true",
        )
    _warn(f"{path.name} is a pickle, and opening a pickle can run any code")
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:
        raise ModelFailure(f"the file cannot be opened ({type(error).__name__})", where=str(path)) from error


def _warn(what: str) -> None:
    warnings.warn(f"{what}: open only what you trust", PsycheckWarning, stacklevel=2)


def _probabilities(pipeline: Any, texts: list[str]) -> FloatArray:
    """All columns that the pipeline gives, (n, outputs); of each output of many only the positive class."""
    given = pipeline.predict_proba(texts)
    if isinstance(given, list):  # one (n, classes) array for each label
        outputs = zip(given, _classes(pipeline), strict=True)
        return np.stack([_positive_column(np.asarray(one), classes) for one, classes in outputs], axis=1)
    array: FloatArray = np.asarray(given, np.float64)
    return array


def _positive_column(given: FloatArray, classes: Sequence[Any]) -> FloatArray:
    """The probability of 1 in one yes-or-no output, (n,), also where training saw only one of both."""
    known = [int(one) for one in classes]
    if not set(known) <= {0, 1}:
        raise ValueError("an output of several has other classes than 0 and 1")
    return given[:, known.index(1)] if 1 in known else np.zeros(len(given))


def _columns(
    pipeline: Any, options: ModelOptions, *, where: str
) -> tuple[tuple[int, ...], tuple[str, ...], tuple[str, ...]]:
    """Which columns are kept, what they are called, and what was guessed."""
    width = _probabilities(pipeline, [_PROBE]).shape[1]
    raw = _classes(pipeline)
    named = not isinstance(raw, list) and len(raw) == width
    classes = [str(one) for one in raw] if named else [f"label_{i}" for i in range(width)]
    worded = named and isinstance(raw[0], str)
    if _many_labels(pipeline) and not worded:
        classes = [f"label_{i}" for i in range(width)]
    notes: tuple[str, ...] = ()
    if width == 2 and not _many_labels(pipeline):
        columns = [positive_class(classes, options.positive, ordered=not worded, where=where)]
        notes = guessed_positive(classes, columns[0], options.positive)
    elif options.positive is not None:
        columns = [class_index(classes, options.positive, where=where)]
    else:
        columns = list(range(width))
    return tuple(columns), column_names([classes[i] for i in columns], options.label, where=where), notes


def _many_labels(pipeline: Any) -> bool:
    """Whether columns are labels of their own, not classes that exclude each other."""
    classifier = _classifier(pipeline)
    if getattr(classifier, "multilabel_", False) or isinstance(_classes(pipeline), list):
        return True
    binarizer = getattr(classifier, "_label_binarizer", None)  # the only place where MLPClassifier says it
    return str(getattr(binarizer, "y_type_", "")).startswith("multilabel")


def _classes(pipeline: Any) -> Any:
    return getattr(pipeline, "classes_", getattr(_classifier(pipeline), "classes_", []))


def _classifier(pipeline: Any) -> Any:
    """The last step, inside searches and pipelines."""
    while True:
        if hasattr(pipeline, "steps"):
            pipeline = pipeline.steps[-1][1]
        elif hasattr(pipeline, "best_estimator_"):
            pipeline = pipeline.best_estimator_
        else:
            return pipeline
