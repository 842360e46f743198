"""The output layer of a fine-tuned encoder starts from logistic regressions on what it reads."""

from collections.abc import Callable, Sequence
from itertools import compress
from pathlib import Path

import numpy as np
import pytest
import torch

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.corpora.opening import open_corpus
from psycheck.models.hf_folder import load_tokenizer
from psycheck.models.opening import open_model
from psycheck.scoring.answers import scores_of
from psycheck.training.dev_figures import figures
from psycheck.training.finetune import _collator
from psycheck.training.fit import fit
from psycheck.training.linear import fit_heads
from psycheck.training.losses import log_chances
from psycheck.training.output_layer import open_classifier, read_by_outputs, start_outputs
from psycheck.training.parts import Part, Parts
from psycheck.training.recipe import PLAIN, Recipe, preset

Tiny = Callable[[str], str]
KINDS = ("bert", "roberta", "albert", "xlnet", "longformer")
STILL = 1e-30  # a learning rate at which nothing is learned


def parts(labels: Sequence[str], read: FloatArray) -> Parts:
    """Annotations that depend on the first numbers that are read."""
    marks = (read[:, : len(labels)] > 0).astype(float)
    part = Part([str(k) for k in range(len(read))], marks)
    return Parts("made", "made", tuple(labels), part, part, 0)


@pytest.mark.parametrize("labels", [("low",), ("low", "tired")])
def test_the_outputs_give_the_chances_of_the_regressions(tiny: Tiny, labels: tuple[str, ...]) -> None:
    # Numbers far from 0 and of very different size, as layers have them.
    read = np.random.default_rng(3).normal(size=(60, 16))
    moved = 5 + read * np.geomspace(0.1, 10, 16)
    made = parts(labels, read)
    model = open_classifier(Path(tiny("bert")), labels)
    start_outputs(model, moved, moved, made, Recipe())
    with torch.no_grad():
        found = log_chances(model.double().classifier(torch.from_numpy(moved)), len(labels))[0].exp().numpy()
    scaled = (moved - moved.mean(axis=0)) / moved.std(axis=0) / 4  # the root of 16 numbers
    wanted = fit_heads(scaled, scaled, made, Recipe()).models
    chances = np.column_stack([head.predict_proba(scaled)[:, 1] for head in wanted])
    np.testing.assert_allclose(found, chances, atol=1e-4)
    assert ((found > 0.5) == (made.train.targets == 1)).mean() > 0.95


def test_what_the_outputs_read_is_in_the_order_of_the_texts(tiny: Tiny) -> None:
    folder = Path(tiny("bert"))
    model, tokenizer = open_classifier(folder, ["low"]).eval(), load_tokenizer(folder, PLAIN)
    texts = ["i feel hopeless and very tired again today", "dinner", "we had a sunny day"]
    items = [{**tokenizer(text), "labels": [0.0]} for text in texts]
    found = read_by_outputs(model, items, _collator(tokenizer, Recipe(), 32))
    with torch.no_grad():
        alone = [
            model.bert(**tokenizer(text, return_tensors="pt")).pooler_output[0].numpy() for text in texts
        ]
    np.testing.assert_allclose(found, alone, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_every_architecture_starts_as_a_classifier(
    tiny: Tiny, corpus: Corpus, tmp_path: Path, kind: str
) -> None:
    recipe = Recipe(start=tiny(kind), epochs=1, learning_rate=STILL, max_length=16)
    random, probed = (
        fit(corpus, recipe.with_(probe=probe), tmp_path / str(probe)).dev["loss"] for probe in (False, True)
    )
    assert probed < 0.5 < 0.6 < random


def test_a_second_task_keeps_its_own_outputs(tiny: Tiny) -> None:
    model = open_classifier(Path(tiny("bert")), ["low"], 0, ["a", "b"])
    before = model.classifier.weight.detach().clone()
    read = np.random.default_rng(3).normal(size=(60, 16))
    start_outputs(model, read, read, parts(["low"], read), Recipe())
    assert torch.equal(model.classifier.weight[2:], before[2:])
    assert not torch.equal(model.classifier.weight[:2], before[:2])


def test_the_default_recipe_learns_symptoms_from_few_sentences(tmp_path: Path) -> None:
    corpus = open_corpus("demo:sentences")
    some = corpus.only([name in ("ocd", "ptsd") for name in corpus.group("disease")])
    splits = [some.part(name).targets() for name in ("train", "dev", "test")]
    known = [np.minimum(np.nansum(one, axis=0), np.nansum(1 - one, axis=0)) > 0 for one in splits]
    labels = tuple(compress(some.labels, np.all(known, axis=0).tolist()))
    trained = fit(some, preset("symptoms", labels=labels, epochs=1), tmp_path / "model")
    test = some.part("test")
    found = figures(test.targets(labels), scores_of(open_model(trained.spec), test.texts), labels)
    # With a random output layer an epoch of so few sentences ends at an AUC of about 0.5.
    assert found["auc"] > 0.75
