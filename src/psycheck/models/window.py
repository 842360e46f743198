"""How much of a text fits into the window of a tokenizer."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np

from psycheck.core.arrays import IntArray

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def speakable(texts: Sequence[str]) -> list[str]:
    """Texts that tokenizers accept: lone surrogates become the replacement character."""
    return [_speakable(text) for text in texts]


def _speakable(text: str) -> str:
    if text.isascii():  # most texts, and much faster than the search
        return text
    return _LONE_SURROGATE.sub("\ufffd", text)


def characters_read(tokenizer: Any, texts: Sequence[str], max_length: int) -> IntArray:
    """How many characters of each text fit into the window, (n,); len(text) if the whole text is read."""
    lengths = np.array([len(text) for text in texts], np.int64)

    # An ASCII text has at most one token per character, an initial mark and the special tokens: a short one
    # fits without being tokenized.
    room = max_length - tokenizer.num_special_tokens_to_add() - 1
    unsure: list[int] = []
    for i, text in enumerate(texts):
        is_short = len(text) <= room
        if not is_short or not text.isascii():
            unsure.append(i)
    if not unsure:
        return lengths

    unsure_texts = speakable([texts[i] for i in unsure])
    read = _by_offsets if tokenizer.is_fast else _by_prefixes
    lengths[unsure] = read(tokenizer, unsure_texts, max_length)
    return lengths


def _by_offsets(tokenizer: Any, texts: list[str], max_length: int) -> list[int]:
    """Fast tokenizers know the characters of each token."""
    reads = [len(text) for text in texts]
    encodings = tokenizer(texts, truncation=True, max_length=max_length).encodings
    for i, encoding in enumerate(encodings):
        # The whole text fits.
        if not encoding.overflowing:
            continue
        # Special tokens have no characters: their offsets are (0, 0).
        tokens = zip(encoding.offsets, encoding.special_tokens_mask, strict=True)
        ends = [end for (_, end), is_special in tokens if not is_special]
        reads[i] = max(ends, default=0)
    return reads


def _by_prefixes(tokenizer: Any, texts: list[str], max_length: int) -> list[int]:
    """For slow tokenizers, search for the shortest prefix with the same tokens as the whole text.

    Bisection assumes that longer prefixes keep the tokens; a word that is cut in the middle may break that,
    so the result can be off by a part of the word at the edge of the window.
    """

    def tokens(text: str) -> list[int]:
        return list(tokenizer(text, truncation=True, max_length=max_length)["input_ids"])

    def all_tokens(text: str) -> list[int]:
        return list(tokenizer(text, truncation=False, max_length=None)["input_ids"])

    reads = []
    for text in texts:
        tokens_in_window = tokens(text)
        is_whole = len(tokens_in_window) < max_length or tokens_in_window == all_tokens(text)
        if is_whole:
            reads.append(len(text))
            continue

        def fills_window(end: int, text: str = text, expected: list[int] = tokens_in_window) -> bool:
            return tokens(text[:end]) == expected

        # The shortest prefix that gives the same tokens ends where a change stops to matter.
        reads.append(bisect_left(range(len(text)), True, key=fills_window))
    return reads
