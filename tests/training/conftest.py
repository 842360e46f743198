"""Tiny randomly initialised transformers that train in a second, and a corpus of our own words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as library
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from psycheck.core.corpus import Corpus

torch.set_num_threads(1)

transformers: Any = library  # its classes carry no types

LOW = ("empty", "tired", "hopeless", "numb", "worthless")
FINE = ("sunny", "garden", "football", "dinner", "music")
REST = ("i", "feel", "today", "the", "was", "and", "very", "we", "had", "a", "day", "again")
SMALL: dict[str, Any] = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
KINDS = ("bert", "roberta", "albert", "xlnet", "longformer")


def save_tiny(kind: str, folder: Path) -> Path:
    words = ["<pad>", "<unk>", "<s>", "</s>", *LOW, *FINE, *REST]
    raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    around = "$A </s> <s>" if kind == "xlnet" else "<s> $A </s>"
    raw.post_processor = processors.TemplateProcessing(
        single=around, special_tokens=[("<s>", words.index("<s>")), ("</s>", words.index("</s>"))]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token="<pad>",
        unk_token="<unk>",
        cls_token="<s>",
        sep_token="</s>",
        padding_side="left" if kind == "xlnet" else "right",
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    network(kind, len(words)).save_pretrained(folder)
    return folder


def network(kind: str, size: int) -> Any:
    known: dict[str, Any] = {"vocab_size": size, "pad_token_id": 0}
    deep: dict[str, Any] = {**known, **SMALL, "num_hidden_layers": 2, "max_position_embeddings": 40}
    if kind == "bert":
        return transformers.BertModel(transformers.BertConfig(**deep))
    if kind == "roberta":
        return transformers.RobertaModel(transformers.RobertaConfig(**deep))
    if kind == "albert":
        return transformers.AlbertModel(transformers.AlbertConfig(**deep, embedding_size=8))
    if kind == "xlnet":
        return transformers.XLNetModel(
            transformers.XLNetConfig(**known, d_model=16, n_layer=2, n_head=2, d_inner=32)
        )
    return transformers.LongformerModel(transformers.LongformerConfig(**deep, attention_window=8))


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    saved: dict[str, str] = {}

    def of(kind: str) -> str:
        if kind not in saved:
            saved[kind] = str(save_tiny(kind, tmp_path_factory.mktemp(f"tiny-{kind}")))
        return saved[kind]

    return of


def sentences(n: int, words: tuple[str, ...]) -> list[str]:
    """Sentences of 4 to 9 words, each with a word of the list."""
    return [
        " ".join([*(REST[(i + j) % len(REST)] for j in range(3 + i % 6)), words[i % len(words)]])
        for i in range(n)
    ]


def mixed(n: int = 32, *, split: bool = True) -> Corpus:
    """Every second text is of low mood; train, dev and test as 4 : 2 : 2."""
    low, fine = sentences(n, LOW), sentences(n, FINE)
    texts = [low[i] if i % 2 else fine[i] for i in range(n)]
    parts = ("train", "train", "train", "train", "dev", "dev", "test", "test")
    return Corpus.of(
        "mixed",
        texts,
        labels={"low": [float(i % 2) for i in range(n)]},
        split=[parts[i % 8] for i in range(n)] if split else None,
    )


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    return mixed()
