"""Shortens long texts so that a model with a window still reads what is added to them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from psycheck.corpus import Corpus
from psycheck.model import IntArray

Read = Callable[[Sequence[str]], IntArray]
_TRIED = 3  # the longest sentences by characters; one of them needs the most room
_ROUNDS = 40
_LEFT = 5  # words; a shorter rest is no text to compare with


def fit_texts(
    corpus: Corpus, readers: Sequence[Read], sentences: Sequence[str], *, least: int = _LEFT
) -> tuple[Corpus, int]:
    """The corpus with a column `fitted`: texts cut at a word so that an added sentence is read; how many.

    Both sides of a comparison use the shortened text, so that the sentence is the only difference. Sentences
    that fill a window by themselves cannot be fitted, and a text of which fewer than `least` words would stay
    is not cut: such cases stay unseen.
    """
    whole = [s for s in dict.fromkeys(sentences) if all(int(read([s])[0]) >= len(s) for read in readers)]
    longest = sorted(whole, key=len)[-_TRIED:]
    if not readers or not longest:
        return corpus, 0
    texts = corpus.texts
    fitted = list(texts)
    room = len(longest[-1]) + 1
    waiting = list(range(len(texts)))
    cut: set[int] = set()
    for _ in range(_ROUNDS):
        lacking = _lacking([fitted[i] for i in waiting], readers, longest)
        short = [(i, lack) for i, lack in zip(waiting, lacking, strict=True) if lack]
        waiting = []
        for i, lack in short:
            head = _shortened(fitted[i], len(fitted[i]) - max(lack, 1) - (0 if i in cut else room // 4))
            if len(head.split()) < least:
                fitted[i] = texts[i]
                cut.discard(i)
            else:
                fitted[i] = head
                cut.add(i)
                waiting.append(i)
        if not waiting:
            break
    return replace(corpus, table=corpus.table.with_columns(pl.Series("fitted", fitted, pl.String))), len(cut)


def _lacking(texts: Sequence[str], readers: Sequence[Read], sentences: Sequence[str]) -> list[int]:
    """How many characters of the text with a sentence after it stay unread, at worst."""
    worst = [0] * len(texts)
    for sentence in sentences:
        joined = [f"{text.rstrip()} {sentence}" for text in texts]
        for read in readers:
            for i, got in enumerate(read(joined)):
                worst[i] = max(worst[i], len(joined[i]) - int(got))
    return worst


def _shortened(text: str, length: int) -> str:
    """Cut at the last space before `length`; a text without one is cut where it must be."""
    if length <= 0:
        return ""
    head = text[:length]
    at_word = head.rsplit(None, 1)[0] if len(text) > length and not text[length].isspace() else head
    return (at_word or head).rstrip()
