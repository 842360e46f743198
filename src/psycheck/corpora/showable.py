"""The words of a corpus, and which of them may appear in a report that shows no texts."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from psycheck.corpora.vocabulary import FEWEST, MayShow
from psycheck.corpus import Corpus
from psycheck.model import FloatArray
from psycheck.text.clean import expand_contractions
from psycheck.text.redact.lists import FIRST_NAMES, PLACE_NAMES, everyday
from psycheck.text.words import WORD

TEXTS: Final = 20
_NAMES: Final = frozenset(name.lower() for name in FIRST_NAMES | PLACE_NAMES)


@dataclass(frozen=True, slots=True)
class Words:
    """Which words stand in which text (`table`: row, word; each pair once), and how long the texts are."""

    corpus: Corpus
    table: pl.DataFrame
    lengths: FloatArray


def word_table(corpus: Corpus) -> Words:
    """Cut all texts into words at once."""
    cut = corpus.table.select(
        pl.col("text").str.to_lowercase().str.extract_all(WORD).alias("word")
    ).with_row_index("row")
    lengths = cut["word"].list.len().cast(pl.Float64).to_numpy()
    table = cut.with_columns(pl.col("word").list.unique()).explode("word").drop_nulls("word")
    return Words(corpus, table, lengths)


def showable(word: str, words: Words) -> bool:
    """Whether a word is common property: in 20 texts, of 5 authors where these are known, and no name."""
    rows = words.table.filter(pl.col("word") == word)["row"].to_list()
    texts, authors = words.corpus.texts, words.corpus.strings("author")
    if len(rows) < TEXTS or (any(authors) and len({authors[row] for row in rows} - {None}) < FEWEST):
        return False
    return _common(word, [texts[row] for row in rows], _accounts(authors))


def showable_beginning(beginning: str, words: Words) -> bool:
    """Whether some word with this beginning can be shown, so that the beginning can."""
    held = words.table.filter(pl.col("word").str.starts_with(beginning))["word"].unique().to_list()
    return any(showable(word, words) for word in held)


def showable_between(texts: Sequence[str], authors: Iterable[str | None]) -> MayShow:
    """The same question for words and word pairs that set corpora apart, `texts` being those of both.

    A pair must be common property as a pair: 20 texts hold it other than with two capitals ("Will Baker").
    That 5 authors of a side use a term is for who counts the authors of each side.
    """
    accounts = _accounts(authors)

    def may_show(term: str, places: list[int]) -> bool:
        if len(places) < TEXTS:
            return False
        holding, parts = [texts[place] for place in places], term.split()
        if len(parts) > 1 and not _written_small(parts, holding):
            return False
        return all(_common(word, holding, accounts) for word in parts)

    return may_show


def _common(word: str, texts: list[str], accounts: Collection[str]) -> bool:
    """Whether a word that these texts hold is everyday English, or stands in 20 of them as a plain word.

    Plain is in lower case, not as a handle, a tag or part of an address: nobody's name or account is then
    shown because many write of it.
    """
    if all(everyday(part) for part in expand_contractions(word).split()):  # "don't" is "do not"
        return True
    if not word.isalpha() or word in _NAMES or word in accounts:
        return False
    plain = re.compile(rf"(?<![\w@#/.-]){re.escape(word)}(?![\w@/-]|\.\w)")
    return sum(plain.search(text) is not None for text in texts) >= TEXTS


def _written_small(parts: list[str], texts: list[str]) -> bool:
    """Whether 20 texts hold a pair that is not written with two capitals, as names are."""
    written = r"\W+".join(f"({re.escape(part)})" for part in parts)
    pair = re.compile(rf"(?<!\w){written}(?!\w)", re.I)
    small = (
        any(not all(part[0].isupper() for part in found.groups()) for found in pair.finditer(text))
        for text in texts
    )
    return sum(small) >= TEXTS


def _accounts(authors: Iterable[str | None]) -> frozenset[str]:
    return frozenset(author.lower() for author in authors if author)
