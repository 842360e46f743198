"""Models of other libraries as people hold them in memory."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline

from psycheck.models.opening import open_model
from refusals import refused

TEXTS = ["grey and empty", "sunny and warm", "empty again", "warm bread"]
MARKS = [1, 0, 1, 0]
SENTENCES = ["I feel tired all day", "We went to the park", "She says that nothing matters"]


def fitted(labels: Any = MARKS) -> Pipeline:
    pipeline: Pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, labels)
    return pipeline


def test_a_pipeline_of_scikit_learn_scores_its_positive_class() -> None:
    pipeline = fitted()
    model = open_model(pipeline)
    np.testing.assert_allclose(model.score(TEXTS)[:, 0], pipeline.predict_proba(TEXTS)[:, 1])
    assert (model.name, model.labels) == ("Pipeline", ("positive",))


def test_predict_proba_is_its_pipeline() -> None:
    pipeline = fitted()
    assert open_model(pipeline.predict_proba).fingerprint == open_model(pipeline).fingerprint


def test_classes_that_are_words_need_a_positive_one_or_a_negative_name() -> None:
    by_name = open_model(fitted(["low", "high", "low", "high"]), positive="low")
    assert by_name.labels == ("low",)
    with refused("model.positive-class-unclear", do="positive=high"):
        open_model(fitted(["low", "high", "low", "high"]))
    assert open_model(fitted(["low", "control", "low", "control"])).labels == ("low",)


def test_a_pipeline_is_known_by_what_it_has_learned() -> None:
    first = open_model(fitted()).fingerprint
    assert open_model(fitted()).fingerprint == first
    assert open_model(fitted([0, 1, 1, 0])).fingerprint != first


def test_the_fingerprint_of_a_pipeline_is_the_same_in_another_process(tmp_path: Path) -> None:
    code = (
        "from sklearn.feature_extraction.text import TfidfVectorizer\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from sklearn.pipeline import make_pipeline\n"
        "from psycheck.models.opening import open_model\n"
        f"pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit({TEXTS!r}, {MARKS!r})\n"
        "print(open_model(pipeline).fingerprint)\n"
    )
    marks = [subprocess.check_output([sys.executable, "-c", code], text=True).strip() for _ in range(2)]
    assert marks == [open_model(fitted()).fingerprint] * 2


def test_several_binary_outputs_are_several_labels() -> None:
    marks = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    several = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(LogisticRegression())).fit(TEXTS, marks)
    assert open_model(several, label="depression,joy").score(TEXTS).shape == (4, 2)


def test_a_transformers_pipeline_scores_as_its_folder(tiny_bert: Path) -> None:
    held = open_model(transformers.pipeline("text-classification", str(tiny_bert), device="cpu"))
    folder = open_model(f"hf:{tiny_bert}")
    np.testing.assert_allclose(held.score(SENTENCES), folder.score(SENTENCES), atol=1e-6)


def test_a_network_comes_with_its_tokenizer_or_finds_it(tiny_bert: Path) -> None:
    network = transformers.AutoModelForSequenceClassification.from_pretrained(tiny_bert)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_bert)
    expected = open_model(f"hf:{tiny_bert}").score(SENTENCES)
    np.testing.assert_allclose(open_model(network).score(SENTENCES), expected, atol=1e-6)
    np.testing.assert_allclose(open_model((network, tokenizer)).score(SENTENCES), expected, atol=1e-6)


def test_a_network_without_a_tokenizer_is_refused(save_model: Callable[..., Path]) -> None:
    network = transformers.AutoModelForSequenceClassification.from_pretrained(save_model("bert", seed=3))
    network.config._name_or_path = "nowhere"
    with refused("model.network-without-tokenizer", do="(model, tokenizer)"):
        open_model(network)


def test_other_weights_are_another_model(save_model: Callable[..., Path]) -> None:
    folders = [save_model("bert", seed=seed) for seed in (1, 2)]
    marks = {open_model(transformers.pipeline("text-classification", str(f))).fingerprint for f in folders}
    assert len(marks) == 2


class Lengths(torch.nn.Module):
    """A network from texts to outputs that grow with their lengths."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.Linear(1, outputs)
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, texts: list[str]) -> torch.Tensor:
        lengths = torch.tensor([[len(text) / 10] for text in texts])
        outputs: torch.Tensor = self.dropout(self.layer(lengths)) * 3
        return outputs


def test_a_torch_network_is_called_in_evaluation_mode_and_its_logits_become_probabilities() -> None:
    network = Lengths(2)
    model = open_model(network.train())
    weights, bias = network.layer.weight.detach().double(), network.layer.bias.detach().double()
    lengths = torch.tensor([[len(text) / 10] for text in TEXTS], dtype=torch.double)
    logits = (lengths @ weights.T + bias) * 3
    np.testing.assert_allclose(model.score(TEXTS)[:, 0], logits.softmax(-1)[:, 1].numpy(), atol=1e-6)


def test_a_torch_network_is_known_by_its_weights() -> None:
    first = open_model(Lengths(1)).fingerprint
    assert open_model(Lengths(1)).fingerprint == first
    changed = Lengths(1)
    torch.nn.init.constant_(changed.layer.weight, 2.0)
    assert open_model(changed).fingerprint != first


def of_one(text: str) -> float:
    return len(text) / 100


def of_one_without_annotation(x):  # type: ignore[no-untyped-def]
    return len(x.lower()) / 100


def of_several(texts: list[str]) -> list[float]:
    return [len(text) / 100 for text in texts]


async def later(text: str) -> float:
    await asyncio.sleep(0)
    return len(text) / 100


async def several_later(texts: list[str]) -> list[float]:
    await asyncio.sleep(0)
    return [len(text) / 100 for text in texts]


@pytest.mark.parametrize(
    "function",
    [of_one, of_one_without_annotation, lambda x: len(x) / 100, of_several, later, several_later],
)
def test_functions_are_called_as_they_want_to_be(function: Any) -> None:
    assert open_model(function).score(TEXTS)[:, 0].tolist() == [len(text) / 100 for text in TEXTS]


def test_an_async_function_is_called_where_a_loop_is_running() -> None:
    async def in_a_notebook() -> Any:
        return open_model(later).score(TEXTS)

    assert asyncio.run(in_a_notebook())[0, 0] == len(TEXTS[0]) / 100


def test_a_dictionary_names_the_labels() -> None:
    model = open_model(lambda text: {"depression": 0.75, "anxiety": 0.5})
    assert model.labels == ("depression", "anxiety")
    assert model.score(["a"]).tolist() == [[0.75, 0.5]]


def test_two_exclusive_classes_by_name_are_one_label() -> None:
    model = open_model(lambda text: {"control": 0.25, "depressed": 0.75})
    assert (model.labels, model.score(["a"]).tolist()) == (("depressed",), [[0.75]])


def test_all_classes_of_a_pipeline_reply_are_read_by_name() -> None:
    def reply(texts: list[str]) -> Any:
        # With top_k=None the classes are sorted by their scores, another order for each text.
        flipped = [{"label": "NEG", "score": 0.75}, {"label": "POS", "score": 0.25}]
        first = [{"label": "POS", "score": 0.75}, {"label": "NEG", "score": 0.25}]
        return [first if "sunny" in text else flipped for text in texts]

    assert open_model(reply).score(["sunny", "grey"])[:, 0].tolist() == [0.75, 0.25]


def test_a_function_that_fails_fails_when_it_scores() -> None:
    def broken(text: str) -> float:
        raise TypeError("no")

    model = open_model(broken)
    with pytest.raises(TypeError):
        model.score(["a"])


def test_an_unknown_kind_is_told_how_it_is_done() -> None:
    with refused("model.not-callable", do="python:FILE.py:FUNCTION"):
        open_model(object())  # type: ignore[arg-type]  # the type checker finds it, too
