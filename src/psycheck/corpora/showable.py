"""Whether a word of a corpus can stand in a report in which no text was asked for."""

import re
from typing import Final

import polars as pl

from psycheck.corpora.shortcuts import Words
from psycheck.corpora.vocabulary import FEWEST, authors_of
from psycheck.text.lists import FIRST_NAMES, PLACE_NAMES, everyday

TEXTS: Final = 20
_NAMES: Final = frozenset(name.lower() for name in FIRST_NAMES | PLACE_NAMES)


def showable(word: str, words: Words) -> bool:
    """Whether a word is common property: in 20 texts, of 5 authors where these are known, and no name.

    A word that is not everyday English must also stand in 20 texts as a plain word: in lower case, not as a
    handle, a tag or part of an address; nobody's name or account is then shown because many write of it.
    """
    if not word.isalpha():
        return False
    rows = words.table.filter(pl.col("word") == word)["row"].to_list()
    if len(rows) < TEXTS:
        return False
    authors = authors_of(words.corpus)
    if authors is not None and len({authors[row] for row in rows} - {None}) < FEWEST:
        return False
    if everyday(word):
        return True
    if word in _NAMES or word in {(author or "").lower() for author in authors or ()}:
        return False
    plain = re.compile(rf"(?<![\w@#/.-]){re.escape(word)}(?![\w@/-]|\.\w)")
    texts = words.corpus.texts
    return sum(plain.search(texts[row]) is not None for row in rows) >= TEXTS


def showable_beginning(beginning: str, words: Words) -> bool:
    """Whether some word with this beginning can be shown, so that the beginning can."""
    held = words.table.filter(pl.col("word").str.starts_with(beginning))["word"].unique().to_list()
    return any(showable(word, words) for word in held)
