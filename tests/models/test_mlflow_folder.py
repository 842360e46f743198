"""Folders as MLflow 3.17 writes them; psycheck reads them without MLflow wherever they hold no code."""

import pickle
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from skl2onnx import to_onnx
from skl2onnx.common.data_types import StringTensorType
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from psycheck.core.errors import PsycheckWarning
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
TEXTS = ["tired and sad", "sunny day", "cannot sleep", "warm park"] * 3
LOW = [1, 0, 1, 0] * 3
PYTHON = "  python_function:\n    loader_module: mlflow.{module}\n    python_version: 3.11.7\n"


def described(folder: Path, flavour: str, **settings: str) -> Path:
    """The folder with its description, in which the flavour of Python always stands, too."""
    lines = [f"    {key}: {value}\n" for key, value in settings.items()]
    own = f"  {flavour}:\n    code: null\n{''.join(lines)}" if flavour else ""
    text = f"flavors:\n{PYTHON.format(module=flavour or 'pyfunc.model')}{own}mlflow_version: 3.17.2\n"
    folder.mkdir(exist_ok=True)
    (folder / "MLmodel").write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def pipeline() -> Any:
    return make_pipeline(TfidfVectorizer(token_pattern="[a-z]+"), LogisticRegression()).fit(TEXTS, LOW)


def test_scikit_learn_saved_by_skops(pipeline: Any, tmp_path: Path) -> None:
    folder = described(tmp_path / "low", "sklearn", pickled_model="model.skops")
    skops.io.dump(pipeline, folder / "model.skops")
    model = open_model(folder)
    assert model.name == "low"
    np.testing.assert_allclose(model.score(TEXTS), pipeline.predict_proba(TEXTS)[:, 1:])


def test_scikit_learn_saved_as_a_pickle(pipeline: Any, tmp_path: Path) -> None:
    folder = described(tmp_path / "low", "sklearn", pickled_model="model.pkl")
    (folder / "model.pkl").write_bytes(pickle.dumps(pipeline))
    with refused("model.pickle-not-trusted"):
        open_model(folder)
    with pytest.warns(PsycheckWarning, match="pickle"):
        model = open_model(f"mlflow:{folder}?trust_pickle=yes&label=depression")
    np.testing.assert_allclose(model.score(TEXTS), pipeline.predict_proba(TEXTS)[:, 1:])


def test_a_transformer_with_its_tokenizer_apart(save_model: SaveModel, tmp_path: Path) -> None:
    original = save_model("bert", num_labels=2)
    folder = described(tmp_path / "low", "transformers", model_binary="model", task="text-classification")
    shutil.copytree(original, folder / "model", ignore=shutil.ignore_patterns("tokenizer*", "vocab*"))
    tokenizer = folder / "components" / "tokenizer"
    shutil.copytree(original, tokenizer, ignore=shutil.ignore_patterns("*.safetensors"))
    (tokenizer / "config.json").unlink()
    model = open_model(f"{folder}?label=depression")
    assert (model.name, model.labels) == ("low", ("depression",))
    np.testing.assert_array_equal(model.score(LINES), open_model(original).score(LINES))


def test_an_exported_model(pipeline: Any, tmp_path: Path) -> None:
    folder = described(tmp_path / "low", "onnx", data="model.onnx")
    options = {TfidfVectorizer: {"locale": "C"}}
    exported = to_onnx(pipeline, initial_types=[("text", StringTensorType([None, 1]))], options=options)
    (folder / "model.onnx").write_bytes(exported.SerializeToString())
    np.testing.assert_allclose(
        open_model(folder).score(TEXTS), pipeline.predict_proba(TEXTS)[:, 1:], atol=1e-6
    )


def test_python_code_is_run_only_with_leave(tmp_path: Path) -> None:
    folder = described(tmp_path / "own", "")
    (folder / "python_model.pkl").write_bytes(b"never opened")
    with refused("model.pickle-not-trusted"):
        open_model(folder)
    # MLflow is not among our dependencies; with it, what is not a model cannot be opened.
    code = "model.mlflow-cannot-open" if find_spec("mlflow") else "model.no-mlflow"
    with refused(code):
        open_model(f"{folder}?trust_pickle=yes")


def test_descriptions_that_lead_nowhere_or_outside(tmp_path: Path) -> None:
    outside = tmp_path / "secret.skops"
    outside.write_bytes(b"")
    with refused("model.mlflow-incomplete"):
        open_model(described(tmp_path / "a", "sklearn", pickled_model="../secret.skops"))
    with refused("model.mlflow-incomplete"):
        open_model(described(tmp_path / "b", "onnx"))
    (tmp_path / "b" / "MLmodel").write_text("- no mapping", "utf-8")
    with refused("model.bad-mlmodel"):
        open_model(tmp_path / "b")
    with refused("model.not-mlflow"):
        open_model(f"mlflow:{tmp_path / 'none'}")
