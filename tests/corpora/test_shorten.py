from collections.abc import Sequence

import numpy as np

from psycheck.core.arrays import IntArray
from psycheck.core.corpus import Corpus
from psycheck.corpora.shorten import Read, fit_texts

SENTENCES = ["I am fine", "I never sleep any more"]


def reads(window: int) -> Read:
    def read(texts: Sequence[str]) -> IntArray:
        return np.array([min(len(text), window) for text in texts])

    return read


def test_a_text_is_cut_at_a_word_so_that_the_longest_sentence_is_read() -> None:
    corpus = Corpus.of("c", ["one two three four five six seven eight nine ten", "short"])
    fitted, count = fit_texts(corpus, [reads(55)], SENTENCES)
    assert count == 1
    assert fitted.texts == corpus.texts
    assert all(len(f"{text} {SENTENCES[1]}") <= 55 for text in fitted.fitted)
    assert corpus.texts[0].startswith(fitted.fitted[0] + " ")
    assert fitted.fitted[1] == "short"


def test_a_text_of_which_too_little_would_be_left_is_not_cut() -> None:
    corpus = Corpus.of("c", ["one two three four five six seven eight nine ten"])
    fitted, count = fit_texts(corpus, [reads(30)], SENTENCES)
    assert (count, fitted.fitted) == (0, corpus.texts)


def test_a_sentence_that_fills_the_window_alone_is_not_waited_for() -> None:
    corpus = Corpus.of("c", ["one two three four five six seven eight nine ten"])
    far_too_long = "word " * 40
    fitted, count = fit_texts(corpus, [reads(45)], [SENTENCES[0], far_too_long])
    assert count == 1
    assert len(f"{fitted.fitted[0]} {SENTENCES[0]}") <= 45
