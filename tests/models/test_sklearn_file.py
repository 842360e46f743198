import zipfile
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from psycheck.core.errors import PsycheckWarning
from psycheck.core.model import capabilities_of
from psycheck.models.opening import open_model
from refusals import refused

TEXTS = ["tired and sad", "sunny day", "cannot sleep", "warm park", "sad sleep", "park walk"] * 3
LOW = [1, 0, 1, 0, 1, 0] * 3
BOTH = np.array([[1, 0], [0, 0], [1, 1], [0, 1], [0, 1], [1, 0]] * 3)


def fitted(classifier: Any, target: Any) -> Any:
    return make_pipeline(TfidfVectorizer(), classifier).fit(TEXTS, target)


def saved(pipeline: Any, folder: Path, name: str = "low.skops") -> Path:
    skops.io.dump(pipeline, folder / name)
    return folder / name


def test_a_binary_pipeline_gives_the_positive_class(tmp_path: Path) -> None:
    pipeline = fitted(LogisticRegression(), LOW)
    model = open_model(f"sklearn:{saved(pipeline, tmp_path)}?label=depression")
    assert (model.name, model.labels) == ("low", ("depression",))
    np.testing.assert_allclose(model.score(TEXTS), pipeline.predict_proba(TEXTS)[:, 1:])
    assert model.score([]).shape == (0, 1)
    assert capabilities_of(model).batch == 2048
    assert capabilities_of(model).notes == ()  # of 0 and 1 nothing is guessed


def test_classes_with_names(tmp_path: Path) -> None:
    pipeline = fitted(LogisticRegression(), np.where(LOW, "depression", "none"))
    path = saved(pipeline, tmp_path)
    model = open_model(path)
    assert model.labels == ("depression",)  # "none" comes second in the alphabet but reads as the absence
    np.testing.assert_allclose(model.score(TEXTS), pipeline.predict_proba(TEXTS)[:, :1])
    guess = "Guessed that class 'depression' is 1 and 'none' is 0 (?positive=NAME)."
    assert capabilities_of(model).notes == (guess,)
    none = open_model(f"sklearn:{path}?positive=none")
    assert (none.labels, capabilities_of(none).notes) == (("none",), ())
    unclear = saved(fitted(LogisticRegression(), np.where(LOW, "low", "high")), tmp_path, "unclear.skops")
    with refused("model.positive-class-unclear", do="positive=low"):
        open_model(unclear)


def test_many_exclusive_classes(tmp_path: Path) -> None:
    pipeline = fitted(LogisticRegression(), ["mild", "none", "severe"] * 6)
    model = open_model(saved(pipeline, tmp_path))
    assert model.labels == ("mild", "none", "severe")
    assert capabilities_of(model).exclusive
    one = open_model(f"sklearn:{tmp_path / 'low.skops'}?positive=severe")
    assert not capabilities_of(one).exclusive
    np.testing.assert_allclose(model.score(TEXTS), pipeline.predict_proba(TEXTS))


@pytest.mark.parametrize(
    "classifier",
    [
        OneVsRestClassifier(LogisticRegression()),
        ClassifierChain(LogisticRegression(), random_state=0),
        MLPClassifier((3,), max_iter=5, random_state=0),
    ],
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_many_labels_in_one_array(classifier: Any, tmp_path: Path) -> None:
    pipeline = fitted(classifier, BOTH)
    model = open_model(f"sklearn:{saved(pipeline, tmp_path)}?label=depression,anxiety")
    assert model.labels == ("depression", "anxiety")
    np.testing.assert_allclose(model.score(TEXTS), pipeline.predict_proba(TEXTS))


@pytest.mark.parametrize(
    "classifier", [MultiOutputClassifier(LogisticRegression()), RandomForestClassifier(3, random_state=0)]
)
def test_many_labels_in_a_list_of_arrays(classifier: Any, tmp_path: Path) -> None:
    pipeline = fitted(classifier, BOTH)
    model = open_model(saved(pipeline, tmp_path))
    assert model.labels == ("label_0", "label_1")
    first, second = pipeline.predict_proba(TEXTS)
    np.testing.assert_allclose(model.score(TEXTS), np.stack([first[:, 1], second[:, 1]], axis=1))


def test_a_label_that_training_never_saw_scores_nothing(tmp_path: Path) -> None:
    never = np.stack([LOW, np.zeros(len(LOW), int)], axis=1)
    model = open_model(saved(fitted(RandomForestClassifier(3, random_state=0), never), tmp_path))
    assert model.score(TEXTS)[:, 1].tolist() == [0.0] * len(TEXTS)


@pytest.mark.parametrize(
    "classifier",
    [
        CalibratedClassifierCV(LinearSVC(), cv=2),
        CalibratedClassifierCV(LinearSVC(), cv=2, method="isotonic"),
        GridSearchCV(LogisticRegression(), {"C": [1.0, 2.0]}, cv=2),
    ],
)
def test_fitted_parts_of_scikit_learn_are_harmless(classifier: Any, tmp_path: Path) -> None:
    pipeline = fitted(classifier, LOW)
    model = open_model(saved(pipeline, tmp_path))
    np.testing.assert_allclose(model.score(TEXTS), pipeline.predict_proba(TEXTS)[:, 1:])


class Sneaky(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A step of the user's own: opening it would import and run this module."""

    def fit(self, texts: Any, target: Any = None) -> "Sneaky":
        self.fitted_ = True
        return self

    def transform(self, texts: Any) -> Any:
        return texts


def test_strange_types_are_refused_and_named(tmp_path: Path) -> None:
    own = make_pipeline(Sneaky(), TfidfVectorizer(), LogisticRegression()).fit(TEXTS, LOW)
    path = saved(own, tmp_path)
    with refused("model.pickle-not-trusted", do="trust_pickle=true") as caught:
        open_model(path)
    assert "test_sklearn_file.Sneaky" in caught.value.what
    with pytest.warns(PsycheckWarning, match="could run code"):
        assert open_model(f"sklearn:{path}?trust_pickle=true").score(TEXTS[:2]).shape == (2, 1)


def test_a_function_of_the_system_is_refused(tmp_path: Path) -> None:
    import os

    calls = make_pipeline(FunctionTransformer(os.system), LogisticRegression())
    with refused("model.pickle-not-trusted", allowed="scikit-learn"):
        open_model(saved(calls, tmp_path))


@pytest.mark.parametrize("ending", [".joblib", ".pkl"])
def test_pickles_only_where_trusted(ending: str, tmp_path: Path) -> None:
    pipeline = fitted(LogisticRegression(), LOW)
    path = tmp_path / f"low{ending}"
    joblib.dump(pipeline, path)
    with refused("model.pickle-not-trusted", allowed=".skops"):
        open_model(f"sklearn:{path}")
    with pytest.warns(PsycheckWarning, match="can run any code"):
        model = open_model(f"sklearn:{path}", trust_pickle=True)
    np.testing.assert_allclose(model.score(TEXTS), pipeline.predict_proba(TEXTS)[:, 1:])


def test_no_probabilities(tmp_path: Path) -> None:
    with refused("model.no-probabilities", do="CalibratedClassifierCV") as caught:
        open_model(saved(fitted(LinearSVC(), LOW), tmp_path))
    assert "LinearSVC" in caught.value.what


def test_a_classifier_without_its_vectorizer(tmp_path: Path) -> None:
    bare = LogisticRegression().fit(np.eye(4), [0, 1, 0, 1])
    with refused("model.no-raw-texts"):
        open_model(saved(bare, tmp_path))


def test_files_that_are_none(tmp_path: Path) -> None:
    with refused("model.file-not-there"):
        open_model("sklearn:none.skops")
    (tmp_path / "text.skops").write_text("not a zip")
    with refused("model.bad-skops"):
        open_model(tmp_path / "text.skops")
    with zipfile.ZipFile(tmp_path / "zip.skops", "w") as file:
        file.writestr("a.txt", "a")
    with refused("model.bad-skops"):
        open_model(tmp_path / "zip.skops")
    (tmp_path / "model.bin").write_bytes(b"")
    with refused("model.unknown-extension"):
        open_model(f"sklearn:{tmp_path / 'model.bin'}")


def test_fingerprint_is_of_the_file_and_the_labels(tmp_path: Path) -> None:
    path = saved(fitted(LogisticRegression(), LOW), tmp_path)
    plain = open_model(path)
    (tmp_path / "copy.skops").write_bytes(path.read_bytes())
    assert open_model(tmp_path / "copy.skops").fingerprint == plain.fingerprint
    assert open_model(path, label="depression").fingerprint != plain.fingerprint
    assert open_model(path, positive="0").fingerprint != plain.fingerprint
    other = saved(fitted(LogisticRegression(C=9.0), LOW), tmp_path, "other.skops")
    assert open_model(other).fingerprint != plain.fingerprint
