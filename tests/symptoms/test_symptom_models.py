from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from psycheck.core.model import Model
from psycheck.models.opening import open_encoder, open_model
from psycheck.symptoms.graph import read_graph
from psycheck.symptoms.reader import SymptomModel
from refusals import refused


def opened(spec: str) -> SymptomModel:
    model = open_model(spec)
    assert isinstance(model, SymptomModel)
    return model


@pytest.fixture(scope="module")
def described() -> SymptomModel:
    return opened("symptoms:descriptions")


def test_without_training_a_sentence_is_about_the_symptom_of_the_nearest_description(
    described: SymptomModel,
) -> None:
    tags = described.tag(["I lie awake all night and can't fall asleep", "my brother worries all day long"])
    assert [described.labels[k] for k in tags.relevance.argmax(axis=1)] == [
        "sleep_disturbance",
        "anxious_mood",
    ]
    assert tags.own.tolist() == [True, False]
    assert np.isnan(tags.uncertain).all()


def test_relevance_is_a_fixed_function_of_the_similarity(described: SymptomModel) -> None:
    symptom = read_graph().symptom[0]
    encoder, sentence = open_encoder("minilm"), "I shout at the people I love"
    similarity = (encoder.encode([sentence]) @ encoder.encode(symptom.descriptions).T).max()
    expected = 1 / (1 + np.exp(-10 * (similarity - 0.5)))
    assert described.tag([sentence]).relevance[0, 0] == pytest.approx(expected, abs=1e-5)


def test_a_text_scores_as_its_most_relevant_sentence(described: SymptomModel) -> None:
    first, second = "I can't fall asleep.", "I eat nothing any more."
    scores = described.score([f"{first} {second}", " ", second])
    each = described.tag([first, second]).relevance
    assert scores[0] == pytest.approx(each.max(axis=0), abs=1e-5)
    assert np.isnan(scores[1]).all()
    assert scores[2] == pytest.approx(each[1], abs=1e-5)
    assert isinstance(described, Model)


def test_another_graph_and_encoder_give_other_labels_and_another_fingerprint(
    described: SymptomModel, save_model: Callable[..., Path], tmp_path: Path
) -> None:
    graph = tmp_path / "own.toml"
    graph.write_text(
        'disease = { burnout = "Burnout" }\n[[symptom]]\nname = "cynicism"\ntitle = "Cynicism"\n'
        'diseases = ["burnout"]\nclinician = ["Mental distance from work."]\n'
    )
    own = opened(f"symptoms:descriptions?graph={graph}")
    assert own.labels == ("cynicism",)
    assert own.fingerprint != described.fingerprint
    other = opened(f"symptoms:descriptions?encoder=hf:{save_model(head=False)}")
    assert other.labels == described.labels
    assert other.fingerprint != described.fingerprint


def test_a_folder_with_a_status_gives_relevance_and_status_from_one_pass(
    save_model: Callable[..., Path],
) -> None:
    labels = dict(enumerate(["tired", "uncertain", "sleep"]))
    folder = save_model(id2label=labels, num_labels=3, problem_type="multi_label_classification")
    model = opened(f"symptoms:{folder}")
    sentences = ["I feel tired.", "The children cannot sleep."]
    plain, tags = open_model(f"hf:{folder}").score(sentences), model.tag(sentences)
    assert model.labels == ("tired", "sleep")
    assert np.array_equal(tags.relevance, plain[:, [0, 2]])
    assert np.array_equal(tags.uncertain, plain[:, 1])


def test_a_trained_model_takes_no_graph(save_model: Callable[..., Path]) -> None:
    with refused("symptoms.graph-of-trained-model"):
        open_model(f"symptoms:{save_model()}?graph=own.toml")
