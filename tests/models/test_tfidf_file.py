import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from psycheck.core.errors import ModelFailure, PsycheckError
from psycheck.models.opening import open_model
from psycheck.models.tfidf_file import TFIDF_FILE, load_tfidf, one_versus_rest, save_tfidf

TEXTS = [
    '"__id__": 5 "file": "7',
    "i feel low again",
    "sleep well, you",
    "süß schläft das Kind",
]


def pipeline_of_one_label() -> Pipeline:
    words = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", ngram_range=(1, 2), sublinear_tf=True)
    pipeline: Pipeline = make_pipeline(words, LogisticRegression(C=10.0))
    return pipeline.fit(TEXTS, ["low", "low", "not low", "not low"])


def test_what_is_loaded_scores_exactly_as_what_was_saved(tmp_path: Path) -> None:
    pipeline = pipeline_of_one_label()
    save_tfidf(pipeline, tmp_path)
    loaded = load_tfidf(tmp_path / TFIDF_FILE)
    np.testing.assert_array_equal(loaded.predict_proba(TEXTS), pipeline.predict_proba(TEXTS))
    assert loaded.pipeline.steps[0][1].vocabulary_ == pipeline.steps[0][1].vocabulary_
    assert list(loaded.classes_) == ["low", "not low"]


def test_a_model_is_opened_without_scikit_learn(tmp_path: Path) -> None:
    save_tfidf(pipeline_of_one_label(), tmp_path)
    opening = (
        "import sys; from psycheck.models.opening import open_model;"
        f"print(open_model({str(tmp_path)!r}).labels, 'sklearn' in sys.modules)"
    )
    opened = subprocess.run([sys.executable, "-c", opening], capture_output=True, text=True, check=True)
    assert opened.stdout.strip() == "('low',) False"


def test_several_labels_come_back_in_their_order(tmp_path: Path) -> None:
    words = TfidfVectorizer()
    features = words.fit_transform(TEXTS)
    first = LogisticRegression().fit(features, [1, 1, 0, 0])
    second = LogisticRegression().fit(features, [0, 1, 0, 1])
    save_tfidf(make_pipeline(words, one_versus_rest([first, second], ["zest", "anger"])), tmp_path)
    model = open_model(f"sklearn:{tmp_path}")
    assert model.labels == ("zest", "anger")
    expected = np.column_stack([head.predict_proba(features)[:, 1] for head in (first, second)])
    np.testing.assert_allclose(model.score(TEXTS), expected, rtol=1e-12)


def test_the_folder_and_the_file_open_by_their_path_alone(tmp_path: Path) -> None:
    save_tfidf(pipeline_of_one_label(), tmp_path)
    by_folder, by_file = open_model(str(tmp_path)), open_model(str(tmp_path / TFIDF_FILE))
    assert by_folder.fingerprint == by_file.fingerprint
    assert by_folder.name == by_file.name == tmp_path.name


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"not an archive"])
def test_a_damaged_file_is_one_clear_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / TFIDF_FILE).write_bytes(content)
    with pytest.raises(ModelFailure) as caught:
        open_model(f"sklearn:{tmp_path}")
    assert caught.value.code == "model.bad-tfidf"


def test_objects_that_could_run_code_are_never_loaded(tmp_path: Path) -> None:
    arrays = {name: np.array([object()]) for name in ("description", "idf", "weights", "intercepts")}
    np.savez(tmp_path / TFIDF_FILE, **arrays)  # type: ignore[arg-type] # the stubs forbid what the test plants
    with pytest.raises(ModelFailure) as caught:
        load_tfidf(tmp_path / TFIDF_FILE)
    assert caught.value.code == "model.bad-tfidf"


def test_a_file_that_unpacks_to_gigabytes_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez_compressed(tmp_path / TFIDF_FILE, idf=np.zeros(2_000_000))  # 16 MB in 16 kB
    monkeypatch.setenv("PSYCHECK_MAX_GB", "0.01")
    with pytest.raises(PsycheckError) as caught:
        load_tfidf(tmp_path / TFIDF_FILE)
    assert caught.value.code == "file.too-large"
