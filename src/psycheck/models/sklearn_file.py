"""scikit-learn pipelines that take raw texts, from a file."""

import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from psycheck.errors import BadInput, ModelFailure, PsycheckWarning, check_size, explained
from psycheck.model import FloatArray
from psycheck.models.fingerprint import file_hash, hashed_parts
from psycheck.models.labels import Kept, kept_columns
from psycheck.models.options import ModelOptions
from psycheck.models.output import checked_scores

BATCH = 2048
_PROBE = "I went for a walk today."
_FORMATS = tomllib.loads(Path(__file__).with_name("formats.toml").read_text("utf-8"))
_HARMLESS = frozenset(_FORMATS["sklearn"]["harmless"])
_TRAINED = "model.skops"  # written by `psycheck train` into its folder


@dataclass(frozen=True, slots=True)
class SklearnModel:
    """A fitted pipeline from raw texts to probabilities; `columns` are those kept as labels."""

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    parts: Mapping[str, str]
    columns: tuple[int, ...]
    exclusive: bool
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
    """Open a fitted pipeline from a .skops file, or from a pickle if the user trusts it."""
    path = Path(target).expanduser()
    path = path / _TRAINED if path.is_dir() else path
    if not path.is_file():
        allowed = "a .skops file of a fitted scikit-learn pipeline"
        raise BadInput(f"there is no file '{target}'", allowed=allowed)
    pipeline = _load(path, options)
    if not hasattr(pipeline, "predict_proba"):
        what = f"the {type(_classifier(pipeline)).__name__} in the file has no probabilities"
        do = "wrap the classifier in sklearn.calibration.CalibratedClassifierCV and fit it again"
        raise ModelFailure(what, where=target, allowed="a pipeline with predict_proba", do=do)
    what = "the pipeline cannot score a raw text"
    allowed = "a fitted pipeline whose first step takes texts, such as TfidfVectorizer"
    do = "save the vectorizer and the classifier together: make_pipeline(vectorizer, classifier)"
    with explained(what, Exception, kind=ModelFailure, where=target, allowed=allowed, do=do):
        width = _probabilities(pipeline, [_PROBE]).shape[1]
    kept = _kept(pipeline, width, options, where=target)
    parts = {"file": file_hash(path), "labels": str(kept)}
    # A file of `psycheck train` is known by the name of its folder.
    name = path.resolve().parent.name if path.name == _TRAINED else path.stem
    return SklearnModel(
        name=options.name or name,
        labels=kept.labels,
        fingerprint=hashed_parts(parts),
        parts=parts,
        columns=kept.columns,
        exclusive=kept.exclusive,
        batch=options.batch or BATCH,
        pipeline=pipeline,
        notes=kept.notes,
    )


def _load(path: Path, options: ModelOptions) -> Any:
    where, do = str(path), "install the version of scikit-learn that it was saved with, or save it again"
    opening = explained("the file cannot be opened", Exception, kind=ModelFailure, where=where, do=do)
    if path.suffix == ".skops":
        import skops.io

        with explained("the file is not a readable skops file", Exception, where=where):
            check_size(sum(part.file_size for part in ZipFile(path).infolist()), where)
            strange = [kind for kind in skops.io.get_untrusted_types(file=path) if kind not in _HARMLESS]
        if strange:
            what = f"holds types that could run code when it is opened: {', '.join(strange)}"
            trust = "check these types; if you trust them, add ?trust_pickle=true to the model"
            _check_trust(path, options, what, allowed="types of scikit-learn, NumPy and SciPy", do=trust)
        with opening:
            return skops.io.load(path, trusted=[*_HARMLESS, *strange])
    if path.suffix not in (".joblib", ".pkl", ".pickle"):
        allowed = ".skops; .joblib or .pkl with trust_pickle=true"
        raise BadInput("the file has an unknown extension", where=where, allowed=allowed)
    what = "is a pickle, and opening a pickle can run any code"
    trust = "save it with skops.io.dump(pipeline, FILE), or add ?trust_pickle=true if you trust it"
    _check_trust(path, options, what, allowed="a .skops file", do=trust)
    import joblib

    with opening:
        return joblib.load(path)


def _check_trust(path: Path, options: ModelOptions, what: str, *, allowed: str, do: str) -> None:
    """Refuse a file that could run code unless the user trusts it; then warn."""
    if not options.trust_pickle:
        raise BadInput(f"the file {what}", where=str(path), allowed=allowed, do=do)
    warnings.warn(f"{path.name} {what}; open only what you trust", PsycheckWarning, stacklevel=2)


def _probabilities(pipeline: Any, texts: list[str]) -> FloatArray:
    """All columns of the pipeline, (n, outputs); of several binary outputs only the positive class."""
    found = pipeline.predict_proba(texts)
    if not isinstance(found, list):
        return np.asarray(found, np.float64)
    columns = []
    for output, classes in zip(found, _classes(pipeline), strict=True):  # one (n, classes) array per label
        known = [int(one) for one in classes]
        if not set(known) <= {0, 1}:
            raise ValueError("an output has classes other than 0 and 1")
        # Training may have seen only one class.
        columns.append(np.asarray(output)[:, known.index(1)] if 1 in known else np.zeros(len(output)))
    return np.stack(columns, axis=1)


def _kept(pipeline: Any, width: int, options: ModelOptions, *, where: str) -> Kept:
    raw, classifier = _classes(pipeline), _classifier(pipeline)
    named = not isinstance(raw, list) and len(raw) == width
    worded = named and isinstance(raw[0], str)
    # The columns are independent labels, not exclusive classes; only MLPClassifier has the binarizer.
    kind = str(getattr(getattr(classifier, "_label_binarizer", None), "y_type_", ""))
    many = getattr(classifier, "multilabel_", False) or isinstance(raw, list) or kind.startswith("multilabel")
    generic = not named or (many and not worded)
    classes = [f"label_{i}" for i in range(width)] if generic else [str(one) for one in raw]
    return kept_columns(classes, options, exclusive=not many, ordered=not worded, where=where)


def _classes(pipeline: Any) -> Any:
    return getattr(pipeline, "classes_", getattr(_classifier(pipeline), "classes_", []))


def _classifier(pipeline: Any) -> Any:
    """The last step of searches and pipelines."""
    if hasattr(pipeline, "steps"):
        return _classifier(pipeline.steps[-1][1])
    if hasattr(pipeline, "best_estimator_"):
        return _classifier(pipeline.best_estimator_)
    return pipeline
