"""Vectors are computed once, stored by encoder and text or span, and survive a kill."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from psycheck.core.arrays import FloatArray
from psycheck.core.model import Capabilities
from psycheck.scoring.store import Store
from psycheck.scoring.vectors import _COMMITTED as VECTORS
from psycheck.scoring.vectors import encode_once
from refusals import refused


class Counting:
    """Gives each text its length; counts what it encodes, and is stopped after so many texts."""

    def __init__(self, fingerprint: str = "a", stop: int | None = None, third: float = 1 / 3) -> None:
        self.name, self.fingerprint = "counting", fingerprint
        self.stop, self.third = stop, third
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        if self.stop is not None and len(self.encoded) >= self.stop:
            raise KeyboardInterrupt
        self.encoded += texts
        return np.array([[len(text), self.third] for text in texts])

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        return self.encode([text[a:b] for text, (a, b) in zip(texts, spans, strict=True)])


def test_each_distinct_text_is_encoded_once() -> None:
    encoder = Counting()
    found = encode_once(encoder, ["she", "he was", "she"])
    assert encoder.encoded == ["he was", "she"]
    assert found.tolist() == [[3, 1 / 3], [6, 1 / 3], [3, 1 / 3]]
    again = Counting()
    assert encode_once(again, ["he was", "new", "she"])[:, 0].tolist() == [6, 3, 3]
    assert again.encoded == ["new"]


def test_stored_vectors_are_the_same_to_the_last_bit(own_store: Path) -> None:
    texts = [f"text {i}" for i in range(100)]
    for third, bytes_each in ((1 / 3, 8), (0.25, 4)):  # a third needs 64 bits, a quarter does not
        encoder = Counting(str(third), third=third)
        first, second = encode_once(encoder, texts), encode_once(encoder, texts)
        np.testing.assert_array_equal(first, second)
        assert first[0, 1] == third
        store = Store(own_store)
        number = store.enter_encoder(encoder)
        lengths = store._db.execute("SELECT sum(length(vectors)) FROM vectors WHERE encoder = ?", (number,))
        assert lengths.fetchone() == (100 * 2 * bytes_each,)


def test_nan_stays_nan() -> None:
    encoder = Counting(third=np.nan)
    encode_once(encoder, ["she"])
    assert np.isnan(encode_once(encoder, ["she"])[0, 1])
    assert encoder.encoded == ["she"]


def test_the_same_text_has_another_vector_for_each_span_and_as_a_whole() -> None:
    encoder = Counting()
    spans = [(0, 3), (4, 5), (0, 3)]
    found = encode_once(encoder, ["she slept"] * 3, spans)
    assert found[:, 0].tolist() == [3, 1, 3]
    assert sorted(encoder.encoded) == ["s", "she"]
    assert encode_once(encoder, ["she slept", "0:3:she slept"])[:, 0].tolist() == [9, 13]
    assert encode_once(encoder, ["she slept"], [(4, 9)])[0, 0] == 5
    assert len(encoder.encoded) == 5


def test_another_encoder_has_other_vectors() -> None:
    encode_once(Counting("a"), ["she"])
    other = Counting("b")
    encode_once(other, ["she"])
    assert other.encoded == ["she"]


def test_a_stopped_run_resumes_where_it_stopped() -> None:
    texts = [f"text number {i}" for i in range(2 * VECTORS)]
    with pytest.raises(KeyboardInterrupt):
        encode_once(Counting(stop=VECTORS), texts)
    rest = Counting()
    assert len(encode_once(rest, texts)) == 2 * VECTORS
    assert len(rest.encoded) == VECTORS


def test_an_encoder_gets_whole_batches_of_its_own_longest_first() -> None:
    class Batched(Counting):
        capabilities = Capabilities(batch=24)

        def encode(self, texts: Sequence[str], /) -> FloatArray:
            sizes.append(len(texts))
            return super().encode(texts)

    sizes: list[int] = []
    encoder = Batched()
    encode_once(encoder, [f"{i:0{1 + i % 7}d}" for i in range(100)])
    assert sizes == [48, 48, 4]
    assert encoder.encoded == sorted(encoder.encoded, key=len, reverse=True)


def test_many_texts_at_once_are_encoded_but_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psycheck.scoring.vectors.MOST_KEPT", 2)
    encoder = Counting()
    for _ in range(2):
        assert len(encode_once(encoder, ["a", "b", "c"])) == 3
    assert len(encoder.encoded) == 6


def test_a_wrong_shape_is_one_clear_error() -> None:
    encoder = Counting()
    encoder.encode = lambda texts: np.zeros(3)  # type: ignore[method-assign]  # the answer is what is tested
    with refused("encoder.wrong-shape", allowed="(1, d)") as caught:
        encode_once(encoder, ["she"])
    assert "(3,)" in caught.value.what


def test_the_file_holds_no_text(tmp_path: Path) -> None:
    encode_once(Counting(), ["a telling sentence"], store=tmp_path / "v.sqlite")
    assert all(b"telling" not in path.read_bytes() for path in tmp_path.glob("v.sqlite*"))


def test_a_damaged_file_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "v.sqlite").write_bytes(b"no database" * 100)
    with refused("store.foreign", where="v.sqlite"):
        encode_once(Counting(), ["she"], store=tmp_path / "v.sqlite")


def test_the_store_lists_encoders_apart_from_models(own_store: Path) -> None:
    encode_once(Counting(), ["she", "he"])
    encode_once(Counting(), ["she"], [(0, 1)])
    store = Store(own_store)
    assert [(known.name, known.fingerprint, known.items) for known in store.encoders()] == [
        ("counting", "a", 2),
        ("counting", "a spans", 1),
    ]
    assert store.models() == []
