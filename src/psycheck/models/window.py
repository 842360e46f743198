"""How far into a text a tokenizer with a window reads."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from psycheck.model import IntArray

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def speakable(texts: Sequence[str]) -> list[str]:
    """Texts that tokenizers accept: lone surrogates become the replacement character."""
    return [text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text) for text in texts]


def characters_read(tokenizer: Any, texts: Sequence[str], max_length: int) -> IntArray:
    """How many characters of each text fit into the window, (n,); len(text) if the whole text is read."""
    lengths = np.array([len(text) for text in texts], np.int64)
    # An ASCII text has at most one token per character, an initial mark and the special tokens.
    room = max_length - tokenizer.num_special_tokens_to_add() - 1
    unsure = [i for i, text in enumerate(texts) if len(text) > room or not text.isascii()]
    if unsure:
        look = _by_offsets if tokenizer.is_fast else _by_prefixes
        lengths[unsure] = look(tokenizer, speakable([texts[i] for i in unsure]), max_length)
    return lengths


def _by_offsets(tokenizer: Any, texts: list[str], max_length: int) -> list[int]:
    """Fast tokenizers know the characters of each token."""
    found = tokenizer(texts, truncation=True, max_length=max_length).encodings
    return [_last_end(one) if one.overflowing else len(text) for text, one in zip(texts, found, strict=True)]


def _last_end(found: Any) -> int:
    """The end of the last token that is not a special one."""
    ends = (
        end for (_, end), special in zip(found.offsets, found.special_tokens_mask, strict=True) if not special
    )
    return max(ends, default=0)


def _by_prefixes(tokenizer: Any, texts: list[str], max_length: int) -> list[int]:
    """For slow tokenizers, search for the shortest prefix with the same tokens as the whole text.

    Bisection assumes that longer prefixes keep the tokens; a word that is cut in the middle may break that,
    so the result can be off by a part of the word at the edge of the window.
    """

    def tokens(text: str, *, cut: bool = True) -> list[int]:
        return list(tokenizer(text, truncation=cut, max_length=max_length if cut else None)["input_ids"])

    reads = []
    for text in texts:
        whole = tokens(text)
        if len(whole) < max_length or whole == tokens(text, cut=False):
            reads.append(len(text))
            continue
        low, high = 0, len(text)
        while low < high:
            middle = (low + high) // 2
            if tokens(text[:middle]) == whole:
                high = middle
            else:
                low = middle + 1
        reads.append(low)
    return reads
