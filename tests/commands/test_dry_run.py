"""Verbs that say what they would do, and verbs that answer in JSON."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from psycheck.commands.main import app

MODEL = "def score(texts):\n    return [0.9 if 'sad' in text else 0.1 for text in texts]\n"
TRAIN = ("train", "posts.csv", "--start", "tfidf+lr", "--out", "models/a")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model and a corpus of twenty texts to learn from and ten to choose by."""
    (tmp_path / "mod.py").write_text(MODEL)
    rows = ["id,text,depression,split"]
    for n in range(30):
        mood, split = ("fine", "sad and tired")[n % 2], ("dev", "train", "train")[n % 3]
        rows.append(f"p{n},I am {mood} on day {n},{n % 2},{split}")
    (tmp_path / "posts.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def psycheck_says(*words: str) -> Result:
    outcome = CliRunner().invoke(app, words)
    assert outcome.exception is None, outcome.exception
    return outcome


def answer(*words: str) -> Any:
    content = json.loads(psycheck_says(*words, "--json").stdout)
    assert content.pop("schema_version", 1) == 1
    return content


def test_a_training_says_what_it_would_learn_from(place: Path) -> None:
    planned = answer(*TRAIN, "--dry-run", "--seeds", "3")
    assert planned == {
        "start": "tfidf+lr",
        "labels": ["depression"],
        "texts": {"train": 20, "dev": 10},
        "trainings": 3,
        "out": "models/a",
    }
    assert not (place / "models").exists()


def test_trained_models_and_their_thresholds_as_json(place: Path) -> None:
    trained = answer(*TRAIN)
    (model,) = trained["models"]
    assert (model["labels"], model["reused"], model["dev"]["n"]) == (["depression"], False, 10)
    assert trained["cautions"] == []
    assert answer(*TRAIN)["models"][0]["reused"] is True
    by_label = answer("threshold", "models/a", "depression=0.37")["thresholds"]
    assert by_label == {"depression": 0.37}


def test_scoring_says_how_many_texts_it_would_score(place: Path) -> None:
    forecast = answer("score", "python:mod.py:score", "posts.csv", "--dry-run")
    counts = forecast["texts"]["score"]
    assert (counts["asked"], counts["distinct"]) == (30, 30)
    assert not (place / "scores.csv").exists()
    written = answer("score", "python:mod.py:score", "posts.csv")
    assert written == {"files": ["scores.csv"], "texts": 30, "failed": 0}
