"""Pairs that cannot flip: which they are, and the reason that holds."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from psycheck.core.arrays import FloatArray, IntArray
from psycheck.core.corpus import Corpus
from psycheck.core.model import Capabilities
from psycheck.models.hf import HfEncoder
from psycheck.models.opening import open_model
from psycheck.studies.gender_classifiers import (
    NOT_KNOWN,
    NOT_LEARNED,
    NOT_PARTED,
    WINDOW,
    not_read,
    same_vectors,
    why_same,
    why_same_to,
)
from psycheck.studies.gender_rows import Decided, unseen_notes
from psycheck.training.fit import train
from psycheck.training.recipe import Recipe

PAIRS = [("She slept badly.", "He slept badly."), ("It rained; she slept.", "It rained; he slept.")]


class Words:
    """Counts of known words; those that stand together have one place."""

    name = "words"

    def __init__(self, *known: tuple[str, ...]) -> None:
        self.known = known
        self.fingerprint = str(known)

    def encode(self, texts: Sequence[str], /) -> FloatArray:
        said = [text.lower().split() for text in texts]
        return np.array([[sum(map(words.count, some)) for some in self.known] for words in said], np.float64)

    def encode_spans(self, texts: Sequence[str], spans: Sequence[tuple[int, int]], /) -> FloatArray:
        return self.encode([text[a:b] for text, (a, b) in zip(texts, spans, strict=True)])


class TenCharacters:
    name, labels, fingerprint = "short", ("low",), "1"

    def score(self, texts: Sequence[str], /) -> FloatArray:
        return np.full((len(texts), 1), 0.5)

    def read(self, texts: Sequence[str], /) -> IntArray:
        return np.array([min(len(text), 10) for text in texts], np.int64)


def row(
    unseen: dict[str, int], experiment: str = "original", seed: int = 0, encoder: str = "words"
) -> Decided:
    said = np.zeros(4, bool)
    return Decided(
        "notes",
        "low",
        encoder,
        "tfidf+lr",
        experiment,
        seed,
        tuple("abcd"),
        said,
        said,
        said,
        tuple("abcd"),
        unseen,
    )


def test_reading_that_ends_before_the_first_difference_is_the_same() -> None:
    assert not_read(TenCharacters().read, PAIRS).tolist() == [False, True]
    assert why_same_to(TenCharacters(), PAIRS) == ["", WINDOW]


def test_vectors_without_the_word_are_told_from_vectors_that_do_not_part_the_words() -> None:
    assert why_same(Words(("slept",)), [PAIRS[0]]) == [NOT_KNOWN]
    assert why_same(Words(("she", "he"), ("slept",)), [PAIRS[0]]) == [NOT_PARTED]
    assert why_same(Words(("she",)), []) == []


def test_a_transformer_that_stops_before_the_word_is_told_by_its_window() -> None:
    import transformers as library
    from tokenizers import Tokenizer, models, pre_tokenizers

    transformers: Any = library  # its classes carry no types
    raw = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="?")
    # A window of three words: "It rained ;" and then the word that differs.
    encoder = HfEncoder(
        name="t",
        fingerprint="1",
        capabilities=Capabilities(),
        pooling="mean",
        max_length=3,
        tokenizer=tokenizer,
        network=None,
        inputs=frozenset(),
    )
    assert why_same(encoder, [PAIRS[1]]) == [WINDOW]


def test_the_same_rows_in_dense_and_sparse_vectors() -> None:
    from scipy.sparse import csr_array

    first, second = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[1.0, 1e-9], [0.0, 1.0]])
    assert same_vectors(first, second).tolist() == [True, False]
    assert same_vectors(csr_array(first), csr_array(second)).tolist() == [True, False]


def test_equal_scores_are_not_one_reading(tmp_path: Path) -> None:
    # "she" and "he" come in the very same texts of both classes, so that neither weighs: scores are equal.
    said = [f"{who} felt {mood}" for mood in ("low", "well") for who in ("she", "he")] * 3
    corpus = Corpus.of("c", said, labels={"low": [1.0, 1.0, 0.0, 0.0] * 3})
    model = open_model(train((corpus, corpus), Recipe(start="tfidf+lr", labels=("low",)), tmp_path).spec)
    pairs = [("she felt low", "he felt low")]
    assert np.allclose(model.score([pairs[0][0]]), model.score([pairs[0][1]]))
    assert why_same_to(model, pairs) == [""]
    assert why_same_to(model, [("hers felt low", "his felt low")]) == [NOT_LEARNED]


def test_a_note_names_the_training_where_that_makes_a_difference() -> None:
    rows = [row({}), row({}, "swapped"), row({NOT_LEARNED: 4}, "neutralised"), row({}, "augmented")]
    assert unseen_notes(rows) == [
        f"vectors of words, trained on neutralised texts: 4 of 4 pairs have one vector in both wordings "
        f"({NOT_LEARNED}), so they cannot flip"
    ]
    assert unseen_notes([replace(one, encoder="its own") for one in rows])[0].startswith(
        "tfidf+lr, trained on"
    )


def test_a_note_of_vectors_that_are_the_same_for_all_trainings_comes_once() -> None:
    names = ("original", "swapped", "neutralised", "augmented")
    every = [row({WINDOW: 3}, name, seed) for seed in (0, 1) for name in names]
    (note,) = unseen_notes(every)
    assert note.startswith("vectors of words: 3 of 4 pairs of each draw have one vector")
    some = [*every[:4], *(replace(one, unseen={}) for one in every[4:])]
    (note,) = unseen_notes(some)
    assert note.startswith("vectors of words: seed 0: 3 of 4 pairs have one vector")
    assert unseen_notes([row({}, name) for name in names]) == []
