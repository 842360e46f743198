"""Every learner of the gender study trains, is saved without code, opens elsewhere and decides as it did."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from psycheck.core.corpus import Corpus
from psycheck.models.opening import open_model
from psycheck.training.fit import train
from psycheck.training.learner_models import slope_of
from psycheck.training.recipe import LEARNERS, Recipe
from refusals import refused
from training.conftest import FINE, LOW, REST, mixed


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Static vectors in which words of low mood lie on one side."""
    random = np.random.default_rng(3)
    lines = []
    for word in (*LOW, *FINE, *REST):
        vector = random.normal(size=5) / 10
        vector[0] += 1.0 * (word in LOW) - 1.0 * (word in FINE)
        lines.append(f"{word} {' '.join(f'{x:.4f}' for x in vector)}")
    file = tmp_path_factory.mktemp("vectors") / "words.txt"
    file.write_text(f"{len(lines)} 5\n" + "\n".join(lines) + "\n")
    return file


@pytest.mark.parametrize("start", LEARNERS)
def test_a_learner_is_opened_as_it_was_trained(start: str, vectors: Path, tmp_path: Path) -> None:
    corpus = mixed(48)
    recipe = Recipe(start=start, features=f"vectors:{vectors}")
    trained = train(corpus, recipe, tmp_path / "model")
    assert trained.spec == f"learner:{tmp_path / 'model'}"
    assert {file.suffix for file in (tmp_path / "model").iterdir()} <= {".json", ".skops", ".md", ".npz"}

    model = open_model(tmp_path / "model")
    test = corpus.part("test")
    scores = model.score(test.texts)[:, 0]
    assert trained.test["accuracy"] == np.mean((scores >= 0.5) == (test.targets()[:, 0] == 1))
    assert trained.test["accuracy"] > 0.9
    assert open_model(trained.spec).fingerprint == model.fingerprint


def test_a_score_of_an_svm_decides_as_the_svm_does(tmp_path: Path) -> None:
    corpus = mixed(96)
    # Random labels: margins on both sides, and many near 0.
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 96).astype(float).tolist()
    noisy = Corpus.of("noisy", corpus.texts, labels={"low": labels}, split=corpus.strings("split"))
    train(noisy, Recipe(start="svm"), tmp_path / "model")
    chosen = json.loads((tmp_path / "model" / "learner.json").read_text())["chosen"][0]

    part = noisy.part("train")
    words = TfidfVectorizer(sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
    theirs = make_pipeline(words, SVC(**chosen)).fit(part.texts, part.targets()[:, 0])
    ours = open_model(tmp_path / "model").score(noisy.texts)[:, 0] >= 0.5
    assert np.array_equal(ours, theirs.predict(noisy.texts) == 1)


def test_the_slope_is_that_of_the_odds() -> None:
    # Of margins at ±1, 3 of 4 are right: log(3) is the slope whose sigmoid gives 0.75.
    margins = np.array([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0])
    marks = np.array([1, 1, 1, 0, 0, 0, 0, 1], bool)
    assert slope_of(margins, marks) == pytest.approx(np.log(3), abs=1e-3)
    # Margins that rank the wrong way do not turn the scores round.
    assert slope_of(-margins, marks) == 0.01


def test_several_labels_learn_apart_and_from_what_is_annotated(tmp_path: Path) -> None:
    corpus = mixed(48)
    low = corpus.targets()[:, 0]
    odd = np.where(np.arange(48) % 6 == 0, np.nan, 1 - low)
    both = Corpus.of(
        "both",
        corpus.texts,
        labels={"low": low.tolist(), "fine": odd.tolist()},
        split=corpus.strings("split"),
    )
    trained = train(both, Recipe(start="lr"), tmp_path / "model")
    model = open_model(tmp_path / "model")
    assert model.labels == trained.labels == ("low", "fine")
    scores = model.score(["i feel hopeless today", "i feel sunny today"])
    assert scores[0, 0] > 0.5 > scores[1, 0]
    assert scores[1, 1] > 0.5 > scores[0, 1]


def test_other_vectors_of_the_same_name_are_refused(vectors: Path, tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text(vectors.read_text())
    train(mixed(48), Recipe(start="lr", features=f"vectors:{file}"), tmp_path / "model")
    file.write_text(vectors.read_text().replace("1.0", "1.1"))
    with refused("model.other-features"):
        open_model(tmp_path / "model")


def test_folds_keep_an_author_together(tmp_path: Path) -> None:
    corpus = mixed(48)
    authors = [f"a{row // 4}" for row in range(48)]
    owned = Corpus.of(
        "owned",
        corpus.texts,
        labels={"low": corpus.targets()[:, 0].tolist()},
        split=corpus.strings("split"),
        author=authors,
    )
    first = train(corpus, Recipe(start="lr"), tmp_path / "apart")
    second = train(owned, Recipe(start="lr"), tmp_path / "together")
    # Other folds are another training, although texts and annotations are the same.
    assert first.key != second.key


def test_a_learner_learns_from_an_encoder_and_needs_the_same_one_again(
    tiny: Callable[[str], str], tmp_path: Path
) -> None:
    encoder = shutil.copytree(tiny("bert"), tmp_path / "encoder")
    recipe = Recipe(start="svm", features=f"encoder:{encoder}", max_length=16)
    train(mixed(48), recipe, tmp_path / "model")
    scores = open_model(tmp_path / "model").score(mixed(48).texts)
    assert scores.shape == (48, 1)
    # A random encoder tells words apart, so that the decisions are not all alike.
    assert len(np.unique(scores >= 0.5)) == 2

    config = (encoder / "config.json").read_text()
    (encoder / "config.json").write_text(config.replace('"hidden_act": "gelu"', '"hidden_act": "relu"'))
    with refused("model.other-features"):
        open_model(tmp_path / "model")
