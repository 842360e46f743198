"""Models of histories: trained into a folder, opened again, and what they make of odd histories."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from psycheck.commands.audit import audit
from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus, History
from psycheck.core.errors import BadInput, ModelFailure
from psycheck.core.model import Capabilities, Grounded
from psycheck.corpora.posting_histories import by_author
from psycheck.models.opening import open_model
from psycheck.symptoms.graph import read_graph
from psycheck.symptoms.history_model import (
    HistoryModel,
    features_by_history,
    pooled,
)
from psycheck.symptoms.history_network import Pooling, PostConvolutions, padded
from psycheck.symptoms.history_settings import HistorySettings, history_settings
from psycheck.symptoms.post_weights import READ, PostSymptoms
from psycheck.symptoms.reader import Readings, SymptomModel
from psycheck.training.fit import Trained, train
from psycheck.training.history_models import by_author_as_learned
from psycheck.training.recipe import Recipe, preset, preset_of
from refusals import refused

EVERYDAY = (
    "We had pasta.",
    "The train was late.",
    "My bike is fixed.",
    "It rained all day.",
    "A good match today.",
)
RECIPE = preset("history-symptoms", epochs=15)
SPLITS = ("train", "train", "train", "dev", "test")


def people(authors: int = 60) -> Corpus:
    """Every third author writes about symptoms of depression, every third about those of OCD."""
    graph, random = read_graph(), np.random.default_rng(1)
    rows: list[tuple[str, str, int, int, str]] = []
    for author in range(authors):
        condition = (None, "depression", "ocd")[author % 3]
        for place in range(3 + author % 4):
            text = str(random.choice(EVERYDAY))
            if condition and place % 2 == 0:
                symptom = graph.of(condition)[int(random.integers(0, len(graph.of(condition))))]
                text += f" {random.choice(symptom.poster)}."
            marks = int(condition == "depression"), int(condition == "ocd")
            rows.append((f"u{author}", text, *marks, SPLITS[author // 3 % 5]))
    names, texts, low, ocd, split = (list(column) for column in zip(*rows, strict=True))
    labels = {"depression": low, "ocd": ocd}
    return Corpus.of("people", texts, author=names, labels=labels, split=split)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    return train(people(), RECIPE, tmp_path_factory.mktemp("model") / "symptoms")


def test_a_condition_is_found_in_other_authors(trained: Trained) -> None:
    assert trained.test["auc:depression"] > 0.9
    assert trained.test["auc:ocd"] > 0.9
    assert trained.test["n"] == 12
    assert {point["label"] for point in trained.curve} == {0, 1}


def test_the_folder_opens_by_its_path_and_takes_histories(trained: Trained) -> None:
    model = open_model(str(trained.folder))
    assert isinstance(model, HistoryModel)
    declared = model.capabilities
    assert (declared.takes, model.labels, declared.most_posts) == ("histories", ("depression", "ocd"), 256)
    assert isinstance(model, Grounded)
    assert model.fingerprint == open_model(trained.spec).fingerprint
    (test,) = [by_author(people().part("test"))]
    again = model.score([item for item in test.items if isinstance(item, History)])
    alone = np.concatenate([model.score([item]) for item in test.items if isinstance(item, History)])
    assert np.allclose(again, alone, atol=1e-5)  # whatever the padding


def test_scores_are_the_same_from_answers_that_are_kept(trained: Trained) -> None:
    model = open_model(trained.spec)
    assert isinstance(model, HistoryModel)
    (symptoms,) = model.needs
    assert isinstance(symptoms, PostSymptoms)
    repeated = ("We had pasta.", "I feel tired.", "We had pasta.")
    histories = [History(repeated), History(()), History(repeated[1:]), History(("x",) * 300)]
    posts = model.needed(histories)
    assert posts == [*repeated, *repeated[1:], *["x"] * 256]  # the earliest 256 of the last one

    distinct = list(dict.fromkeys(posts))
    stored = dict(zip(distinct, symptoms.score(distinct), strict=True))
    asked: list[str] = []

    def answers(wanted: Sequence[str]) -> FloatArray:
        asked.extend(wanted)
        return np.stack([stored[post] for post in wanted])

    np.testing.assert_array_equal(model.score_from(histories, [answers]), model.score(histories))
    assert asked == posts


def test_short_empty_and_long_histories_have_an_answer_or_none(trained: Trained) -> None:
    model = open_model(trained.spec)
    long = History(("We had pasta.",) * 400)
    scores = model.score([History(()), History(("x",)), History(("",)), long, long.at(range(256))])
    assert np.isnan(scores[0]).all()
    assert not np.isnan(scores[1:]).any()
    assert np.allclose(scores[3], scores[4])  # the earliest 256 posts
    assert model.score([]).shape == (0, 2)


def test_finished_training_is_not_repeated_and_other_posts_are_refused(trained: Trained) -> None:
    assert train(people(), RECIPE, trained.folder).reused
    with refused("train.other-training"):
        train(people(54), RECIPE, trained.folder)
    with refused("train.other-training"):
        train(people(), RECIPE.with_(start="history:symptoms?subject=no"), trained.folder)


def test_an_audit_runs_the_edits_by_itself(trained: Trained, tmp_path: Path) -> None:
    run = audit(trained.spec, people(), out=tmp_path / "run", show_texts=True)
    rates = run.findings.where(measure="history_pass_rate", edit="evidence_removed")
    assert {one.where["label"] for one in rates} == {"depression", "ocd"}
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "What does the score of a history rest on?" in page
    assert "pasta" not in page  # authors are named, texts are not
    assert "edits of histories on people (12 authors)" in page  # the test split: every fifth group of three


def test_another_symptom_model_is_refused(trained: Trained, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    for file in trained.folder.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    record = json.loads((folder / "history.json").read_text("utf-8"))
    record["features"]["symptoms"] = "0" * 32
    (folder / "history.json").write_text(json.dumps(record), "utf-8")
    with pytest.raises(ModelFailure, match="is not the one that this model was trained with"):
        open_model(f"history:{folder}")
    (folder / "history.json").write_text("{", "utf-8")
    with pytest.raises(ModelFailure, match="does not hold a model of histories"):
        open_model(f"history:{folder}")


def test_words_and_symptoms_have_linear_baselines(tmp_path: Path) -> None:
    for start in ("history:tfidf+lr", "history:symptoms+lr?controls=no"):
        recipe = preset(str(preset_of(start)), start=start)
        done = train(people(), recipe, tmp_path / start.partition(":")[2].partition("+")[0])
        assert done.test["auc"] > 0.8, start
        assert open_model(str(done.folder)).score([History(("We had pasta.",))]).shape == (1, 2)
        assert "epochs" not in json.loads((done.folder / "training.json").read_text("utf-8"))["recipe"]


def test_authors_with_another_condition_are_left_out_unless_wanted() -> None:
    learned = by_author_as_learned(people(), Recipe(start="history:symptoms"))
    assert np.isnan(learned.targets(["depression"])[:, 0]).sum() == 20  # those with OCD
    every = by_author_as_learned(people(), Recipe(start="history:symptoms?controls=no"))
    assert not np.isnan(every.targets()).any()


def test_settings_are_read_from_the_start() -> None:
    assert history_settings("history:both?most=9&status=no") == HistorySettings("both", most=9, status=False)
    assert preset_of("history:tfidf+lr") == "history-tfidf"
    for wrong in ("history:words", "history:symptoms?most=0", "history:symptoms?colour=red"):
        with pytest.raises(BadInput):
            history_settings(wrong)


def test_posts_are_pooled_by_hand() -> None:
    posts = [np.array([[0.2, 0.0], [0.4, 1.0]], np.float32), np.zeros((0, 2), np.float32)]
    both = pooled(HistorySettings("symptoms+lr"), posts)
    assert both == pytest.approx(np.array([[0.3, 0.5, 0.4, 1.0], [0.0, 0.0, 0.0, 0.0]]))
    mean = pooled(HistorySettings("embeddings+lr"), posts)
    assert mean == pytest.approx(np.array([[0.3, 0.5], [0.0, 0.0]]))


def test_features_go_to_the_history_that_has_the_post() -> None:
    histories = [History(("a",)), History(()), History(("b", "a"))]
    found = features_by_history(histories, lambda posts: np.array([[ord(p)] for p in posts], np.float32))
    assert [one.ravel().tolist() for one in found] == [[97], [], [98, 97]]


def test_a_post_weighs_as_its_strongest_sentence_and_is_read_to_a_limit() -> None:
    seen: list[str] = []

    def outputs(sentences: Sequence[str]) -> Readings:
        seen.extend(sentences)
        relevance = np.array([[0.8 if "tired" in sentence else 0.1] for sentence in sentences])
        return replace(Readings.mentioned(relevance), uncertain=np.full(len(sentences), 0.5))

    model = SymptomModel(
        name="m", labels=("low",), fingerprint="m", capabilities=Capabilities(batch=8), outputs=outputs
    )
    posts = PostSymptoms(model)
    weights = posts.score(["I am tired. I went home.", "", "I walk. " * 200_000])
    assert weights[:, 0] == pytest.approx([0.8 * 0.5 * 0.9, 0, 0.1 * 0.5 * 0.9])
    assert sum(map(len, seen)) < READ + 100
    assert replace(posts, status=False).score(["I am tired."])[0, 0] == pytest.approx(0.8 * 0.9)
    assert replace(posts, status=False).fingerprint != posts.fingerprint


def test_pooling_is_masked_and_averages_the_largest_values() -> None:
    network = PostConvolutions(1, widths=(1, 3), filters=1).eval()
    with torch.no_grad():
        for convolution in network.convolutions:
            convolution.weight.fill_(1.0)  # type: ignore[operator]  # a Conv1d
            convolution.bias.fill_(1.0)  # type: ignore[operator]  # a Conv1d
        network.out.weight.fill_(1.0)
        network.out.bias.fill_(0.0)
    rows = [np.array(one, np.float32).reshape(-1, 1) for one in ([], [4], [1, 2, 3, 4, 5, 6, 7])]
    # Width 1: post + 1, its five largest. Width 3: sums of three posts + 1; beyond the last post is 0.
    one, three = (8 + 7 + 6 + 5 + 4) / 5, (19 + 16 + 14 + 13 + 10) / 5
    assert network(*padded(rows)).tolist() == pytest.approx([0, 5 + 5, one + three])


def test_each_way_of_pooling_by_hand() -> None:
    # One filter whose value is the post itself; the last history has a padded place.
    posts, is_post = padded([np.array([[1.0], [2.0], [6.0]], np.float32), np.array([[4.0]], np.float32)])
    values = posts.transpose(1, 2)
    assert Pooling("max", 1)(values, is_post).flatten().tolist() == [6, 4]
    assert Pooling("mean", 1)(values, is_post).flatten().tolist() == [3, 4]
    assert Pooling("largest", 1)(values, is_post).flatten().tolist() == [3, 4]
    attention = Pooling("attention", 1)
    assert attention.attention is not None
    with torch.no_grad():
        attention.attention.weight.fill_(0.0)
        # Equal scores are equal weights: the mean over real posts.
        assert attention(values, is_post).flatten().tolist() == pytest.approx([3, 4])
        attention.attention.weight.fill_(100.0)
        # The largest value takes all.
        assert attention(values, is_post).flatten().tolist() == pytest.approx([6, 4])
        empty = torch.zeros(1, 1, 1), torch.zeros(1, 1)
        assert attention(*empty).flatten().tolist() == [0]


@pytest.mark.parametrize(
    "options",
    ["network=transformer&filters=8&pool=attention", "widths=1,2&filters=5&pool=max", "pool=mean&filters=7"],
)
def test_other_networks_are_opened_as_they_were_trained(options: str, tmp_path: Path) -> None:
    start = f"{RECIPE.start}?{options}"
    trained = train(people(30), RECIPE.with_(start=start, epochs=2), tmp_path / "model")
    model = open_model(trained.spec)
    histories = by_author(people(30).part("test")).items
    together = model.score(histories)
    alone = np.concatenate([model.score([history]) for history in histories])
    # Neither the padding of others nor an empty history changes a score.
    assert np.allclose(together, alone, atol=1e-5)
    assert np.isnan(model.score([History(())])).all()
    plain = train(people(30), RECIPE.with_(epochs=2), tmp_path / "plain")
    assert plain.key != trained.key


def test_the_network_of_psysym_keeps_its_keys() -> None:
    assert history_settings("history:symptoms").shape == ""
    assert history_settings("history:symptoms?filters=50&pool=largest").shape == ""
    assert history_settings("history:symptoms?widths=2,3").window_sizes == (2, 3)
    with refused("history.bad-widths"):
        history_settings("history:symptoms?widths=2,0")
