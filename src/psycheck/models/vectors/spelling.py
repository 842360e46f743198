"""The possible spellings of a word in a file of vectors, and the parts of a contraction."""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

MARKS = ("'", "’")
MOST = 3  # apostrophes in a contraction, as in "shouldn't've"
_NOT = "n't"
_CONTRACTIONS = Path(__file__).with_name("contractions.toml")


def forms(word: str) -> tuple[str, ...]:
    """Spellings of a word or phrase, the closest first: joined, with either apostrophe, in lower case."""
    written = [word, word.replace(" ", "_"), word.replace(" ", "-")] if " " in word else [word]
    if any(mark in word for mark in MARKS):
        written += [_marked(form, mark) for form in written for mark in MARKS]
    return tuple(dict.fromkeys([*written, *(form.lower() for form in written)]))


def splits(word: str) -> tuple[tuple[str, str], ...]:
    """The ways to split a word at its last apostrophe as GloVe does: she + 's, do + n't; none without one.

    Words such as "can't" have two: ca + n't, as in GloVe, and can + n't, for files without "ca".
    """
    plain = _marked(word, MARKS[0])
    at = plain.rfind(MARKS[0])
    if at < 1 or plain.count(MARKS[0]) > MOST:
        return ()
    if not plain.lower().endswith(_NOT) or len(plain) == len(_NOT):
        return ((word[:at], plain[at:]),)
    before = word[: -len(_NOT)]
    whole = _halves().get(before.lower())
    return ((before, _NOT),) if whole is None else ((before, _NOT), (whole, _NOT))


def pieces(word: str) -> Iterator[str]:
    """All strings to look up for a word: itself and the parts of its splits."""
    yield word
    for before, rest in splits(word):
        yield from pieces(before)
        yield rest


def _marked(word: str, mark: str) -> str:
    return word.replace(MARKS[0], mark).replace(MARKS[1], mark)


@cache
def _halves() -> dict[str, str]:
    halves: dict[str, str] = tomllib.loads(_CONTRACTIONS.read_text("utf-8"))["halves"]
    return halves
