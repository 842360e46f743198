"""Exported models give what the originals give."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from skl2onnx import to_onnx
from skl2onnx.common.data_types import StringTensorType
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from psycheck.core.model import Windowed, capabilities_of
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
STATES = ["depressed" if low else "control" for low in LOW]


def fitted(target: Any) -> Any:
    return make_pipeline(TfidfVectorizer(token_pattern="[a-z]+"), LogisticRegression()).fit(TEXTS, target)


def exported(pipeline: Any, file: Path, *, zipmap: bool = True) -> Path:
    """The pipeline in a file, as its user would export it where the locale en_US is not installed."""
    options = {TfidfVectorizer: {"locale": "C"}, LogisticRegression: {"zipmap": zipmap}}
    model = to_onnx(pipeline, initial_types=[("text", StringTensorType([None, 1]))], options=options)
    file.write_bytes(model.SerializeToString())
    return file


class Logits(torch.nn.Module):
    """What is exported of a classifier: tokens in, logits out."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.network(input_ids=input_ids, attention_mask=attention_mask).logits
        return logits


@pytest.fixture(scope="module")
def transformer(save_model: SaveModel) -> Path:
    """A folder with a tiny classifier, its tokenizer and its export."""
    folder = save_model("bert", num_labels=2, id2label={0: "control", 1: "depressed"})
    network = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokens = transformers.AutoTokenizer.from_pretrained(folder)(LINES[:2], padding=True, return_tensors="pt")
    names = ["input_ids", "attention_mask"]
    torch.onnx.export(
        Logits(network),
        tuple(tokens[name] for name in names),
        str(folder / "model.onnx"),
        input_names=names,
        output_names=["logits"],
        dynamic_axes={name: {0: "batch", 1: "length"} for name in names},
        dynamo=False,
    )
    return folder


def test_a_pipeline_of_raw_texts(tmp_path: Path) -> None:
    pipeline = fitted(STATES)
    model = open_model(exported(pipeline, tmp_path / "low.onnx"))
    assert (model.name, model.labels) == ("low", ("depressed",))
    np.testing.assert_allclose(model.score(TEXTS), pipeline.predict_proba(TEXTS)[:, 1:], atol=1e-6)
    guess = "Guessed that class 'depressed' is 1 and 'control' is 0 (?positive=NAME)."
    assert capabilities_of(model).notes == (guess,)


def test_numbered_classes_without_names(tmp_path: Path) -> None:
    pipeline = fitted(LOW)
    file = exported(pipeline, tmp_path / "low.onnx", zipmap=False)
    model = open_model(f"onnx:{file}?label=depression")
    assert model.labels == ("depression",)
    np.testing.assert_allclose(model.score(TEXTS), pipeline.predict_proba(TEXTS)[:, 1:], atol=1e-6)


def test_classes_whose_names_are_lost_need_the_positive_one(tmp_path: Path) -> None:
    pipeline = fitted(STATES)
    file = exported(pipeline, tmp_path / "low.onnx", zipmap=False)
    with refused("model.positive-class-unclear"):
        open_model(file)
    control = open_model(f"onnx:{file}?positive=0&label=control")
    np.testing.assert_allclose(control.score(TEXTS), pipeline.predict_proba(TEXTS)[:, :1], atol=1e-6)


def test_a_transformer_beside_its_tokenizer(transformer: Path) -> None:
    original = open_model(f"hf:{transformer}")
    model = open_model(f"onnx:{transformer}")
    assert (model.name, model.labels) == (transformer.name, ("depressed",))
    np.testing.assert_allclose(model.score(LINES), original.score(LINES), atol=1e-5)


def test_a_transformer_says_how_much_it_reads(transformer: Path) -> None:
    original = open_model(f"hf:{transformer}?max_length=8")
    model = open_model(f"onnx:{transformer}?max_length=8")
    assert isinstance(original, Windowed)
    assert isinstance(model, Windowed)
    assert model.read(LINES).tolist() == original.read(LINES).tolist()
    assert model.read(LINES)[0] < len(LINES[0])


def test_other_weights_are_another_model(tmp_path: Path) -> None:
    first = open_model(exported(fitted(LOW), tmp_path / "a.onnx"))
    again = open_model(exported(fitted(LOW), tmp_path / "b.onnx"))
    other = open_model(exported(fitted(LOW[::-1]), tmp_path / "c.onnx"))
    assert first.fingerprint == again.fingerprint != other.fingerprint


def test_what_is_no_model_of_texts_is_refused(tmp_path: Path) -> None:
    with refused("model.file-not-there"):
        open_model(f"onnx:{tmp_path / 'none.onnx'}")
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"not a model")
    with refused("onnx.cannot-open"):
        open_model(broken)

    numbers = LogisticRegression().fit(np.eye(4, dtype=np.float32), [0, 1, 0, 1])
    file = tmp_path / "numbers.onnx"
    file.write_bytes(to_onnx(numbers, np.eye(4, dtype=np.float32)).SerializeToString())
    with refused("onnx.other-inputs"):
        open_model(file)
