"""Symptom-grounded classifiers: on evidence alone, beside an encoder's vectors, and as a second task."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from psycheck.core.corpus import Corpus
from psycheck.core.errors import BadInput
from psycheck.core.model import Grounded
from psycheck.models.opening import open_encoder, open_model
from psycheck.symptoms.evidence import asked_symptoms, log_odds, open_evidence
from psycheck.symptoms.frozen_model import FrozenModel, FrozenOptions, open_frozen
from psycheck.training.fit import train
from psycheck.training.output_layer import keep_outputs, open_classifier
from psycheck.training.recipe import Recipe, preset

Tiny = Callable[[str], str]

LOW = (
    "I feel so empty and sad all day.",
    "Nothing is fun for me any more.",
    "I lie awake all night and cannot sleep.",
    "I am worn out and have no strength left.",
    "I hate myself and feel like a failure.",
    "Everything seems pointless and I keep crying.",
    "I wish I would not wake up again.",
    "My appetite is gone and I lost a lot of weight.",
    "Tears come every evening, life is grey.",
    "Getting out of bed takes more energy than I have.",
)
FINE = (
    "I bought apples at the market.",
    "My train to the coast was on time.",
    "My neighbour and I painted his fence green.",
    "I saw the match, which ended in a draw.",
    "I baked bread for the whole street.",
    "My new library card came on Monday.",
    "I planted tomatoes behind the shed.",
    "My sister chose a longer film.",
    "Our boat needs another coat of varnish.",
    "The postman left two parcels at my door.",
)
ALPHA = "Posted on the Alpha board, north branch."
BETA = "Posted on the Beta board, south branch."


def marked(name: str, low: str, fine: str) -> Corpus:
    """Texts of two classes; `low` and `fine` are sentences that every text of that class ends with."""
    texts = [f"{one} {low}" for one in LOW] + [f"{one} {fine}" for one in FINE]
    split = (["train"] * 5 + ["dev"] + ["test"] * 4) * 2
    labels = {"depression": [float(i < 10) for i in range(20)]}
    return Corpus.of(name, texts, labels=labels, split=split)


@pytest.fixture(scope="module")
def grounded(tmp_path_factory: pytest.TempPathFactory) -> FrozenModel:
    folder = tmp_path_factory.mktemp("grounded") / "model"
    trained = train(marked("home", ALPHA, BETA), preset("grounded"), folder)
    assert trained.spec == f"frozen:{folder}"
    return open_frozen(str(folder), FrozenOptions())


def test_the_folder_scores_as_evidence_and_regression_do(grounded: FrozenModel) -> None:
    home = marked("home", ALPHA, BETA)
    part, test = home.part("train"), home.part("test")
    evidence = open_evidence()
    features, asked = (log_odds(evidence.score(one.texts)) for one in (part, test))
    found = []
    for strength in (0.1, 1.0, 10.0, 100.0):
        theirs = LogisticRegression(C=strength, max_iter=2_000).fit(features, part.targets()[:, 0])
        found.append(theirs.predict_proba(asked)[:, 1])
    mine = grounded.score(test.texts)[:, 0]
    assert any(np.allclose(mine, one, rtol=1e-3, atol=1e-5) for one in found)


def test_a_planted_word_misleads_tf_idf_and_not_the_grounded_model(
    grounded: FrozenModel, tmp_path: Path
) -> None:
    home = marked("home", ALPHA, BETA)
    elsewhere = marked("elsewhere", BETA, ALPHA).part("test")  # the other way round, on unseen sentences
    words = open_model(train(home, preset("tfidf"), tmp_path / "words").spec)
    target = elsewhere.targets()[:, 0]
    assert roc_auc_score(target, grounded.score(elsewhere.texts)[:, 0]) == 1.0
    assert roc_auc_score(target, words.score(elsewhere.texts)[:, 0]) < 0.2
    assert roc_auc_score(target, words.score(home.part("test").texts)[:, 0]) == 1.0  # the word is why


def test_evidence_that_is_kept_gives_the_same_scores(grounded: FrozenModel) -> None:
    assert isinstance(grounded, Grounded)
    assert grounded.needs == (grounded.evidence,)
    texts = [ALPHA, BETA, ""]
    assert list(grounded.needed(texts)) == texts
    assert grounded.evidence is not None
    stored = dict(zip(texts, grounded.evidence.score(texts), strict=True))
    scores = grounded.score_from(texts, [lambda wanted: np.stack([stored[text] for text in wanted])])
    np.testing.assert_array_equal(scores, grounded.score(texts))


def test_reasons_name_the_symptom_and_add_up(grounded: FrozenModel) -> None:
    texts = ["I lie awake all night and cannot sleep.", "The train was on time."]
    moved = grounded.reasons(texts)
    assert moved.shape == (2, 9)
    # Their differences are those of the log-odds: nothing else decides.
    scores = grounded.score(texts)[:, 0]
    logits = np.log(scores / (1 - scores))
    assert moved[0].sum() - moved[1].sum() == pytest.approx(logits[0] - logits[1], abs=1e-6)
    assert grounded.evidence is not None
    assert grounded.evidence.symptoms[int(moved[0].argmax())] == "sleep_disturbance"


def test_a_grounded_model_reads_long_texts_to_the_end(grounded: FrozenModel) -> None:
    long = "The train was on time. " * 200
    assert grounded.read([long]).tolist() == [len(long)]
    without, with_it = grounded.score([long, long + "I wish I would not wake up again. " * 50])[:, 0]
    assert with_it > without


def test_vectors_beside_evidence(tmp_path: Path) -> None:
    home = marked("home", "", "")
    trained = train(home, preset("frozen-grounded", max_length=32), tmp_path / "model")
    model = open_frozen(str(tmp_path / "model"), FrozenOptions())
    texts = home.part("test").texts
    vectors = open_encoder("minilm", max_length=32).encode(texts)
    features = np.hstack([log_odds(open_evidence().score(texts)), vectors])
    expected = 1 / (1 + np.exp(-(features @ model.weights.T + model.intercepts)))
    np.testing.assert_allclose(model.score(texts), expected, rtol=1e-5)
    assert model.weights.shape == (1, 18 + vectors.shape[1])
    assert trained.recipe.max_length == 32


def test_settings_of_steps_have_no_effect_without_steps(tmp_path: Path) -> None:
    home = marked("home", "", "")
    once = train(home, preset("grounded"), tmp_path / "model")
    assert train(home, preset("grounded", epochs=9, max_length=16), tmp_path / "model").key == once.key


def test_a_second_task_leaves_a_classifier_of_the_labels_alone(tiny: Tiny, tmp_path: Path) -> None:
    home = marked("home", "", "")
    recipe = Recipe(start=tiny("bert"), epochs=2, batch=4, learning_rate=1e-2, max_length=16)
    scores = []
    for weight in (0.0, 0.5):
        trained = train(home, recipe.with_(symptom_task=weight), tmp_path / str(weight))
        model = open_model(trained.spec)
        assert model.labels == ("depression",)
        scores.append(model.score(home.part("test").texts))
    assert scores[0].shape == scores[1].shape == (8, 1)
    assert not np.allclose(scores[0], scores[1], atol=1e-3)


@pytest.mark.parametrize("kind", ["bert", "roberta", "albert", "xlnet", "longformer"])
def test_the_outputs_of_the_second_task_are_removed_and_the_others_stay(tiny: Tiny, kind: str) -> None:
    model = open_classifier(Path(tiny(kind)), ["low"], second=["a", "b", "c"]).eval()
    inputs = {"input_ids": torch.tensor([[2, 4, 5, 3]])}
    before = model(**inputs).logits.detach()
    keep_outputs(model, 2)
    after = model(**inputs).logits.detach()
    assert before.shape == (1, 5)
    torch.testing.assert_close(after, before[:, :2])
    assert model.config.id2label == {0: "not low", 1: "low"}


def test_older_recipes_keep_their_values() -> None:
    assert "symptom_task" not in Recipe().as_dict()
    assert Recipe(symptom_task=0.5).with_(seed=1).symptom_task == 0.5
    with pytest.raises(BadInput, match="symptom_task"):
        Recipe(symptom_task=-1)


def test_reasons_need_symptoms(grounded: FrozenModel) -> None:
    with pytest.raises(BadInput, match="does not decide from symptoms"):
        replace(grounded, evidence=None).reasons(["I am tired."])


def test_phq9_asks_about_nine_symptoms() -> None:
    assert len(asked_symptoms()) == 9
    assert asked_symptoms()[-1] == "suicidal_ideas"
