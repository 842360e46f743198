import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from psycheck.core.corpus import Corpus
from psycheck.core.errors import ModelFailure
from psycheck.core.model import Model
from psycheck.models.opening import open_encoder
from psycheck.symptoms.frozen_model import FrozenOptions, open_frozen
from psycheck.training.fit import train
from psycheck.training.recipe import Recipe

Tiny = Callable[[str], str]


def test_the_folder_scores_as_encoder_and_regression_do(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    recipe = Recipe(start=f"encoder+lr:{tiny('bert')}", max_length=16)
    trained = train(corpus, recipe, tmp_path / "model")
    assert trained.spec == f"frozen:{tmp_path / 'model'}"
    model = open_frozen(str(tmp_path / "model"), FrozenOptions())
    assert isinstance(model, Model)
    assert (model.name, model.labels) == ("model", ("low",))
    encoder = open_encoder(f"hf:{tiny('bert')}", max_length=16)
    part, test = corpus.part("train"), corpus.part("test")
    strength = min(trained.curve, key=lambda point: point["loss"])["C"]
    theirs = LogisticRegression(C=strength, max_iter=2_000).fit(
        encoder.encode(part.texts), part.targets()[:, 0]
    )
    expected = theirs.predict_proba(encoder.encode(test.texts))[:, 1]
    np.testing.assert_allclose(model.score(test.texts)[:, 0], expected, rtol=1e-5)
    assert trained.test["brier"] == pytest.approx(((expected - test.targets()[:, 0]) ** 2).mean())


def test_it_says_how_far_it_reads(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    train(corpus, Recipe(start=f"encoder+lr:{tiny('bert')}", max_length=8), tmp_path / "model")
    model = open_frozen(str(tmp_path / "model"), FrozenOptions())
    # 8 tokens hold six words between the two special ones.
    assert list(model.read(["i feel", "i feel very tired again and again"])) == [6, 27]


def test_another_encoder_is_refused(tiny: Tiny, corpus: Corpus, tmp_path: Path) -> None:
    train(corpus, Recipe(start=f"encoder+lr:{tiny('bert')}", max_length=16), tmp_path / "model")
    path = tmp_path / "model" / "frozen.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"encoder": tiny("roberta")}))
    with pytest.raises(ModelFailure, match="not the one"):
        open_frozen(str(tmp_path / "model"), FrozenOptions())
    with pytest.raises(ModelFailure, match="not hold a frozen model"):
        open_frozen(tiny("bert"), FrozenOptions())
