"""The folder in which commands of the documentation run: small corpora and models, named as on the pages."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch
import transformers as library
from tokenizers import Tokenizer, models, pre_tokenizers
from typer.testing import CliRunner

from dumps_of_ours import village
from psycheck.commands.main import app
from psycheck.corpora.opening import open_corpus

transformers: Any = library  # its classes carry no types
# As few texts of each split as the cautions and audits of the pages still have something to say about.
TEXTS_OF_SPLIT = {"train": 80, "dev": 24, "test": 24}
SENTENCES_OF_SPLIT = 250
CORPORA = {
    "posts": "forum",
    "tweets": "tweets",
    "interviews": "interviews",
    "notes": "notes",
}
DIMENSIONS = 16
GENDERED = "she he woman man girl boy mother father her his herself himself daughter son gal guy female male"
NETWORK_WORDS = ["[PAD]", "[UNK]", "i", "am", "feel", "so", "tired", "sad", "today", "the", "and"]
NETWORK_WINDOW = 64
OUTPUT_SHOWN = 2000


def run_psycheck(words: list[str]) -> None:
    """Run a command line in this process; an exit code other than 0 fails with what was printed."""
    done = CliRunner().invoke(app, words)
    output = done.output[-OUTPUT_SHOWN:]
    assert done.exit_code == 0, (words, output, done.exception)


def write_workspace(folder: Path) -> None:
    """Write the inputs of the pages."""
    for name, corpus in CORPORA.items():
        _small_table(corpus).write_csv(folder / f"{name}.csv")
    _sentences().write_csv(folder / "sentences.csv")
    _candidates().write_csv(folder / "sentences-to-try.csv")
    _write_dumps(folder)
    _write_vectors(folder / "glove.txt")
    (folder / "mine.txt").write_text("tired\nsad\nsleep\n")
    _write_network(folder / "my-model")


def _small_table(corpus: str) -> pl.DataFrame:
    """Some texts of each split of a demo corpus, as people name their columns."""
    table = open_corpus(f"demo:{corpus}").table
    parts = []
    for split, count in TEXTS_OF_SPLIT.items():
        part = table.filter(split=split)
        parts.append(part.head(count))
    chosen = pl.concat(parts)

    is_depressed = chosen["label:depression"] == 1
    state = pl.when(is_depressed).then(pl.lit("depressed")).otherwise(pl.lit("control"))
    return chosen.select(
        "id",
        "text",
        "author",
        "time",
        "split",
        depression="label:depression",
        anxiety="label:anxiety",
        gender="group:gender",
        state=state,
    )


def _sentences() -> pl.DataFrame:
    """Sentences about symptoms, with the names of labels and groups alone."""
    table = open_corpus("demo:sentences").table
    renamed = table.rename(lambda name: name.rpartition(":")[2])
    parts = []
    for split in TEXTS_OF_SPLIT:
        part = renamed.filter(split=split)
        parts.append(part.head(SENTENCES_OF_SPLIT))
    return pl.concat(parts)


def _candidates() -> pl.DataFrame:
    """Sentences for `suite select`."""
    columns = {
        "sentence": ["I cry all day", "I slept well"],
        "expected": [1, 0],
        "check": ["S1", "S2"],
    }
    return pl.DataFrame(columns)


def _write_dumps(folder: Path) -> None:
    """The made-up village as a file of posts and one of comments."""
    lines = [json.dumps(line) + "\n" for line in village()]
    half = len(lines) // 2
    (folder / "RS_2019-01.jsonl").write_text("".join(lines[:half]))
    (folder / "RC_2019-01.jsonl").write_text("".join(lines[half:]))


def _write_vectors(path: Path) -> None:
    """Random vectors of the words of the corpora and of gendered pairs."""
    words = set(GENDERED.split())
    for corpus in CORPORA.values():
        for text in open_corpus(f"demo:{corpus}").texts:
            words |= {word.strip(".,!?'\"").lower() for word in text.split()}
    vocabulary = sorted(word for word in words if word.isalpha())

    random = np.random.default_rng(0)
    values = random.normal(size=(len(vocabulary), DIMENSIONS)).round(3)
    with path.open("w") as file:
        for word, vector in zip(vocabulary, values, strict=True):
            numbers = " ".join(map(str, vector))
            file.write(f"{word} {numbers}\n")


def _write_network(folder: Path) -> None:
    """A transformer with random weights: it stands for the reader's own."""
    number_of = {word: number for number, word in enumerate(NETWORK_WORDS)}
    raw = Tokenizer(models.WordLevel(number_of, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token="[PAD]",
        unk_token="[UNK]",
        model_max_length=NETWORK_WINDOW,
    )
    tokenizer.save_pretrained(folder)

    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=len(NETWORK_WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=NETWORK_WINDOW,
        id2label={0: "control", 1: "depression"},
        label2id={"control": 0, "depression": 1},
    )
    network = transformers.BertForSequenceClassification(config)
    network.save_pretrained(folder)
