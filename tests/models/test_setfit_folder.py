"""Folders as SetFit 1.2 writes them: a body of sentence-transformers, and a head of scikit-learn."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression

from psycheck.core.errors import PsycheckWarning
from psycheck.models.hf import open_hf_encoder
from psycheck.models.hf_folder import HfOptions
from psycheck.models.opening import open_model
from refusals import refused

LINES = [
    "I feel tired all day and I cannot sleep at night.",
    "We went to the park with the children, it was sunny and warm.",
    "She says that nothing matters any more; her friends are worried.",
    "They're planning a trip to the mountains next summer!",
    "My appetite is gone, I haven't eaten since Monday…",
    "Der Zug fährt über die Brücke, naïve café.",
] * 3
SaveModel = Callable[..., Path]  # the fixture `save_model`
LOW = [1, 0, 1, 0, 1, 0] * 3


@pytest.fixture(scope="module")
def vectors(save_model: SaveModel) -> Any:
    """The folder of a tiny body, and its vectors of the lines."""
    body = save_model("bert", num_labels=2)
    return body, open_hf_encoder(str(body), HfOptions()).pooled(LINES)


def written(folder: Path, head: Any, **settings: Any) -> Path:
    """What `SetFitModel.save_pretrained` adds to the folder of the body."""
    content = {"labels": None, "normalize_embeddings": False} | settings
    (folder / "config_setfit.json").write_text(json.dumps(content), "utf-8")
    (folder / "model_head.skops").unlink(missing_ok=True)
    joblib.dump(head, folder / "model_head.pkl")
    return folder


def test_a_pickled_head_is_opened_only_with_leave(vectors: Any) -> None:
    body, encoded = vectors
    head = LogisticRegression().fit(encoded, LOW)
    folder = written(body, head, labels=["control", "depressed"])
    with refused("model.pickle-not-trusted"):
        open_model(folder)
    with pytest.warns(PsycheckWarning, match="pickle"):
        model = open_model(f"{folder}?trust_pickle=yes")
    assert model.labels == ("depressed",)
    np.testing.assert_allclose(model.score(LINES), head.predict_proba(encoded)[:, 1:], atol=1e-6)


def test_a_head_saved_with_skops_needs_no_leave(vectors: Any) -> None:
    body, encoded = vectors
    head = LogisticRegression().fit(encoded, LOW)
    folder = written(body, head)
    skops.io.dump(head, folder / "model_head.skops")
    model = open_model(f"setfit:{folder}?label=depression")
    np.testing.assert_allclose(model.score(LINES), head.predict_proba(encoded)[:, 1:], atol=1e-6)


def test_vectors_of_length_1_where_the_settings_say_so(vectors: Any) -> None:
    body, encoded = vectors
    unit = encoded / np.linalg.norm(encoded, axis=1, keepdims=True)
    head = LogisticRegression().fit(unit, LOW)
    folder = written(body, head, normalize_embeddings=True)
    skops.io.dump(head, folder / "model_head.skops")
    np.testing.assert_allclose(open_model(folder).score(LINES), head.predict_proba(unit)[:, 1:], atol=1e-6)


def test_a_folder_without_a_head_is_refused(vectors: Any, tmp_path: Path) -> None:
    (tmp_path / "config_setfit.json").write_text("{}", "utf-8")
    with refused("model.setfit-without-head"):
        open_model(tmp_path)
    with refused("model.not-setfit"):
        open_model(f"setfit:{tmp_path / 'none'}")
