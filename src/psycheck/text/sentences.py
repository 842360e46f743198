"""Sentences of a text, as PsySym splits them (App. B): with blingfire."""

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from psycheck.errors import MissingExtra

# An empty line ends a sentence, with or without a full stop.
_PARAGRAPH: Final = re.compile(r"\n[^\S\n]*\n\s*|[\r\f\v\u2028\u2029]+")
_HALF: Final = re.compile(r"[\ud800-\udfff\0]")


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, in order, without white space at their ends; none are empty.

    White space inside a sentence becomes one space; NUL and lone surrogates are dropped.
    """
    split = _blingfire()
    parts = (_HALF.sub("", part) for part in _PARAGRAPH.split(text))
    return [
        sentence
        for part in parts
        if part.strip()
        for line in split(" ".join(part.split())).split("\n")
        if (sentence := line.strip())
    ]


@cache
def _blingfire() -> Callable[[str], str]:
    try:
        from blingfire import text_to_sentences
    except ImportError:
        raise MissingExtra("splitting into sentences", "clean") from None
    split: Callable[[str], str] = text_to_sentences
    return split
