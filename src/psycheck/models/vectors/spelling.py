"""The spellings under which a word may stand in a file of vectors, and the parts of a contraction."""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

MARKS = ("'", "’")
MOST = 3  # apostrophes in a word, as in "shouldn't've"; more is no contraction
_NOT = "n't"


def forms(word: str) -> tuple[str, ...]:
    """Spellings of a word or phrase, the nearest first: joined, with either apostrophe, in small letters."""
    written = [word, word.replace(" ", "_"), word.replace(" ", "-")] if " " in word else [word]
    if any(mark in word for mark in MARKS):
        written += [_marked(form, mark) for form in written for mark in MARKS]
    return tuple(dict.fromkeys([*written, *(form.lower() for form in written)]))


def splits(word: str) -> tuple[tuple[str, str], ...]:
    """Each way to part a word at its last apostrophe as GloVe does: she + 's, do + n't; none without one.

    "can't" and the like have two: ca + n't, as GloVe has it, and can + n't, for files that hold no "ca".
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
    """Everything that may have to be looked up for a word: itself, and what its splits are made of."""
    yield word
    for before, rest in splits(word):
        yield from pieces(before)
        yield rest


def _marked(word: str, mark: str) -> str:
    for other in MARKS:
        word = word.replace(other, mark)
    return word


@cache
def _halves() -> dict[str, str]:
    told = tomllib.loads(Path(__file__).with_name("contractions.toml").read_text("utf-8"))
    return {str(half): str(word) for half, word in told["halves"].items()}
