"""The words of a text, and the pairs of them by which two texts are compared."""

import re
from collections.abc import Sequence
from itertools import pairwise

WORD = r"\w+(?:['’]\w+)*"
_WORD = re.compile(WORD)
words_of = _WORD.findall


def plain_text(text: str) -> str:
    """A text as it is compared: its words in lower case, and nothing else."""
    return " ".join(_WORD.findall(text.lower()))


def shingles(text: str) -> set[str]:
    """The words and word pairs of a text."""
    return shingles_of(_WORD.findall(text.lower()))


def shingles_of(words: Sequence[str]) -> set[str]:
    """Words, and the pairs of neighbours among them."""
    neighbours = [f"{left} {right}" for left, right in pairwise(words)]
    return {*words, *neighbours}
