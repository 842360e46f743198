import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from psycheck.models.window import _by_offsets, _by_prefixes, characters_read, speakable


def test_a_slow_tokenizer_is_asked_for_ever_longer_beginnings(tmp_path: Path) -> None:
    vocabulary = {"a": 0, "b": 1, "a@@": 2, "b@@": 3, "<unk>": 4}
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    (tmp_path / "merges.txt").write_text("#version: 0.2\n\n")
    slow: Any = transformers.CTRLTokenizer
    tokenizer = slow(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    assert not tokenizer.is_fast
    text = "ab ba b"
    assert tokenizer.tokenize(text) == ["a@@", "b", "b@@", "a", "b"]
    # With 3 tokens the window ends inside of "ba", whose end decides how it is split: 5 and not 4.
    assert [characters_read(tokenizer, [text], window)[0] for window in (2, 3, 4, 5)] == [2, 5, 5, 7]
    assert characters_read(tokenizer, [text, "b", ""], 4).tolist() == [5, 1, 0]


def test_prefixes_find_the_word_that_offsets_find(tokenizers_saved: Callable[[str], Path]) -> None:
    words = itertools.product(["tired", "children,", "sleep"], ["über", "…", "a b"], ["at night"])
    texts = [" ".join(chosen) for chosen in words]
    for kind, window in itertools.product(("bert", "roberta"), (4, 7, 11)):
        tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizers_saved(kind))
        pairs = zip(
            _by_prefixes(tokenizer, texts, window), _by_offsets(tokenizer, texts, window), strict=True
        )
        for text, (searched, known) in zip(texts, pairs, strict=True):
            assert known <= searched <= known + len((text[known:] + " ").split(" ")[0])


@pytest.fixture(scope="module")
def fast(tokenizers_saved: Callable[[str], Path]) -> list[transformers.PreTrainedTokenizerBase]:
    kinds = ("bert", "roberta", "albert", "xlnet")
    return [transformers.AutoTokenizer.from_pretrained(tokenizers_saved(kind)) for kind in kinds]


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text(max_size=40), max_size=4), window=st.integers(4, 20))
def test_read_never_exceeds_the_text_and_is_whole_only_where_it_fits(
    fast: list[transformers.PreTrainedTokenizerBase], texts: list[str], window: int
) -> None:
    for tokenizer in fast:
        reads = characters_read(tokenizer, texts, window)
        assert reads.dtype == np.int64
        for text, read in zip(speakable(texts), reads, strict=True):
            assert 0 <= read <= len(text)
            if len(tokenizer(text)["input_ids"]) <= window:
                assert read == len(text)


def test_lone_surrogates_are_replaced_one_for_one() -> None:
    assert speakable(["plain", "a\udcffb", "ü🙂"]) == ["plain", "a\ufffdb", "ü🙂"]
