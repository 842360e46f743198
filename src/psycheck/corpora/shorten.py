"""Shortens long texts so that a model with a window still reads what is added to them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from psycheck.core.arrays import IntArray
from psycheck.core.corpus import Corpus

Read = Callable[[Sequence[str]], IntArray]
_LONGEST_TRIED = 3  # the longest sentences by characters; one of them needs the most room
_ROUNDS = 40  # far more than needed: it ends the loop for a reader that never reads to the end
_FEWEST_WORDS = 5  # a shorter text is not worth comparing with


def fit_texts(
    corpus: Corpus,
    readers: Sequence[Read],
    sentences: Sequence[str],
    *,
    least: int = _FEWEST_WORDS,
) -> tuple[Corpus, int]:
    """The corpus with a column `fitted`: texts cut at a word so that an added sentence is read; how many.

    Both sides of a comparison use the shortened text, so that the sentence is the only difference. Sentences
    that fill a window by themselves cannot be fitted, and a text of which fewer than `least` words would stay
    is not cut: such cases stay unseen.
    """
    distinct_sentences = dict.fromkeys(sentences)
    fitting = [sentence for sentence in distinct_sentences if _fits_alone(sentence, readers)]
    # Asking readers is slow. Characters and tokens differ, so the longest by characters alone is not enough.
    longest = sorted(fitting, key=len)[-_LONGEST_TRIED:]
    if not readers or not longest:
        return corpus, 0

    fitted, cut = _cut_until_read(
        texts=corpus.texts,
        readers=readers,
        sentences=longest,
        least=least,
    )
    column = pl.Series("fitted", fitted, pl.String)
    return replace(corpus, table=corpus.table.with_columns(column)), len(cut)


def _cut_until_read(
    texts: Sequence[str],
    readers: Sequence[Read],
    sentences: Sequence[str],
    least: int,
) -> tuple[list[str], set[int]]:
    """The texts, cut where a sentence after them would not be read, and the rows of those that are cut."""
    fitted = list(texts)
    cut: set[int] = set()
    waiting = list(range(len(texts)))

    # A first cut takes a little more than what is lacking, because tokens and characters differ.
    margin = (len(sentences[-1]) + 1) // 4
    for _ in range(_ROUNDS):
        waiting_texts = [fitted[row] for row in waiting]
        unread = _unread_characters(waiting_texts, readers, sentences)
        unread_by_row = dict(zip(waiting, unread, strict=True))
        too_long = [row for row, count in unread_by_row.items() if count]

        waiting = []
        for row in too_long:
            length = len(fitted[row]) - unread_by_row[row]
            if row not in cut:
                length -= margin
            head = _shortened(fitted[row], length)

            if len(head.split()) < least:
                # Not worth comparing: the text goes back to its full length and the case stays unseen.
                fitted[row] = texts[row]
                cut.discard(row)
            else:
                # A shorter text may be cut into tokens differently, so it is read once more.
                fitted[row] = head
                cut.add(row)
                waiting.append(row)
        if not waiting:
            break
    return fitted, cut


def _fits_alone(sentence: str, readers: Sequence[Read]) -> bool:
    """Whether every reader reads the sentence to its end if nothing stands before it."""
    for read in readers:
        (characters_read,) = read([sentence])
        if int(characters_read) < len(sentence):
            return False
    return True


def _unread_characters(texts: Sequence[str], readers: Sequence[Read], sentences: Sequence[str]) -> list[int]:
    """How many characters of the text with a sentence after it stay unread, at worst."""
    most_unread = [0] * len(texts)
    for sentence in sentences:
        # Joined as the edit joins them, so that what is measured is what the model will read.
        joined = [f"{text.rstrip()} {sentence}" for text in texts]
        for read in readers:
            for position, characters_read in enumerate(read(joined)):
                unread = len(joined[position]) - int(characters_read)
                most_unread[position] = max(most_unread[position], unread)
    return most_unread


def _shortened(text: str, length: int) -> str:
    """Cut at the last space before `length`; a text without one is cut where it must be."""
    if length <= 0:
        return ""

    head = text[:length]
    ends_within_word = len(text) > length and not text[length].isspace()
    if not ends_within_word:
        return head.rstrip()
    before_word = head.rsplit(None, 1)[0]
    return (before_word or head).rstrip()
