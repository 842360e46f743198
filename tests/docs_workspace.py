"""The folder in which commands of the documentation run: small corpora and models, named as on the pages."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers
from typer.testing import CliRunner

from dumps_of_ours import village
from psycheck.commands.main import app
from psycheck.corpora.opening import open_corpus

# As few texts as the cautions and audits of the pages still have something to say about.
PARTS = {"train": 80, "dev": 24, "test": 24}
CORPORA = {"posts": "forum", "tweets": "tweets", "interviews": "interviews", "notes": "notes"}
DIMENSIONS = 16
GENDERED = "she he woman man girl boy mother father her his herself himself daughter son gal guy female male"


def run_psycheck(words: list[str]) -> None:
    """Run a command line in this process; an exit code other than 0 fails with what was printed."""
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, (words, done.output[-2000:], done.exception)


def write_workspace(folder: Path) -> None:
    """Write the inputs of the pages, and train what most of them take for granted."""
    for name, corpus in CORPORA.items():
        _small_table(corpus).write_csv(folder / f"{name}.csv")
    _sentences().write_csv(folder / "sentences.csv")
    _write_dumps(folder)
    _write_vectors(folder / "glove.txt")
    (folder / "mine.txt").write_text("tired\nsad\nsleep\n")
    _write_candidates(folder / "sentences-to-try.csv")
    _write_network(folder / "my-model")


def _small_table(corpus: str) -> pl.DataFrame:
    """Some texts of each split of a demo corpus, as people name their columns."""
    table = open_corpus(f"demo:{corpus}").table
    parts = [table.filter(split=split).head(count) for split, count in PARTS.items()]
    chosen = pl.concat(parts)
    depressed = chosen["label:depression"] == 1
    return chosen.select(
        "id",
        "text",
        "author",
        "time",
        "split",
        depression="label:depression",
        anxiety="label:anxiety",
        gender="group:gender",
        state=pl.when(depressed).then(pl.lit("depressed")).otherwise(pl.lit("control")),
    )


def _sentences() -> pl.DataFrame:
    """Sentences about symptoms, with a column for each symptom that both classes of all splits have."""
    table = open_corpus("demo:sentences").table
    renamed = table.rename(lambda name: name.removeprefix("label:").removeprefix("group:"))
    return pl.concat([renamed.filter(split=split).head(250) for split in PARTS])


def _write_dumps(folder: Path) -> None:
    """The made-up village as a file of posts and one of comments."""
    lines = [json.dumps(line) for line in village()]
    half = len(lines) // 2
    (folder / "RS_2019-01.jsonl").write_text("\n".join(lines[:half]) + "\n")
    (folder / "RC_2019-01.jsonl").write_text("\n".join(lines[half:]) + "\n")


def _write_vectors(path: Path) -> None:
    """Random vectors of the words of the corpora and of gendered pairs."""
    texts = [text for corpus in CORPORA.values() for text in open_corpus(f"demo:{corpus}").texts]
    words = {word.strip(".,!?'\"").lower() for text in texts for word in text.split()}
    vocabulary = sorted(word for word in words | set(GENDERED.split()) if word.isalpha())
    values = np.random.default_rng(0).normal(size=(len(vocabulary), DIMENSIONS)).round(3)
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in zip(vocabulary, values, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def _write_candidates(path: Path) -> None:
    """Sentences for `suite select`."""
    table = {"sentence": ["I cry all day", "I slept well"], "expected": [1, 0], "check": ["S1", "S2"]}
    pl.DataFrame(table).write_csv(path)


def _write_network(folder: Path) -> None:
    """A transformer with random weights: it stands for the reader's own."""
    words = ["[PAD]", "[UNK]", "i", "am", "feel", "so", "tired", "sad", "today", "the", "and"]
    raw = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]", model_max_length=64
    )
    tokenizer.save_pretrained(folder)

    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        id2label={0: "control", 1: "depression"},
        label2id={"control": 0, "depression": 1},
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
