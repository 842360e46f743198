"""scikit-learn pipelines that take raw texts, from a file."""

import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from psycheck.core.arrays import FloatArray
from psycheck.core.errors import BadInput, ModelFailure, PsycheckWarning, check_size, explained
from psycheck.core.model import Capabilities, ModelKind
from psycheck.models.fingerprint import file_hash, hashed_parts
from psycheck.models.label_names import LabelColumns, label_columns
from psycheck.models.options import ModelOptions, Text
from psycheck.models.output import checked_scores
from psycheck.models.tfidf_file import TFIDF_FILE, StoredTfidf, load_tfidf
from psycheck.models.training_card import with_card

BATCH = 2048
_PROBE = "I went for a walk today."
_FORMATS = tomllib.loads(Path(__file__).with_name("formats.toml").read_text("utf-8"))
_HARMLESS = frozenset(_FORMATS["sklearn"]["harmless"])
_PICKLES = (".joblib", ".pkl", ".pickle")
# What `psycheck train` writes into its folder, the second in older versions.
TRAINED_FILES = (TFIDF_FILE, "model.skops")


@dataclass(frozen=True, slots=True, kw_only=True)
class SklearnOptions(ModelOptions):
    """Options of a pipeline: `positive` is the positive class by name or index."""

    positive: Text | None = None
    trust_pickle: bool = False


@dataclass(
    frozen=True,
    slots=True,
    weakref_slot=True,
    kw_only=True,
)
class SklearnModel:
    """A fitted pipeline from raw texts to probabilities; `columns` are those kept as labels."""

    name: str
    labels: tuple[str, ...]
    fingerprint: str
    capabilities: Capabilities = field(repr=False)
    columns: tuple[int, ...]
    pipeline: Any = field(repr=False)

    def score(self, texts: Sequence[str], /) -> FloatArray:
        """Score texts, (n, k) in [0, 1]."""
        if not texts:
            return np.empty((0, len(self.labels)))
        probabilities = _probabilities(self.pipeline, list(texts))[:, self.columns]
        return checked_scores(probabilities, len(texts), self.labels, model=self.name)


def open_sklearn(target: str, options: SklearnOptions) -> SklearnModel:
    """Open a pipeline that psycheck trained, of a .skops file, or of a pickle if the user trusts it."""
    path = Path(target).expanduser()
    if path.is_dir():
        trained_files = [path / name for name in TRAINED_FILES]
        path = next((file for file in trained_files if file.is_file()), trained_files[0])
    if not path.is_file():
        raise BadInput(
            f"there is no file '{target}'",
            code="model.file-not-there",
            allowed="a .skops file of a fitted scikit-learn pipeline",
        )

    # A file of `psycheck train` is known by the name of its folder.
    name = path.resolve().parent.name if path.name in TRAINED_FILES else path.stem
    model = open_pipeline(
        load_estimator(path, options),
        options,
        name=name,
        parts={"file": file_hash(path)},
        where=target,
    )
    return replace(model, capabilities=with_card(model.capabilities, path.parent, model.labels))


def open_pipeline(
    pipeline: Any, options: SklearnOptions, *, name: str, parts: Mapping[str, str], where: str
) -> SklearnModel:
    """A fitted pipeline as a model; `parts` are what its scores depend on, apart from the labels."""
    # A pipeline does not say whether it takes texts; scoring one tells.
    width = _width(pipeline, where=where)
    chosen = _label_columns(pipeline, width, options, where=where)
    parts = {**parts, "labels": str(chosen)}
    declared = Capabilities(
        batch=options.batch or BATCH,
        exclusive=chosen.exclusive,
        parts=parts,
        notes=chosen.notes,
    )
    return SklearnModel(
        name=options.name or name,
        labels=chosen.labels,
        fingerprint=hashed_parts(parts),
        capabilities=declared,
        columns=chosen.columns,
        pipeline=pipeline,
    )


def load_estimator(path: Path, options: SklearnOptions) -> Any:
    """The pipeline or classifier of a file; one that could run code is opened only if the user trusts it."""
    if path.suffix == Path(TFIDF_FILE).suffix:
        return load_tfidf(path)

    opening = explained(
        "the file cannot be opened",
        Exception,
        kind=ModelFailure,
        code="model.cannot-open",
        where=str(path),
        do="install the version of scikit-learn that it was saved with, or save it again",
    )
    if path.suffix == ".skops":
        import skops.io

        strange_types = _strange_types(path)
        if strange_types:
            _check_trust(
                path,
                options,
                f"holds types that could run code when it is opened: {', '.join(strange_types)}",
                allowed="types of scikit-learn, NumPy and SciPy",
                do="check these types; if you trust them, add ?trust_pickle=true to the model",
            )
        with opening:
            return skops.io.load(path, trusted=[*_HARMLESS, *strange_types])

    if path.suffix not in _PICKLES:
        raise BadInput(
            "the file has an unknown extension",
            code="model.unknown-extension",
            where=str(path),
            allowed=".skops; .npz of psycheck; .joblib or .pkl with trust_pickle=true",
        )
    _check_trust(
        path,
        options,
        "is a pickle, and opening a pickle can run any code",
        allowed="a .skops file",
        do="save it with skops.io.dump(pipeline, FILE), or add ?trust_pickle=true if you trust it",
    )
    import joblib

    with opening:
        return joblib.load(path)


def _strange_types(path: Path) -> list[str]:
    """The types in a skops file that are not known to be harmless."""
    import skops.io

    with explained(
        "the file is not a readable skops file", Exception, code="model.bad-skops", where=str(path)
    ):
        # A small archive can unpack to more than the memory holds.
        unpacked_size = sum(part.file_size for part in ZipFile(path).infolist())
        check_size(unpacked_size, str(path))
        # skops trusts few types of scikit-learn itself; formats.toml lists more that hold data only.
        untrusted_types = skops.io.get_untrusted_types(file=path)
    return [type_name for type_name in untrusted_types if type_name not in _HARMLESS]


def _check_trust(
    path: Path,
    options: SklearnOptions,
    what: str,
    *,
    allowed: str,
    do: str,
) -> None:
    """Refuse a file that could run code unless the user trusts it; then warn."""
    if not options.trust_pickle:
        raise BadInput(
            f"the file {what}",
            code="model.pickle-not-trusted",
            where=str(path),
            allowed=allowed,
            do=do,
        )
    warnings.warn(f"{path.name} {what}; open only what you trust", PsycheckWarning, stacklevel=2)


def _width(pipeline: Any, *, where: str) -> int:
    """How many columns the pipeline returns for a raw text; one that cannot take a text is refused."""
    # Ours takes texts and has a column per class: to score one would import scikit-learn.
    if isinstance(pipeline, StoredTfidf):
        return len(pipeline.classes_)
    if not hasattr(pipeline, "predict_proba"):
        raise ModelFailure(
            f"the {type(_classifier(pipeline)).__name__} has no probabilities",
            code="model.no-probabilities",
            where=where,
            allowed="a pipeline with predict_proba",
            do="wrap the classifier in sklearn.calibration.CalibratedClassifierCV and fit it again, or pass "
            "its bound method `predict`, for decisions of 0 and 1",
        )
    with explained(
        "the pipeline cannot score a raw text",
        Exception,
        kind=ModelFailure,
        code="model.no-raw-texts",
        where=where,
        allowed="a fitted pipeline whose first step takes texts, such as TfidfVectorizer",
        do="save the vectorizer and the classifier together: make_pipeline(vectorizer, classifier)",
    ):
        return len(_probabilities(pipeline, [_PROBE])[0])


def _probabilities(pipeline: Any, texts: list[str]) -> FloatArray:
    """All columns of the pipeline, (n, outputs); of several binary outputs only the positive class."""
    outputs = pipeline.predict_proba(texts)
    if not isinstance(outputs, list):
        return np.asarray(outputs, np.float64)

    columns = []
    for output, classes in zip(outputs, _classes(pipeline), strict=True):  # one (n, classes) array per label
        values = [int(value) for value in classes]
        if not set(values) <= {0, 1}:
            raise ValueError("an output has classes other than 0 and 1")
        if 1 in values:
            columns.append(np.asarray(output)[:, values.index(1)])
        else:  # training has seen no positive text
            columns.append(np.zeros(len(output)))
    return np.stack(columns, axis=1)


def _label_columns(
    pipeline: Any,
    width: int,
    options: SklearnOptions,
    *,
    where: str,
) -> LabelColumns:
    """The columns of the pipeline that become labels, and their names."""
    classes = _classes(pipeline)
    is_multilabel = _is_multilabel(pipeline)
    has_class_per_column = not isinstance(classes, list) and len(classes) == width
    has_words = has_class_per_column and isinstance(classes[0], str)

    if has_words or (has_class_per_column and not is_multilabel):
        names = [str(value) for value in classes]
    else:
        names = [f"label_{i}" for i in range(width)]
    return label_columns(
        names,
        positive=options.positive,
        label=options.label,
        exclusive=not is_multilabel,
        ordered=not has_words,  # scikit-learn sorts words alphabetically
        where=where,
    )


def _is_multilabel(pipeline: Any) -> bool:
    """True if the columns are independent labels, not exclusive classes."""
    classifier = _classifier(pipeline)
    # One array of classes per output means several outputs.
    if isinstance(_classes(pipeline), list) or getattr(classifier, "multilabel_", False):
        return True
    # MLPClassifier says it only through its binarizer.
    binarizer = getattr(classifier, "_label_binarizer", None)
    return str(getattr(binarizer, "y_type_", "")).startswith("multilabel")


def _classes(pipeline: Any) -> Any:
    own_classes = getattr(pipeline, "classes_", None)
    if own_classes is None:
        own_classes = getattr(_classifier(pipeline), "classes_", None)
    # A model of SetFit names its classes so.
    if own_classes is None:
        return getattr(pipeline, "labels", None) or []
    return own_classes


def _classifier(pipeline: Any) -> Any:
    """The last step of searches and pipelines."""
    if hasattr(pipeline, "steps"):
        return _classifier(pipeline.steps[-1][1])
    if hasattr(pipeline, "best_estimator_"):
        return _classifier(pipeline.best_estimator_)
    return pipeline


KIND = ModelKind(
    open=open_sklearn,
    options=SklearnOptions,
    target="path",
    markers=TRAINED_FILES,
    endings=(".skops", Path(TFIDF_FILE).suffix),
)
