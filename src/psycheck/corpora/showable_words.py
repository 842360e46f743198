"""Which words of a corpus may be shown in a report that shows no texts: those that are common property.

A word that predicts a label, or sets two corpora apart, may be somebody's name, or a word that only one
person uses. It is shown if it is in 20 texts, of 5 authors where these are known, not a name, and everyday
English or in lower case.
"""

import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Final

import polars as pl

from psycheck.core.arrays import FloatArray
from psycheck.core.corpus import Corpus
from psycheck.text.clean import expand_contractions
from psycheck.text.redact.lists import FIRST_NAMES, PLACE_NAMES, everyday
from psycheck.text.words import WORD

FEWEST = 5  # texts, and authors where these are known, that hold a word that is shown
TEXTS: Final = 20  # texts that hold a word that counts as common property
# In lower case, because the words of a corpus are compared in lower case.
_NAMES: Final = frozenset(name.lower() for name in FIRST_NAMES | PLACE_NAMES)
MayShow = Callable[[str, list[int]], bool]
"""Whether a term may be shown that stands in the texts at these places, those of the first side first."""


def anything(term: str, places: list[int]) -> bool:
    """Hide no term."""
    return True


@dataclass(frozen=True, slots=True)
class Words:
    """Which words stand in which text (`table`: row, word; each pair once), and how long the texts are."""

    corpus: Corpus
    table: pl.DataFrame
    lengths: FloatArray


def word_table(corpus: Corpus) -> Words:
    """Cut all texts into words at once."""
    words = pl.col("text").str.to_lowercase().str.extract_all(WORD).alias("word")
    cut = corpus.table.select(words).with_row_index("row")

    # The length counts repeated words, the table has each word of a text once. A text without a word
    # explodes to a row with null.
    lengths = cut["word"].list.len().cast(pl.Float64).to_numpy()
    distinct = cut.with_columns(pl.col("word").list.unique())
    table = distinct.explode("word").drop_nulls("word")
    return Words(
        corpus=corpus,
        table=table,
        lengths=lengths,
    )


def showable(word: str, words: Words) -> bool:
    """Whether a word is common property: in 20 texts, of 5 authors where these are known, and no name."""
    rows = words.table.filter(pl.col("word") == word)["row"].to_list()
    authors = words.corpus.strings("author")
    if any(authors):
        # One person who writes a word in 20 texts would be recognised by it.
        writers = {authors[row] for row in rows} - {None}
        if len(writers) < FEWEST:
            return False
    return showable_between(words.corpus.texts, authors)(word, rows)


def showable_beginning(beginning: str, words: Words) -> bool:
    """Whether some word with this beginning can be shown, so that the beginning can."""
    has_beginning = pl.col("word").str.starts_with(beginning)
    candidates = words.table.filter(has_beginning)["word"].unique().to_list()
    return any(showable(word, words) for word in candidates)


def showable_between(texts: Sequence[str], authors: Iterable[str | None]) -> MayShow:
    """The same question for words and word pairs that set corpora apart, `texts` being those of both.

    A pair must be common property as a pair: 20 texts hold it other than with two capitals ("Will Baker").
    That 5 authors of a side use a term is for who counts the authors of each side.
    """
    accounts = {author.lower() for author in authors if author}

    def may_show(term: str, places: list[int]) -> bool:
        if len(places) < TEXTS:
            return False
        texts_with_term = [texts[place] for place in places]
        words = term.split()
        # Two everyday words can be a name together, as in "Will Baker".
        if len(words) > 1 and not _written_as_no_name(words, texts_with_term):
            return False
        return all(_is_common(word, texts_with_term, accounts) for word in words)

    return may_show


def _written_as_no_name(words: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether 20 of the texts hold these words in a row with at least one of them in lower case."""
    in_a_row = r"\W+".join(f"({re.escape(word)})" for word in words)
    pattern = re.compile(rf"(?<!\w){in_a_row}(?!\w)", re.I)

    def with_small_letter(match: re.Match[str]) -> bool:
        return not all(word[0].isupper() for word in match.groups())

    def holds_with_small_letter(text: str) -> bool:
        return any(with_small_letter(match) for match in pattern.finditer(text))

    return sum(holds_with_small_letter(text) for text in texts) >= TEXTS


def _is_common(word: str, texts: Sequence[str], accounts: Set[str]) -> bool:
    """Whether a word is everyday English ("don't" is "do not"), or a plain word in 20 of the texts.

    Plain is in lower case, not as a handle, a tag or part of an address: nobody's name or account is then
    shown because many write of it.
    """
    if all(everyday(part) for part in expand_contractions(word).split()):
        return True
    if not word.isalpha() or word in _NAMES or word in accounts:
        return False

    # Not after @, #, / or a dot (handle, tag, address), nor before a dot and a letter ("name.com"); no re.I,
    # because a capital may make it a name.
    plain = re.compile(rf"(?<![\w@#/.-]){re.escape(word)}(?![\w@/-]|\.\w)")
    return sum(plain.search(text) is not None for text in texts) >= TEXTS
