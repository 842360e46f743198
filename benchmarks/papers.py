"""Three of the papers' studies to their end, on real corpora of cut sizes: their tables as Markdown.

python benchmarks/papers.py deck|angst|gender|writers [--out runs/papers] [--encoder SPEC …]

Reads the corpora from $PSYCHECK_DATA (default ../shared/data) and writes figures only, never a text. What was
cut stands in the head of the tables. Finished trainings and scores are not repeated.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl

from psycheck.core.corpus import Corpus
from psycheck.core.run import Run
from psycheck.corpora.opening import open_corpus
from psycheck.corpora.split import split_corpus
from psycheck.models.hf import minilm_folder
from psycheck.report.studies.angst_tables import angst_tables
from psycheck.report.studies.deck_tables import deck_tables
from psycheck.report.studies.gender_tables import gender_tables
from psycheck.report.studies.gender_writers_tables import writer_tables
from psycheck.studies.angst_study import study_angst
from psycheck.studies.deck_design import Size
from psycheck.studies.deck_study import study_deck
from psycheck.studies.gender_study import study_gender
from psycheck.studies.gender_writers import study_writers
from psycheck.training.recipe import study_recipe
from timing import machine

# Texts of at most so many words: the published windows then cost what short texts cost.
MOST_WORDS = 25
SEED = 0


def cut(corpus: Corpus, sizes: dict[str, int], *, most_words: int = MOST_WORDS) -> Corpus:
    """So many short texts of every split, drawn by seed; splits are made first where there are none."""
    short = _short(corpus, most_words)
    if not any(split is not None for split in short.strings("split")):
        short = split_corpus(short, dict(sizes), stratify=short.labels, seed=SEED)

    table = short.table.with_row_index("row")
    rows: list[int] = []
    for split, size in sizes.items():
        names = ["dev", "valid", "validation"] if split == "dev" else [split]
        of_split = table.filter(pl.col("split").is_in(names))
        rows += of_split["row"].sample(min(size, len(of_split)), seed=SEED).to_list()
    is_drawn = np.zeros(len(short), bool)
    is_drawn[rows] = True
    return short.only(is_drawn)


def _short(corpus: Corpus, most_words: int) -> Corpus:
    return corpus.only(np.array([3 <= len(text.split()) <= most_words for text in corpus.texts]))


def deck(data: Path, out: Path) -> tuple[Run, str]:
    """MiniLM by the settings of our own preset, and the same weights by those of the paper's BERT."""
    sizes = {"train": 64, "dev": 32, "test": 60}
    named = partial(open_corpus, labels=["depression"])
    corpora = [
        cut(named(data / "depression_reddit.csv"), sizes),
        cut(named(data / "depression_tweets.csv"), sizes),
    ]
    recipes = [
        study_recipe("deck", "minilm", labels=("depression",)),
        study_recipe("deck", str(_under_another_name(out)), labels=("depression",)),
    ]
    run = study_deck(corpora, recipes, out=out, size=Size(seeds=1, trials=0, texts=12), say=_say)
    return run, deck_tables(run)


def _under_another_name(out: Path) -> Path:
    """MiniLM as a folder of its own: the study takes it for a BERT, which it is."""
    folder = out.parent / "minilm-as-bert"
    if not folder.is_dir():
        shutil.copytree(minilm_folder(), folder)
    return folder


def angst(data: Path, out: Path, long_start: Path) -> tuple[Run, str]:
    """MiniLM with 256 tokens beside a Longformer with 4,096, each by its own settings."""
    sizes = {"train": 60, "dev": 30, "test": 60}
    questions = open_corpus(data / "counselchat.csv", text="text", labels=["depression", "anxiety"])
    tested = cut(questions, sizes, most_words=40)
    # Table 8 compares words alone: no splits.
    others = [_short(open_corpus(data / "dreaddit_test.csv"), 60).sample(100)]
    # The paper trains for up to 30 epochs.
    recipes = [study_recipe("angst", start, epochs=2) for start in ("minilm", str(_longformer(long_start)))]
    run = study_angst([tested, *others], (), recipes, out=out, seeds=1, say=_say)
    return run, angst_tables(run)


def _longformer(folder: Path) -> Path:
    """A narrow Longformer with random weights and MiniLM's tokenizer: no trained one can be had."""
    if (folder / "config.json").is_file():
        return folder
    import torch
    import transformers as library

    transformers: Any = library
    torch.manual_seed(SEED)
    tokenizer = transformers.AutoTokenizer.from_pretrained(minilm_folder())
    tokenizer.model_max_length = 4096
    config = transformers.LongformerConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        attention_window=64,
        max_position_embeddings=4098,
        pad_token_id=tokenizer.pad_token_id,
    )
    transformers.LongformerModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def gender(data: Path, out: Path, encoders: Sequence[str]) -> tuple[Run, str]:
    """Doctors' notes, whose record gives some of the genders, on several encoders, with every learner."""
    notes = open_corpus(
        data / "clinical_notes.csv",
        text="text",
        labels=["mentions_depression"],
        id="none",
        groups=["gender"],
    )
    run = study_gender(
        notes,
        out=out,
        encoder=list(encoders),
        record="gender",
        pairs=120,
        say=_say,
    )
    return run, gender_tables(run)


def writers(data: Path, out: Path, encoders: Sequence[str]) -> tuple[Run, str]:
    """Reviews of antidepressants in the first person, with the writer's gender on record."""
    reviews = open_corpus(data / "psytar_posts.csv", text="text", labels=["anxiety"], groups=["gender"])
    run = study_writers(
        reviews,
        out=out,
        record="gender",
        encoder=list(encoders),
        names=["lr", "svm"],
        say=_say,
    )
    return run, writer_tables(run)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    """Run one study and print its tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("study", choices=("deck", "angst", "gender", "writers"))
    options.add_argument("--out", type=Path, default=Path("runs/papers"))
    options.add_argument("--encoder", action="append", default=[])
    chosen = options.parse_args()
    data = Path(os.environ.get("PSYCHECK_DATA", "../shared/data"))
    if not data.is_dir():
        print(f"no corpora in {data}: set PSYCHECK_DATA", file=sys.stderr)
        return 2

    folder = chosen.out / chosen.study
    started = process_time()
    if chosen.study == "deck":
        run, tables = deck(data, folder)
    elif chosen.study == "angst":
        run, tables = angst(data, folder, chosen.out / "longformer")
    elif chosen.study == "writers":
        run, tables = writers(data, folder, chosen.encoder or ["minilm"])
    else:
        run, tables = gender(data, folder, chosen.encoder or ["minilm"])
    print(tables)
    print(f"\n{len(run.findings)} findings; {process_time() - started:.0f} CPU s; {machine()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
