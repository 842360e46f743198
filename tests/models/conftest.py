"""Tiny randomly initialised transformers with real fast tokenizers, saved as a user would save them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

torch.set_num_threads(1)

LINES = [
    "I feel tired all day and I cannot sleep at night.",
    "We went to the park with the children, it was sunny and warm.",
    "She says that nothing matters any more; her friends are worried.",
    "They're planning a trip to the mountains next summer!",
    "My appetite is gone, I haven't eaten since Monday…",
    "Der Zug fährt über die Brücke, naïve café.",
] * 3
SMALL: dict[str, Any] = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 32}

SaveModel = Callable[..., Path]


def wordpiece(folder: Path) -> None:
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    raw = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    raw.normalizer = normalizers.BertNormalizer()
    raw.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    raw.train_from_iterator(LINES, trainers.WordPieceTrainer(vocab_size=120, special_tokens=specials))
    transformers.BertTokenizer(vocab=raw.get_vocab()).save_pretrained(folder)


def byte_pairs(folder: Path, kind: Any) -> None:
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    raw.train_from_iterator(
        LINES, trainers.BpeTrainer(vocab_size=320, special_tokens=specials, initial_alphabet=alphabet)
    )
    learned = json.loads(raw.to_str())["model"]
    merges: Any = [tuple(pair) for pair in learned["merges"]]
    kind(vocab=learned["vocab"], merges=merges).save_pretrained(folder)


def unigram(folder: Path, kind: Any, specials: list[str], **more: Any) -> None:
    raw = Tokenizer(models.Unigram())
    raw.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=specials, unk_token="<unk>")
    raw.train_from_iterator(LINES, trainer)
    pieces = [(piece, score) for piece, score in json.loads(raw.to_str())["model"]["vocab"]]
    kind(vocab=pieces, **more).save_pretrained(folder)


def save_tokenizer(kind: str, folder: Path) -> Any:
    if kind == "bert":
        wordpiece(folder)
    elif kind in ("roberta", "longformer"):
        byte_pairs(folder, transformers.RobertaTokenizer)
    elif kind == "gpt2":
        byte_pairs(folder, transformers.GPT2Tokenizer)
    elif kind == "albert":
        unigram(folder, transformers.AlbertTokenizer, ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"])
    else:
        specials = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"]
        unigram(folder, transformers.XLNetTokenizer, specials)
    return transformers.AutoTokenizer.from_pretrained(folder)


def config_of(kind: str, tokenizer: Any, **more: Any) -> Any:
    known = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id} | more
    if kind == "bert":
        return transformers.BertConfig(**SMALL, num_hidden_layers=2, max_position_embeddings=48, **known)
    if kind == "roberta":
        return transformers.RobertaConfig(**SMALL, num_hidden_layers=2, max_position_embeddings=50, **known)
    if kind == "albert":
        small: dict[str, Any] = {"embedding_size": 16, "num_hidden_layers": 2, "max_position_embeddings": 40}
        return transformers.AlbertConfig(**SMALL, **small, **known)
    if kind == "xlnet":
        return transformers.XLNetConfig(d_model=32, n_layer=2, n_head=2, d_inner=32, **known)
    if kind == "gpt2":
        return transformers.GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=48, **known)
    wide: dict[str, Any] = {"num_hidden_layers": 2, "max_position_embeddings": 66, "attention_window": 8}
    return transformers.LongformerConfig(**SMALL, **wide, **known)


@pytest.fixture(scope="session")
def tokenizers_saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    saved: dict[str, Path] = {}

    def of(kind: str) -> Path:
        if kind not in saved:
            saved[kind] = tmp_path_factory.mktemp(f"tokenizer-{kind}")
            save_tokenizer(kind, saved[kind])
        return saved[kind]

    return of


@pytest.fixture(scope="session")
def save_model(
    tmp_path_factory: pytest.TempPathFactory, tokenizers_saved: Callable[[str], Path]
) -> SaveModel:
    """Save a tiny classifier: save_model("bert", seed=0, num_labels=2, id2label={…}) -> its folder."""

    def save(kind: str = "bert", *, seed: int = 0, head: bool = True, **config: Any) -> Path:
        folder = tmp_path_factory.mktemp("models") / f"tiny-{kind}"
        shutil.copytree(tokenizers_saved(kind), folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        torch.manual_seed(seed)
        loader: Any = transformers.AutoModelForSequenceClassification if head else transformers.AutoModel
        network = loader.from_config(config_of(kind, tokenizer, **config))
        for weights in network.parameters():
            if weights.ndim > 1:  # larger than the usual start, so that texts differ in their scores
                torch.nn.init.normal_(weights, std=0.3)
        network.save_pretrained(folder)
        return folder

    return save


@pytest.fixture(scope="session")
def tiny_bert(save_model: SaveModel) -> Path:
    return save_model("bert")
