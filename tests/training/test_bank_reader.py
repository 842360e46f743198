import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tomli_w
import torch
from safetensors.torch import load_file

from models.conftest import save_model, tokenizers_saved
from psycheck.models.opening import open_encoder, open_model
from psycheck.symptoms.adapted_reader import CARD_FILE, READER_FILE, change_weights, layer_names, read_tokens
from psycheck.symptoms.bank_sentences import Labelled
from psycheck.symptoms.graph import read_graph
from psycheck.symptoms.reader import SymptomModel
from psycheck.training.bank_reader import BankRecipe, sentences_to_learn, train_bank_reader
from refusals import refused

__all__ = ["save_model", "tokenizers_saved"]  # fixtures

SYMPTOMS = tuple(symptom.name for symptom in read_graph().symptom)
SENTENCES = ["I can't sleep at night.", "The bus was late.", "My appetite is gone."]


@pytest.fixture(scope="module")
def recipe(save_model: Callable[..., Path]) -> BankRecipe:
    return BankRecipe(
        start=f"hf:{save_model(head=False)}",
        epochs=1,
        batch=256,
        upper=1,
        lists=20,
        frames=20,
        pairs=10,
    )


@pytest.fixture(scope="module")
def folder(recipe: BankRecipe, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reader")
    train_bank_reader(recipe, folder)
    return folder


def opened(folder: Path) -> SymptomModel:
    model = open_model(f"symptoms:{folder}")
    assert isinstance(model, SymptomModel)
    return model


def test_a_trained_reader_knows_what_is_mentioned_and_what_is_present(folder: Path) -> None:
    model = opened(folder)
    tags = model.tag(SENTENCES)
    assert model.labels == SYMPTOMS
    assert tags.relevance.shape == tags.present.shape == (3, 38)
    assert not np.isnan(tags.present).any()
    # Nothing was measured, so nothing limits what it names.
    assert model.naming is None


def test_the_same_recipe_gives_the_same_reader(recipe: BankRecipe, folder: Path, tmp_path: Path) -> None:
    train_bank_reader(recipe, tmp_path / "again")
    assert (tmp_path / "again" / READER_FILE).read_bytes() == (folder / READER_FILE).read_bytes()
    train_bank_reader(replace(recipe, seed=1), tmp_path / "other")
    assert (tmp_path / "other" / READER_FILE).read_bytes() != (folder / READER_FILE).read_bytes()


def test_unlabelled_sentences_change_what_is_learned(
    recipe: BankRecipe, folder: Path, tmp_path: Path
) -> None:
    train_bank_reader(recipe, tmp_path / "more", unlabelled=SENTENCES * 20)
    assert (tmp_path / "more" / READER_FILE).read_bytes() != (folder / READER_FILE).read_bytes()


def test_labelled_sentences_move_the_layer_and_leave_the_encoder(
    recipe: BankRecipe, folder: Path, tmp_path: Path
) -> None:
    mentioned = np.zeros((3, len(SYMPTOMS)))
    mentioned[0, SYMPTOMS.index("sleep_disturbance")] = 1
    train_bank_reader(recipe, tmp_path / "more", labelled=Labelled(SENTENCES, mentioned, mentioned))
    before, after = load_file(folder / READER_FILE), load_file(tmp_path / "more" / READER_FILE)
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == set(layer_names(before))


def test_the_folder_gives_what_the_small_matrices_give_beside_the_weights(
    recipe: BankRecipe, folder: Path
) -> None:
    tensors = load_file(folder / READER_FILE)
    encoder = open_encoder(recipe.start)
    tokens = encoder.tokenizer(SENTENCES[0], return_tensors="pt")  # type: ignore[attr-defined]
    network = encoder.network  # type: ignore[attr-defined]
    change_weights(network, tensors)
    layer = {name: tensors[name].float() for name in layer_names(tensors)}
    with torch.no_grad():
        states = network(**tokens).last_hidden_state
        logits = read_tokens(states, tokens["attention_mask"], layer)[0].double().numpy()
    mentioned = 1 / (1 + np.exp(-logits[:38]))
    assert opened(folder).outputs(SENTENCES[:1]).relevance[0] == pytest.approx(mentioned, abs=1e-5)


def test_another_encoder_of_the_same_name_is_refused(folder: Path, tmp_path: Path) -> None:
    card = tomllib.loads((folder / CARD_FILE).read_text("utf-8"))
    card["reader"]["encoder_fingerprint"] = "0" * 32
    (tmp_path / CARD_FILE).write_text(tomli_w.dumps(card), "utf-8")
    (tmp_path / READER_FILE).write_bytes((folder / READER_FILE).read_bytes())
    with refused("model.other-features"):
        opened(tmp_path)


def test_an_encoder_without_a_network_cannot_be_changed(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("sleep 0.1 0.2\nnight 0.3 0.1\n", "utf-8")
    with refused("symptoms.not-a-transformer"):
        train_bank_reader(BankRecipe(start=f"vectors:{vectors}"), tmp_path / "out")


def test_padding_is_never_the_token_that_decides() -> None:
    states = torch.tensor([[[1.0, 0.0], [0.0, 9.0]]])
    layer = {
        "mean.weight": torch.zeros(2, 2),
        "mean.bias": torch.zeros(2),
        "token.weight": torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
        "token.bias": torch.zeros(2),
    }
    # Tokens are scaled by 5; the second one is padding in the first case.
    assert read_tokens(states, torch.tensor([[1, 0]]), layer).tolist() == [[5.0, 0.0]]
    assert read_tokens(states, torch.tensor([[1, 1]]), layer).tolist() == [[5.0, 45.0]]


def test_distinct_sentences_of_posts_are_drawn_by_the_seed() -> None:
    posts = ["I walk. I run.", "I run. I swim."]
    assert sorted(sentences_to_learn(posts, 10, seed=0)) == ["I run.", "I swim.", "I walk."]
    assert len(sentences_to_learn(posts, 2, seed=0)) == 2
    assert sentences_to_learn(posts, 2, seed=0) == sentences_to_learn(posts, 2, seed=0)
