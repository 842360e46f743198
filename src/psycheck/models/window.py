"""How far into a text a tokenizer with a window reads."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from psycheck.model import IntArray

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def speakable(texts: Sequence[str]) -> list[str]:
    """Texts as tokenizers take them: a lone surrogate has no UTF-8 and becomes the replacement character."""
    return [text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text) for text in texts]


def characters_read(tokenizer: Any, texts: Sequence[str], max_length: int) -> IntArray:
    """How many characters of each text fall into the window, (n,); len(text) where it is read whole."""
    lengths = np.array([len(text) for text in texts], np.int64)
    # An ASCII text has no more tokens than characters, a sentence-initial mark and the special tokens.
    room = max_length - tokenizer.num_special_tokens_to_add() - 1
    unsure = [i for i, text in enumerate(texts) if len(text) > room or not text.isascii()]
    if unsure:
        look = _by_offsets if tokenizer.is_fast else _by_prefixes
        lengths[unsure] = look(tokenizer, speakable([texts[i] for i in unsure]), max_length)
    return lengths


def _by_offsets(tokenizer: Any, texts: list[str], max_length: int) -> list[int]:
    """Fast tokenizers know which characters each token came from."""
    found = tokenizer(texts, truncation=True, max_length=max_length).encodings
    return [_last_end(one) if one.overflowing else len(text) for text, one in zip(texts, found, strict=True)]


def _last_end(found: Any) -> int:
    """Where the last token that stands for text ends."""
    ends = (
        end for (_, end), special in zip(found.offsets, found.special_tokens_mask, strict=True) if not special
    )
    return max(ends, default=0)


def _by_prefixes(tokenizer: Any, texts: list[str], max_length: int) -> list[int]:
    """Slow tokenizers do not: seek the shortest beginning that gives the same tokens as the whole text.

    Halving supposes that longer beginnings keep the tokens; a word that is cut in the middle may break that,
    so the answer can be off within the one word at the edge of the window.
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
