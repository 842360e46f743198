"""Vectors are made once, remembered by encoder and text, and survive a kill."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from psycheck.errors import StoreFailure
from psycheck.experiments.arrays import BATCH, vectors_of
from psycheck.model import FloatArray


class Counting:
    """Gives each text its length; counts what it encodes, and fails after so many texts if told to."""

    def __init__(self, fingerprint: str = "a", stop: int | None = None) -> None:
        self.name, self.fingerprint = "counting", fingerprint
        self.stop = stop
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        if self.stop is not None and len(self.encoded) >= self.stop:
            raise KeyboardInterrupt
        self.encoded += texts
        return np.array([[len(text), 1 / 3] for text in texts])

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        return self.encode([text[a:b] for text, (a, b) in zip(texts, spans, strict=True)])


def test_each_distinct_text_is_encoded_once(tmp_path: Path) -> None:
    encoder = Counting()
    found = vectors_of(encoder, ["she", "he was", "she"], tmp_path / "v.sqlite")
    assert sorted(encoder.encoded) == ["he was", "she"]
    assert found["he was"].tolist() == [6, pytest.approx(1 / 3)]
    again = Counting()
    same = vectors_of(again, ["he was", "she", "new"], tmp_path / "v.sqlite")
    assert again.encoded == ["new"]
    assert np.array_equal(same["she"], found["she"])


def test_another_encoder_has_other_vectors(tmp_path: Path) -> None:
    vectors_of(Counting("a"), ["she"], tmp_path / "v.sqlite")
    other = Counting("b")
    vectors_of(other, ["she"], tmp_path / "v.sqlite")
    assert other.encoded == ["she"]


def test_a_stopped_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    texts = [f"text number {i}" for i in range(2 * BATCH)]
    with pytest.raises(KeyboardInterrupt):
        vectors_of(Counting(stop=BATCH), texts, tmp_path / "v.sqlite")
    rest = Counting()
    assert len(vectors_of(rest, texts, tmp_path / "v.sqlite")) == 2 * BATCH
    assert len(rest.encoded) == BATCH


def test_the_file_holds_no_text(tmp_path: Path) -> None:
    vectors_of(Counting(), ["a telling sentence"], tmp_path / "v.sqlite")
    assert all(b"telling" not in path.read_bytes() for path in tmp_path.iterdir())


def test_a_damaged_file_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "v.sqlite").write_bytes(b"no database" * 100)
    with pytest.raises(StoreFailure, match="cannot be remembered"):
        vectors_of(Counting(), ["she"], tmp_path / "v.sqlite")
