"""Pipelines of spaCy, trained here from nothing; without spaCy only its absence can be tested."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psycheck.core.model import capabilities_of
from psycheck.models.opening import open_model
from refusals import refused

TEXTS = ["tired and sad", "sunny day", "cannot sleep", "warm park"]
LOW = [1, 0, 1, 0]


def trained(component: str, **categories: list[int]) -> Any:
    """A pipeline that has learned its categories by heart."""
    spacy = pytest.importorskip("spacy")
    from spacy.training import Example

    nlp = spacy.blank("en")
    categoriser = nlp.add_pipe(component)
    for category in categories:
        categoriser.add_label(category)
    examples = []
    for row, text in enumerate(TEXTS):
        cats = {category: values[row] for category, values in categories.items()}
        examples.append(Example.from_dict(nlp.make_doc(text), {"cats": cats}))
    nlp.initialize(lambda: examples)
    for _ in range(20):
        nlp.update(examples)
    return nlp


def test_categories_that_exclude_each_other(tmp_path: Path) -> None:
    nlp = trained("textcat", depression=LOW, control=[1 - low for low in LOW])
    nlp.to_disk(tmp_path / "low")
    model = open_model(tmp_path / "low")
    assert (model.name, model.labels) == ("low", ("depression",))
    scores = model.score(TEXTS)
    np.testing.assert_allclose(scores[:, 0], [nlp(text).cats["depression"] for text in TEXTS], atol=1e-6)
    assert (scores[:, 0] > 0.5).tolist() == [True, False, True, False]


def test_independent_categories(tmp_path: Path) -> None:
    nlp = trained("textcat_multilabel", depression=LOW, anxiety=[1, 0, 0, 0])
    nlp.to_disk(tmp_path / "both")
    model = open_model(f"spacy:{tmp_path / 'both'}")
    assert model.labels == ("depression", "anxiety")
    assert not capabilities_of(model).exclusive
    assert model.score(TEXTS).shape == (4, 2)


def test_a_pipeline_that_classifies_nothing(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "sentences")
    with refused("model.spacy-without-textcat"):
        open_model(tmp_path / "sentences")


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    code = "model.spacy-cannot-open" if find_spec("spacy") else "model.no-spacy"
    with refused(code):
        open_model(f"spacy:{tmp_path / 'none'}")
