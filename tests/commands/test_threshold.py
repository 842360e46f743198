"""A threshold in the card of a model: written by a command, used by audits, replaced by one chosen on dev."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from made_words import clean
from psycheck import audit, diff, score
from psycheck.commands.main import app
from psycheck.commands.threshold import set_thresholds
from psycheck.core.corpus import Corpus
from psycheck.models.opening import open_model
from psycheck.training.fit import Trained, opened, train
from psycheck.training.recipe import Recipe
from refusals import refused


def posts() -> Corpus:
    made = clean(300)
    return Corpus.of(
        "posts",
        [str(text) for text in made["text"]],
        labels={"depression": [float(i % 2) for i in range(300)]},
        split=[("train", "dev", "test")[i // 2 % 3] for i in range(300)],
    )


@pytest.fixture
def trained(tmp_path: Path) -> Trained:
    return train(posts(), Recipe(start="tfidf+lr"), tmp_path / "model")


def predicted(spec: str, **settings: float | str) -> list[tuple[float, int]]:
    run = audit(spec, posts(), audits=["performance"], **settings)  # type: ignore[arg-type]  # of one setting
    return list(run.tables["predictions"].select("score", "decided").iter_rows())


def test_audits_decide_at_the_threshold_of_the_card(trained: Trained) -> None:
    scores = sorted(score for score, _ in predicted(trained.spec))
    threshold = (scores[20] + scores[21]) / 2
    assert threshold != pytest.approx(0.5, abs=1e-6)
    result = CliRunner().invoke(app, ["threshold", str(trained.folder), f"depression={threshold}"])
    assert result.exit_code == 0, result.output

    decided = predicted(trained.spec)
    assert sum(decision for _, decision in decided) == len(decided) - 21
    assert all(decision == (score >= threshold) for score, decision in decided)
    notes = open_model(trained.spec).capabilities.notes  # type: ignore[attr-defined]  # declared by all of ours
    assert any("as the model's card says" in note for note in notes)


def test_a_threshold_from_dev_takes_precedence(trained: Trained) -> None:
    set_thresholds(trained.folder, {"depression": 0.99})
    assert not any(decision for _, decision in predicted(trained.spec))
    assert any(decision for _, decision in predicted(trained.spec, threshold="dev"))


def test_a_number_takes_precedence(trained: Trained) -> None:
    set_thresholds(trained.folder, {"depression": 0.99})
    decided = predicted(trained.spec, threshold=0.4)
    assert all(decision == (score >= 0.4) for score, decision in decided)
    assert any(decision for _, decision in decided)


def test_silver_labels_follow_the_number_too(trained: Trained) -> None:
    set_thresholds(trained.folder, {"depression": 0.99})
    table = score(trained.spec, posts(), threshold=0.4)
    silver = table["depression_silver"].to_list()
    assert silver == [float(value >= 0.4) for value in table["depression"]]


def test_runs_at_a_number_and_at_the_best_of_dev_are_compared_each_at_its_own(trained: Trained) -> None:
    at_number = audit(trained.spec, posts(), audits=["performance"], threshold=0.4, split="test")
    at_dev = audit(trained.spec, posts(), audits=["performance"], threshold="dev", split="test")
    notes = diff([at_number, at_dev]).notes
    assert any("different thresholds" in note and "the best of dev" in note for note in notes)


def test_the_card_keeps_everything_else_and_says_it(trained: Trained) -> None:
    before = json.loads((trained.folder / "training.json").read_text("utf-8"))
    assert set_thresholds(trained.folder, {"depression": 0.37}) == {"depression": 0.37}
    after = json.loads((trained.folder / "training.json").read_text("utf-8"))
    assert after.pop("thresholds") == {"depression": 0.37}
    assert after == before
    assert "0.37 for depression" in (trained.folder / "README.md").read_text("utf-8")
    assert opened(trained.folder).key == before["key"]


@pytest.mark.parametrize(
    ("threshold", "code"),
    [
        ("depression", "threshold.not-understood"),
        ("=0.4", "threshold.not-understood"),
        ("depression=high", "threshold.not-understood"),
        ("depression=1.2", "threshold.out-of-range"),
        ("depresion=0.4", "threshold.unknown-label"),
    ],
)
def test_what_is_not_a_threshold_is_refused(trained: Trained, threshold: str, code: str) -> None:
    with refused(code):
        result = CliRunner().invoke(app, ["threshold", str(trained.folder), threshold])
        assert result.exception is not None
        raise result.exception
